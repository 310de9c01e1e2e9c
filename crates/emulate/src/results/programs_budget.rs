//! The time budget of the programs' TCP connections and UDP flows, derived from their packets.
//!
//! [`ProgramsBudget`] is a trace sink. It recognises the connection of each packet and records the
//! events that a simulated connection would have recorded (segments sent and received, data
//! acknowledged), from which [`Budget`] computes the time budget. Internals of the kernel (windows,
//! writes of the application, timers) are not guessed: their time is `not_visible`. If a DNS lookup
//! precedes a connection, the connection's budget begins with the DNS question.

use std::collections::BTreeMap;
use std::net::IpAddr;

use umts_kernel::TraceSink;
use umts_record::budget::{Budget, BudgetConfig, ConnectionOrigin, Kind};
use umts_record::metrics::RunMetrics;
use umts_record::series::{Column, Table, Values};
use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, Direction, End, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::network::NetworkConfig;
use umts_stack::packet::{Content, Flags, Foreign, Packet, Segment};
use umts_stack::trace::{CapturePoint, SendCause, TraceEvent};
use umts_units::{Duration, Time};

use crate::packets::datagram;
use crate::packets::packet_store::PacketStore;
use crate::packets::transport::{FIN, Message, RST, SYN, Transport, point_of, read};

/// Maximum number of connections, and of flows. The first in the order of the keys is then removed.
const MAX_CONNECTIONS: usize = 4096;
/// Maximum number of segments, and of datagrams, in the network. The oldest is then removed.
const MAX_SEGMENTS: usize = 65_536;

/// Maximum number of out-of-order ranges of a direction. Beyond it, the range with the highest
/// sequence numbers is removed.
const MAX_OUT_OF_ORDER: usize = 4096;

/// Port of DNS.
const DNS: u16 = 53;

/// Longest time from the last packet of a lookup to the first packet of its connection.
const MAX_LOOKUP_GAP: Duration = Duration::from_secs(5);

/// Assumed payload of a full segment. It has no effect because windows are unknown.
const MSS: u32 = 1460;

/// Address and port of the server's end and of the UE's end.
type Ends = [(IpAddr, u16); 2];

/// Key of a connection. It includes the leg: behind a proxy that keeps addresses and ports, both
/// legs have the same ends.
type Key = (ProxyLeg, Ends);

/// A connection between two programs.
#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    /// Directions, by the end that sends.
    streams: [StreamDirection; 2],
}

/// One direction of a connection. Sequence numbers count from the SYN, which is 0, without
/// wrapping.
#[derive(Debug, Default)]
struct StreamDirection {
    /// Number of the SYN in the packets.
    initial: Option<u32>,
    /// The number after the last one sent.
    highest: u64,
    /// The highest acknowledgment that the sender has received.
    una: u64,
    /// End of the payload that has arrived in order.
    in_order_to: u64,
    /// Ranges of payload that have arrived beyond it, sorted.
    out_of_order: Vec<(u64, u64)>,
    /// A FIN was sent.
    has_finished: bool,
    /// The FIN was acknowledged.
    fin_acknowledged: bool,
    /// The SYN was acknowledged.
    is_established: bool,
}

impl Connection {
    /// Whether no SYN of this connection was seen yet: only the other connection of its transfer
    /// has begun.
    fn is_unopened(&self) -> bool {
        self.streams.iter().all(|stream| stream.initial.is_none())
    }
}

impl StreamDirection {
    /// Extends a packet's sequence number, which wraps at 2³², to one near the highest number so
    /// far.
    fn unwrapped(&self, number: u32) -> Option<u64> {
        let offset = number.wrapping_sub(self.initial?);
        let distance = i64::from(offset.wrapping_sub(self.highest as u32) as i32);
        self.highest.checked_add_signed(distance)
    }

    /// Records the arrival of payload `from..to`. Returns the number of bytes that are newly in
    /// order.
    fn receive(&mut self, from: u64, to: u64) -> u64 {
        let before = self.in_order_to.max(1);
        if self.out_of_order.len() >= MAX_OUT_OF_ORDER {
            self.out_of_order.pop();
        }
        self.out_of_order.push((from, to));
        self.out_of_order.sort_unstable();
        self.in_order_to = before;
        let in_order_to = &mut self.in_order_to;
        // Removes the ranges that continue the data in order, which grow with each of them.
        self.out_of_order.retain(|&(from, to)| {
            let continues = from <= *in_order_to;
            *in_order_to = if continues { to.max(*in_order_to) } else { *in_order_to };
            !continues
        });
        self.in_order_to - before
    }
}

