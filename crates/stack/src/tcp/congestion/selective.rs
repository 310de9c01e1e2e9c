//! The scoreboard of SACK-based loss recovery (RFC 6675): which segments count as lost, how many
//! are in flight, and which one is sent next. SACK, FACK and other variants use it on full duplex
//! connections. `recovery.rs` calls it for each acknowledgment and reduces the window.
//!
//! A *hole* is an outstanding segment that is not SACKed. `pipe` estimates the number of segments
//! in flight: holes that are not lost, and retransmissions of this recovery. While it is below
//! cwnd, a segment is sent according to NextSeg (§4):
//!
//! 1. the lowest lost hole above HighRxt, the highest retransmitted segment;
//! 2. otherwise new data;
//! 3. otherwise the lowest hole above HighRxt that is not known to be lost;
//! 4. otherwise, once per recovery, the highest segment that is not SACKed, so that its ACK shows
//!    which segments are missing ("rescue"). A segment already retransmitted in this recovery is
//!    excluded. The RFC would send it twice.
//!
//! There are two ways to know whether a hole was retransmitted ([`Retransmissions`]). The RFC has
//! HighRxt, so that a recovery sends each hole once and knows nothing about the previous recovery.
//! With a record for each hole, kept after the end of a recovery, a retransmission counts as lost
//! if a segment first sent after it is SACKed (Linux since 2.4; RACK, RFC 8985, generalises this to
//! all segments sent later). The hole is then sent again under rule 1, and the next recovery does
//! not retransmit a hole whose retransmission is still in flight.
//!
//! After a timeout the sender continues from the oldest segment in order and skips SACKed ones
//! (§5.1). SACK marks survive the timeout unless the oldest segment has one: then the receiver has
//! discarded data that it had reported, and all marks are cleared. (RFC 2018 §8 allows clearing at
//! any timeout.)

use super::{DUPLICATE_THRESHOLD, Outstanding, Selection, Window};
use crate::tcp::outstanding::Sent;

/// SACKed payload above a hole that shows that the hole is lost: more than two full segments, as
/// the third duplicate ACK does (RFC 6675 §4, IsLost: more than (DupThresh - 1) · SMSS).
const LOST_ABOVE_SEGMENTS: u64 = DUPLICATE_THRESHOLD as u64 - 1;

/// The rule by which holes count as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossRule {
    /// IsLost of RFC 6675 §4: a hole is lost if three runs of SACKed segments lie above it, or
    /// SACKed segments with more than two full segments of payload.
    Rfc6675,
    /// FACK: all below the forward-most SACKed segment (Mathis and Mahdavi 1996).
    Forward,
}

/// How the scoreboard knows which holes were retransmitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retransmissions {
    /// All holes below HighRxt were (RFC 6675).
    ByHighRxt,
    /// Each hole has a record (`Sent::is_retransmitted`), so that lost retransmissions are
    /// detected.
    Recorded,
}

/// Scoreboard and recovery state. Segments are numbered from the SYN, which is 0.
#[derive(Debug, Clone)]
pub struct Selective {
    rule: LossRule,
    retransmissions: Retransmissions,
    in_recovery: bool,
    /// Number of segments in flight according to SetPipe.
    pipe: u32,
    /// The number after the highest hole retransmitted in this recovery (HighRxt).
    high_rxt: u64,
    /// The rescue retransmission of this recovery was sent (RescueRxt).
    rescued: bool,
    /// Holes below this sequence number are lost.
    lost_below: u64,
}

impl Selective {
    /// The state outside of a recovery.
    pub fn new(rule: LossRule, retransmissions: Retransmissions) -> Self {
        Selective {
            rule,
            retransmissions,
            in_recovery: false,
            pipe: 0,
            high_rxt: 0,
            rescued: false,
            lost_below: 0,
        }
    }

