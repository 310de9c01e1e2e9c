//! Follows one TCP connection through its trace events and sums up its metrics: bytes, segments,
//! retransmissions, round-trip times, data in flight, and the times of downloads and packet calls.
//!
//! A connection has one sender of data (`sender`). Segments from the other end count as
//! acknowledgments. Counters count only events inside the measurement window. State, such as the
//! highest byte sent, is followed from the opening of the connection on, also before the window.

use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::packet::{Ecn, Flags, Segment};
use umts_stack::trace::{SendCause, TraceEvent};
use umts_units::{BitRate, Duration, Time};

use super::arrivals::Arrivals;
use super::idle_gaps::IdleGaps;
use super::rtt::RttSamples;
use super::stalls::StallDetector;
use super::totals::TcpTotals;
use super::window::{BusyClock, Window};

/// Number of the first payload byte. Number 0 is the SYN.
const FIRST_BYTE: u64 = 1;

/// Number of successive duplicate acknowledgments that make a run: as many as start a fast
/// retransmit (RFC 5681 §3.2).
const DUPACKS_OF_A_RUN: u32 = 3;

/// Clocks and samples of the network, updated by the events of all connections.
#[derive(Debug, Default)]
pub(super) struct NetworkSamples {
    pub active: BusyClock,
    /// Active time by flow.
    pub active_of_flow: Vec<BusyClock>,
    pub transfer: BusyClock,
    pub rtt: RttSamples,
}

/// State and sums of an open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    pub transfer: ConnectionId,
    pub leg: ProxyLeg,
    pub flow: FlowId,
    pub ue: UeId,
    /// The end that sends the data.
    pub sender: End,
    pub opened: Time,
    /// Payload of a full segment, in bytes.
    mss: u32,

    // The data since the opening.
    /// Payload bytes that the application wrote.
    written: u64,
    /// Payload bytes that are acknowledged.
    acknowledged: u64,
    /// Payload bytes that were delivered in order.
    delivered: u64,
    /// Sequence number after the highest byte sent.
    highest_sent: u64,
    /// The oldest unacknowledged sequence number (SND.UNA, RFC 9293 §3.3.1).
    una: u64,
    /// Number of successive duplicate acknowledgments, independent of the sender's reaction.
    duplicates: u32,

    // Times.
    /// Time at which the first SYN was sent.
    syn_sent: Option<Time>,
    /// Time at which the first data segment was sent.
    data_sent: Option<Time>,
    /// Time at which payload last came into order at the receiver.
    last_delivery: Time,
    /// Start of the current packet call.
    call_since: Option<Time>,
    /// Whether the application reports the start and end of its packet calls.
    reports_packet_calls: bool,
    /// The latest round-trip time that the sender measured.
    last_rtt: Option<Duration>,
    /// Start of the receiver's current zero window.
    zero_window_since: Option<Time>,

    // Activity, and integrals over the active time.
    is_closed: bool,
    /// Whether the application has written data that are not acknowledged yet.
    is_active: bool,
    /// Whether the connection is active and has sent its first data segment.
    is_transferring: bool,
    /// Time up to which the integrals are computed.
    settled_at: Time,
    /// Integral of the outstanding data over active time, in bytes times nanoseconds.
    outstanding_integral: u128,
    /// Maximum of the outstanding data, in bytes.
    max_outstanding: u64,

    // Sums.
    arrivals: Arrivals,
    idle_gaps: IdleGaps,
    stalls: StallDetector,
    pub totals: TcpTotals,
}

/// The participants of a connection and its segment size, known from its opening.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub id: ConnectionId,
    pub flow: FlowId,
    pub ue: UeId,
    /// The end that sends the data.
    pub sender: End,
    /// Payload of a full segment, in bytes.
    pub mss: u32,
}

/// Time of an event, and whether it is in the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub at: Time,
    /// `at`, clamped to the window.
    pub clamped: Time,
    /// Whether `at` is in the window. Counters count only measured events.
    pub measured: bool,
}

impl Moment {
    #[inline]
    pub fn new(at: Time, window: &Window) -> Self {
        let measured = window.contains(at);
        Moment { at, clamped: if measured { at } else { window.clamp(at) }, measured }
    }
}

