//! Counters for the data of one end of a connection, or of all connections.

/// Counters and sums. `metrics.rs` has their meanings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    pub packets: u64,
    pub data_segments: u64,
    /// Octets of payload, retransmissions included.
    pub sent: u64,
    /// Octets of payload, each once.
    pub sent_once: u64,
    /// Octets of payload.
    pub acknowledged: u64,
    /// Octets that were acknowledged but not captured.
    pub unseen: u64,
    pub retransmissions: u64,
    pub retransmitted_segments: u64,
    /// Octets of payload.
    pub retransmitted: u64,
    pub by_dupack: u64,
    pub by_rto: u64,
    pub expiries: u64,
    pub fast_by_dupacks: u64,
    pub fast_by_sack: u64,
    pub fast_by_rack: u64,
    pub fast_carried: u64,
    pub probes: u64,
    pub unknown: u64,
    pub dupack_runs: u64,
    pub acks_received: u64,
    pub syn_retransmissions: u64,
    pub out_of_order: u64,
    /// Segments that count as retransmissions but may have been late: they have no timestamps.
    pub ambiguous: u64,
    pub zero_windows: u64,
    pub zero_window_probes: u64,
    pub keep_alives: u64,
    /// In nanoseconds.
    pub zero_window_time: u128,
    pub ecn_marks: u64,
    pub ecn_echoes: u64,
    pub ecn_answers: u64,
    pub fins: u64,
    pub resets: u64,
    /// In nanoseconds.
    pub active: u128,
    /// In octets times nanoseconds.
    pub outstanding_integral: u128,
    pub max_outstanding: u64,
    /// In nanoseconds squared.
    pub rtt_integral: u128,
    /// In nanoseconds.
    pub rtt_known: u128,
    pub largest_segment: u32,
}

impl Counters {
    /// Returns the number of fast recoveries.
    pub fn fast_recoveries(&self) -> u64 {
        self.fast_by_dupacks + self.fast_by_sack + self.fast_by_rack + self.fast_carried
    }

    /// Adds the counters of another connection.
    pub fn add(&mut self, other: &Counters) {
        self.packets += other.packets;
        self.data_segments += other.data_segments;
        self.sent += other.sent;
        self.sent_once += other.sent_once;
        self.acknowledged += other.acknowledged;
        self.unseen += other.unseen;
        self.retransmissions += other.retransmissions;
        self.retransmitted_segments += other.retransmitted_segments;
        self.retransmitted += other.retransmitted;
        self.by_dupack += other.by_dupack;
        self.by_rto += other.by_rto;
        self.expiries += other.expiries;
        self.fast_by_dupacks += other.fast_by_dupacks;
        self.fast_by_sack += other.fast_by_sack;
        self.fast_by_rack += other.fast_by_rack;
        self.fast_carried += other.fast_carried;
        self.probes += other.probes;
        self.unknown += other.unknown;
        self.dupack_runs += other.dupack_runs;
        self.acks_received += other.acks_received;
        self.syn_retransmissions += other.syn_retransmissions;
        self.out_of_order += other.out_of_order;
        self.ambiguous += other.ambiguous;
        self.zero_windows += other.zero_windows;
        self.zero_window_probes += other.zero_window_probes;
        self.keep_alives += other.keep_alives;
        self.zero_window_time += other.zero_window_time;
        self.ecn_marks += other.ecn_marks;
        self.ecn_echoes += other.ecn_echoes;
        self.ecn_answers += other.ecn_answers;
        self.fins += other.fins;
        self.resets += other.resets;
        self.active += other.active;
        self.outstanding_integral += other.outstanding_integral;
        self.max_outstanding = self.max_outstanding.max(other.max_outstanding);
        self.rtt_integral = self.rtt_integral.saturating_add(other.rtt_integral);
        self.rtt_known += other.rtt_known;
        self.largest_segment = self.largest_segment.max(other.largest_segment);
    }
}
