//! The scoreboard of SACK-based loss recovery (RFC 6675): which segments count as lost, how many
//! are in flight, and which one is sent next. SACK, FACK and other variants use it on full duplex
//! connections. The reduction of the window is in `recovery.rs`.
//!
//! `pipe` estimates the number of segments in flight: those neither SACKed nor lost, and those
//! retransmitted in this recovery. While it is below cwnd, a segment is sent according to NextSeg
//! (§4):
//!
//! 1. the lowest lost hole above HighRxt, the highest retransmitted segment;
//! 2. otherwise new data;
//! 3. otherwise the lowest hole above HighRxt that is not known to be lost;
//! 4. otherwise, once per recovery, the highest segment that is not SACKed, so that its ACK shows
//!    which segments are missing ("rescue"). A segment already retransmitted in this recovery is
//!    excluded. The RFC would send it twice.
//!
//! With `lost_retransmissions` the scoreboard records for each hole whether and when it was
//! retransmitted, and keeps this record after the end of a recovery. A hole is lost again if a
//! segment first sent after the retransmission is SACKed (Linux since 2.4; RACK, RFC 8985,
//! generalises this to all segments sent later). The hole is then sent under rule 1, and the next
//! recovery does not retransmit a hole whose retransmission is still in flight. Without
//! `lost_retransmissions`, as in the RFC, a recovery sends each hole once and has no record of the
//! previous recovery.
//!
//! After a timeout the sender continues from the oldest segment in order and skips SACKed ones
//! (§5.1). SACK marks survive the timeout unless the oldest segment has one: then the receiver has
//! discarded data that it had reported, and all marks are cleared. (RFC 2018 §8 allows clearing at
//! any timeout.)

use super::{DUPLICATE_THRESHOLD, Outstanding, Selection, Window};
use crate::tcp::outstanding::Sent;

/// The rule by which holes count as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossRule {
    /// IsLost of RFC 6675 §4: a hole is lost if three runs of SACKed segments lie above it, or
    /// SACKed segments with more than two full segments of payload.
    Rfc6675,
    /// FACK: all below the forward-most SACKed segment (Mathis and Mahdavi 1996).
    Forward,
}

/// Scoreboard and recovery state. Segments are numbered from the SYN, which is 0.
#[derive(Debug, Clone)]
pub struct Selective {
    rule: LossRule,
    in_recovery: bool,
    /// Number of segments in flight according to SetPipe.
    pipe: u32,
    /// The number after the highest hole retransmitted in this recovery (HighRxt).
    high_rxt: u64,
    /// The rescue retransmission of this recovery was sent (RescueRxt).
    rescued: bool,
    /// Holes (segments that are not SACKed) below this sequence number are lost.
    lost_below: u64,
    /// Retransmissions are recorded for each hole, instead of by HighRxt.
    lost_retransmissions: bool,
}

impl Selective {
    /// The state outside of a recovery.
    pub fn new(rule: LossRule, lost_retransmissions: bool) -> Self {
        Selective {
            rule,
            in_recovery: false,
            pipe: 0,
            high_rxt: 0,
            rescued: false,
            lost_below: 0,
            lost_retransmissions,
        }
    }

    /// Whether the hole with this number was retransmitted and may still arrive.
    #[inline]
    fn is_retransmission_in_flight(&self, hole: &Sent, number: u64, sent: &Outstanding) -> bool {
        if self.lost_retransmissions {
            hole.is_retransmitted() && hole.snd_nxt_at_resend >= sent.sacked_to
        } else {
            number < self.high_rxt
        }
    }

    /// Whether the oldest segment was retransmitted before this recovery and may still arrive.
    pub fn is_first_in_flight(&self, sent: &Outstanding) -> bool {
        let oldest = sent.first().filter(|_| self.lost_retransmissions);
        oldest.is_some_and(|oldest| self.is_retransmission_in_flight(oldest, sent.first_number(), sent))
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
        if self.rule == LossRule::Forward && sent.count_up_to_sacked() as u32 > DUPLICATE_THRESHOLD {
            return true;
        }
        self.update_lost_below(window, sent);
        window.duplicates >= DUPLICATE_THRESHOLD || sent.una() < self.lost_below
    }

    /// Step 4 of §5, except the reduction of the window, which is the caller's duty.
    pub fn begin(&mut self, window: &Window, sent: &Outstanding) {
        (self.in_recovery, self.rescued) = (true, false);
        self.high_rxt = sent.first_number();
        self.update(window, sent);
    }

