//! The time budget of the programs' TCP connections and UDP flows, derived from their packets.
//!
//! [`ProgramsBudget`] is a trace sink. It recognises the connection of each packet (`tcp.rs`,
//! `udp.rs`) and records the events that a simulated connection would have recorded (segments sent
//! and received, data acknowledged), from which [`Budget`] computes the time budget. Internals of
//! the kernel (windows, writes of the application, timers) are not guessed: their time is
//! `not_visible`. If a DNS lookup precedes a connection, the connection's budget begins with the
//! DNS question.

mod tcp;
#[cfg(test)]
mod tests;
mod udp;

use std::collections::BTreeMap;
use std::net::IpAddr;

use umts_kernel::TraceSink;
use umts_record::budget::{Budget, BudgetConfig, ConnectionOrigin};
use umts_record::metrics::RunMetrics;
use umts_record::series::{Column, Table, Values};
use umts_stack::detail::Detail;
use umts_stack::ids::{ConnectionId, Direction, End, PacketId, ProxyLeg, UeId};
use umts_stack::network::NetworkConfig;
use umts_stack::packet::{Content, Foreign, Packet, Segment};
use umts_stack::trace::{CapturePoint, TraceEvent};
use umts_units::Time;

use crate::packets::packet_store::PacketStore;
use crate::packets::transport::point_of;
use tcp::Connection;
use udp::Flow;

/// Maximum number of connections, and of flows. The first in the order of the keys is then removed.
const MAX_CONNECTIONS: usize = 4096;
/// Maximum number of segments, and of datagrams, in the network. The oldest is then removed.
const MAX_SEGMENTS: usize = 65_536;

/// The two ends of a connection or flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    /// Address and port of the server.
    server: (IpAddr, u16),
    /// Address and port of the UE.
    ue: (IpAddr, u16),
}

impl Ends {
    /// The ends of a packet between these addresses and ports.
    fn of(direction: Direction, from: (IpAddr, u16), to: (IpAddr, u16)) -> Self {
        match direction {
            Direction::Downlink => Ends { server: from, ue: to },
            Direction::Uplink => Ends { server: to, ue: from },
        }
    }
}

/// Key of a connection. It includes the leg: behind a proxy that keeps addresses and ports, both
/// legs have the same ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    leg: ProxyLeg,
    ends: Ends,
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

/// Columns of a connection in the table, in addition to its budget.
#[derive(Debug, Clone, Copy)]
struct ConnectionColumns {
    server_port: u16,
    ue_port: u16,
    packets: u32,
}

impl ConnectionColumns {
    /// The columns of a connection without packets.
    fn of(ends: Ends) -> Self {
        let Ends { server: (_, server_port), ue: (_, ue_port) } = ends;
        ConnectionColumns { server_port, ue_port, packets: 0 }
    }
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
        for table in tables.iter_mut().filter(|table| table.name == "budget_connections") {
            let Some(Values::Id(ids)) = table.column("connection") else { continue };
            let values = |choose: fn(&ConnectionColumns) -> u32| {
                let value = |id: &u32| self.columns.get(*id as usize).map_or(0, choose);
                Values::Id(ids.iter().map(value).collect())
            };
            let columns = [
                ("server_port", values(|columns| columns.server_port.into())),
                ("ue_port", values(|columns| columns.ue_port.into())),
                ("packets", values(|columns| columns.packets)),
            ];
            table.columns.extend(columns.map(|(name, values)| Column { name, unit: "", values }));
        }
        tables
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

impl ProgramsBudget {
    /// Passes an event to the budget.
    fn record_event(&mut self, now: Time, event: TraceEvent) {
        self.budget.record(now, &event);
    }

    /// Records that a packet has left the network.
    fn record_arrival(&mut self, now: Time, packet: PacketId) {
        if let Some(segment) = self.datagrams.remove(&packet) {
            let delivered = u64::from(segment.payload);
            let event = TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false };
            self.record_event(now, event);
        } else if let Some((key, segment)) = self.segments.remove(&packet) {
            self.record_segment_arrival(now, packet, key, segment);
        }
    }

    /// Adds the row of a new connection. Returns its number.
    fn next_id(&mut self, ends: Ends) -> ConnectionId {
        let id = ConnectionId(self.columns.len() as u32);
        self.columns.push(ConnectionColumns::of(ends));
        id
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