    /// Whether a recovery is in progress.
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.in_recovery
    }

    /// Number of segments in flight. Valid during a recovery.
    pub fn pipe(&self) -> u32 {
        self.pipe
    }

    /// Whether the oldest segment is lost, according to consecutive duplicates or to the segments
    /// above it (§5 steps 1 and 2).
    pub fn detects_loss(&mut self, window: &Window, sent: &Outstanding) -> bool {
        let is_far_behind = || sent.count_up_to_sacked() as u32 > DUPLICATE_THRESHOLD;
        if self.rule == LossRule::Forward && is_far_behind() {
            return true;
        }
        self.update_lost_below(window, sent);
        let oldest_is_lost = sent.una() < self.lost_below;
        window.duplicates >= DUPLICATE_THRESHOLD || oldest_is_lost
    }

    /// Begins a recovery: step 4 of §5, except the reduction of the window, which is the caller's
    /// duty.
    pub fn begin(&mut self, window: &Window, sent: &Outstanding) {
        self.in_recovery = true;
        self.rescued = false;
        self.high_rxt = sent.first_number();
        self.update(window, sent);
    }

    /// SetPipe, after the blocks of an acknowledgment in a recovery were applied. Returns whether
    /// more segments are lost.
    pub fn update(&mut self, window: &Window, sent: &Outstanding) -> bool {
        let lost_below_before = self.lost_below;
        self.update_lost_below(window, sent);
        let mut pipe = 0;
        let mut more_lost = false;
        let numbered = sent.ring.iter().zip(sent.first_number()..);
        for (hole, number) in numbered.filter(|(segment, _)| !segment.sacked) {
            let is_lost = hole.seq < self.lost_below;
            let retransmission_is_lost = self.is_retransmission_lost(hole, sent);
            let original_is_in_flight = !is_lost && !retransmission_is_lost;
            let retransmission_is_in_flight = self.is_retransmission_in_flight(hole, number, sent);
            pipe += u32::from(original_is_in_flight) + u32::from(retransmission_is_in_flight);
            let is_newly_lost = is_lost && hole.seq >= lost_below_before;
            more_lost |= is_newly_lost || retransmission_is_lost;
        }
        self.pipe = pipe;
        more_lost
    }

    /// Sets `lost_below` according to the rule and the current SACK marks.
    fn update_lost_below(&mut self, window: &Window, sent: &Outstanding) {
        self.lost_below = match self.rule {
            LossRule::Forward => sent.sacked_to,
            LossRule::Rfc6675 => lost_below(sent, u64::from(window.smss)),
        };
    }

    /// Whether the retransmission of a hole is lost: a segment first sent after it has arrived.
    /// Known only with records.
    #[inline]
    fn is_retransmission_lost(&self, hole: &Sent, sent: &Outstanding) -> bool {
        let was_overtaken = hole.is_retransmitted() && hole.snd_nxt_at_resend < sent.sacked_to;
        self.retransmissions == Retransmissions::Recorded && was_overtaken
    }

    /// Whether the hole with this number was retransmitted and may still arrive.
    #[inline]
    fn is_retransmission_in_flight(&self, hole: &Sent, number: u64, sent: &Outstanding) -> bool {
        match self.retransmissions {
            Retransmissions::ByHighRxt => number < self.high_rxt,
            Retransmissions::Recorded => hole.is_retransmitted() && hole.snd_nxt_at_resend >= sent.sacked_to,
        }
    }

    /// Whether the oldest segment was retransmitted before this recovery and may still arrive.
    /// Known only with records.
    pub fn is_first_in_flight(&self, sent: &Outstanding) -> bool {
        let Some(oldest) = sent.first() else { return false };
        self.retransmissions == Retransmissions::Recorded
            && self.is_retransmission_in_flight(oldest, sent.first_number(), sent)
    }

    /// Ends the recovery: all data outstanding at its beginning is acknowledged, the timer expired,
    /// or the loss was spurious.
    pub fn end(&mut self) {
        *self = Selective::new(self.rule, self.retransmissions);
    }

    /// Handles an expiry of the retransmission timer.
    pub fn time_out(&mut self, sent: &mut Outstanding) {
        self.end();
        let has_discarded_data = sent.first().is_some_and(|first| first.sacked);
        if has_discarded_data {
            sent.clear_sack_marks();
        } else if self.retransmissions == Retransmissions::Recorded {
            sent.clear_resent_marks();
        }
    }

    /// Selects the segment to send: NextSeg in a recovery, the lowest segment that is not SACKed
    /// after a timeout, and otherwise by the window.
    #[inline]
    pub fn select(&self, window: &Window, sent: &Outstanding) -> Selection {
        if self.in_recovery {
            let may_send = self.pipe < window.cwnd as u32;
            return if may_send { self.next_in_recovery(sent) } else { Selection::Wait };
        }
        let has_gone_back = sent.next() < sent.len();
        let has_sacked = sent.sacked_to > sent.una();
        if has_gone_back && has_sacked { after_timeout(window, sent) } else { Selection::ByWindow }
    }

    /// NextSeg (RFC 6675 §4), with the rules 1 to 4 at the top of this file.
    fn next_in_recovery(&self, sent: &Outstanding) -> Selection {
        let lowest = self.sendable_holes(sent).next();
        let hole_below_sacked = lowest.filter(|(_, hole)| hole.seq < sent.sacked_to);
        // Rule 1. A hole with a retransmission is sendable only if the retransmission is lost.
        if let Some((index, hole)) = hole_below_sacked
            && (hole.seq < self.lost_below || hole.is_retransmitted())
        {
            return Selection::Hole(index);
        }
        // Rule 2.
        if sent.has_new_data {
            return Selection::InOrder;
        }
        // Rule 3.
        if let Some((index, _)) = hole_below_sacked {
            return Selection::Hole(index);
        }
        // Rule 4.
        if self.rescued {
            return Selection::Wait;
        }
        self.rescue(sent).map_or(Selection::Wait, Selection::Rescue)
    }

    /// The holes without a retransmission in flight, with their index from the oldest segment.
    fn sendable_holes<'a>(&'a self, sent: &'a Outstanding) -> impl Iterator<Item = (usize, &'a Sent)> {
        sent.ring.iter().enumerate().filter(|(index, segment)| self.is_sendable(*index, segment, sent))
    }

    /// The highest segment that is not SACKed, unless its retransmission is in flight.
    fn rescue(&self, sent: &Outstanding) -> Option<usize> {
        let highest = sent.ring.iter().rposition(|segment| !segment.sacked)?;
        self.is_sendable(highest, &sent.ring[highest], sent).then_some(highest)
    }

    /// Whether the segment at `index` is a hole without a retransmission in flight.
    fn is_sendable(&self, index: usize, segment: &Sent, sent: &Outstanding) -> bool {
        let number = sent.first_number() + index as u64;
        !segment.sacked && !self.is_retransmission_in_flight(segment, number, sent)
    }

    /// Records the transmission of segment `number`.
    #[inline]
    pub fn on_sent(&mut self, selection: Selection, number: u64) {
        if !self.in_recovery {
            return;
        }
        self.pipe += 1;
        match selection {
            Selection::First | Selection::Hole(_) => self.high_rxt = self.high_rxt.max(number + 1),
            Selection::Rescue(_) => self.rescued = true,
            _ => {}
        }
    }
}

