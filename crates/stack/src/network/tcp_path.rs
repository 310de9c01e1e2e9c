//! From the applications to RLC and back: what traffic models ask for becomes segments and datagrams, which cross the
//! core network and enter the RLC buffer.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::ue::Substitute;
use crate::Step;
use crate::core_network::{Treatment, Verdict};
use crate::event::Event;
use crate::ids::{ConnectionId, Direction, End, FlowId, HeldId, LinkId};
use crate::packet::{Content, Datagram, Packet, Segment};
use crate::radio::rlc::Sdu;
use crate::tcp::{Variant, reset_for};
use crate::trace::{CapturePoint, DropPlace, TraceEvent};
use crate::traffic::{Action, Nth, Report};

/// UDP and IPv4 headers without options (RFC 768, RFC 791).
const UDP_IP_HEADER: u16 = 28;

impl Network {
    /// A flow begins: its traffic model says with what.
    pub(super) fn flow_starts<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, id: FlowId) {
        self.flows[id.index()].traffic.handle_start(step.cx.now);
        self.act(step, id);
    }

    /// A traffic model may have something to do; waking early, it sleeps again.
    pub(super) fn traffic_wake<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        flow.traffic_wake.is_over();
        if flow.traffic.poll_timeout().is_some_and(|at| at <= step.cx.now) {
            flow.traffic.handle_timeout(step.cx.now);
        }
        self.act(step, id);
    }

    /// Does what the traffic model of a flow asks for now: first all of it, then its connections send.
    fn act<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, id: FlowId) {
        let mut touched: Vec<(ConnectionId, [bool; 2])> = Vec::new();
        let mut touch = |connection, end: End| {
            if touched.last().is_none_or(|(last, _)| *last != connection) {
                touched.push((connection, [false; 2]));
            }
            touched.last_mut().expect("it is there now").1[end as usize] = true;
        };
        while let Some(action) = self.flows[id.index()].traffic.poll_action() {
            match action {
                Action::Open { connection, end, segment_payload } => {
                    touch(self.open(step, id, connection, end, segment_payload), end);
                }
                Action::Write { connection, end, bytes } => {
                    let connection = self.flows[id.index()].nth(connection);
                    let connection = connection.expect("only open connections are written to");
                    connection.end(end).handle_write(&mut step.cx, bytes);
                    touch(connection.id, end);
                }
                Action::Close { connection, end } => {
                    let connection = self.flows[id.index()].nth(connection);
                    let connection = connection.expect("only open connections are closed");
                    connection.end(end).handle_close(&mut step.cx);
                    touch(connection.id, end);
                }
                Action::Send { end, bytes } => self.send_datagram(step, id, end, bytes),
                Action::Report(report) => self.report(step, id, report),
            }
        }
        for (connection, ends) in touched {
            for end in [End::Server, End::Ue] {
                if ends[end as usize] {
                    self.tcp_changed(step, id, connection, end);
                }
            }
        }
        let flow = &mut self.flows[id.index()];
        let deadline = flow.traffic.poll_timeout();
        step.wake(&mut flow.traffic_wake, deadline, Phase::Transmit, Event::TrafficWake(id));
    }

    fn open<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        nth: Nth,
        end: End,
        segment_payload: Option<u32>,
    ) -> ConnectionId {
        let flow = &mut self.flows[id.index()];
        let tcp = flow.tcp_with(segment_payload);
        let (connection, ue, sender) = (ConnectionId(self.connections), flow.ue, flow.sender);
        self.connections += 1;
        let mss = tcp.segment_payload;
        step.cx.record(|| TraceEvent::ConnectionOpened { connection, flow: id, ue, sender, mss });
        let opened = flow.open(step.cx.now, connection, nth, &tcp);
        if let (Variant::User(number), Some(laws)) = (tcp.version, &self.laws) {
            for end in [End::Server, End::Ue] {
                opened.end(end).set_law(laws.make(number, connection, end));
            }
        }
        opened.end(end).handle_open(&mut step.cx);
        connection
    }

    fn send_datagram<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        end: End,
        bytes: u32,
    ) {
        let flow = &mut self.flows[id.index()];
        let direction = end.sends();
        let sent = &mut flow.datagrams[direction.index()];
        let (number, header, timestamp) = (*sent, UDP_IP_HEADER, step.cx.now);
        *sent += 1;
        let datagram = Datagram { direction, number, payload: bytes, header, timestamp };
        let content = Content::Datagram(datagram);
        let packet = self.packets.number(id, flow.ue, content);
        step.cx.record(|| TraceEvent::DatagramSent { flow: id, datagram });
        self.leave_host(step, end, packet);
    }

    fn report<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, flow: FlowId, report: Report) {
        let mut named = |nth| self.flows[flow.index()].nth(nth).map(|connection| connection.id);
        match report {
            Report::CallStarted { connection } => {
                let connection = named(connection).expect("calls begin on open connections");
                step.cx.record(|| TraceEvent::PacketCallStarted { connection });
            }
            Report::CallEnded { connection, since } => {
                let connection = named(connection).expect("calls end on open connections");
                step.cx.record(|| TraceEvent::PacketCallEnded { connection, since });
            }
            Report::PageEnded { since } => step.cx.record(|| TraceEvent::PageEnded { flow, since }),
            Report::SessionEnded { since } => step.cx.record(|| TraceEvent::SessionEnded { flow, since }),
        }
    }

    /// A packet leaves the host at `end`.
    pub(super) fn leave_host<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        end: End,
        packet: Packet,
    ) {
        match end {
            End::Server => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.enter_core(step, packet);
            }
            End::Ue => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.enter_rlc(step, packet);
            }
        }
    }

    /// Sends what an endpoint has to send, tells the application what it is to know, and sees to the timer.
    fn tcp_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
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
            let content = Content::Segment(segment);
            let packet = self.packets.number(id, ue, content);
            step.cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            self.leave_host(step, end, packet);
        }
        let flow = &mut self.flows[id.index()];
        while let Some((nth, event)) = flow.poll_event(step.cx.now, connection, end) {
            flow.traffic.handle_event(step.cx.now, nth, end, event);
            told = true;
        }
        if told {
            self.act(step, id);
        }
        let flow = &mut self.flows[id.index()];
        let Some(open) = flow.connection(connection) else { return };
        let deadline = open.end(end).poll_timeout();
        step.wake(&mut flow.tcp_wake[end as usize], deadline, Phase::Timers, Event::TcpWake(id, end));
    }

    /// A timer of one end of a flow's connections may be due; waking early, it sleeps again.
    pub(super) fn tcp_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: FlowId,
        end: End,
    ) {
        self.flows[id.index()].tcp_wake[end as usize].is_over();
        let mut from = ConnectionId(0);
        while let Some(connection) = self.flows[id.index()].connection_from(from) {
            if let Some(open) = self.flows[id.index()].connection(connection)
                && open.end(end).poll_timeout().is_some_and(|at| at <= step.cx.now)
            {
                open.end(end).handle_timeout(&mut step.cx);
            }
            self.tcp_changed(step, id, connection, end);
            from = ConnectionId(connection.0 + 1);
        }
    }

    fn enter_link<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, link: LinkId, packet: Packet) {
        let hop = self.core.hop(link) as u8;
        match self.core.link(link).send(step.cx.now, packet) {
            Verdict::Arrives(at) => {
                step.at(at, Phase::Receive, Event::LinkArrival(link));
            }
            Verdict::QueueFull => {
                step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkQueue(hop), packet });
            }
            Verdict::Lost => {
                step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkLoss(hop), packet });
            }
            Verdict::Down => {
                step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkDown(hop), packet });
            }
        }
    }

    /// A packet enters the core network, unless the script has something else in mind.
    fn enter_core<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        if self.impairments.is_empty() {
            let entry = self.core.entry(packet.direction(), packet.flow);
            return self.enter_link(step, entry, packet);
        }
        match self.impairments.treatment(&packet) {
            Treatment::Pass => self.pass_script(step, packet),
            Treatment::Drop => {
                step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::Script, packet });
            }
            Treatment::Delay(by) => self.delay(step, step.cx.now + by, packet),
            Treatment::Duplicate(by) => {
                self.pass_script(step, packet);
                self.delay(step, step.cx.now + by, packet);
            }
            Treatment::Reorder(others) => self.impairments.hold(packet, others),
        }
    }

    /// A packet passes the script, and those that waited for it follow.
    fn pass_script<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        let mut following = Vec::new();
        self.impairments.passed(&packet, &mut following);
        for packet in std::iter::once(packet).chain(following) {
            let entry = self.core.entry(packet.direction(), packet.flow);
            self.enter_link(step, entry, packet);
        }
    }

    fn delay<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, until: Time, packet: Packet) {
        let id = self.delayed.last_key_value().map_or(0, |(id, _)| id + 1);
        self.delayed.insert(id, packet);
        step.at(until, Phase::Receive, Event::HeldPacketEnters(HeldId(id)));
    }

    /// The time of a delayed packet has come.
    pub(super) fn held_packet_enters<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        held: HeldId,
    ) {
        let packet = self.delayed.remove(&held.0).expect("it was put there when it was delayed");
        self.pass_script(step, packet);
    }

    /// A packet comes out of a link: into the next one, into RLC, or to its server.
    pub(super) fn link_arrival<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, link: LinkId) {
        let packet = self.core.link(link).arrive();
        let direction = packet.direction();
        if let Some(next) = self.core.next(link, direction, packet.flow) {
            return self.enter_link(step, next, packet);
        }
        match direction {
            Direction::Downlink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.enter_rlc(step, packet);
            }
            Direction::Uplink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.reach_host(step, packet, End::Server);
            }
        }
    }

    fn enter_rlc<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        let direction = packet.direction();
        let ue = &mut self.ues[packet.ue.index()];
        match ue.substitute.as_deref() {
            None => {}
            Some(Substitute::Capacity(_)) => return self.enter_capacity(step, packet),
            Some(Substitute::Flat(_)) => return self.enter_flat(step, packet),
        }
        let compressed = ue.pdcp[direction.index()].compress(&packet);
        let sdu = Sdu { packet, entered: step.cx.now, compressed };
        match ue.rlc[direction.index()].handle_sdu(&mut step.cx, sdu) {
            Ok(()) => {
                self.rlc_changed(step, packet.ue, direction);
                self.buffers_changed(step, packet.ue);
            }
            Err(_) => step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet }),
        }
    }

    /// RLC hands a packet up: to the UE's TCP, or into the core network.
    pub(super) fn leave_rlc<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        direction: Direction,
        packet: Packet,
    ) {
        match direction {
            Direction::Downlink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.reach_host(step, packet, End::Ue);
            }
            Direction::Uplink => {
                step.cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.enter_core(step, packet);
            }
        }
    }

    /// A packet reaches the host at `end`.
    fn reach_host<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet, end: End) {
        let flow = packet.flow;
        match packet.content {
            Content::Segment(segment) => match self.flows[flow.index()].connection(segment.connection) {
                Some(connection) => {
                    connection.end(end).handle_packet(&mut step.cx, &packet);
                    self.tcp_changed(step, flow, segment.connection, end);
                }
                None => {
                    step.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::NoConnection, packet });
                    self.refuse(step, end, packet, segment);
                }
            },
            Content::Datagram(datagram) => step.cx.record(|| TraceEvent::DatagramReceived { flow, datagram }),
            Content::Foreign(_) => self.foreign_out.push_back(packet),
        }
    }

    /// A segment came to a host that has forgotten its connection: a RST says so (RFC 9293 §3.5.2, group 1).
    fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        end: End,
        about: Packet,
        segment: Segment,
    ) {
        let tcp = &self.flows[about.flow.index()].tcp;
        if tcp.one_way || segment.flags.rst {
            return;
        }
        let content = Content::Segment(reset_for(&segment, tcp.header));
        let packet = self.packets.number(about.flow, about.ue, content);
        self.leave_host(step, end, packet);
    }
}
