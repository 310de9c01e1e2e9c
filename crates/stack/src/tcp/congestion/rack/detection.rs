//! Time-based loss detection (RFC 8985 §6): a segment is lost if it was sent more than a round trip
//! and the reordering window ago, and a segment sent after it has arrived. Retransmissions are
//! handled like originals.
//!
//! ```text
//!   sent      A          B (delivered: RACK.xmit_ts)      now
//!   ──────────┼──────────┼───────────────────────────────┼──►
//!             └ lost at A + RACK.rtt + RACK.reo_wnd; the reordering timer runs until then
//! ```
//!
//! The reordering window is 0 if no reordering was observed and either a recovery is in progress or
//! three segments are SACKed. Otherwise it is a quarter of the minimum round-trip time, multiplied
//! by a factor that duplicate reports increase, and at most SRTT. The minimum is taken over the
//! whole connection, the simplest option of §6.2.

use umts_units::{Duration, Time};

use crate::tcp::congestion::DUPLICATE_THRESHOLD;
use crate::tcp::options::whole_ticks;
use crate::tcp::outstanding::{Outstanding, Sent};

/// Number of recoveries without duplicate reports after which the reordering window is reset to a
/// quarter.
const PERSISTENCE: u32 = 16;

/// The sort key of the last transmission of a segment. The model's clock has many transmissions at
/// the same instant. Among these, a retransmission is ordered after all segments that were first
/// sent before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TransmissionKey {
    sent_at: Time,
    /// The first sequence number of the segment, or for a retransmission the next sequence number
    /// (SND.NXT) at that time.
    next: u64,
    /// The sequence number after the segment.
    end: u64,
}

impl TransmissionKey {
    /// Before any transmission.
    const NONE: TransmissionKey = TransmissionKey { sent_at: Time::ZERO, next: 0, end: 0 };

    fn of(segment: &Sent) -> Self {
        TransmissionKey {
            sent_at: segment.sent_at,
            next: segment.snd_nxt_at_resend.max(segment.seq),
            end: segment.end(),
        }
    }
}

/// The kind of an acknowledgment of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckKind {
    Cumulative,
    /// By a SACK block.
    Selective,
}

/// An acknowledgment before it is processed.
#[derive(Debug, Clone, Copy)]
pub struct RackAck {
    pub now: Time,
    /// The timestamp that it echoes, if timestamps are in use.
    pub echo: Option<Time>,
    /// Smoothed round-trip time. Zero before the first sample.
    pub srtt: Duration,
    /// It reports a duplicate, other than the duplicate of a tail loss probe.
    pub duplicate: bool,
    /// Number of segments reported as duplicates, including the duplicate of a probe.
    pub duplicates: u32,
    /// Acknowledgment number.
    pub ack: u64,
    /// The sequence number after the highest ever sent (SND.NXT).
    pub max_sent: u64,
}

/// Evidence of a loss other than the age of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossEvidence {
    /// A recovery is in progress.
    pub in_recovery: bool,
    /// Number of outstanding segments that are SACKed.
    pub sacked: u32,
}

impl LossEvidence {
    /// Whether it is as strong as three duplicate ACKs.
    fn is_strong(self) -> bool {
        self.in_recovery || self.sacked >= DUPLICATE_THRESHOLD
    }
}

/// The result of marking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MarkedSegments {
    /// Number of newly lost segments.
    pub segments: u32,
    /// One of them was a retransmission.
    pub lost_retransmission: bool,
    /// Time until the last segment that waits for the reordering window is lost. Zero if none
    /// waits.
    pub wait: Duration,
}

/// RACK's variables (§5.3).
#[derive(Debug, Clone)]
pub(super) struct Detection {
    // Delivered segments.
    /// Sort key of the segment that was sent last among those that have arrived (RACK.xmit_ts,
    /// RACK.end_seq).
    delivered: TransmissionKey,
    /// Round-trip time of the last delivered segment (RACK.rtt).
    rtt: Duration,
    /// Minimum round-trip time of segments sent once.
    min_rtt: Option<Duration>,
    /// The sequence number after the highest segment that has arrived (RACK.fack).
    fack: u64,
    /// `fack` before the current acknowledgment.
    fack_before: u64,

    // Reordering window.
    /// Reordering was observed (RACK.reordering_seen).
    reordering_seen: bool,
    /// The largest distance between a late segment and the highest that had arrived before it, in
    /// sequence numbers.
    reordering_extent: u64,
    /// Factor on a quarter of the minimum round trip (RACK.reo_wnd_mult).
    reo_wnd_mult: u32,
    /// Number of recoveries until the factor returns to 1 (RACK.reo_wnd_persist).
    reo_wnd_persist: u32,
    /// The next sequence number when a duplicate was last reported. The round ends when it is
    /// acknowledged (RACK.dsack_round).
    dsack_round: Option<u64>,

