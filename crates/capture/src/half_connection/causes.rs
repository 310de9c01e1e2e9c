//! Collects the facts about a segment or an acknowledgment from which `recovery.rs` infers causes.

use umts_units::{Duration, Time};

use super::{HalfConnection, unwrap};
use crate::cause::Cause;
use crate::packet::Segment;
use crate::probe::LONGEST;
use crate::recovery::{DUPLICATE_THRESHOLD, Heard, NewData, Repetition};

impl HalfConnection {
    /// Processes new data. After silence they may be a probe: then nothing follows them before an
    /// acknowledgment.
    #[inline]
    pub(super) fn note_new(&mut self, now: Time, start: u64, end: u64, segment: &Segment, delay: Duration) {
        let is_outstanding = self.una.is_some_and(|una| una < start) && self.highest == Some(end);
        if let Some(before) = self.recoveries.sent_new(now, is_outstanding)
            && self.is_new_probe(now, before, segment, delay)
        {
            self.recoveries.probes.sent_new_data(end);
        }
    }

    #[cold]
    fn is_new_probe(&self, now: Time, before: Time, segment: &Segment, sender_delay: Duration) -> bool {
        let is_full = segment.payload > 0 && segment.payload >= self.tally.largest_segment;
        if !is_full || !self.sacked.is_empty() || !self.has_sack() {
            return false;
        }
        self.una.and_then(|una| self.flight.oldest(una)).is_some_and(|(oldest, _)| {
            let (is_single, estimate) = (self.flight.is_single(), self.flight.estimate);
            let sender_delay = sender_delay.min(LONGEST);
            self.recoveries.is_new_probe(&NewData { now, before, oldest, is_single, sender_delay, estimate })
        })
    }

    pub(super) fn cause_of_retransmission(
        &mut self,
        now: Time,
        (start, end): (u64, u64),
        highest: u64,
        segment: &Segment,
        sender_delay: Duration,
    ) -> Cause {
        if !self.is_acknowledged() && !segment.flags.syn() {
            return Cause::Unknown;
        }
        let una = self.una.unwrap_or(start);
        let sacked_above = self.sacked.count_above(end);
        let before = self.flight.left(start.max(una));
        let what = Repetition {
            now,
            start,
            end,
            una,
            highest,
            is_syn: segment.flags.syn(),
            timestamp: segment.options.timestamps.map(|(value, _)| value),
            sacked_above,
            full: u64::from(self.tally.largest_segment),
            has_sack: self.has_sack(),
            before: before.map(|(at, was_repeated, _)| (at, was_repeated)),
            lost: before.and_then(|(at, _, end)| self.lost(at, end)),
            sender_delay: sender_delay.min(LONGEST),
            estimate: self.flight.estimate,
        };
        self.recoveries.sent_again(&what)
    }

    /// Returns when RACK declares a segment lost that ends at `end` and left at `left`, if later
    /// segments have been delivered (RFC 8985 §6.2, step 5).
    fn lost(&self, left: Time, end: u64) -> Option<Time> {
        let rack = &self.flight.rack;
        if !self.has_sack() || !rack.has_passed(left, end) {
            return None;
        }
        let known = self.passed.filter(|&(oldest, _)| oldest == (left, end)).map(|(_, due)| due);
        Some(known.unwrap_or_else(|| rack.since().max(left + rack.rtt() + self.reordering_window(end))))
    }

    /// Returns the reordering window of a segment that ends at `end`.
    fn reordering_window(&self, end: u64) -> Duration {
        let three = u64::from(DUPLICATE_THRESHOLD) * u64::from(self.tally.largest_segment);
        let is_urgent = self.recoveries.is_recovering() || self.sacked.count_above(end) >= three;
        let min_rtt = self.flight.rtt_every.sums.min();
        self.flight.rack.window(is_urgent, min_rtt, self.flight.estimate.srtt())
    }

    /// Returns whether selective acknowledgments are in use, by the handshake or, without one, by
    /// those seen.
    pub(super) fn has_sack(&self) -> bool {
        self.sack_permitted.unwrap_or(self.is_sacking)
    }

    /// Returns whether an acknowledgment was overtaken by others; a sender ignores it (RFC 7323
    /// §5.3, R1). An acknowledgment that repeats the last number is not stale: Linux processes it,
    /// and only the timestamp shows its order.
    #[inline]
    pub(super) fn is_stale(&mut self, segment: &Segment, ack: u64, una: u64) -> bool {
        let Some((value, _)) = segment.options.timestamps else { return false };
        let is_older = self.newest_timestamp.is_some_and(|newest| (value.wrapping_sub(newest) as i32) < 0);
        if !is_older {
            self.newest_timestamp = Some(value);
        }
        is_older && ack < una
    }

    /// Records when RACK declares the oldest segment lost. If that is in the future, the sender has
    /// a timer for it, which waits for all segments that were passed (RFC 8985 §6.2, step 5: the
    /// longest remaining time).
    #[inline]
    pub(super) fn watch_oldest(&mut self, now: Time) {
        let rack = &self.flight.rack;
        let oldest = self.una.and_then(|una| self.flight.oldest(una));
        self.passed = oldest.filter(|&(left, end)| rack.has_passed(left, end)).map(|oldest| {
            let known = self.passed.filter(|&(known, due)| known == oldest && due <= now);
            (oldest, known.map_or_else(|| self.due_by_rack(now, oldest), |(_, due)| due))
        });
    }