impl Connection {
    /// A connection that opens at `moment`. `min_stall` is the shortest time without progress that
    /// counts as a stall.
    pub fn new(opening: Opening, min_stall: Duration, moment: Moment) -> Self {
        let Opening { id, flow, ue, sender, mss } = opening;
        Connection {
            id,
            transfer: id,
            leg: ProxyLeg::Whole,
            flow,
            ue,
            sender,
            mss,
            opened: moment.at,
            written: 0,
            acknowledged: 0,
            delivered: 0,
            highest_sent: FIRST_BYTE,
            una: 0,
            duplicates: 0,
            syn_sent: None,
            data_sent: None,
            last_delivery: moment.at,
            call_since: None,
            reports_packet_calls: false,
            last_rtt: None,
            zero_window_since: None,
            is_closed: false,
            is_active: false,
            is_transferring: false,
            settled_at: moment.clamped,
            outstanding_integral: 0,
            max_outstanding: 0,
            arrivals: Arrivals::default(),
            idle_gaps: IdleGaps::default(),
            stalls: StallDetector::new(min_stall),
            totals: TcpTotals::default(),
        }
    }

    /// Makes this connection the `leg` of a transfer that a proxy splits.
    pub fn of_transfer(self, transfer: ConnectionId, leg: ProxyLeg) -> Self {
        Connection { transfer, leg, ..self }
    }

    /// Whether the connection delivers its data to a proxy, which sends them on another connection.
    #[inline]
    pub fn ends_at_proxy(&self) -> bool {
        matches!((self.leg, self.sender), (ProxyLeg::Server, End::Server) | (ProxyLeg::Radio, End::Ue))
    }

    /// The application wrote `bytes` of payload.
    pub fn wrote(&mut self, moment: Moment, bytes: u64, network: &mut NetworkSamples) {
        self.settle(moment.clamped);
        self.written = self.written.saturating_add(bytes);
        self.idle_gaps.wait(moment.at, self.last_rtt);
        self.update_activity(moment.clamped, network);
    }

    /// A segment left its host. Inlined like [`super::Metrics`], so that the event with its copy of
    /// the segment is not constructed.
    #[inline]
    pub fn sent(
        &mut self,
        moment: Moment,
        packet: PacketId,
        segment: &Segment,
        cause: SendCause,
        network: &mut NetworkSamples,
    ) {
        self.record_packet_time(moment);
        if segment.flags.syn {
            self.syn_sent.get_or_insert(moment.at);
            self.totals.syn_retransmissions += u64::from(moment.measured && cause.is_again());
        }
        if segment.direction != self.sender.sends() {
            return;
        }
        self.settle(moment.clamped);
        if segment.payload > 0 {
            self.sent_data(moment, segment);
            self.update_activity(moment.clamped, network);
        }
        if moment.measured {
            self.totals.ecn_answers += u64::from(segment.flags.cwr && !segment.flags.syn);
            self.totals.keep_alives += u64::from(cause == SendCause::KeepAlive);
            self.totals.zero_window_probes += u64::from(cause == SendCause::WindowProbe);
        }
        if cause.is_again() {
            self.record_retransmission(moment, packet, segment.seq, segment.end(), cause);
        } else if moment.measured && segment.payload > 0 {
            self.totals.data_segments += 1;
        }
    }

    /// Counts a data segment and the octets in it that were never sent before.
    #[inline]
    fn sent_data(&mut self, moment: Moment, segment: &Segment) {
        let end = segment.seq + u64::from(segment.payload);
        let new_octets = end.saturating_sub(self.highest_sent.max(segment.seq));
        self.highest_sent = self.highest_sent.max(end);
        if self.is_in_flight() {
            self.stalls.sent(moment.at);
        }
        self.data_sent.get_or_insert(moment.at);
        self.call_since.get_or_insert(moment.at);
        let was_idle = self.idle_gaps.end(moment.at);
        if self.written >= self.highest_sent {
            self.idle_gaps.wait(moment.at, self.last_rtt);
        }
        if moment.measured {
            self.totals.sent += u64::from(segment.payload);
            self.totals.sent_once += new_octets;
            self.totals.idle_gaps += u64::from(was_idle);
            self.totals.connections_with_data = 1;
        }
    }

    /// Counts a retransmission of the sequence numbers from `seq` to before `end`.
    fn record_retransmission(
        &mut self,
        moment: Moment,
        packet: PacketId,
        seq: u64,
        end: u64,
        cause: SendCause,
    ) {
        let has_arrived = self.arrivals.record_retransmission(packet, seq, end, moment.measured);
        if moment.measured {
            self.totals.retransmissions += 1;
            self.totals.by_dupack += u64::from(cause == SendCause::DupAck);
            self.totals.by_rto += u64::from(cause == SendCause::Rto);
            self.totals.unneeded += u64::from(has_arrived);
        }
    }

