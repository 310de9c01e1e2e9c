//! All TCP connections of a run: passes each trace event to the connection that it names, and adds
//! the sums of a closed connection to the totals of the network, of its flow, and of its leg.
//!
//! A proxy can split a transfer into two connections: the leg between server and proxy, and the leg
//! between proxy and UE. The leg that delivers the data to the proxy counts only with its segments
//! and retransmissions, because the other leg carries the same octets once more.

use umts_stack::ids::{ConnectionId, Direction, End, FlowId, ProxyLeg};
use umts_stack::trace::TraceEvent;
use umts_units::{BitRate, Duration, Time};

use super::connection::{Connection, Moment, NetworkSamples, Opening};
use super::definitions::connection_values;
use super::results::{ConnectionRow, MetricSet};
use super::totals::{Fairness, LegTotals, TcpTotals};
use super::window::{BusyClock, Window};
use crate::open::Open;

/// Successive connections of one flow, which have the same sender and receiver.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    /// Number of open connections.
    open: u32,
    /// When the last connection closed. `None` while one is open.
    idle_since: Option<Time>,
    /// Octets acknowledged in closed connections.
    acknowledged: u64,
    /// Whether a connection of the flow overlapped the window.
    was_in_window: bool,
}

#[derive(Debug)]
pub(super) struct TcpRecorder {
    pub window: Window,
    /// Minimum length of a stall.
    min_stall: Duration,
    /// Payload rate of the downlink bearer, by UE.
    rates: Vec<Option<BitRate>>,
    open: Open<Connection>,
    flows: Vec<Flow>,
    /// Samples of connections, except those in `proxied`.
    network: NetworkSamples,
    /// Samples of connections that end at a proxy, which sends their octets on another connection.
    proxied: NetworkSamples,
    /// Sums of closed connections.
    totals: TcpTotals,
    /// Sums of closed connections of split transfers: the server's leg and the radio leg.
    pub legs: [LegTotals; 2],
    pub finished: Vec<ConnectionRow>,
}

impl TcpRecorder {
    pub fn new(window: Window, min_stall: Duration, rates: Vec<Option<BitRate>>) -> Self {
        TcpRecorder {
            window,
            min_stall,
            rates,
            open: Open::default(),
            flows: Vec::new(),
            network: NetworkSamples::default(),
            proxied: NetworkSamples::default(),
            totals: TcpTotals::default(),
            legs: Default::default(),
            finished: Vec::new(),
        }
    }