    #[cold]
    fn due_by_rack(&self, now: Time, (left, end): (Time, u64)) -> Time {
        let rack = &self.flight.rack;
        let wait = rack.rtt() + self.reordering_window(end);
        if left + wait <= now { now } else { rack.xmit_ts() + wait }
    }

    /// Returns whether an acknowledgment shows no loss: new data are acknowledged, or the other end
    /// sends data.
    #[inline]
    pub(super) fn is_usual(&self, segment: &Segment, ack: u64, una: u64) -> bool {
        let is_usual = ack > una || (ack == una && segment.sequence_length() > 0);
        let has_blocks = !segment.options.sack.as_slice().is_empty();
        is_usual && !has_blocks && !self.flight.is_marked(una) && self.recoveries.is_calm()
    }

    /// Processes a usual acknowledgment. Kept short, because most acknowledgments are usual.
    #[inline]
    pub(super) fn take_in_usual(&mut self, now: Time, segment: &Segment, ack: u64, una: u64) {
        self.is_stale(segment, ack, una);
        if ack > una {
            self.advance(now, una, ack, segment);
        }
        self.recoveries.calm_ack(now, ack > una);
        self.passed = None;
    }

    /// Processes an acknowledgment that may show a loss. `same_window`: it announces the same
    /// window as the one before.
    #[inline(never)]
    pub(super) fn take_in(&mut self, now: Time, segment: &Segment, ack: u64, una: u64, same_window: bool) {
        let is_stale = self.is_stale(segment, ack, una);
        let mut heard = self.hear(now, segment, ack, una, is_stale);
        if ack > una {
            self.advance(now, una, ack, segment);
            heard.original = self.flight.original;
            if self.recoveries.new_ack(&heard) {
                self.flight.rack.recovered();
                if self.has_sack() && self.flight.has_repeated() {
                    self.recoveries.carry_over(now, ack, self.highest.unwrap_or(ack));
                    self.tally.fast_carried += 1;
                }
            }
        } else if ack == una || heard.is_news {
            let is_outstanding = self.highest.is_some_and(|highest| highest > una);
            let takes_nothing = segment.sequence_length() == 0;
            heard.is_repetition = ack == una && takes_nothing && (same_window || heard.is_news);
            heard.is_duplicate = heard.is_repetition && is_outstanding;
            let count = self.recoveries.other_ack(&heard);
            self.tally.dupack_runs += u64::from(heard.is_duplicate && count == DUPLICATE_THRESHOLD);
        }
        self.watch_oldest(now);
    }

    /// Returns the information of an acknowledgment other than the cumulative acknowledgment.
    fn hear(&mut self, now: Time, segment: &Segment, ack: u64, una: u64, is_stale: bool) -> Heard {
        self.flight.begin();
        let (is_news, twice) = self.note_sack(now, segment, ack, una, is_stale);
        if is_news && ack <= una {
            self.flight.sample_sacked(una);
        }
        let echo = segment.options.timestamps.map(|(_, echo)| echo);
        Heard { now, ack, is_news, twice, echo, original: self.flight.original, ..Heard::default() }
    }

    /// Processes selective acknowledgments. Returns whether a block is new, and the end of a block
    /// that the receiver got twice. If the acknowledgment is stale, only a report of a duplicate is
    /// used, as evidence of a needless retransmission.
    fn note_sack(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        una: u64,
        is_stale: bool,
    ) -> (bool, Option<u64>) {
        let blocks = segment.options.sack.as_slice();
        let Some(&first) = blocks.first() else { return (false, None) };
        self.is_sacking = true;
        let unwrapped = |(left, right): (u32, u32)| {
            let left = unwrap(left, ack);
            (left, unwrap(right, left))
        };
        let (left, right) = unwrapped(first);
        // RFC 2883 §4: a first block below the acknowledgment or inside the second block reports a
        // duplicate.
        let is_inside =
            blocks.get(1).copied().map(unwrapped).is_some_and(|(from, to)| from <= left && right <= to);
        let is_dsack = left < right && (right <= ack || is_inside);
        // A sender in TIME-WAIT ignores the report.
        if is_dsack && !self.is_over {
            self.retransmissions.duplicated(left, right);
        }
        let Some(highest) = self.highest.filter(|_| !is_stale) else { return (false, None) };
        let twice = is_dsack.then_some(right);
        if is_dsack {
            self.flight.rack.duplicated(una, highest);
        }
        let mut is_news = false;
        for (left, right) in blocks.iter().copied().map(unwrapped) {
            if ack.max(una) <= left && left < right && right <= highest {
                self.sacked.for_each_gap(left, right, |from, to| self.flight.sacked(now, from, to));
                is_news |= self.sacked.insert(left, right);
            }
        }
        (is_news, twice)
    }
}
