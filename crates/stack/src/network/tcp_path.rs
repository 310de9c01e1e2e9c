//! From TCP to RLC and back: segments become packets, cross the core network and enter the RLC buffer.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::config::FlowConfig;
use super::event::{Event, HeldId};
use crate::Cx;
use crate::core_network::{LinkId, Treatment, Verdict};
use crate::ids::{ConnectionId, Direction, End, FlowId, PacketId, UeId};
use crate::packet::Packet;
use crate::radio::rlc::Sdu;
use crate::tcp::Connection;
use crate::trace::{CapturePoint, DropPlace, TraceEvent};
use crate::traffic::{Action, Traffic};

/// One flow and its connection.
#[derive(Debug)]
pub(super) struct Flow {
    pub id: FlowId,
    pub start: Time,
    ue: UeId,
    sender: End,
    mss: u32,
    traffic: Traffic,
    /// The server's end and the UE's.
    ends: [Connection; 2],
    /// When each end is next woken; one wake-up at a time is outstanding.
    wake: [Time; 2],
}

impl Flow {
    pub fn new(id: FlowId, config: &FlowConfig) -> Self {
        let connection = ConnectionId(id.0);
        let end = |end| Connection::new(connection, id, config.ue, end, &config.tcp);
        Flow {
            id,
            start: config.start,
            ue: config.ue,
            sender: End::sending(config.direction),
            mss: config.tcp.segment_payload,
            traffic: config.traffic.clone(),
            ends: [end(End::Server), end(End::Ue)],
            wake: [Time::NEVER; 2],
        }
    }

    fn end(&mut self, end: End) -> &mut Connection {
        &mut self.ends[end as usize]
    }

    /// Does what the traffic model asks for now; says which ends were touched.
    fn act<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Cx<'_, T>) -> [bool; 2] {
        let mut touched = [false; 2];
        while let Some(action) = self.traffic.poll_action() {
            let end = match action {
                Action::Open { end } => {
                    let (connection, flow) = (ConnectionId(self.id.0), self.id);
                    let (ue, sender, mss) = (self.ue, self.sender, self.mss);
                    cx.record(|| TraceEvent::ConnectionOpened { connection, flow, ue, sender, mss });
                    self.end(end).handle_open(cx);
                    end
                }
                Action::Write { end, bytes } => {
                    self.end(end).handle_write(cx, bytes);
                    end
                }
                Action::Close { end } => {
                    self.end(end).handle_close(cx);
                    end
                }
            };
            touched[end as usize] = true;
        }
        touched
    }
}

impl Network {
    /// A flow begins: its traffic model says with what.
    pub(super) fn flow_starts<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlowId,
        queue: &mut EventQueue<Event>,
    ) {
        let flow = &mut self.flows[id.index()];
        flow.traffic.handle_start();
        let touched = flow.act(cx);
        self.flow_touched(cx, ConnectionId(id.0), touched, queue);
    }

    fn flow_touched<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: ConnectionId,
        touched: [bool; 2],
        queue: &mut EventQueue<Event>,
    ) {
        for end in [End::Server, End::Ue] {
            if touched[end as usize] {
                self.tcp_changed(cx, id, end, queue);
            }
        }
    }

    /// Sends what an endpoint has to send, and sees to its timer.
    fn tcp_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: ConnectionId,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        loop {
            let flow = &mut self.flows[id.index()];
            let Some((segment, cause)) = flow.end(end).poll_transmit(cx) else { break };
            let packet = Packet { id: PacketId(self.packets), flow: flow.id, ue: flow.ue, segment };
            self.packets += 1;
            cx.record(|| TraceEvent::SegmentSent { packet: packet.id, segment, cause });
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
        let flow = &mut self.flows[id.index()];
        let mut told = false;
        while let Some(event) = flow.end(end).poll_event() {
            flow.traffic.handle_event(end, event);
            told = true;
        }
        if told {
            let touched = flow.act(cx);
            self.flow_touched(cx, id, touched, queue);
        }
        let flow = &mut self.flows[id.index()];
        if let Some(at) = flow.end(end).poll_timeout()
            && at < flow.wake[end as usize]
        {
            flow.wake[end as usize] = at;
            queue.push(at, Phase::Timers, Event::TcpWake(id, end));
        }
    }

    /// A timer of an endpoint may be due; waking early, it sleeps again.
    pub(super) fn tcp_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: ConnectionId,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        let flow = &mut self.flows[id.index()];
        flow.wake[end as usize] = Time::NEVER;
        if flow.end(end).poll_timeout().is_some_and(|at| at <= cx.now) {
            flow.end(end).handle_timeout(cx);
        }
        self.tcp_changed(cx, id, end, queue);
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
                self.reach_tcp(cx, packet, End::Server, queue);
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
        let compressed = ue.pdcp[direction.index()].compress(&packet);
        match ue.rlc[direction.index()].handle_sdu(cx, Sdu { packet, entered: cx.now, compressed }) {
            Ok(()) => self.rlc_changed(cx.now, packet.ue, direction, queue),
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
                self.reach_tcp(cx, packet, End::Ue, queue);
            }
            Direction::Uplink => {
                cx.record(|| TraceEvent::PacketSeen { at: CapturePoint::Rnc, packet });
                self.enter_core(cx, packet, queue);
            }
        }
    }

    fn reach_tcp<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        end: End,
        queue: &mut EventQueue<Event>,
    ) {
        let connection = packet.segment.connection;
        self.flows[connection.index()].end(end).handle_packet(cx, &packet);
        self.tcp_changed(cx, connection, end, queue);
    }
}