/// A UDP flow, or a DNS lookup.
#[derive(Debug, Clone, Copy)]
struct Flow {
    id: ConnectionId,
    /// Bytes sent so far, or for a lookup the number of questions and answers, by the end that
    /// sends.
    sent: [u64; 2],
    /// Time of the last packet.
    last: Time,
}

/// Columns of a connection in the table, in addition to its budget.
#[derive(Debug, Clone, Copy)]
struct ConnectionColumns {
    server_port: u16,
    ue_port: u16,
    packets: u32,
}

/// Computes the budgets of UDP flows, and of TCP connections from their SYN on.
#[derive(Debug)]
pub struct ProgramsBudget {
    packet_store: PacketStore,
    budget: Budget,
    connections: BTreeMap<Key, Connection>,
    flows: BTreeMap<Key, Flow>,
    /// Lookups that no connection has followed yet.
    lookups: BTreeMap<UeId, Flow>,
    /// Additional columns by connection number.
    columns: Vec<ConnectionColumns>,
    /// Segments in the network.
    segments: BTreeMap<PacketId, (Key, Segment)>,
    /// Datagrams in the network.
    datagrams: BTreeMap<PacketId, Segment>,
}

impl ProgramsBudget {
    /// Creates the recorder for the packets in `packet_store`.
    pub fn new(packet_store: PacketStore, config: BudgetConfig, network: &NetworkConfig) -> Self {
        let budget = Budget::new(BudgetConfig { origin: ConnectionOrigin::Programs, ..config }, network);
        ProgramsBudget {
            packet_store,
            budget,
            connections: BTreeMap::new(),
            flows: BTreeMap::new(),
            lookups: BTreeMap::new(),
            columns: Vec::new(),
            segments: BTreeMap::new(),
            datagrams: BTreeMap::new(),
        }
    }

    /// Adds the metrics. Returns the tables of intervals and of connections.
    pub fn finish(self, end: Time, results: &mut RunMetrics) -> Vec<Table> {
        let mut tables = self.budget.finish(end, results);
        for table in &mut tables {
            if let (Some(Values::Id(ids)), "budget_connections") = (table.column("connection"), table.name) {
                let column = |choose: fn(&ConnectionColumns) -> u32| {
                    Values::Id(
                        ids.iter().map(|id| self.columns.get(*id as usize).map_or(0, choose)).collect(),
                    )
                };
                let columns = [
                    ("server_port", column(|columns| columns.server_port.into())),
                    ("ue_port", column(|columns| columns.ue_port.into())),
                    ("packets", column(|columns| columns.packets)),
                ];
                table.columns.extend(columns.map(|(name, values)| Column { name, unit: "", values }));
            }
        }
        tables
    }

    /// Passes an event to the budget.
    fn record_event(&mut self, now: Time, event: TraceEvent) {
        self.budget.record(now, &event);
    }

    /// Records a TCP segment that enters the network, as an event of the connection. A SYN opens
    /// the connection. Returns `None` if the packet belongs to no known TCP connection.
    fn record_segment(&mut self, now: Time, packet: Packet) -> Option<()> {
        let Transport { from, to, message } = self.packet_store.with(packet.id, read)??;
        let Message::Segment { seq, length, ack, flags } = message else { return None };
        let direction = packet.direction();
        let end = End::sending(direction);
        let ends = if direction == Direction::Downlink { [from, to] } else { [to, from] };
        let (syn, fin, rst) = (flags & SYN != 0, flags & FIN != 0, flags & RST != 0);
        let key = (packet.leg(), ends);
        if syn && ack.is_none() {
            self.begin(now, key, packet.ue, (end, seq));
        }
        let connection = self.connections.get_mut(&key)?;
        let stream = &mut connection.streams[end as usize];
        if syn && stream.initial.is_none() {
            stream.initial = Some(seq);
        }
        let seq = stream.unwrapped(seq)?;
        stream.highest = stream.highest.max(seq + u64::from(length));
        stream.has_finished |= fin;
        let ack = ack.and_then(|ack| connection.streams[end.other() as usize].unwrapped(ack));
        // `length` is the sequence space, which SYN and FIN occupy too.
        let payload = length - u32::from(syn) - u32::from(fin);
        let segment = Segment {
            flags: Flags { syn, fin, rst, ack: ack.is_some(), ..Flags::default() },
            seq,
            ack: ack.unwrap_or(0),
            payload,
            window: u32::MAX,
            leg: packet.leg(),
            header: (packet.size().0 as u32).saturating_sub(payload) as u16,
            ..Segment::new(connection.id, direction)
        };
        let id = packet.id;
        if self.segments.len() >= MAX_SEGMENTS {
            self.segments.pop_first();
        }
        self.segments.insert(id, (key, segment));
        self.columns[segment.connection.0 as usize].packets += 1;
        let cause = if length == 0 { SendCause::Ack } else { SendCause::New };
        self.record_event(now, TraceEvent::SegmentSent { packet: id, segment, cause });
        Some(())
    }

