//! Collects the facts about a segment or an acknowledgment from which `recovery.rs` infers causes.

use umts_units::{Duration, Time};

use super::{HalfConnection, RackDeadline, unwrap};
use crate::cause::Cause;
use crate::packet::Segment;
use crate::probe::MAX_RTT;
use crate::recovery::{AckInfo, DUPLICATE_THRESHOLD, NewData, Retransmission};
use crate::unacked_segments::SentCopy;

impl HalfConnection {
    /// Processes new data. After silence they may be a probe, unless more data follow before an
    /// acknowledgment.
    #[inline]
    pub(super) fn record_new(&mut self, now: Time, start: u64, end: u64, segment: &Segment, delay: Duration) {
        let is_outstanding = self.una.is_some_and(|una| una < start) && self.highest == Some(end);
        if let Some(last_sent) = self.recoveries.record_new_data(now, is_outstanding)
            && self.is_new_probe(now, last_sent, segment, delay)
        {
            self.recoveries.probes.sent_new_data(end);
        }
    }

    /// Returns whether new data are a tail loss probe. A probe with new data is a full segment.
    #[cold]
    fn is_new_probe(&self, now: Time, last_sent: Time, segment: &Segment, sender_delay: Duration) -> bool {
        let is_full = segment.payload > 0 && segment.payload >= self.counters.largest_segment;
        if !is_full || !self.sacked.is_empty() || !self.has_sack() {
            return false;
        }
        let Some(oldest) = self.una.and_then(|una| self.flight.oldest(una)) else { return false };
        self.recoveries.is_new_probe(&NewData {
            now,
            last_sent,
            oldest: oldest.at,
            is_single: self.flight.is_single(),
            sender_delay: sender_delay.min(MAX_RTT),
            estimate: self.flight.estimate,
        })
    }

