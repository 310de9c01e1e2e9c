//! Sums of TCP connections.

use umts_units::{BitRate, Duration, Time};

use super::Intervals;
use crate::metrics::rtt::RttSamples;
use crate::metrics::stalls::Stalls;

/// TCP totals, of one connection or of all connections together. Segments and octets are those that
/// the sender of the data sends, unless stated otherwise.
#[derive(Debug, Default)]
pub(in crate::metrics) struct TcpTotals {
    // ── Denominators ──
    /// Length of the measurement window.
    pub window: Duration,
    /// Time in which any connection was active: its application had written data that were not
    /// acknowledged. Of one connection, the same as `active`.
    pub active_union: Duration,
    /// Time in which any connection was active and had sent its first data segment.
    pub transfer_union: Duration,
    /// Payload rate of the bearer, or of all downlink channels.
    pub capacity: Option<BitRate>,
    // ── Payload bytes ──
    pub acknowledged: u64,
    /// Delivered to the application in order.
    pub delivered: u64,
    /// Sent, with retransmissions.
    pub sent: u64,
    /// Sent, each byte counted once.
    pub sent_once: u64,
    // ── Counters ──
    pub connections_with_data: u64,
    /// Segments with new payload.
    pub data_segments: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmissions because of duplicate acknowledgments.
    pub by_dupack: u64,
    /// Retransmissions after a timeout.
    pub by_rto: u64,
    /// Retransmissions of data that the receiver had already.
    pub unneeded: u64,
    /// Expiries of the retransmission timer.
    pub expiries: u64,
    /// SYN and SYN-ACK segments that either end retransmitted.
    pub syn_retransmissions: u64,
    /// Segments that RACK found lost.
    pub rack_losses: u64,
    /// Tail loss probes that repeated data.
    pub probes: u64,
    /// Tail loss probes with new data.
    pub new_probes: u64,
    /// Losses that a tail loss probe repaired.
    pub probe_repairs: u64,
    /// Reactions to a loss that were undone.
    pub spurious_undone: u64,
    /// Connections that failed.
    pub failed: u64,
    /// Number of runs of three or more duplicate acknowledgments.
    pub dupack_runs: u64,
    /// Acknowledgments that the sender received.
    pub acks_received: u64,
    /// ECN marks that arrived (CE).
    pub ecn_marks: u64,
    /// Echoes of ECN marks (ECE).
    pub ecn_echoes: u64,
    /// Answers of the sender to echoes (CWR).
    pub ecn_answers: u64,
    /// Reductions of the congestion window because of an echo.
    pub ecn_reductions: u64,
    pub keep_alives: u64,
    /// Windows of zero that the sender received.
    pub zero_windows: u64,
    /// The sender's probes of zero windows.
    pub zero_window_probes: u64,
    /// Time in which the last window that the sender received was zero.
    pub zero_window_time: Duration,
    /// Periods in which a sender with data to send stayed silent.
    pub idle_gaps: u64,
    /// Times without a new acknowledgment while data was in flight.
    pub stalls: Stalls,
    // ── Integrals over active time, summed over connections ──
    pub active: Duration,
    /// Integral of the outstanding data, in full segments times seconds.
    pub outstanding_segment_s: f64,
    /// Maximum of the outstanding data, in full segments.
    pub max_outstanding: f64,
    /// Integral of the latest round-trip time over active time, in nanoseconds squared.
    pub rtt_integral: u128,
    /// Active time since the first sample of the round-trip time.
    pub rtt_known: Duration,
    // ── Times ──
    pub rtt: RttSamples,
    pub first_packet: Option<Time>,
    pub last_packet: Option<Time>,
    /// Time between the end of the flow's previous connection and the start of this one.
    pub off_time: Duration,
    /// Times of downloads, from the SYN to the last byte.
    pub downloads: Intervals,
    /// Times of downloads, from the first data segment to the last byte.
    pub data_downloads: Intervals,
    /// Times of packet calls, such as web pages.
    pub packet_calls: Intervals,
}

/// TCP retransmissions and timeouts on one leg of transfers that a proxy splits.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct LegTotals {
    pub retransmissions: u64,
    pub expiries: u64,
}

impl LegTotals {
    pub fn add(&mut self, leg: &TcpTotals) {
        self.retransmissions += leg.retransmissions;
        self.expiries += leg.expiries;
    }
}

impl TcpTotals {
    /// Adds the segments and retransmissions of another connection. Nothing else counts of the leg of
    /// a split transfer that delivers its data to the proxy: the leg from the proxy to the receiver
    /// has the same octets.
    pub fn add_segments(&mut self, other: &TcpTotals) {
        self.data_segments += other.data_segments;
        self.retransmissions += other.retransmissions;
        self.by_dupack += other.by_dupack;
        self.by_rto += other.by_rto;
        self.unneeded += other.unneeded;
        self.expiries += other.expiries;
        self.rack_losses += other.rack_losses;
        self.probes += other.probes;
        self.new_probes += other.new_probes;
        self.probe_repairs += other.probe_repairs;
        self.spurious_undone += other.spurious_undone;
        self.dupack_runs += other.dupack_runs;
        self.stalls.merge(&other.stalls);
    }

    /// Adds another connection, except RTT samples, which the network collects separately.
    pub fn add(&mut self, other: &TcpTotals) {
        self.add_segments(other);
        self.acknowledged += other.acknowledged;
        self.delivered += other.delivered;
        self.sent += other.sent;
        self.sent_once += other.sent_once;
        self.connections_with_data += other.connections_with_data;
        self.syn_retransmissions += other.syn_retransmissions;
        self.failed += other.failed;
        self.acks_received += other.acks_received;
        self.ecn_marks += other.ecn_marks;
        self.ecn_echoes += other.ecn_echoes;
        self.ecn_answers += other.ecn_answers;
        self.ecn_reductions += other.ecn_reductions;
        self.keep_alives += other.keep_alives;
        self.zero_windows += other.zero_windows;
        self.zero_window_probes += other.zero_window_probes;
        self.zero_window_time += other.zero_window_time;
        self.idle_gaps += other.idle_gaps;
        self.active += other.active;
        self.outstanding_segment_s += other.outstanding_segment_s;
        self.max_outstanding = self.max_outstanding.max(other.max_outstanding);
        self.rtt_integral += other.rtt_integral;
        self.rtt_known += other.rtt_known;
        self.first_packet = [self.first_packet, other.first_packet].into_iter().flatten().min();
        self.last_packet = self.last_packet.max(other.last_packet);
        self.off_time += other.off_time;
        for (intervals, added) in [
            (&mut self.downloads, other.downloads),
            (&mut self.data_downloads, other.data_downloads),
            (&mut self.packet_calls, other.packet_calls),
        ] {
            intervals.count += added.count;
            intervals.sum += added.sum;
        }
    }
}

/// Jain's fairness indices of the flows: of the payload in the window, and of the rates while
/// active.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct Fairness {
    pub goodputs: Option<f64>,
    pub active_rates: Option<f64>,
}
