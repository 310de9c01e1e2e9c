//! The ends of TCP connections: received and sent segments, timers, and events for applications.

use umts_kernel::{Phase, TraceSink};

use super::Hosts;
use super::flow::OpenConnection;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{ConnectionId, End, FlowId, Site};
use crate::packet::{Content, Packet, Packets, Segment};
use crate::path::NetworkPath;
use crate::tcp::reset_for;
use crate::trace::{DropPlace, TraceEvent};
use crate::traffic::Action;

impl Hosts {
    /// Handles a segment that arrived at its end of the connection. If the connection was removed,
    /// refuses the segment.
    #[inline]
    pub(super) fn receive_segment<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: &Packet,
        segment: &Segment,
        path: &mut NetworkPath,
    ) {
        let (id, end) = (packet.flow, End::sending(segment.direction).other());
        let site = segment.leg.site(end);
        if site == Site::Proxy {
            return self.receive_at_proxy(ctx, packet, segment, path);
        }
        let Some(mut open) = self.flows[id.index()].open_connection(segment.connection) else {
            return self.refuse(ctx, site, packet, segment, path);
        };
        open.connection.end(end).handle_packet(&mut ctx.cx, packet);
        let first_action = open.send_and_notify(ctx, &mut self.packets, end, path);
        if first_action.is_some() {
            self.act_and_set_timer(ctx, id, first_action, segment.connection, end, path);
        }
    }

    /// Answers a segment for a connection that was removed with a RST (RFC 9293 §3.5.2, group 1).
    pub(super) fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        site: Site,
        refused: &Packet,
        segment: &Segment,
        path: &mut NetworkPath,
    ) {
        let place = DropPlace::NoConnection;
        ctx.cx.record(|| TraceEvent::PacketDropped { place, packet: *refused });
        let tcp = &self.flows[refused.flow.index()].tcp;
        if tcp.is_one_way() || segment.flags.rst {
            return;
        }
        let content = Content::Segment(reset_for(segment, tcp.header.0));
        let mut packet = self.packets.number(refused.flow, refused.ue, content);
        path.leave(ctx, site, &mut packet);
    }

    /// Sends the pending segments of an application's end, delivers TCP events to the application,
    /// and schedules the end's timer.
    pub(super) fn flush_connection<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
        path: &mut NetworkPath,
    ) {
        if let Some(mut open) = self.flows[id.index()].open_connection(connection)
            && let first_action @ Some(_) = open.send_and_notify(ctx, &mut self.packets, end, path)
        {
            self.act_and_set_timer(ctx, id, first_action, connection, end, path);
        }
    }

    /// Performs `first_action` and further actions of the application, then schedules the timer of
    /// the end.
    #[inline(never)]
    fn act_and_set_timer<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        first_action: Option<Action>,
        connection: ConnectionId,
        end: End,
        path: &mut NetworkPath,
    ) {
        self.perform(ctx, id, first_action, path);
        // If an action opened another connection, this one may have been removed.
        if let Some(mut open) = self.flows[id.index()].open_connection(connection) {
            open.schedule_timer(ctx, end);
        }
    }

    /// Handles a timer of one end of a flow's connections. If the wake-up is early, only schedules
    /// the next one.
    pub fn tcp_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: FlowId,
        end: End,
        path: &mut NetworkPath,
    ) {
        self.flows[id.index()].tcp_wake[end as usize].fired(ctx.cx.now);
        // By number, because handling one connection can open or remove others.
        let mut next_id = ConnectionId(0);
        while let Some(connection) = self.flows[id.index()].connection_from(next_id) {
            if let Some(open) = self.flows[id.index()].connection(connection)
                && open.end(end).poll_timeout().is_some_and(|at| at <= ctx.cx.now)
            {
                open.end(end).handle_timeout(&mut ctx.cx);
            }
            let open = self.flows[id.index()].connection(connection);
            match open.and_then(|open| open.transfer_at(end)) {
                Some(transfer) => self.advance_transfer(ctx, transfer, path),
                None => self.flush_connection(ctx, id, connection, end, path),
            }
            next_id = ConnectionId(connection.0 + 1);
        }
    }
}

impl OpenConnection<'_> {
    /// Sends pending segments and delivers TCP events to the application. Returns the first action
    /// of the application. If there is none, the usual case, the timer of the end is already
    /// scheduled. Inlined because it runs for every received packet.
    #[inline]
    fn send_and_notify<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packets: &mut Packets,
        end: End,
        path: &mut NetworkPath,
    ) -> Option<Action> {
        let mut is_app_notified = self.send(ctx, packets, end, path);
        while let Some(event) = self.connection.poll_event(ctx.cx.now, end) {
            self.traffic.handle_event(ctx.cx.now, self.connection.nth, end, event);
            is_app_notified = true;
        }
        if is_app_notified {
            let action = self.traffic.poll_action();
            if action.is_some() {
                return action;
            }
            let deadline = self.traffic.poll_timeout();
            ctx.wake(self.traffic_wake, deadline, Phase::Transmit, Event::TrafficWake(self.flow));
        }
        self.schedule_timer(ctx, end);
        None
    }

    /// Sends the pending segments of one end. Returns whether the application was notified.
    pub(super) fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packets: &mut Packets,
        end: End,
        path: &mut NetworkPath,
    ) -> bool {
        let site = self.connection.leg.site(end);
        let mut notified = false;
        let mut segment = Segment::new(self.connection.id, end.sends());
        while let Some(cause) = self.connection.end(end).poll_transmit(&mut ctx.cx, &mut segment) {
            // The push bit marks the end of the written data.
            if segment.flags.psh && segment.transmission == 0 && site != Site::Proxy {
                self.traffic.handle_all_sent(ctx.cx.now, self.connection.nth, end);
                notified = true;
            }
            let mut packet = packets.number(self.flow, self.ue, Content::Segment(segment));
            ctx.cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            path.leave(ctx, site, &mut packet);
        }
        notified
    }

    /// Schedules the timer of one end.
    #[inline]
    pub(super) fn schedule_timer<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        end: End,
    ) {
        let deadline = self.connection.end(end).poll_timeout();
        let event = Event::TcpWake(self.flow, end);
        ctx.wake(&mut self.tcp_wake[end as usize], deadline, Phase::Timers, event);
    }
}