    /// A segment reached its host and brought `delivered` octets of payload into order. Inlined
    /// like [`sent`](Self::sent).
    #[inline]
    pub fn received(&mut self, moment: Moment, packet: PacketId, segment: &Segment, delivered: u64) {
        self.record_packet_time(moment);
        let is_from_sender = segment.direction == self.sender.sends();
        if is_from_sender {
            self.data_received(moment, packet, segment, delivered);
        } else {
            self.ack_received(moment, segment);
        }
    }

    /// A segment from the other end reached the sender of the data.
    #[inline]
    fn ack_received(&mut self, moment: Moment, segment: &Segment) {
        let Flags { syn, ack, rst, ece, .. } = segment.flags;
        let is_pure_ack = ack && !rst && segment.sequence_length() == 0;
        self.totals.acks_received += u64::from(moment.measured && is_pure_ack);
        if ack && !syn && !rst {
            let window_is_zero = segment.window == 0;
            self.record_ack(moment, window_is_zero, ece);
        }
    }

    /// A segment from the sender of the data reached the receiver.
    #[inline]
    fn data_received(&mut self, moment: Moment, packet: PacketId, segment: &Segment, delivered: u64) {
        self.totals.ecn_marks += u64::from(moment.measured && segment.ecn == Ecn::Experienced);
        if segment.sequence_length() > 0 {
            self.totals.unneeded += self.arrivals.arrived(packet, segment.seq, segment.end());
        }
        if delivered > 0 {
            self.delivered += delivered;
            self.last_delivery = moment.at;
            if moment.measured {
                self.totals.delivered += delivered;
            }
        }
    }

    /// Records window and ECN echo of an acknowledgment.
    fn record_ack(&mut self, moment: Moment, window_is_zero: bool, ece: bool) {
        self.totals.ecn_echoes += u64::from(moment.measured && ece);
        self.totals.zero_windows += u64::from(moment.measured && window_is_zero);
        match (self.zero_window_since, window_is_zero) {
            (None, true) => self.zero_window_since = Some(moment.clamped),
            (Some(_), false) => self.end_zero_window(moment),
            _ => {}
        }
    }

    fn end_zero_window(&mut self, moment: Moment) {
        if let Some(since) = self.zero_window_since.take() {
            self.totals.zero_window_time += moment.clamped - since;
        }
    }

    /// The sender reduced its window because of an ECN mark.
    pub fn ecn_reduction(&mut self, moment: Moment) {
        self.totals.ecn_reductions += u64::from(moment.measured);
    }

    /// The sender received an acknowledgment that moves SND.UNA to `una` and covers `payload` new
    /// octets. A packet call without a report of the application ends when all written data are
    /// acknowledged.
    #[inline]
    pub fn acknowledged(
        &mut self,
        moment: Moment,
        una: u64,
        payload: u64,
        window: &Window,
        network: &mut NetworkSamples,
    ) {
        self.settle(moment.clamped);
        self.duplicates = 0;
        self.una = self.una.max(una);
        self.stalls.progress(moment.at, self.is_in_flight(), window, &mut self.totals.stalls);
        self.acknowledged += payload;
        if moment.measured {
            self.totals.acknowledged += payload;
        }
        let ends_packet_call = !self.reports_packet_calls && self.acknowledged >= self.written;
        if ends_packet_call && let Some(since) = self.call_since.take() {
            self.call_ended(moment, since);
        }
        self.update_activity(moment.clamped, network);
    }

    /// The application reports the start of a packet call.
    pub fn call_started(&mut self) {
        self.reports_packet_calls = true;
    }

    /// A packet call that began at `since` ended.
    pub fn call_ended(&mut self, moment: Moment, since: Time) {
        if moment.measured {
            self.totals.packet_calls.add(moment.at - since);
        }
    }

    /// The sender measured a round-trip time.
    pub fn rtt_sample(&mut self, moment: Moment, rtt: Duration, network: &mut NetworkSamples) {
        self.settle(moment.clamped);
        self.last_rtt = Some(rtt);
        if moment.measured {
            self.totals.rtt.record(rtt);
            network.rtt.record(rtt);
        }
    }

    /// The sender received a duplicate acknowledgment. The third in a row makes a run.
    pub fn dupack(&mut self, moment: Moment) {
        self.duplicates += 1;
        self.totals.dupack_runs += u64::from(moment.measured && self.duplicates == DUPACKS_OF_A_RUN);
    }

    /// The connection was refused, reset or given up.
    pub fn failed(&mut self, moment: Moment) {
        self.totals.failed += u64::from(moment.measured);
    }