    /// Returns why `start..end` was retransmitted. `highest` is the end of the data sent before.
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
        let previous = self.flight.last_copy(start.max(una));
        let retransmission = Retransmission {
            now,
            start,
            end,
            una,
            highest,
            is_syn: segment.flags.syn(),
            timestamp: segment.options.timestamps.map(|(value, _)| value),
            sacked_above,
            full_segment: u64::from(self.counters.largest_segment),
            has_sack: self.has_sack(),
            previous,
            lost_at: previous.and_then(|previous| self.lost_at(previous.copy)),
            sender_delay: sender_delay.min(MAX_RTT),
            estimate: self.flight.estimate,
        };
        self.recoveries.record_retransmission(&retransmission)
    }

    /// Returns when RACK declares a segment lost, if later segments have been delivered (RFC 8985
    /// §6.2, step 5).
    fn lost_at(&self, segment: SentCopy) -> Option<Time> {
        let rack = &self.flight.rack;
        if !self.has_sack() || !rack.has_passed(segment.at, segment.end) {
            return None;
        }
        if let Some(known) = self.rack_deadline.filter(|known| known.segment == segment) {
            return Some(known.due);
        }
        let window_end = segment.at + rack.rtt() + self.reordering_window(segment.end);
        Some(rack.updated_at().max(window_end))
    }

    /// Returns the reordering window of a segment that ends at `end`.
    fn reordering_window(&self, end: u64) -> Duration {
        let three_segments = u64::from(DUPLICATE_THRESHOLD) * u64::from(self.counters.largest_segment);
        let is_urgent = self.recoveries.is_recovering() || self.sacked.count_above(end) >= three_segments;
        let min_rtt = self.flight.rtt_every.sums.min();
        self.flight.rack.window(is_urgent, min_rtt, self.flight.estimate.srtt())
    }

    /// Returns whether selective acknowledgments are in use, by the handshake or, without one, by
    /// those seen.
    pub(super) fn has_sack(&self) -> bool {
        self.sack_permitted.unwrap_or(self.is_sacking)
    }

    /// Returns whether an acknowledgment is stale, because others overtook it. A sender ignores it
    /// (RFC 7323 §5.3, R1). An acknowledgment that repeats the last number is not stale: Linux
    /// processes it, and only the timestamp shows its order.
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
        let passed = oldest.filter(|oldest| rack.has_passed(oldest.at, oldest.end));
        self.rack_deadline = passed.map(|segment| {
            let known = self.rack_deadline.filter(|known| known.segment == segment && known.due <= now);
            let due = known.map_or_else(|| self.due_by_rack(now, segment), |known| known.due);
            RackDeadline { segment, due }
        });
    }

    /// Returns when RACK declares a segment lost that later segments have passed: now, or when the
    /// sender's timer expires.
    #[cold]
    fn due_by_rack(&self, now: Time, segment: SentCopy) -> Time {
        let rack = &self.flight.rack;
        let wait = rack.rtt() + self.reordering_window(segment.end);
        if segment.at + wait <= now { now } else { rack.xmit_ts() + wait }
    }

    /// Returns whether an acknowledgment is usual, because it shows no loss: it acknowledges new
    /// data, or carries data of the other end.
    #[inline]
    pub(super) fn is_usual(&self, segment: &Segment, ack: u64, una: u64) -> bool {
        let is_usual = ack > una || (ack == una && segment.sequence_length() > 0);
        let has_blocks = !segment.options.sack.as_slice().is_empty();
        is_usual && !has_blocks && !self.flight.is_marked(una) && self.recoveries.is_calm()
    }

    /// Processes a usual acknowledgment. This function is short, because most acknowledgments are
    /// usual.
    #[inline]
    pub(super) fn process_usual_ack(&mut self, now: Time, segment: &Segment, ack: u64, una: u64) {
        self.is_stale(segment, ack, una);
        if ack > una {
            self.advance(now, una, ack, segment);
        }
        self.recoveries.calm_ack(now, ack > una);
        self.rack_deadline = None;
    }

    /// Processes an acknowledgment that may show a loss. `same_window`: it announces the same
    /// window as the previous acknowledgment.
    #[inline(never)]
    pub(super) fn process_unusual_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        una: u64,
        same_window: bool,
    ) {
        let is_stale = self.is_stale(segment, ack, una);
        let mut info = self.ack_info(now, segment, ack, una, is_stale);
        if ack > una {
            self.advance(now, una, ack, segment);
            info.original_end = self.flight.original_end;
            if self.recoveries.new_ack(&info) {
                self.flight.rack.recovered();
                if self.has_sack() && self.flight.has_retransmitted() {
                    self.recoveries.carry_over(now, ack, self.highest.unwrap_or(ack));
                    self.counters.fast_carried += 1;
                }
            }
        } else if ack == una || info.sacks_new_data {
            let is_outstanding = self.highest.is_some_and(|highest| highest > una);
            let is_empty = segment.sequence_length() == 0;
            info.repeats_last = ack == una && is_empty && (same_window || info.sacks_new_data);
            info.is_duplicate = info.repeats_last && is_outstanding;
            let count = self.recoveries.other_ack(&info);
            self.counters.dupack_runs += u64::from(info.is_duplicate && count == DUPLICATE_THRESHOLD);
        }
        self.watch_oldest(now);
    }

    /// Processes the options of an acknowledgment: SACK blocks and timestamps.
    fn ack_info(&mut self, now: Time, segment: &Segment, ack: u64, una: u64, is_stale: bool) -> AckInfo {
        self.flight.begin_ack();
        let SackReport { sacks_new_data, duplicate_end } =
            self.process_sack(now, segment, ack, una, is_stale);
        if sacks_new_data && ack <= una {
            self.flight.sample_sacked(una);
        }
        let echo = segment.options.timestamps.map(|(_, echo)| echo);
        AckInfo {
            now,
            ack,
            sacks_new_data,
            duplicate_end,
            echo,
            original_end: self.flight.original_end,
            ..AckInfo::default()
        }
    }

    /// Processes selective acknowledgments. If the acknowledgment is stale, only a report of a
    /// duplicate is used, as evidence of a needless retransmission.
    fn process_sack(
        &mut self,
        now: Time,
        segment: &Segment,
        ack: u64,
        una: u64,
        is_stale: bool,
    ) -> SackReport {
        let blocks = segment.options.sack.as_slice();
        let Some(&first) = blocks.first() else { return SackReport::default() };
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
        let Some(highest) = self.highest.filter(|_| !is_stale) else { return SackReport::default() };
        let duplicate_end = is_dsack.then_some(right);
        if is_dsack {
            self.flight.rack.duplicated(una, highest);
        }
        let mut sacks_new_data = false;
        for (left, right) in blocks.iter().copied().map(unwrapped) {
            if ack.max(una) <= left && left < right && right <= highest {
                self.sacked.for_each_gap(left, right, |from, to| self.flight.sacked(now, from, to));
                sacks_new_data |= self.sacked.insert(left, right);
            }
        }
        SackReport { sacks_new_data, duplicate_end }
    }
}

/// What the SACK blocks of an acknowledgment report.
#[derive(Debug, Clone, Copy, Default)]
struct SackReport {
    /// Whether a block has data that were not acknowledged before.
    sacks_new_data: bool,
    /// End of the block that the receiver got twice.
    duplicate_end: Option<u64>,
}