    // The current acknowledgment.
    /// Time of its arrival.
    now: Time,
    /// The timestamp that it echoes.
    echo: Option<Time>,
    /// Smoothed round-trip time before it.
    srtt: Duration,

    /// Tick of the connection's timestamps.
    tick: Duration,
}

impl Detection {
    /// `tick`: tick of the connection's timestamps.
    pub fn new(tick: Duration) -> Self {
        Detection {
            delivered: TransmissionKey::NONE,
            rtt: Duration::ZERO,
            min_rtt: None,
            fack: 0,
            fack_before: 0,
            reordering_seen: false,
            reordering_extent: 0,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
            now: Time::ZERO,
            echo: None,
            srtt: Duration::ZERO,
            tick,
        }
    }

    /// Processes an acknowledgment: the part of §6.2 that is independent of segments. A duplicate
    /// report widens the reordering window, at most once per round trip.
    pub fn process_ack(&mut self, ack: &RackAck) {
        self.now = ack.now;
        self.echo = ack.echo;
        self.srtt = ack.srtt;
        self.fack_before = self.fack;
        self.dsack_round = self.dsack_round.filter(|&round| ack.ack < round);
        if ack.duplicate && self.dsack_round.is_none() {
            self.dsack_round = Some(ack.max_sent);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSISTENCE;
        }
    }

