//! When RACK declares segments lost (RFC 8985 §6.2): the reordering window after a segment that left
//! later has arrived.

use umts_units::{Duration, Time};

use super::HalfConnection;
use crate::recovery::DUPLICATE_THRESHOLD;
use crate::unacked_segments::SentCopy;

/// When RACK declares a segment lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct RackDeadline {
    segment: SentCopy,
    due: Time,
}

impl HalfConnection {
    /// Returns when RACK declares a segment lost, if later segments have been delivered (RFC 8985
    /// §6.2, step 5).
    pub(super) fn lost_at(&self, segment: SentCopy) -> Option<Time> {
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

    /// Returns the reordering window of a segment that ends at `end`.
    fn reordering_window(&self, end: u64) -> Duration {
        let three_segments = u64::from(DUPLICATE_THRESHOLD) * u64::from(self.counters.largest_segment);
        let is_urgent = self.recoveries.is_recovering() || self.sacked.count_above(end) >= three_segments;
        let min_rtt = self.flight.rtt_every.sums.min();
        self.flight.rack.window(is_urgent, min_rtt, self.flight.estimate.srtt())
    }
}
