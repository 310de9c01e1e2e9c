//! The ends of TCP connections: segments that come and go, timers, and what applications are told.

use umts_kernel::{Phase, TraceSink};

use super::Hosts;
use crate::Step;
use crate::between::Between;
use crate::event::Event;
use crate::ids::{ConnectionId, End, FlowId, Site};
use crate::packet::{Content, Packet, Segment};
use crate::tcp::reset_for;
use crate::trace::{DropPlace, TraceEvent};

impl Hosts {
    /// A segment reaches its end of the connection, if there still is one.
    #[inline]
    pub(super) fn reach_connection<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        packet: &Packet,
        segment: &Segment,
        between: &mut Between,
    ) {
        let (flow, end) = (packet.flow, End::sending(segment.direction).other());
        let site = segment.leg.site(end);
        if site == Site::Pep {
            return self.reach_pep(step, packet, segment, between);
        }
        match self.flows[flow.index()].connection(segment.connection) {
            Some(connection) => {
                connection.end(end).handle_packet(&mut step.cx, packet);
                self.tcp_changed(step, flow, segment.connection, end, between);
            }
            None => self.refuse(step, site, packet, segment, between),
        }
    }

    /// A segment came to a host that has forgotten its connection: a RST says so (RFC 9293 §3.5.2, group 1).
    pub(super) fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        site: Site,
        about: &Packet,
        segment: &Segment,
        between: &mut Between,
    ) {
        let place = DropPlace::NoConnection;
        step.cx.record(|| TraceEvent::PacketDropped { place, packet: *about });
        let tcp = &self.flows[about.flow.index()].tcp;
        if tcp.one_way || segment.flags.rst {
            return;
        }
        let content = Content::Segment(reset_for(segment, tcp.header));
        let packet = self.packets.number(about.flow, about.ue, content);
        between.leave(step, site, packet);
    }

    /// Sends what an application's end has to send, tells the application what it is to know, and sees to the timer.
    pub(super) fn tcp_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
        between: &mut Between,
    ) {
        let mut told = self.send(step, id, connection, end, between);
        let flow = &mut self.flows[id.index()];
        while let Some((nth, event)) = flow.poll_event(step.cx.now, connection, end) {
            flow.traffic.handle_event(step.cx.now, nth, end, event);
            told = true;
        }
        if told {
            self.act(step, id, between);
        }
        self.sleep(step, id, connection, end);
    }

    /// Sends what one end has to send. Tells whether its application heard of it.
    pub(super) fn send<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
        between: &mut Between,
    ) -> bool {
        let Hosts { flows, packets, .. } = self;
        let flow = &mut flows[id.index()];
        let ue = flow.ue;
        let Some((open, traffic)) = flow.connection_and_traffic(connection) else { return false };
        let (nth, site) = (open.nth, open.leg.site(end));
        let mut told = false;
        while let Some((segment, cause)) = open.end(end).poll_transmit(&mut step.cx) {
            // The push bit marks the end of what was written.
            if segment.flags.psh && segment.transmission == 0 && site != Site::Pep {
                traffic.handle_all_sent(step.cx.now, nth, end);
                told = true;
            }
            let packet = packets.number(id, ue, Content::Segment(segment));
            step.cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            between.leave(step, site, packet);
        }
        told
    }

    /// Sees to it that one end is woken when it wants to be.
    pub(super) fn sleep<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
    ) {
        let flow = &mut self.flows[id.index()];
        let Some(open) = flow.connection(connection) else { return };
        let deadline = open.end(end).poll_timeout();
        step.wake(&mut flow.tcp_wake[end as usize], deadline, Phase::Timers, Event::TcpWake(id, end));
    }

    /// A timer of one end of a flow's connections may be due; waking early, it sleeps again.
    pub fn tcp_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        end: End,
        between: &mut Between,
    ) {
        self.flows[id.index()].tcp_wake[end as usize].has_come(step.cx.now);
        let mut from = ConnectionId(0);
        while let Some(connection) = self.flows[id.index()].connection_from(from) {
            if let Some(open) = self.flows[id.index()].connection(connection)
                && open.end(end).poll_timeout().is_some_and(|at| at <= step.cx.now)
            {
                open.end(end).handle_timeout(&mut step.cx);
            }
            match self.flows[id.index()].split_of(connection, end) {
                Some(transfer) => self.pep_changed(step, id, transfer, between),
                None => self.tcp_changed(step, id, connection, end, between),
            }
            from = ConnectionId(connection.0 + 1);
        }
    }
}