    /// Records losses found by RACK, and tail loss probes.
    pub fn rack_or_probe(&mut self, moment: Moment, event: &TraceEvent) {
        if !moment.measured {
            return;
        }
        let totals = &mut self.totals;
        match event {
            TraceEvent::RackLoss { segments, .. } => totals.rack_losses += u64::from(*segments),
            TraceEvent::TailLossProbe { repeats: true, .. } => totals.probes += 1,
            TraceEvent::TailLossProbe { repeats: false, .. } => totals.new_probes += 1,
            TraceEvent::TailLossRepaired { .. } => totals.probe_repairs += 1,
            _ => {}
        }
    }

    /// The sender undid a reaction to a loss that turned out to be unneeded.
    pub fn spurious_undone(&mut self, moment: Moment) {
        self.totals.spurious_undone += u64::from(moment.measured);
    }

    /// The sender's retransmission timer expired.
    pub fn rto_expired(&mut self, moment: Moment) {
        // Duplicate acknowledgments after the timeout answer the retransmissions: a new run.
        self.duplicates = 0;
        self.totals.expiries += u64::from(moment.measured);
    }

    /// Completes the sums at the end of the connection or of the window, whichever is first.
    pub fn close(
        &mut self,
        moment: Moment,
        window: &Window,
        rate: Option<BitRate>,
        network: &mut NetworkSamples,
    ) {
        self.settle(moment.clamped);
        self.end_zero_window(moment);
        // Nothing is in flight after the end of the connection.
        let is_in_flight = false;
        self.stalls.progress(moment.at, is_in_flight, window, &mut self.totals.stalls);
        self.is_closed = true;
        self.update_activity(moment.clamped, network);
        self.totals.window = window.length();
        self.totals.active_union = self.totals.active;
        self.totals.capacity = rate;
        self.sum_outstanding();
        self.record_download(window);
    }

    /// Converts the outstanding data from bytes to segments, and its integral from nanoseconds to
    /// seconds.
    fn sum_outstanding(&mut self) {
        let mss = f64::from(self.mss.max(1));
        self.totals.outstanding_segment_s = self.outstanding_integral as f64 / mss / 1e9;
        self.totals.max_outstanding = self.max_outstanding as f64 / mss;
    }

    /// Records the download times if the receiver has all written data, the last of it inside the
    /// window.
    fn record_download(&mut self, window: &Window) {
        let is_complete = self.written > 0 && self.delivered >= self.written;
        if !is_complete || !window.contains(self.last_delivery) {
            return;
        }
        if let Some(syn) = self.syn_sent {
            self.totals.downloads.add(self.last_delivery - syn);
        }
        if let Some(data) = self.data_sent {
            self.totals.data_downloads.add(self.last_delivery - data);
        }
    }

    /// Extends the time from the first to the last packet of the connection.
    #[inline]
    fn record_packet_time(&mut self, moment: Moment) {
        if moment.measured {
            self.totals.first_packet.get_or_insert(moment.at);
            self.totals.last_packet = Some(moment.at);
        }
    }

    #[inline]
    fn is_in_flight(&self) -> bool {
        self.outstanding() > 0
    }

    /// Payload that is sent and not acknowledged, in bytes.
    #[inline]
    fn outstanding(&self) -> u64 {
        self.highest_sent.saturating_sub(self.una.max(FIRST_BYTE))
    }

    /// Adds the time since the last event to the integrals. Call before an event changes the
    /// outstanding data, the latest round-trip time or the activity.
    #[inline]
    fn settle(&mut self, now: Time) {
        let passed = now - self.settled_at;
        self.settled_at = now;
        if passed.is_zero() || !self.is_active {
            return;
        }
        self.totals.active += passed;
        if self.is_transferring {
            self.totals.transfer_union += passed;
        }
        let outstanding = self.outstanding();
        self.outstanding_integral += u128::from(outstanding) * u128::from(passed.as_nanos());
        self.max_outstanding = self.max_outstanding.max(outstanding);
        if let Some(rtt) = self.last_rtt {
            self.totals.rtt_integral += u128::from(rtt.as_nanos()) * u128::from(passed.as_nanos());
            self.totals.rtt_known += passed;
        }
    }

    /// Starts or stops the clocks of the network if the activity of this connection changed.
    #[inline]
    fn update_activity(&mut self, now: Time, network: &mut NetworkSamples) {
        let is_active = !self.is_closed && self.written > self.acknowledged;
        let is_transferring = is_active && self.data_sent.is_some();
        if is_active != self.is_active {
            self.is_active = is_active;
            network.active.switch(is_active, now);
            network.active_of_flow[self.flow.index()].switch(is_active, now);
        }
        if is_transferring != self.is_transferring {
            self.is_transferring = is_transferring;
            network.transfer.switch(is_transferring, now);
        }
    }
}