    /// Processes the first acknowledgment of `segment` (steps 1 to 3). Returns whether its round
    /// trip was measured.
    pub fn deliver(&mut self, segment: &Sent, kind: AckKind) -> bool {
        let rtt = self.now.saturating_since(segment.sent_at);
        self.fack = self.fack.max(segment.end());
        let is_retransmission = segment.transmissions > 1;
        if is_retransmission {
            if self.may_be_of_original(segment, rtt, kind) {
                return false;
            }
        } else {
            let arrived_out_of_order = segment.end() < self.fack_before;
            if arrived_out_of_order {
                self.reordering_seen = true;
                self.reordering_extent = self.reordering_extent.max(self.fack - segment.seq);
            }
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
        // RACK_update: the round trip of the segment acknowledged last, whenever it was sent.
        self.rtt = rtt;
        self.delivered = self.delivered.max(TransmissionKey::of(segment));
        true
    }

    /// Whether the acknowledgment of a retransmitted segment belongs to the original (step 2): it
    /// comes earlier than any round trip, or it echoes a timestamp from before the retransmission.
    /// A selective acknowledgment echoes a segment sent before all gaps (RFC 7323 §4.3), so its
    /// echo is no evidence.
    fn may_be_of_original(&self, segment: &Sent, rtt: Duration, kind: AckKind) -> bool {
        let is_too_early = self.min_rtt.is_some_and(|min_rtt| rtt < min_rtt);
        let resent_at = whole_ticks(segment.sent_at, self.tick);
        let echoes_original =
            kind == AckKind::Cumulative && self.echo.is_some_and(|echoed| echoed < resent_at);
        is_too_early || echoes_original
    }

    pub fn reordering_seen(&self) -> bool {
        self.reordering_seen
    }

    /// The largest distance by which a segment was late, in sequence numbers.
    pub fn reordering_extent(&self) -> u64 {
        self.reordering_extent
    }

    /// The round trip of the last segment that has arrived (RACK.rtt).
    pub fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Sets the round trip to `rtt`, from a segment that was cumulatively acknowledged after the
    /// SACKed ones.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Clears the key of the last delivered segment. After a spurious retransmission an original
    /// has arrived, with an unknown transmission time.
    pub fn clear_delivered(&mut self) {
        self.delivered = TransmissionKey::NONE;
    }

    /// Ends a recovery: the widened reordering window lasts for [`PERSISTENCE`] of them.
    pub fn leave_recovery(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// RACK.reo_wnd (step 4).
    fn reordering_window(&self, evidence: LossEvidence) -> Duration {
        if !self.reordering_seen && evidence.is_strong() {
            return Duration::ZERO;
        }
        let quarter_ns = self.min_rtt.map_or(0, |min_rtt| min_rtt.as_nanos() / 4);
        let window_ns = quarter_ns.saturating_mul(self.reo_wnd_mult.into());
        Duration::from_nanos(window_ns).min(self.srtt)
    }

    /// Time after its transmission at which a segment is lost, if a later one has arrived.
    fn max_age(&self, evidence: LossEvidence) -> Duration {
        self.rtt + self.reordering_window(evidence)
    }

    /// Marks the segments that are lost at `now` (step 5).
    pub fn mark(&self, sent: &mut Outstanding, now: Time, evidence: LossEvidence) -> MarkedSegments {
        let max_age = self.max_age(evidence);
        let mut marked = MarkedSegments::default();
        let missing = sent.ring.iter_mut().filter(|segment| !segment.sacked && !segment.lost);
        let overtaken = missing.filter(|segment| TransmissionKey::of(segment) < self.delivered);
        for segment in overtaken {
            let lost_at = segment.sent_at + max_age;
            if lost_at > now {
                marked.wait = marked.wait.max(lost_at - now);
                continue;
            }
            segment.lost = true;
            marked.segments += 1;
            marked.lost_retransmission |= segment.transmissions > 1;
        }
        marked
    }

    /// Marks segments after an expiry of the retransmission timer (§6.3): the oldest one, and all
    /// that were sent long enough ago.
    pub fn mark_on_timeout(&self, sent: &mut Outstanding, now: Time, evidence: LossEvidence) {
        let max_age = self.max_age(evidence);
        let unsacked = sent.ring.iter_mut().enumerate().filter(|(_, segment)| !segment.sacked);
        for (index, segment) in unsacked {
            let is_oldest = index == 0;
            let is_overdue = segment.sent_at + max_age <= now;
            segment.lost |= is_oldest || is_overdue;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_SACKED: LossEvidence = LossEvidence { in_recovery: false, sacked: 1 };
    const THREE_SACKED: LossEvidence = LossEvidence { in_recovery: false, sacked: 3 };
    const IN_RECOVERY: LossEvidence = LossEvidence { in_recovery: true, sacked: 1 };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(time_ms: u64) -> Time {
        Time::ZERO + ms(time_ms)
    }

    /// Segments of 100 octets. The segment with index i was sent at 10 i ms.
    fn sent(count: u64) -> Outstanding {
        let mut sent = Outstanding::default();
        for i in 0..count {
            sent.push(Sent { seq: 100 * i, payload: 100, ..Sent::default() });
            sent.send_next(at(10 * i));
        }
        sent
    }

    /// An acknowledgment that arrives at `now_ms`, with an SRTT of 100 ms.
    fn ack(now_ms: u64) -> RackAck {
        let (now, srtt) = (at(now_ms), ms(100));
        RackAck { now, echo: None, srtt, duplicate: false, duplicates: 0, ack: 0, max_sent: 1000 }
    }

    /// An acknowledgment at `now_ms` SACKs the segment with this index.
    fn sack(detection: &mut Detection, sent: &mut Outstanding, now_ms: u64, index: usize) {
        detection.process_ack(&ack(now_ms));
        detection.deliver(&sent.ring[index], AckKind::Selective);
        sent.ring[index].sacked = true;
    }

    /// Indices of the segments that are marked as lost.
    fn lost(sent: &Outstanding) -> Vec<usize> {
        let lost = sent.ring.iter().enumerate().filter(|(_, segment)| segment.lost);
        lost.map(|(index, _)| index).collect()
    }

    /// Segment 3 was sent at 30 ms and arrived at 130 ms, after a round trip of 100 ms. The
    /// reordering window is a quarter of it. An earlier segment is therefore lost 125 ms after it
    /// was sent.
    #[test]
    fn earlier_segments_are_lost_after_the_reordering_window() {
        let (mut detection, mut sent) = (Detection::new(ms(1)), sent(5));
        sack(&mut detection, &mut sent, 130, 3);

        // Segment 0 has waited for 130 ms, segment 1 for 120 ms. Segment 2 was sent at 20 ms: it is
        // lost at 20 + 125 = 145 ms.
        let marked = detection.mark(&mut sent, at(130), ONE_SACKED);
        assert_eq!(lost(&sent), [0]);
        assert_eq!(marked.segments, 1);
        assert_eq!(marked.wait, ms(145 - 130));

        // Segment 4 was sent after segment 3 and is not affected.
        let marked = detection.mark(&mut sent, at(145), ONE_SACKED);
        assert_eq!(lost(&sent), [0, 1, 2]);
        assert_eq!(marked.wait, Duration::ZERO);
    }

    #[test]
    fn strong_evidence_marks_all_earlier_segments_before_any_reordering() {
        let (mut detection, mut board) = (Detection::new(ms(1)), sent(6));
        sack(&mut detection, &mut board, 130, 3);
        for evidence in [IN_RECOVERY, THREE_SACKED] {
            assert_eq!(detection.mark(&mut board.clone(), at(130), evidence).segments, 3);
        }
    }

    /// Segment 2, sent at 20 ms, arrives at 131 ms, after segment 3: reordering. RACK.rtt is its
    /// round trip of 111 ms, and the reordering window is a quarter of the minimum of 100 ms. A
    /// segment is lost after 111 + 25 = 136 ms.
    #[test]
    fn after_reordering_the_window_applies_in_a_recovery() {
        let (mut detection, mut board) = (Detection::new(ms(1)), sent(6));
        sack(&mut detection, &mut board, 130, 3);
        sack(&mut detection, &mut board, 131, 2);
        assert_eq!(detection.mark(&mut board.clone(), at(135), IN_RECOVERY).segments, 0);
        assert_eq!(detection.mark(&mut board.clone(), at(136), IN_RECOVERY).segments, 1, "segment 0");
    }

    #[test]
    fn early_acknowledgment_of_a_retransmission_is_not_measured() {
        let (mut detection, mut sent) = (Detection::new(ms(1)), sent(4));
        sack(&mut detection, &mut sent, 130, 3);
        let before = detection.delivered;
        sent.resend_out_of_order(0, at(140));
        // 50 ms after the retransmission. The minimum round trip is 100 ms.
        sack(&mut detection, &mut sent, 190, 0);
        assert_eq!(detection.delivered, before);
    }

    #[test]
    fn echo_distinguishes_a_retransmission_from_its_original() {
        let (mut detection, mut sent) = (Detection::new(ms(1)), sent(4));
        sack(&mut detection, &mut sent, 130, 3);
        let before = detection.delivered;
        // Segment 1 was sent at 10 ms, and again at 200 ms, when SND.NXT was 400.
        sent.resend_out_of_order(1, at(200));

        let echoes_original = RackAck { echo: Some(at(10)), ..ack(310) };
        detection.process_ack(&echoes_original);
        detection.deliver(&sent.ring[1], AckKind::Cumulative);
        assert_eq!(detection.delivered, before);

        let echoes_retransmission = RackAck { echo: Some(at(200)), ..ack(310) };
        detection.process_ack(&echoes_retransmission);
        detection.deliver(&sent.ring[1], AckKind::Cumulative);
        let segment_1 = TransmissionKey { sent_at: at(200), next: 400, end: 200 };
        assert_eq!(detection.delivered, segment_1);
        assert_eq!(detection.rtt, ms(310 - 200));
    }

    /// The minimum round trip is 80 ms, so that the window is 20 ms, times one plus the number of
    /// round trips with a duplicate report.
    #[test]
    fn duplicate_reports_widen_the_window_once_per_round_trip() {
        let mut detection = reordered_with_min_rtt(ms(80));
        let report = RackAck { duplicate: true, ..ack(200) };
        detection.process_ack(&report);
        assert_eq!(detection.reordering_window(IN_RECOVERY), ms(2 * 20));
        detection.process_ack(&report);
        assert_eq!(detection.reordering_window(IN_RECOVERY), ms(2 * 20), "the same round trip");
        // The acknowledgment of 1000, SND.NXT at the first report, ends the round trip.
        detection.process_ack(&RackAck { ack: 1000, ..report });
        assert_eq!(detection.reordering_window(IN_RECOVERY), ms(3 * 20));
    }

    #[test]
    fn window_is_at_most_srtt() {
        let mut detection = Detection { reo_wnd_mult: 3, ..reordered_with_min_rtt(ms(80)) };
        detection.process_ack(&RackAck { srtt: ms(50), ..ack(300) });
        // 3 · 80 / 4 = 60 ms would exceed SRTT.
        assert_eq!(detection.reordering_window(IN_RECOVERY), ms(50));
    }

    #[test]
    fn widened_window_lasts_for_sixteen_recoveries() {
        let mut detection = reordered_with_min_rtt(ms(80));
        detection.process_ack(&RackAck { duplicate: true, ..ack(200) });
        (0..15).for_each(|_| detection.leave_recovery());
        assert_eq!(detection.reo_wnd_mult, 2);
        detection.leave_recovery();
        assert_eq!(detection.reo_wnd_mult, 1);
    }

    /// Reordering was observed, and this is the minimum round trip.
    fn reordered_with_min_rtt(min_rtt: Duration) -> Detection {
        Detection { reordering_seen: true, min_rtt: Some(min_rtt), ..Detection::new(ms(1)) }
    }
}
