//! From the applications to RLC and back: what traffic models ask for becomes segments and datagrams, which cross the
//! core network and enter the RLC buffer.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::event::{Event, HeldId};
use super::ue::Substitute;
use crate::Cx;
use crate::core_network::{LinkId, Treatment, Verdict};
use crate::ids::{ConnectionId, Direction, End, FlowId, PacketId};
use crate::packet::{Content, Datagram, Packet, Segment};
use crate::radio::rlc::Sdu;
use crate::tcp::{Variant, reset_for};
use crate::trace::{CapturePoint, DropPlace, TraceEvent};
use crate::traffic::{Action, Nth, Report};

/// UDP and IPv4 headers without options (RFC 768, RFC 791).
const UDP_IP_HEADER: u16 = 28;

impl Network {
    /// A flow begins: its traffic model says with what.
    pub(super) fn flow_starts<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        queue: &mut EventQueue<Event>,
    ) {
        self.flows[id.index()].traffic.handle_start(cx.now);
        self.act(cx, id, queue);
    }

    /// A traffic model may have something to do; waking early, it sleeps again.
    pub(super) fn traffic_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        queue: &mut EventQueue<Event>,
    ) {
        let flow = &mut self.flows[id.index()];
        flow.traffic_wake = Time::NEVER;
        if flow.traffic.poll_timeout().is_some_and(|at| at <= cx.now) {
            flow.traffic.handle_timeout(cx.now);
        }
        self.act(cx, id, queue);
    }

    /// Does what the traffic model of a flow asks for now: first all of it, then its connections send.
    fn act<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        queue: &mut EventQueue<Event>,
    ) {
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
                    touch(self.open(cx, id, connection, end, segment_payload), end);
                }
                Action::Write { connection, end, bytes } => {
                    let connection = self.flows[id.index()].nth(connection);
                    let connection = connection.expect("only open connections are written to");
                    connection.end(end).handle_write(cx, bytes);
                    touch(connection.id, end);
                }
                Action::Close { connection, end } => {
                    let connection = self.flows[id.index()].nth(connection);
                    let connection = connection.expect("only open connections are closed");
                    connection.end(end).handle_close(cx);
                    touch(connection.id, end);
                }
                Action::Send { end, bytes } => self.send_datagram(cx, id, end, bytes, queue),
                Action::Report(report) => self.report(cx, id, report),
            }
        }
        for (connection, ends) in touched {
            for end in [End::Server, End::Ue] {
                if ends[end as usize] {
                    self.tcp_changed(cx, id, connection, end, queue);
                }
            }
        }
        let flow = &mut self.flows[id.index()];
        if let Some(at) = flow.traffic.poll_timeout()
            && at < flow.traffic_wake
        {
            flow.traffic_wake = at;
            queue.push(at, Phase::Transmit, Event::TrafficWake(id));
        }
    }

    fn open<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
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
        cx.record(|| TraceEvent::ConnectionOpened { connection, flow: id, ue, sender, mss });
        let opened = flow.open(cx.now, connection, nth, &tcp);
        if let (Variant::User(number), Some(laws)) = (tcp.version, &self.laws) {
            for end in [End::Server, End::Ue] {
                opened.end(end).set_law(laws.make(number, connection, end));
            }
        }
        opened.end(end).handle_open(cx);
        connection
    }

    fn send_datagram<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        end: End,
        bytes: u32,
        queue: &mut EventQueue<Event>,
    ) {
        let flow = &mut self.flows[id.index()];
        let direction = end.sends();
        let sent = &mut flow.datagrams[direction.index()];
        let (number, header, timestamp) = (*sent, UDP_IP_HEADER, cx.now);
        *sent += 1;
        let datagram = Datagram { direction, number, payload: bytes, header, timestamp };
        let content = Content::Datagram(datagram);
        let packet = Packet { id: PacketId(self.packets), flow: id, ue: flow.ue, content };
        self.packets += 1;
        cx.record(|| TraceEvent::DatagramSent { flow: id, datagram });
        self.leave_host(cx, end, packet, queue);
    }

    fn report<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>, flow: FlowId, report: Report) {
        let mut named = |nth| self.flows[flow.index()].nth(nth).map(|connection| connection.id);
        match report {
            Report::CallStarted { connection } => {
                let connection = named(connection).expect("calls begin on open connections");
                cx.record(|| TraceEvent::PacketCallStarted { connection });
            }
            Report::CallEnded { connection, since } => {
                let connection = named(connection).expect("calls end on open connections");
                cx.record(|| TraceEvent::PacketCallEnded { connection, since });
            }
            Report::PageEnded { since } => cx.record(|| TraceEvent::PageEnded { flow, since }),
            Report::SessionEnded { since } => cx.record(|| TraceEvent::SessionEnded { flow, since }),
        }
    }

    /// A packet leaves the host at `end`.
    pub(super) fn leave_host<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        end: End,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        match end {
            End::Server => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.enter_core(cx, packet, queue);
            }
            End::Ue => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.enter_rlc(cx, packet, queue);
            }
        }
    }

    /// Sends what an endpoint has to send, tells the application what it is to know, and sees to the timer.
    fn tcp_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        connection: ConnectionId,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        let mut told = false;
        loop {
            let flow = &mut self.flows[id.index()];
            let ue = flow.ue;
            let Some(open) = flow.connection(connection) else { return };
            let nth = open.nth;
            let Some((segment, cause)) = open.end(end).poll_transmit(cx) else { break };
            // The push bit marks the end of what was written.
            if segment.flags.psh && segment.transmission == 0 {
                flow.traffic.handle_all_sent(cx.now, nth, end);
                told = true;
            }
            let content = Content::Segment(segment);
            let packet = Packet { id: PacketId(self.packets), flow: id, ue, content };
            self.packets += 1;
            cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
            self.leave_host(cx, end, packet, queue);
        }
        let flow = &mut self.flows[id.index()];
        while let Some((nth, event)) = flow.poll_event(cx.now, connection, end) {
            flow.traffic.handle_event(cx.now, nth, end, event);
            told = true;
        }
        if told {
            self.act(cx, id, queue);
        }
        let flow = &mut self.flows[id.index()];
        let Some(open) = flow.connection(connection) else { return };
        if let Some(at) = open.end(end).poll_timeout()
            && at < flow.tcp_wake[end as usize]
        {
            flow.tcp_wake[end as usize] = at;
            queue.push(at, Phase::Timers, Event::TcpWake(id, end));
        }
    }

    /// A timer of one end of a flow's connections may be due; waking early, it sleeps again.
    pub(super) fn tcp_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        self.flows[id.index()].tcp_wake[end as usize] = Time::NEVER;
        let mut from = ConnectionId(0);
        while let Some(connection) = self.flows[id.index()].connection_from(from) {
            if let Some(open) = self.flows[id.index()].connection(connection)
                && open.end(end).poll_timeout().is_some_and(|at| at <= cx.now)
            {
                open.end(end).handle_timeout(cx);
            }
            self.tcp_changed(cx, id, connection, end, queue);
            from = ConnectionId(connection.0 + 1);
        }
    }

    fn enter_link<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        link: LinkId,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        let hop = self.core.hop(link) as u8;
        match self.core.link(link).send(cx.now, packet) {
            Verdict::Arrives(at) => {
                queue.push(at, Phase::Receive, Event::LinkArrival(link));
            }
            Verdict::QueueFull => {
                cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkQueue(hop), packet });
            }
            Verdict::Lost => {
                cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkLoss(hop), packet });
            }
            Verdict::Down => {
                cx.record(|| TraceEvent::PacketDropped { place: DropPlace::LinkDown(hop), packet });
            }
        }
    }

    /// A packet enters the core network, unless the script has something else in mind.
    fn enter_core<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        if self.impairments.is_empty() {
            let entry = self.core.entry(packet.direction(), packet.flow);
            return self.enter_link(cx, entry, packet, queue);
        }
        match self.impairments.treatment(&packet) {
            Treatment::Pass => self.pass_script(cx, packet, queue),
            Treatment::Drop => {
                cx.record(|| TraceEvent::PacketDropped { place: DropPlace::Script, packet });
            }
            Treatment::Delay(by) => self.delay(cx.now + by, packet, queue),
            Treatment::Duplicate(by) => {
                self.pass_script(cx, packet, queue);
                self.delay(cx.now + by, packet, queue);
            }
            Treatment::Reorder(others) => self.impairments.hold(packet, others),
        }
    }

    /// A packet passes the script, and those that waited for it follow.
    fn pass_script<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        let mut following = Vec::new();
        self.impairments.passed(&packet, &mut following);
        for packet in std::iter::once(packet).chain(following) {
            let entry = self.core.entry(packet.direction(), packet.flow);
            self.enter_link(cx, entry, packet, queue);
        }
    }

    fn delay(&mut self, until: Time, packet: Packet, queue: &mut EventQueue<Event>) {
        let id = self.delayed.last_key_value().map_or(0, |(id, _)| id + 1);
        self.delayed.insert(id, packet);
        queue.push(until, Phase::Receive, Event::HeldPacketEnters(HeldId(id)));
    }

    /// The time of a delayed packet has come.
    pub(super) fn held_packet_enters<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        held: HeldId,
        queue: &mut EventQueue<Event>,
    ) {
        let packet = self.delayed.remove(&held.0).expect("it was put there when it was delayed");
        self.pass_script(cx, packet, queue);
    }

    /// A packet comes out of a link: into the next one, into RLC, or to its server.
    pub(super) fn link_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        link: LinkId,
        queue: &mut EventQueue<Event>,
    ) {
        let packet = self.core.link(link).arrive();
        let direction = packet.direction();
        if let Some(next) = self.core.next(link, direction, packet.flow) {
            return self.enter_link(cx, next, packet, queue);
        }
        match direction {
            Direction::Downlink => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.enter_rlc(cx, packet, queue);
            }
            Direction::Uplink => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Server, packet });
                self.reach_host(cx, packet, End::Server, queue);
            }
        }
    }

    fn enter_rlc<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        let direction = packet.direction();
        let ue = &mut self.ues[packet.ue.index()];
        match ue.substitute.as_deref() {
            None => {}
            Some(Substitute::Capacity(_)) => return self.enter_capacity(cx, packet, queue),
            Some(Substitute::Flat(_)) => return self.enter_flat(cx, packet, queue),
        }
        let compressed = ue.pdcp[direction.index()].compress(&packet);
        match ue.rlc[direction.index()].handle_sdu(cx, Sdu { packet, entered: cx.now, compressed }) {
            Ok(()) => {
                self.rlc_changed(cx.now, packet.ue, direction, queue);
                self.buffers_changed(cx, packet.ue, queue);
            }
            Err(_) => cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet }),
        }
    }

    /// RLC hands a packet up: to the UE's TCP, or into the core network.
    pub(super) fn leave_rlc<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        direction: Direction,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        match direction {
            Direction::Downlink => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Ue, packet });
                self.reach_host(cx, packet, End::Ue, queue);
            }
            Direction::Uplink => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.enter_core(cx, packet, queue);
            }
        }
    }

    /// A packet reaches the host at `end`.
    fn reach_host<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        let flow = packet.flow;
        match packet.content {
            Content::Segment(segment) => match self.flows[flow.index()].connection(segment.connection) {
                Some(connection) => {
                    connection.end(end).handle_packet(cx, &packet);
                    self.tcp_changed(cx, flow, segment.connection, end, queue);
                }
                None => {
                    cx.record(|| TraceEvent::PacketDropped { place: DropPlace::NoConnection, packet });
                    self.refuse(cx, end, packet, segment, queue);
                }
            },
            Content::Datagram(datagram) => cx.record(|| TraceEvent::DatagramReceived { flow, datagram }),
            Content::Foreign(_) => self.foreign_out.push_back(packet),
        }
    }

    /// A segment came to a host that has forgotten its connection: a RST says so (RFC 9293 §3.5.2, group 1).
    fn refuse<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        end: End,
        about: Packet,
        segment: Segment,
        queue: &mut EventQueue<Event>,
    ) {
        let tcp = &self.flows[about.flow.index()].tcp;
        if tcp.one_way || segment.flags.rst {
            return;
        }
        let content = Content::Segment(reset_for(&segment, tcp.header));
        let packet = Packet { id: PacketId(self.packets), content, ..about };
        self.packets += 1;
        self.leave_host(cx, end, packet, queue);
    }
}