    /// SetPipe, after the blocks of an acknowledgment in a recovery were applied. Returns whether
    /// more segments are lost.
    pub fn update(&mut self, window: &Window, sent: &Outstanding) -> bool {
        let lost_below_before = self.lost_below;
        self.update_lost_below(window, sent);
        let (mut pipe, mut more_lost) = (0, false);
        let numbered = sent.ring.iter().zip(sent.first_number()..);
        for (segment, number) in numbered.filter(|(segment, _)| !segment.sacked) {
            let lost = segment.seq < self.lost_below;
            let retransmission_is_lost = self.lost_retransmissions
                && segment.is_retransmitted()
                && segment.snd_nxt_at_resend < sent.sacked_to;
            let retransmission_is_in_flight = self.is_retransmission_in_flight(segment, number, sent);
            pipe += u32::from(!lost && !retransmission_is_lost) + u32::from(retransmission_is_in_flight);
            more_lost |= (lost && segment.seq >= lost_below_before) || retransmission_is_lost;
        }
        self.pipe = pipe;
        more_lost
    }

    /// Ends the recovery: all data outstanding at its beginning is acknowledged, the timer expired,
    /// or the loss was spurious.
    pub fn end(&mut self) {
        *self = Selective::new(self.rule, self.lost_retransmissions);
    }

    /// Handles an expiry of the retransmission timer.
    pub fn time_out(&mut self, sent: &mut Outstanding) {
        self.end();
        if sent.first().is_some_and(|first| first.sacked) {
            sent.clear_sack_marks();
        } else if self.lost_retransmissions {
            sent.clear_resent_marks();
        }
    }

    /// Sets `lost_below` according to the rule and the current SACK marks.
    fn update_lost_below(&mut self, window: &Window, sent: &Outstanding) {
        self.lost_below = match self.rule {
            LossRule::Forward => sent.sacked_to,
            LossRule::Rfc6675 => lost_below(sent, u64::from(window.smss)),
        };
    }

    /// Selects the segment to send: NextSeg in a recovery, the lowest segment that is not SACKed
    /// after a timeout, and otherwise by the window.
    #[inline]
    pub fn select(&self, window: &Window, sent: &Outstanding) -> Selection {
        if self.in_recovery {
            return if self.pipe < window.cwnd as u32 {
                self.next_in_recovery(sent)
            } else {
                Selection::Wait
            };
        }
        if sent.next() < sent.len() && sent.sacked_to > sent.una() {
            return after_timeout(window, sent);
        }
        Selection::ByWindow
    }

    /// NextSeg (RFC 6675 §4), see the rules 1 to 4 at the top of this file.
    fn next_in_recovery(&self, sent: &Outstanding) -> Selection {
        let first_number = sent.first_number();
        let first_index =
            if self.lost_retransmissions { 0 } else { self.high_rxt.saturating_sub(first_number) as usize };
        let may_be_sent = |index: usize, segment: &Sent| {
            !segment.sacked && !self.is_retransmission_in_flight(segment, first_number + index as u64, sent)
        };
        let mut holes = sent
            .ring
            .iter()
            .enumerate()
            .skip(first_index)
            .filter(|(index, segment)| may_be_sent(*index, segment));
        let hole = holes.next().filter(|(_, segment)| segment.seq < sent.sacked_to);
        match hole {
            Some((index, segment)) if segment.seq < self.lost_below || segment.is_retransmitted() => {
                Selection::Hole(index)
            }
            _ if sent.has_new_data => Selection::InOrder,
            Some((index, _)) => Selection::Hole(index),
            None if self.rescued => Selection::Wait,
            None => {
                let highest = sent.ring.iter().rposition(|segment| !segment.sacked);
                let rescue =
                    highest.filter(|&index| index >= first_index && may_be_sent(index, &sent.ring[index]));
                rescue.map_or(Selection::Wait, Selection::Rescue)
            }
        }
    }