    /// Inlined like [`super::Metrics`], so that only the call for the event that is constructed at
    /// the call site remains.
    #[inline(always)]
    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        let moment = Moment::new(at, &self.window);
        match event {
            TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss } => {
                let opening = Opening { id: *connection, flow: *flow, ue: *ue, sender: *sender, mss: *mss };
                let opened = Connection::new(opening, self.min_stall, moment);
                self.opened(moment, opened.of_transfer(*transfer, *leg));
            }
            TraceEvent::ConnectionClosed { connection } => self.closed(moment, *connection),
            TraceEvent::SegmentSent { packet, segment, cause } => {
                if let Some((connection, network)) = self.find(segment.connection) {
                    connection.sent(moment, *packet, segment, *cause, network);
                }
            }
            TraceEvent::SegmentReceived { packet, segment, delivered, .. } => {
                if let Some((connection, _)) = self.find(segment.connection) {
                    connection.received(moment, *packet, segment, *delivered);
                }
            }
            TraceEvent::AppWrote { connection, end, bytes } => {
                if let Some((connection, network)) = self.find_sender(*connection, *end) {
                    connection.wrote(moment, *bytes, network);
                }
            }
            TraceEvent::Acked { connection, end, una, payload } => {
                let window = self.window;
                if let Some((connection, network)) = self.find_sender(*connection, *end) {
                    connection.acknowledged(moment, *una, *payload, &window, network);
                }
            }
            TraceEvent::DupAck { connection, end, .. } => {
                if let Some((connection, _)) = self.find_sender(*connection, *end) {
                    connection.dupack(moment);
                }
            }
            TraceEvent::RttSample { connection, end, rtt } => {
                if let Some((connection, network)) = self.find_sender(*connection, *end) {
                    connection.rtt_sample(moment, *rtt, network);
                }
            }
            TraceEvent::PacketCallStarted { connection } => {
                if let Some((connection, _)) = self.find(*connection) {
                    connection.call_started();
                }
            }
            TraceEvent::PacketCallEnded { connection, since } => {
                if let Some((connection, _)) = self.find(*connection) {
                    connection.call_ended(moment, *since);
                }
            }
            TraceEvent::RtoExpired { connection, end, .. } => {
                if let Some((connection, _)) = self.find_sender(*connection, *end) {
                    connection.rto_expired(moment);
                }
            }
            TraceEvent::ConnectionFailed { connection, .. } => {
                if let Some((failed, _)) = self.find(*connection) {
                    failed.failed(moment);
                }
                self.closed(moment, *connection);
            }
            TraceEvent::EcnReduction { connection, end } => {
                if let Some((connection, _)) = self.find_sender(*connection, *end) {
                    connection.ecn_reduction(moment);
                }
            }
            TraceEvent::RackLoss { connection, end, .. }
            | TraceEvent::TailLossProbe { connection, end, .. }
            | TraceEvent::TailLossRepaired { connection, end } => {
                if let Some((connection, _)) = self.find_sender(*connection, *end) {
                    connection.rack_or_probe(moment, event);
                }
            }
            TraceEvent::SpuriousRetransmission { connection, end, .. } => {
                if let Some((connection, _)) = self.find_sender(*connection, *end) {
                    connection.spurious_undone(moment);
                }
            }
            _ => {}
        }
    }

    /// Closes the open connections. Returns the sums of all connections, and the fairness of the
    /// flows.
    pub fn finish(&mut self, end: Time, capacity: Option<BitRate>) -> (TcpTotals, Fairness) {
        let moment = Moment::new(end, &self.window);
        for connection in std::mem::take(&mut self.open).into_values() {
            self.finish_connection(moment, connection, None);
        }
        let mut totals = std::mem::take(&mut self.totals);
        totals.window = self.window.length();
        totals.active_union = self.network.active.total(moment.clamped);
        totals.transfer_union = self.network.transfer.total(moment.clamped);
        totals.capacity = capacity;
        totals.rtt = std::mem::take(&mut self.network.rtt);
        (totals, self.fairness(moment.clamped))
    }

    fn opened(&mut self, moment: Moment, mut connection: Connection) {
        self.ensure_flow(connection.flow);
        if !connection.ends_at_proxy() {
            connection.totals.off_time = self.flow_opened(connection.flow, moment.at);
        }
        self.open.insert(connection.id, connection);
    }

    /// Adds entries for a new flow.
    fn ensure_flow(&mut self, flow: FlowId) {
        if flow.index() >= self.flows.len() {
            self.flows.resize(flow.index() + 1, Flow::default());
            for samples in [&mut self.network, &mut self.proxied] {
                samples.active_of_flow.resize(flow.index() + 1, BusyClock::default());
            }
        }
    }

    /// A connection of the flow opens. Returns the time inside the window for which the flow had no
    /// connection before.
    fn flow_opened(&mut self, flow: FlowId, at: Time) -> Duration {
        let flow = &mut self.flows[flow.index()];
        flow.open += 1;
        flow.idle_since.take().map_or(Duration::ZERO, |since| self.window.overlap(since, at))
    }

    fn closed(&mut self, moment: Moment, id: ConnectionId) {
        let Some(connection) = self.open.remove(id) else { return };
        if !connection.ends_at_proxy() {
            let flow = &mut self.flows[connection.flow.index()];
            flow.open -= 1;
            flow.idle_since = (flow.open == 0).then_some(moment.at);
        }
        self.finish_connection(moment, connection, Some(moment.at));
    }

    /// Adds a connection to the sums and writes its row, unless it is outside the window.
    fn finish_connection(&mut self, moment: Moment, mut connection: Box<Connection>, closed: Option<Time>) {
        let rate = self.rates.get(connection.ue.index()).copied().flatten();
        let rate = rate.filter(|_| connection.sender.sends() == Direction::Downlink);
        let network = if connection.ends_at_proxy() { &mut self.proxied } else { &mut self.network };
        connection.close(moment, &self.window, rate, network);
        if connection.opened >= self.window.to() || moment.at < self.window.from {
            return;
        }
        if connection.ends_at_proxy() {
            self.totals.add_segments(&connection.totals);
        } else {
            let flow = &mut self.flows[connection.flow.index()];
            flow.was_in_window = true;
            flow.acknowledged += connection.totals.acknowledged;
            self.totals.add(&connection.totals);
        }
        match connection.leg {
            ProxyLeg::Server => self.legs[0].add(&connection.totals),
            ProxyLeg::Radio => self.legs[1].add(&connection.totals),
            ProxyLeg::Whole => {}
        }
        self.finished.push(ConnectionRow {
            connection: connection.id,
            transfer: connection.transfer,
            leg: connection.leg,
            flow: connection.flow,
            ue: connection.ue,
            opened_s: connection.opened.as_secs(),
            closed_s: closed.map(Time::as_secs),
            values: connection_values(&connection.totals).collect(),
            budget: MetricSet::default(),
        });
    }

    /// Jain's indices of the flows in the window: of their acknowledged octets, and of their
    /// acknowledged octets per second of activity.
    fn fairness(&self, end: Time) -> Fairness {
        let flows =
            || self.flows.iter().zip(&self.network.active_of_flow).filter(|(flow, _)| flow.was_in_window);
        Fairness {
            goodputs: jain(flows().map(|(flow, _)| flow.acknowledged as f64)),
            active_rates: jain(flows().filter_map(|(flow, active)| {
                let active_s = active.total(end).as_secs();
                (active_s > 0.0).then(|| flow.acknowledged as f64 / active_s)
            })),
        }
    }

    /// An open connection, and the samples to which it contributes. Inlined like its callers.
    #[inline]
    fn find(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut NetworkSamples)> {
        let connection = self.open.get(id)?;
        let network = if connection.ends_at_proxy() { &mut self.proxied } else { &mut self.network };
        Some((connection, network))
    }

    /// As [`find`](Self::find), if `end` is the sender of the connection's data.
    #[inline]
    fn find_sender(&mut self, id: ConnectionId, end: End) -> Option<(&mut Connection, &mut NetworkSamples)> {
        self.find(id).filter(|(connection, _)| connection.sender == end)
    }
}

/// Jain's fairness index (Σx)² / (n Σx²). `None` if all shares are zero.
pub(super) fn jain(shares: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}
