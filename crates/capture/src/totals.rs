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
    pub with_both: u64,
    pub window: Duration,
    /// In nanoseconds.
    pub active_union: u128,
    pub tally: Counters,
    pub outstanding_segment_s: f64,
    pub max_outstanding_segments: f64,
    pub unneeded: Unneeded,
    pub new_probes: u64,
    pub probe_repairs: u64,
    pub rtt: RttSamples,
    pub rtt_every: RttSums,
    pub rtt_timestamps: RttSums,
    pub handshakes: u64,
    pub handshake_ns: u128,
    pub syn_again: u64,
    pub packets: u64,
    pub resets: u64,
    pub fins: u64,
    pub reverse_payload: u64,
    pub reverse_segments: u64,
    pub reverse_retransmissions: u64,
    pub reverse_keep_alives: u64,
    /// Segments of either end that count as retransmissions but may have been late: they have no
    /// timestamps.
    pub ambiguous: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// In nanoseconds.
    pub off: u128,
    pub downloads: u64,
    /// In nanoseconds.
    pub download_time: u128,
}

impl Totals {
    /// Computes the sums of a connection that has ended.
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.sender();
        let (way, back) = (connection.way(sender), connection.way(sender.other()));
        let tally = way.tally.clone();
        let (new_probes, probe_repairs) = way.probes();
        let segment = f64::from(connection.segment_size(sender).unwrap_or(1));
        let handshake = connection.handshake_rtt();
        let whole = connection.options(sender).is_some() && tally.fins > 0 && tally.sent > 0;
        let download = connection
            .options(Side::Client)
            .filter(|_| whole && sender == Side::Server && connection.position() == Position::Receiver)
            .map(|_| way.last_data.unwrap_or(connection.last).saturating_since(connection.first));
        Totals {
            connections: 1,
            connections_with_data: u64::from(tally.sent_once.max(tally.acknowledged) > 0),
            with_sender: u64::from(way.is_heard()),
            with_acks: u64::from(way.is_acknowledged()),
            with_both: u64::from(way.is_heard() && way.is_acknowledged()),
            active_union: tally.active,
            outstanding_segment_s: tally.outstanding_integral as f64 / segment / 1e9,
            max_outstanding_segments: tally.max_outstanding as f64 / segment,
            unneeded: way.unneeded(),
            new_probes,
            probe_repairs,
            rtt: way.flight.samples().clone(),
            rtt_every: way.flight.rtt_every.sums,
            rtt_timestamps: way.flight.rtt_timestamps,
            handshakes: u64::from(handshake.is_some()),
            handshake_ns: handshake.map_or(0, |rtt| u128::from(rtt.as_nanos())),
            syn_again: tally.syn_again + back.tally.syn_again,
            packets: tally.packets + back.tally.packets,
            resets: tally.resets + back.tally.resets,
            fins: tally.fins + back.tally.fins,
            reverse_payload: back.tally.sent,
            reverse_segments: back.tally.data_segments,
            reverse_retransmissions: back.tally.retransmissions,
            reverse_keep_alives: back.tally.keep_alives,
            ambiguous: tally.ambiguous + back.tally.ambiguous,
            first: Some(connection.first),
            last: Some(connection.last),
            off: u128::from(connection.off.as_nanos()),
            downloads: u64::from(download.is_some()),
            download_time: download.map_or(0, |time| u128::from(time.as_nanos())),
            window: Duration::ZERO,
            tally,
        }
    }

    /// Adds the sums of another connection.
    pub fn add(&mut self, other: &Totals) {
        self.connections += other.connections;
        self.connections_with_data += other.connections_with_data;
        self.with_sender += other.with_sender;
        self.with_acks += other.with_acks;
        self.with_both += other.with_both;
        self.tally.add(&other.tally);
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
        self.syn_again += other.syn_again;
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
        self.off += other.off;
        self.downloads += other.downloads;
        self.download_time += other.download_time;
    }
}