    /// Records a transmission.
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

/// The sequence number below which all holes are lost according to IsLost. 0 if no hole is.
fn lost_below(sent: &Outstanding, smss: u64) -> u64 {
    if sent.sacked_to <= sent.una() {
        return 0;
    }
    let (mut runs, mut octets, mut in_run) = (0, 0, false);
    for segment in sent.ring.iter().rev() {
        if segment.sacked {
            runs += u32::from(!in_run);
            octets += u64::from(segment.payload);
        }
        in_run = segment.sacked;
        if segment.sacked && (runs >= DUPLICATE_THRESHOLD || octets > 2 * smss) {
            return segment.seq;
        }
    }
    0
}

/// Selects the next segment after a timeout, as the window allows. All segments before the next one
/// that are not SACKed are in flight.
fn after_timeout(window: &Window, sent: &Outstanding) -> Selection {
    let in_flight = sent.ring.iter().take(sent.next()).filter(|segment| !segment.sacked).count();
    if in_flight as u32 >= window.cwnd as u32 {
        return Selection::Wait;
    }
    let unsacked = |index: &usize| !sent.ring[*index].sacked;
    (sent.next()..sent.len()).find(unsacked).map_or(Selection::InOrder, Selection::NextUnsacked)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of runs of segments, some with one run")]
mod tests {
    use std::ops::Range;

    use umts_units::Time;

    use super::*;
    use crate::packet::SackBlocks;
    use crate::tcp::congestion::{Law, Rules};

    const SMSS: u32 = 100;
    /// Retransmissions are not recorded for each hole (`lost_retransmissions` is off).
    const NO_RECORD: bool = false;

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

    #[test]
    fn segment_is_lost_below_three_runs_or_more_than_two_segments() {
        // The result is the sequence number of the lowest SACKed segment below which holes are
        // lost.
        let large_smss = 1000;
        assert_eq!(lost_below(&sent(9, &[2..4]), u64::from(SMSS)), 0, "two segments are not more than two");
        assert_eq!(lost_below(&sent(9, &[2..5]), u64::from(SMSS)), 200);
        assert_eq!(lost_below(&sent(9, &[2..3, 5..7]), u64::from(SMSS)), 200);
        assert_eq!(lost_below(&sent(9, &[2..3, 4..5, 6..7]), large_smss), 200, "three runs of any size");
        // Segment 5 has one SACKed segment above it and is not lost. Segments 0, 1 and 3 are.
        assert_eq!(lost_below(&sent(9, &[4..5, 2..3, 6..8]), u64::from(SMSS)), 400);
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

    #[test]
    fn holes_precede_new_data_and_the_rescue_is_last() {
        // Segments 0 and 2 are lost. Segment 5 is a hole that is not known to be lost, because only
        // segment 6 above it is SACKed. Segments 7 to 9 are above the highest SACKed one.
        let mut sent = sent(10, &[6..7, 3..5, 1..2]);
        let mut board = Selective::new(LossRule::Rfc6675, NO_RECORD);
        let window = window(20.0);
        board.begin(&window, &sent);
        // Segments 5, 7, 8 and 9 are in flight.
        assert_eq!(board.pipe(), 4);
        sent.has_new_data = true;
        let mut board_with_new_data = board.clone();
        let mut sent_with_new_data = sent.clone();
        assert_eq!(send_while_allowed(&mut board_with_new_data, &window, &mut sent_with_new_data), [0, 2]);
        assert_eq!(board_with_new_data.select(&window, &sent_with_new_data), Selection::InOrder);
        sent.has_new_data = false;
        assert_eq!(send_while_allowed(&mut board, &window, &mut sent), [0, 2, 5, 9], "9 is the rescue, once");
        assert_eq!(board.pipe(), 8);
    }

    #[test]
    fn forward_acknowledgment_counts_every_hole_as_lost() {
        let sent = sent(10, &[6..7]);
        let mut board = Selective::new(LossRule::Forward, NO_RECORD);
        let window = window(8.0);
        assert!(board.detects_loss(&window, &sent));
        board.begin(&window, &sent);
        // In flight are the segments from snd.fack to snd.nxt: 7, 8 and 9.
        assert_eq!(board.pipe(), 3);
        assert!(!Selective::new(LossRule::Rfc6675, NO_RECORD).detects_loss(&window, &sent));
    }

    #[test]
    fn sacked_segments_are_skipped_after_a_timeout() {
        let mut sent = sent(6, &[1..3, 4..5]);
        let mut board = Selective::new(LossRule::Rfc6675, NO_RECORD);
        board.time_out(&mut sent);
        sent.go_back();
        let mut numbers = Vec::new();
        let window = window(3.0);
        while let Selection::NextUnsacked(index) = board.select(&window, &sent) {
            numbers.push(index);
            sent.send_from(index, Time::ZERO);
        }
        assert_eq!(numbers, [0, 3, 5]);
        // The receiver has discarded data if the oldest segment is SACKed.
        sent.ring[0].sacked = true;
        board.time_out(&mut sent);
        assert_eq!(sent.count_up_to_sacked(), 0);
    }
}