    /// Records a UDP datagram that enters the network, as an event of a flow or lookup. Returns
    /// `None` if the packet is not UDP, or is the late answer of a lookup.
    fn record_datagram(&mut self, now: Time, packet: &Packet) -> Option<()> {
        let datagram = self.packet_store.with(packet.id, datagram::read)??;
        let direction = packet.direction();
        let ends = if direction == Direction::Downlink {
            [datagram.from, datagram.to]
        } else {
            [datagram.to, datagram.from]
        };
        let [(_, server_port), _] = ends;
        let is_lookup = server_port == DNS;
        let flow = if is_lookup {
            self.lookup(now, packet.ue, direction, ends)?
        } else {
            self.flow(now, packet, ends)
        };
        let end = End::sending(direction);
        // Questions and answers of a lookup count as one byte each.
        let payload = if is_lookup { 1 } else { u32::from(datagram.payload) };
        let sent = &mut flow.sent[end as usize];
        let segment = Segment {
            flags: Flags::default(),
            seq: 1 + *sent,
            payload,
            leg: packet.leg(),
            header: (packet.size().0 as u32).saturating_sub(u32::from(datagram.payload)) as u16,
            ..Segment::new(flow.id, direction)
        };
        *sent += u64::from(payload);
        flow.last = now;
        if self.datagrams.len() >= MAX_SEGMENTS {
            self.datagrams.pop_first();
        }
        self.datagrams.insert(packet.id, segment);
        self.columns[segment.connection.0 as usize].packets += 1;
        self.record_event(now, TraceEvent::SegmentSent { packet: packet.id, segment, cause: SendCause::New });
        Some(())
    }

    /// Returns the lookup to which a question or an answer belongs. `None` for an answer after the
    /// end of its lookup.
    fn lookup(&mut self, now: Time, ue: UeId, direction: Direction, ends: Ends) -> Option<&mut Flow> {
        if !self.lookups.contains_key(&ue) {
            if direction == Direction::Downlink {
                return None;
            }
            let id = self.next_id(ends);
            self.budget.open_datagrams(now, id, ue, Kind::Lookup);
            self.lookups.insert(ue, Flow { id, sent: [0; 2], last: now });
        }
        self.lookups.get_mut(&ue)
    }

    /// Returns the UDP flow of a packet. The first packet opens the flow.
    fn flow(&mut self, now: Time, packet: &Packet, ends: Ends) -> &mut Flow {
        let key = (packet.leg(), ends);
        if !self.flows.contains_key(&key) {
            if self.flows.len() >= MAX_CONNECTIONS
                && let Some((_, flow)) = self.flows.pop_first()
            {
                self.record_event(now, TraceEvent::ConnectionClosed { connection: flow.id });
            }
            let id = match self.adopt_lookup(now, packet.ue, ends, Kind::Datagrams) {
                Some(id) => id,
                None => {
                    let id = self.next_id(ends);
                    self.budget.open_datagrams(now, id, packet.ue, Kind::Datagrams);
                    id
                }
            };
            self.flows.insert(key, Flow { id, sent: [0; 2], last: now });
        }
        self.flows.get_mut(&key).expect("inserted above if missing")
    }

    /// Turns the recent lookup of a UE into the connection that begins now, and returns its number.
    fn adopt_lookup(&mut self, now: Time, ue: UeId, ends: Ends, kind: Kind) -> Option<ConnectionId> {
        let lookup = self.lookups.remove(&ue)?;
        if lookup.last + MAX_LOOKUP_GAP < now {
            self.record_event(now, TraceEvent::ConnectionClosed { connection: lookup.id });
            return None;
        }
        self.datagrams.retain(|_, segment| segment.connection != lookup.id);
        let columns = &mut self.columns[lookup.id.0 as usize];
        [(_, columns.server_port), (_, columns.ue_port)] = ends;
        self.budget.change_kind(now, lookup.id, kind);
        Some(lookup.id)
    }

