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
    /// Acknowledgment number.
    pub ack: u64,
    /// The sequence number after the highest ever sent (SND.NXT).
    pub max_sent: u64,
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
    /// Sort key of the segment that was sent last among those that have arrived (RACK.xmit_ts,
    /// RACK.end_seq).
    delivered: TransmissionKey,
    /// Round-trip time of the last delivered segment (RACK.rtt).
    rtt: Duration,
    min_rtt: Option<Duration>,
    /// The sequence number after the highest segment that has arrived (RACK.fack).
    fack: u64,
    /// `fack` before the current acknowledgment.
    fack_before: u64,
    /// Reordering was observed (RACK.reordering_seen).
    reordering_seen: bool,
    /// Factor on a quarter of the minimum round trip (RACK.reo_wnd_mult).
    reo_wnd_mult: u32,
    /// Number of recoveries until the factor returns to 1 (RACK.reo_wnd_persist).
    reo_wnd_persist: u32,
    /// The next sequence number when a duplicate was last reported. The round ends when it is
    /// acknowledged (RACK.dsack_round).
    dsack_round: Option<u64>,
    /// Time of the current acknowledgment.
    now: Time,
    echo: Option<Time>,
    srtt: Duration,
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
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
            now: Time::ZERO,
            echo: None,
            srtt: Duration::ZERO,
            tick,
        }
    }

    /// Processes an acknowledgment: the part of §6.2 that is independent of segments.
    pub fn process_ack(&mut self, ack: &RackAck) {
        (self.now, self.echo, self.srtt) = (ack.now, ack.echo, ack.srtt);
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
        let (end, is_retransmission) = (segment.end(), segment.transmissions > 1);
        if end > self.fack {
            self.fack = end;
        }
        self.reordering_seen |= end < self.fack_before && !is_retransmission;
        if !is_retransmission {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        }
        // The acknowledgment of a retransmitted segment may belong to the original. It does if it
        // comes earlier than any round trip, or if it echoes a timestamp from before the
        // retransmission. A selective acknowledgment echoes a segment sent before all gaps (RFC
        // 7323 §4.3), so its echo is no evidence.
        let predates_retransmission = |echo: Time| echo < whole_ticks(segment.sent_at, self.tick);
        if is_retransmission
            && (self.min_rtt.is_some_and(|min_rtt| rtt < min_rtt)
                || (kind == AckKind::Cumulative && self.echo.is_some_and(predates_retransmission)))
        {
            return false;
        }
        // RACK_update: the round trip of the segment acknowledged last, whenever it was sent.
        self.rtt = rtt;
        self.delivered = self.delivered.max(TransmissionKey::of(segment));
        true
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

    /// Ends a recovery.
    pub fn leave_recovery(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// RACK.reo_wnd (step 4). `sacked`: number of outstanding segments that are SACKed.
    fn reordering_window(&self, in_recovery: bool, sacked: u32) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        let quarter_ns = self.min_rtt.map_or(0, |min_rtt| min_rtt.as_nanos() / 4);
        Duration::from_nanos(quarter_ns.saturating_mul(self.reo_wnd_mult.into())).min(self.srtt)
    }

    /// Marks the segments that are lost at `now` (step 5).
    pub fn mark(&self, sent: &mut Outstanding, now: Time, in_recovery: bool, sacked: u32) -> MarkedSegments {
        let max_age = self.rtt + self.reordering_window(in_recovery, sacked);
        let mut marked = MarkedSegments::default();
        let waiting = sent.ring.iter_mut().filter(|segment| !segment.sacked && !segment.lost);
        for segment in waiting.filter(|segment| TransmissionKey::of(segment) < self.delivered) {
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
    pub fn mark_on_timeout(&self, sent: &mut Outstanding, now: Time, in_recovery: bool, sacked: u32) {
        let max_age = self.rtt + self.reordering_window(in_recovery, sacked);
        let unsacked = sent.ring.iter_mut().enumerate().filter(|(_, segment)| !segment.sacked);
        for (index, segment) in unsacked {
            segment.lost |= index == 0 || segment.sent_at + max_age <= now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_RECOVERY: bool = true;
    const NO_RECOVERY: bool = false;
    /// Number of SACKed segments.
    const NONE_SACKED: u32 = 0;
    const ONE_SACKED: u32 = 1;
    const THREE_SACKED: u32 = 3;

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
        RackAck { now: at(now_ms), echo: None, srtt: ms(100), duplicate: false, ack: 0, max_sent: 1000 }
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

    #[test]
    fn earlier_segments_are_lost_after_the_reordering_window() {
        let (mut detection, mut sent) = (Detection::new(ms(1)), sent(5));
        // Segment 3 was sent at 30 ms and took 100 ms. An earlier segment is lost 125 ms after it
        // was sent: after this round trip and a reordering window of a quarter of it. Segment 4 was
        // sent later and is not affected.
        sack(&mut detection, &mut sent, 130, 3);
        let marked = detection.mark(&mut sent, at(130), NO_RECOVERY, ONE_SACKED);
        assert_eq!(lost(&sent), [0], "0 has waited for 130 ms, 1 for 120 ms");
        assert_eq!(marked.segments, 1, "0 has waited for 130 ms, 1 for 120 ms");
        assert_eq!(marked.wait, ms(15), "2 was sent at 20 ms: it is lost at 145 ms");
        let marked = detection.mark(&mut sent, at(145), NO_RECOVERY, ONE_SACKED);
        assert_eq!(lost(&sent), [0, 1, 2]);
        assert_eq!(marked.wait, Duration::ZERO);
    }

    #[test]
    fn reordering_window_is_zero_before_any_reordering() {
        let (mut detection, mut board) = (Detection::new(ms(1)), sent(6));
        sack(&mut detection, &mut board, 130, 3);
        // In a recovery, or with three SACKed segments, all earlier segments are lost at once.
        for (in_recovery, sacked) in [(IN_RECOVERY, ONE_SACKED), (NO_RECOVERY, THREE_SACKED)] {
            assert_eq!(detection.mark(&mut board.clone(), at(130), in_recovery, sacked).segments, 3);
        }
        // Segment 2 arrives after segment 3, which is reordering: RACK.rtt is 111 ms, the round
        // trip of segment 2, and the reordering window is a quarter of the minimum, 100 ms. Segment
        // 0 is lost at 136 ms.
        sack(&mut detection, &mut board, 131, 2);
        assert_eq!(detection.mark(&mut board.clone(), at(131), IN_RECOVERY, THREE_SACKED).segments, 0);
        assert_eq!(
            detection.mark(&mut board.clone(), at(136), IN_RECOVERY, THREE_SACKED).segments,
            1,
            "only 0 is overdue"
        );
    }

    #[test]
    fn ambiguous_acknowledgments_are_not_measured() {
        let (mut detection, mut sent) = (Detection::new(ms(1)), sent(4));
        sack(&mut detection, &mut sent, 130, 3);
        sent.resend_out_of_order(0, at(140));
        // 50 ms after the retransmission: earlier than any round trip.
        sack(&mut detection, &mut sent, 190, 0);
        let segment_3 = TransmissionKey { sent_at: at(30), next: 300, end: 400 };
        assert_eq!(detection.delivered, segment_3);
        sent.resend_out_of_order(1, at(200));
        detection.process_ack(&RackAck { echo: Some(at(10)), ..ack(310) });
        detection.deliver(&sent.ring[1], AckKind::Cumulative);
        assert_eq!(detection.delivered, segment_3, "it echoes the time of the original");
        detection.process_ack(&RackAck { echo: Some(at(200)), ..ack(310) });
        detection.deliver(&sent.ring[1], AckKind::Cumulative);
        // Segment 1 was sent again at 200 ms, when SND.NXT was 400.
        let segment_1 = TransmissionKey { sent_at: at(200), next: 400, end: 200 };
        assert_eq!(detection.delivered, segment_1);
        assert_eq!(detection.rtt, ms(110));
    }

    #[test]
    fn duplicate_reports_widen_the_window_for_sixteen_recoveries() {
        let mut detection =
            Detection { reordering_seen: true, min_rtt: Some(ms(80)), ..Detection::new(ms(1)) };
        // The window is a quarter of 80 ms, times one plus the number of round trips with a
        // duplicate report.
        let report = RackAck { duplicate: true, ..ack(200) };
        detection.process_ack(&report);
        assert_eq!(detection.reordering_window(IN_RECOVERY, NONE_SACKED), ms(40));
        detection.process_ack(&report);
        assert_eq!(detection.reordering_window(IN_RECOVERY, NONE_SACKED), ms(40), "the same round trip");
        detection.process_ack(&RackAck { ack: 1000, ..report });
        assert_eq!(detection.reordering_window(IN_RECOVERY, NONE_SACKED), ms(60));
        detection.process_ack(&RackAck { ack: 1000, max_sent: 2000, srtt: ms(50), ..ack(300) });
        assert_eq!(detection.reordering_window(IN_RECOVERY, NONE_SACKED), ms(50), "not above SRTT");
        (0..15).for_each(|_| detection.leave_recovery());
        assert_eq!(detection.reo_wnd_mult, 3);
        detection.leave_recovery();
        assert_eq!(detection.reo_wnd_mult, 1);
    }
}