/// The sequence number below which all holes are lost according to IsLost: the highest SACKed
/// segment with enough SACKed segments from it on. 0 if no hole is lost.
fn lost_below(sent: &Outstanding, smss: u64) -> u64 {
    let has_sacked = sent.sacked_to > sent.una();
    if !has_sacked {
        return 0;
    }
    let mut sacked_runs = 0;
    let mut sacked_octets = 0;
    let mut previous_is_sacked = false;
    for segment in sent.ring.iter().rev() {
        if segment.sacked {
            sacked_runs += u32::from(!previous_is_sacked);
            sacked_octets += u64::from(segment.payload);
            if sacked_runs >= DUPLICATE_THRESHOLD || sacked_octets > LOST_ABOVE_SEGMENTS * smss {
                return segment.seq;
            }
        }
        previous_is_sacked = segment.sacked;
    }
    0
}

/// Selects the next segment after a timeout, as the window allows. All segments before the next one
/// that are not SACKed are in flight.
fn after_timeout(window: &Window, sent: &Outstanding) -> Selection {
    if sent.in_flight() as u32 >= window.cwnd as u32 {
        return Selection::Wait;
    }
    let next_unsacked = (sent.next()..sent.len()).find(|&index| !sent.is_sacked(index));
    next_unsacked.map_or(Selection::InOrder, Selection::NextUnsacked)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of runs of segments, some with one run")]
mod tests {
    use std::ops::Range;

    use umts_units::Time;

    use super::*;
    use crate::packet::SackBlocks;
    use crate::tcp::congestion::{Law, Rules};

    /// Payload of each segment, in octets.
    const SMSS: u32 = 100;

    /// `count` segments of 100 octets, numbered from 0, all sent. The ranges of segments `sacked`
    /// are SACKed.
    fn sent(count: u64, sacked: &[Range<u64>]) -> Outstanding {
        let mut sent = Outstanding::default();
        for i in 0..count {
            sent.push(Sent { seq: 100 * i, payload: SMSS, ..Sent::default() });
            sent.send_next(Time::ZERO);
        }
        for segments in sacked {
            sent.mark_sacked(0, &SackBlocks::new(0, [(100 * segments.start, 100 * segments.end)]));
        }
        sent
    }

    fn window(cwnd: f64) -> Window {
        Window { cwnd, ..Window::new(None, Rules::Rfc5681, Law::Standard, SMSS) }
    }

    /// `lost_below` for nine segments of which `sacked` are SACKed: the sequence number of the
    /// lowest SACKed segment below which holes are lost.
    fn lost_below_of_nine(sacked: &[Range<u64>], smss: u64) -> u64 {
        lost_below(&sent(9, sacked), smss)
    }

    #[test]
    fn hole_is_lost_below_more_than_two_full_sacked_segments() {
        let smss = u64::from(SMSS);
        assert_eq!(lost_below_of_nine(&[2..4], smss), 0, "two segments are not more than two");
        assert_eq!(lost_below_of_nine(&[2..5], smss), 200, "three adjacent segments");
        assert_eq!(lost_below_of_nine(&[2..3, 5..7], smss), 200, "three segments in two runs");
        // Segment 5 has only the segments 6 and 7 above it and is not lost. Segments 0, 1 and 3
        // are.
        assert_eq!(lost_below_of_nine(&[2..3, 4..5, 6..8], smss), 400);
    }

    #[test]
    fn hole_is_lost_below_three_sacked_runs_of_any_size() {
        // Three segments of 100 octets are far less than two full segments.
        let large_smss = 1000;
        assert_eq!(lost_below_of_nine(&[2..3, 4..5, 6..7], large_smss), 200);
        assert_eq!(lost_below_of_nine(&[2..3, 4..6], large_smss), 0, "two runs");
    }

    /// The numbers of the segments sent while `pipe` is below cwnd, without any acknowledgment.
    fn send_while_allowed(board: &mut Selective, window: &Window, sent: &mut Outstanding) -> Vec<u64> {
        let mut numbers = Vec::new();
        loop {
            let selection = board.select(window, sent);
            match selection {
                Selection::Hole(index) | Selection::Rescue(index) => {
                    numbers.push(sent.number_of(selection));
                    sent.send_hole(index, Time::ZERO);
                    board.on_sent(selection, *numbers.last().expect("pushed"));
                }
                _ => return numbers,
            }
        }
    }

    /// Ten segments, of which 1, 3, 4 and 6 are SACKed. Holes 0 and 2 are lost, because the SACKed
    /// segments 3, 4 and 6 above them exceed two full segments. Hole 5 is not known to be lost,
    /// because only segment 6 above it is SACKed. Segments 7 to 9 are above the highest SACKed one.
    fn two_lost_of_ten() -> Outstanding {
        sent(10, &[6..7, 3..5, 1..2])
    }

    #[test]
    fn lost_holes_precede_new_data() {
        let mut sent = two_lost_of_ten();
        sent.has_new_data = true;
        let mut board = Selective::new(LossRule::Rfc6675, Retransmissions::ByHighRxt);
        let window = window(20.0);
        board.begin(&window, &sent);
        assert_eq!(board.pipe(), 4, "segments 5, 7, 8 and 9 are in flight");
        assert_eq!(send_while_allowed(&mut board, &window, &mut sent), [0, 2]);
        assert_eq!(board.select(&window, &sent), Selection::InOrder);
    }

    #[test]
    fn without_new_data_other_holes_and_one_rescue_follow() {
        let mut sent = two_lost_of_ten();
        sent.has_new_data = false;
        let mut board = Selective::new(LossRule::Rfc6675, Retransmissions::ByHighRxt);
        let window = window(20.0);
        board.begin(&window, &sent);
        assert_eq!(send_while_allowed(&mut board, &window, &mut sent), [0, 2, 5, 9], "9 is the rescue, once");
        assert_eq!(board.pipe(), 4 + 4, "four originals and four retransmissions");
    }

    #[test]
    fn forward_acknowledgment_counts_every_hole_as_lost() {
        let sent = sent(10, &[6..7]);
        let mut board = Selective::new(LossRule::Forward, Retransmissions::ByHighRxt);
        let window = window(8.0);
        assert!(board.detects_loss(&window, &sent));
        board.begin(&window, &sent);
        // In flight are the segments from snd.fack to snd.nxt: 7, 8 and 9.
        assert_eq!(board.pipe(), 3);
        assert!(!Selective::new(LossRule::Rfc6675, Retransmissions::ByHighRxt).detects_loss(&window, &sent));
    }

    #[test]
    fn sacked_segments_are_skipped_after_a_timeout() {
        let mut sent = sent(6, &[1..3, 4..5]);
        let mut board = Selective::new(LossRule::Rfc6675, Retransmissions::ByHighRxt);
        let window = window(3.0);
        board.time_out(&mut sent);
        sent.go_back();
        let mut sent_indices = Vec::new();
        while let Selection::NextUnsacked(index) = board.select(&window, &sent) {
            sent_indices.push(index);
            sent.send_from(index, Time::ZERO);
        }
        assert_eq!(sent_indices, [0, 3, 5]);
    }

    #[test]
    fn timeout_clears_sack_marks_if_the_receiver_has_discarded_data() {
        let mut sent = sent(6, &[1..3, 4..5]);
        // The receiver has discarded data if the oldest segment is SACKed but not acknowledged.
        sent.ring[0].sacked = true;
        Selective::new(LossRule::Rfc6675, Retransmissions::ByHighRxt).time_out(&mut sent);
        assert_eq!(sent.count_up_to_sacked(), 0);
    }
}