    /// Adds the row of a new connection. Returns its number.
    fn next_id(&mut self, ends: Ends) -> ConnectionId {
        let id = ConnectionId(self.columns.len() as u32);
        let [(_, server_port), (_, ue_port)] = ends;
        self.columns.push(ConnectionColumns { server_port, ue_port, packets: 0 });
        id
    }

    /// Opens a connection for a SYN, unless it is a retransmission. The first SYN of a transfer
    /// through a proxy opens both connections, as in a simulation.
    fn begin(&mut self, now: Time, (leg, ends): Key, ue: UeId, (end, seq): (End, u32)) {
        // The other leg has opened this connection, or the SYN is a retransmission.
        let connection = self.connections.get(&(leg, ends));
        if connection.is_some_and(|connection| {
            connection.is_unopened() || connection.streams[end as usize].initial == Some(seq)
        }) {
            return;
        }
        let legs = if leg == ProxyLeg::Whole {
            &[ProxyLeg::Whole][..]
        } else {
            &[ProxyLeg::Server, ProxyLeg::Radio]
        };
        for &leg in legs {
            self.remove_connection(now, (leg, ends));
        }
        if self.connections.len() >= MAX_CONNECTIONS
            && let Some(first) = self.connections.keys().next().copied()
        {
            self.remove_connection(now, first);
        }
        if leg == ProxyLeg::Whole
            && let Some(id) = self.adopt_lookup(now, ue, ends, Kind::Tcp)
        {
            let mut streams = [StreamDirection::default(), StreamDirection::default()];
            streams[end as usize].initial = Some(seq);
            self.connections.insert((leg, ends), Connection { id, streams });
            return;
        }
        let transfer = ConnectionId(self.columns.len() as u32);
        for &new_leg in legs {
            let connection = self.next_id(ends);
            let mut streams = [StreamDirection::default(), StreamDirection::default()];
            streams[end as usize].initial = (new_leg == leg).then_some(seq);
            self.connections.insert((new_leg, ends), Connection { id: connection, streams });
            let (flow, sender) = (FlowId(u32::MAX), End::Server);
            let opened = TraceEvent::ConnectionOpened {
                connection,
                transfer,
                leg: new_leg,
                flow,
                ue,
                sender,
                mss: MSS,
            };
            self.record_event(now, opened);
        }
    }

    /// Closes a connection, and the proxy's other connection if it was never opened.
    fn close(&mut self, now: Time, (leg, ends): Key) {
        self.remove_connection(now, (leg, ends));
        for other in [ProxyLeg::Server, ProxyLeg::Radio] {
            if self.connections.get(&(other, ends)).is_some_and(Connection::is_unopened) {
                self.remove_connection(now, (other, ends));
            }
        }
    }

    /// Removes a connection, and records its end.
    fn remove_connection(&mut self, now: Time, key: Key) {
        if let Some(connection) = self.connections.remove(&key) {
            self.record_event(now, TraceEvent::ConnectionClosed { connection: connection.id });
        }
    }

