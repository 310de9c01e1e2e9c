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
        site: Site,
        packet: &Packet,
        segment: &Segment,
        between: &mut Between,
    ) {
        let (flow, end) = (packet.flow, site.end());
        match self.flows[flow.index()].connection(segment.connection) {
            Some(connection) => {
                connection.end(end).handle_packet(&mut step.cx, packet);
                self.tcp_changed(step, flow, segment.connection, end, between);
            }
            None => {
                let place = DropPlace::NoConnection;
                step.cx.record(|| TraceEvent::PacketDropped { place, packet: *packet });
                self.refuse(step, site, packet, segment, between);
            }
        }
    }

    /// A segment came to a host that has forgotten its connection: a RST says so (RFC 9293 §3.5.2, group 1).
    fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        site: Site,
        about: &Packet,
        segment: &Segment,
        between: &mut Between,
    ) {
        let tcp = &self.flows[about.flow.index()].tcp;
        if tcp.one_way || segment.flags.rst {
            return;
        }
        let content = Content::Segment(reset_for(segment, tcp.header));
        let packet = self.packets.number(about.flow, about.ue, content);
        between.leave(step, site, packet);
    }

    /// Sends what an endpoint has to send, tells the application what it is to know, and sees to the timer.
    pub(super) fn tcp_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
        between: &mut Between,
    ) {
        let mut told = false;
        loop {
            let flow = &mut self.flows[id.index()];
            let ue = flow.ue;
            let Some(open) = flow.connection(connection) else { return };
            let nth = open.nth;
            let Some((segment, cause)) = open.end(end).poll_transmit(&mut step.cx) else { break };
            // The push bit marks the end of what was written.
            if segment.flags.psh && segment.transmission == 0 {
                flow.traffic.handle_all_sent(step.cx.now, nth, end);
                told = true;
            }
            let packet = self.packets.number(id, ue, Content::Segment(segment));
            step.cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            between.leave(step, Site::of(end), packet);
        }
        let flow = &mut self.flows[id.index()];
        while let Some((nth, event)) = flow.poll_event(step.cx.now, connection, end) {
            flow.traffic.handle_event(step.cx.now, nth, end, event);
            told = true;
        }
        if told {
            self.act(step, id, between);
        }
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
        self.flows[id.index()].tcp_wake[end as usize].is_over();
        let mut from = ConnectionId(0);
        while let Some(connection) = self.flows[id.index()].connection_from(from) {
            if let Some(open) = self.flows[id.index()].connection(connection)
                && open.end(end).poll_timeout().is_some_and(|at| at <= step.cx.now)
            {
                open.end(end).handle_timeout(&mut step.cx);
            }
            self.tcp_changed(step, id, connection, end, between);
            from = ConnectionId(connection.0 + 1);
        }
    }
}
