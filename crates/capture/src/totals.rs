//! Sums from which every metric is computed (`metrics.rs`), for one connection or for all.

use umts_units::{Duration, Time};

use crate::connection::{Connection, Position, Side};
use crate::counters::Counters;
use crate::rtt::{RttSamples, RttSums};
use crate::spurious::Unneeded;

/// Sums over the data of one connection's sender, or of the senders of all connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Totals {
    pub connections: u64,
    pub connections_with_data: u64,
    /// Connections with captured packets of the sender.
    pub with_sender: u64,
    /// Connections with captured acknowledgments of the sender's data.
    pub with_acks: u64,
    /// Connections with both.
    pub with_both: u64,
    /// Time from the first packet of the capture to the last.
    pub window: Duration,
    /// Time in which data of any connection were outstanding, in nanoseconds.
    pub active_union: u128,
    /// Counters of the sender of the data.
    pub counters: Counters,
    /// Integral of the outstanding data over time, in full segments times seconds.
    pub outstanding_segment_s: f64,
    /// Maximum of the outstanding data, in full segments.
    pub max_outstanding_segments: f64,
    /// Needless retransmissions.
    pub unneeded: Unneeded,
    /// Tail loss probes of new data.
    pub new_probes: u64,
    /// Tail loss probes that repaired a loss.
    pub probe_repairs: u64,
    /// Round-trip times as the sender measures them.
    pub rtt: RttSamples,
    /// Round-trip times with one sample per acknowledgment.
    pub rtt_every: RttSums,
    /// Round-trip times from echoed timestamps.
    pub rtt_timestamps: RttSums,
    /// Connections with a round-trip time from the handshake, and the sum of these times.
    pub handshakes: u64,
    pub handshake_ns: u128,
    /// SYN retransmissions of both ends. The next three also count segments of both ends.
    pub syn_retransmissions: u64,
    pub packets: u64,
    pub resets: u64,
    pub fins: u64,
    /// Octets of payload that the other end sent.
    pub reverse_payload: u64,
    /// Distinct data segments of the other end.
    pub reverse_segments: u64,
    /// Retransmissions of the other end.
    pub reverse_retransmissions: u64,
    /// Keep-alives of the other end.
    pub reverse_keep_alives: u64,
    /// Segments of either end that count as retransmissions but may have been late: they have no
    /// timestamps.
    pub ambiguous: u64,
    /// First and last packet.
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// Time between connections of the same pair, in nanoseconds.
    pub idle_before: u128,
    /// Complete connections that the receiver opened, captured at the receiver.
    pub downloads: u64,
    /// Time from the SYN to the last byte, summed over `downloads`, in nanoseconds.
    pub download_time: u128,
}

impl Totals {
    /// Computes the sums of a connection that has ended.
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.sender();
        let (forward, back) = (connection.half(sender), connection.half(sender.other()));
        let counters = forward.counters.clone();
        let (new_probes, probe_repairs) = forward.probes();
        let segment = f64::from(connection.segment_size(sender).unwrap_or(1));
        let handshake = connection.handshake_rtt();
        let is_complete = connection.options(sender).is_some() && counters.fins > 0 && counters.sent > 0;
        let download = connection
            .options(Side::Client)
            .filter(|_| is_complete && sender == Side::Server && connection.position() == Position::Receiver)
            .map(|_| forward.last_data.unwrap_or(connection.last).saturating_since(connection.first));
        Totals {
            connections: 1,
            connections_with_data: u64::from(counters.sent_once.max(counters.acknowledged) > 0),
            with_sender: u64::from(forward.has_packets()),
            with_acks: u64::from(forward.is_acknowledged()),
            with_both: u64::from(forward.has_packets() && forward.is_acknowledged()),
            active_union: counters.active,
            outstanding_segment_s: counters.outstanding_integral as f64 / segment / 1e9,
            max_outstanding_segments: counters.max_outstanding as f64 / segment,
            unneeded: forward.unneeded(),
            new_probes,
            probe_repairs,
            rtt: forward.flight.samples().clone(),
            rtt_every: forward.flight.rtt_every.sums,
            rtt_timestamps: forward.flight.rtt_timestamps,
            handshakes: u64::from(handshake.is_some()),
            handshake_ns: handshake.map_or(0, |rtt| u128::from(rtt.as_nanos())),
            syn_retransmissions: counters.syn_retransmissions + back.counters.syn_retransmissions,
            packets: counters.packets + back.counters.packets,
            resets: counters.resets + back.counters.resets,
            fins: counters.fins + back.counters.fins,
            reverse_payload: back.counters.sent,
            reverse_segments: back.counters.data_segments,
            reverse_retransmissions: back.counters.retransmissions,
            reverse_keep_alives: back.counters.keep_alives,
            ambiguous: counters.ambiguous + back.counters.ambiguous,
            first: Some(connection.first),
            last: Some(connection.last),
            idle_before: u128::from(connection.idle_before.as_nanos()),
            downloads: u64::from(download.is_some()),
            download_time: download.map_or(0, |time| u128::from(time.as_nanos())),
            window: Duration::ZERO,
            counters,
        }
    }

    /// Adds the sums of another connection.
    pub fn add(&mut self, other: &Totals) {
        self.connections += other.connections;
        self.connections_with_data += other.connections_with_data;
        self.with_sender += other.with_sender;
        self.with_acks += other.with_acks;
        self.with_both += other.with_both;
        self.counters.add(&other.counters);
        self.outstanding_segment_s += other.outstanding_segment_s;
        self.max_outstanding_segments = self.max_outstanding_segments.max(other.max_outstanding_segments);
        self.unneeded.by_dsack += other.unneeded.by_dsack;
        self.unneeded.by_timestamps += other.unneeded.by_timestamps;
        self.unneeded.by_early_ack += other.unneeded.by_early_ack;
        self.new_probes += other.new_probes;
        self.probe_repairs += other.probe_repairs;
        self.rtt.merge(&other.rtt);
        self.rtt_every.merge(&other.rtt_every);
        self.rtt_timestamps.merge(&other.rtt_timestamps);
        self.handshakes += other.handshakes;
        self.handshake_ns += other.handshake_ns;
        self.syn_retransmissions += other.syn_retransmissions;
        self.packets += other.packets;
        self.resets += other.resets;
        self.fins += other.fins;
        self.reverse_payload += other.reverse_payload;
        self.reverse_segments += other.reverse_segments;
        self.reverse_retransmissions += other.reverse_retransmissions;
        self.reverse_keep_alives += other.reverse_keep_alives;
        self.ambiguous += other.ambiguous;
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
        self.idle_before += other.idle_before;
        self.downloads += other.downloads;
        self.download_time += other.download_time;
    }
}