    /// Records that a packet has left the network: its payload, and its acknowledgment for the
    /// other end. Closes the connection after a RST or after both FINs are acknowledged.
    fn record_arrival(&mut self, now: Time, packet: PacketId) {
        if let Some(segment) = self.datagrams.remove(&packet) {
            let delivered = u64::from(segment.payload);
            self.record_event(
                now,
                TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false },
            );
            return;
        }
        let Some((key, segment)) = self.segments.remove(&packet) else { return };
        let Some(connection) =
            self.connections.get_mut(&key).filter(|connection| connection.id == segment.connection)
        else {
            return;
        };
        let from = End::sending(segment.direction);
        let id = connection.id;
        let first = segment.seq + u64::from(segment.flags.syn);
        let stream = &mut connection.streams[from as usize];
        let delivered = match segment.payload {
            0 => 0,
            payload => stream.receive(first, first + u64::from(payload)),
        };
        let mut events = vec![TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false }];
        let (end, reverse) = (from.other(), &mut connection.streams[from.other() as usize]);
        if segment.flags.ack && segment.ack > reverse.una {
            reverse.una = segment.ack;
            events.push(TraceEvent::Acked { connection: id, end, una: segment.ack, payload: 0 });
            if !std::mem::replace(&mut reverse.is_established, true) {
                events.push(TraceEvent::Established { connection: id, end });
            }
            reverse.fin_acknowledged |= reverse.has_finished && reverse.una >= reverse.highest;
        }
        let is_closed = segment.flags.rst || connection.streams.iter().all(|stream| stream.fin_acknowledged);
        for event in events {
            self.record_event(now, event);
        }
        if is_closed {
            self.close(now, key);
        }
    }

    /// Describes a packet of a program as a segment of its connection. All other packets stay
    /// opaque.
    fn describe(&self, packet: &Packet) -> Packet {
        let segment = self.segments.get(&packet.id).map(|(_, segment)| segment);
        let content = match segment.or_else(|| self.datagrams.get(&packet.id)) {
            Some(segment) => Content::Segment(*segment),
            None => Content::Foreign(Foreign {
                direction: packet.direction(),
                leg: packet.leg(),
                size: u32::try_from(packet.size().0).unwrap_or(u32::MAX),
            }),
        };
        Packet { content, ..*packet }
    }
}

impl TraceSink<TraceEvent> for ProgramsBudget {
    const WANTS_DETAIL: bool = true;

    fn record(&mut self, now: Time, event: &TraceEvent) {
        match event {
            TraceEvent::PacketCaptured { at, packet } => {
                let is_program = matches!(packet.content, Content::Foreign(_));
                let enters = *at == point_of(packet.leg(), End::sending(packet.direction()));
                if is_program && enters && self.record_segment(now, *packet).is_none() {
                    self.record_datagram(now, packet);
                }
                let described = self.describe(packet);
                self.record_event(now, TraceEvent::PacketCaptured { at: *at, packet: described });
                // The RNC is on the way. Any other point is at the receiving end.
                if !enters && *at != CapturePoint::Rnc {
                    self.record_arrival(now, packet.id);
                }
            }
            TraceEvent::PacketDropped { place, packet } => {
                let described = self.describe(packet);
                self.segments.remove(&packet.id);
                self.datagrams.remove(&packet.id);
                self.record_event(now, TraceEvent::PacketDropped { place: *place, packet: described });
            }
            TraceEvent::SduQueued { .. }
            | TraceEvent::SduDelivered { .. }
            | TraceEvent::SduDiscarded { .. }
            | TraceEvent::RlcBuffer { .. }
            | TraceEvent::RlcUnrecoverable { .. }
            | TraceEvent::TimerPollExpired { .. }
            | TraceEvent::Handover { .. }
            | TraceEvent::DchRequested { .. }
            | TraceEvent::RlcReset { .. }
            | TraceEvent::RlcInitialState { .. }
            | TraceEvent::CellUpdateStarted { .. }
            | TraceEvent::CellUpdateEnded { .. }
            | TraceEvent::DchRefused { .. }
            | TraceEvent::DchQueued { .. }
            | TraceEvent::DchGranted { .. }
            | TraceEvent::DchWithdrawn { .. }
            | TraceEvent::RrcSwitch { .. }
            | TraceEvent::RrcState { .. }
            | TraceEvent::HsBlockSent { .. }
            | TraceEvent::T1Expired { .. }
            | TraceEvent::EBlockSent { .. }
            | TraceEvent::ET1Expired { .. }
            | TraceEvent::EGrantSent { .. }
            | TraceEvent::ENoiseRise { .. }
            | TraceEvent::CapacityNeeded { .. }
            | TraceEvent::CapacityRequested { .. }
            | TraceEvent::CapacityRefused { .. }
            | TraceEvent::CapacityWithdrawn { .. }
            | TraceEvent::CapacityGranted { .. }
            | TraceEvent::AckCollision { .. }
            | TraceEvent::AckDeferred { .. }
            | TraceEvent::DschPostponed { .. }
            | TraceEvent::LinkRateChanged { .. }
            | TraceEvent::LinkDelayChanged { .. } => self.budget.record(now, event),
            // Events of simulated connections. Their numbers are unrelated.
            _ => {}
        }
    }

    fn show(&mut self, now: Time, detail: &Detail<'_>) {
        self.budget.show(now, detail);
    }
}

#[cfg(test)]
mod tests;
