//! Counters for the data of one end of a connection, or of all connections. Half connections count
//! into them, and `metrics.rs` computes the metrics of an analysis from them.

/// Counters and sums for the data that one end sends. Unless stated otherwise, they count segments
/// of that end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    /// Segments of any kind.
    pub packets: u64,
    /// Segments with payload that was not sent before.
    pub data_segments: u64,
    /// Octets of payload, retransmissions included.
    pub sent: u64,
    /// Octets of payload, each once.
    pub sent_once: u64,
    /// Octets of payload.
    pub acknowledged: u64,
    /// Octets that were acknowledged but not captured.
    pub unseen: u64,
    /// Retransmitted segments with payload, SYN or FIN.
    pub retransmissions: u64,
    /// Retransmitted segments with payload.
    pub retransmitted_segments: u64,
    /// Octets of payload.
    pub retransmitted: u64,
    /// Retransmissions because of acknowledgments or RACK, and in the recovery that followed.
    pub by_dupack: u64,
    /// Retransmissions after an expiry of the retransmission timer, go-back-N included.
    pub by_rto: u64,
    /// Expiries of the retransmission timer.
    pub expiries: u64,
    /// Fast recoveries that three duplicate acknowledgments began.
    pub fast_by_dupacks: u64,
    /// Fast recoveries that selective acknowledgments began.
    pub fast_by_sack: u64,
    /// Fast recoveries that RACK began.
    pub fast_by_rack: u64,
    /// Fast recoveries without a retransmission of their own: the segments that the recovery
    /// before had retransmitted were still outstanding.
    pub fast_carried: u64,
    /// Tail loss probes that retransmit a segment.
    pub probes: u64,
    /// Retransmissions without a visible reason.
    pub unknown: u64,
    /// Runs of three or more duplicate acknowledgments that this end received.
    pub dupack_runs: u64,
    /// Acknowledgments without payload, SYN or FIN that this end received.
    pub acks_received: u64,
    /// Retransmitted SYN or SYN+ACK segments.
    pub syn_retransmissions: u64,
    /// Segments with payload that were captured after later ones but are not retransmissions.
    pub out_of_order: u64,
    /// Segments that count as retransmissions but may have been late: they have no timestamps.
    pub ambiguous: u64,
    /// Acknowledgments with a window of zero that this end received.
    pub zero_windows: u64,
    /// Segments that test whether a window of zero has opened.
    pub zero_window_probes: u64,
    pub keep_alives: u64,
    /// Time during which the window was zero, in nanoseconds.
    pub zero_window_time: u128,
    /// Segments that a router has marked (CE, RFC 3168).
    pub ecn_marks: u64,
    /// Acknowledgments with ECE that this end received.
    pub ecn_echoes: u64,
    /// Segments with CWR.
    pub ecn_answers: u64,
    pub fins: u64,
    pub resets: u64,
    /// Time with outstanding data, in nanoseconds.
    pub active: u128,
    /// Integral of the outstanding data over time, in octets times nanoseconds.
    pub outstanding_integral: u128,
    /// Maximum of the outstanding data, in octets.
    pub max_outstanding: u64,
    /// Integral of the latest round-trip time over the time with outstanding data, in nanoseconds
    /// squared.
    pub rtt_integral: u128,
    /// Time with outstanding data and a known round-trip time, in nanoseconds.
    pub rtt_known: u128,
    /// Payload of the largest segment, in octets.
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
