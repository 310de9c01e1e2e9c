//! Holes: octets that were sent but did not pass the capture point, as later numbers show, and the
//! segments that fill them.

use umts_units::{Duration, Time};

/// Maximum number of holes: more than a window has in practice. Further holes, and further parts of
/// holes, are dropped.
const MAX_HOLES: usize = 1024;
/// A segment that fills a hole within this time was reordered, unless timestamps show that it was
/// retransmitted. tshark has the same limit.
pub(crate) const REORDERING: Duration = Duration::from_millis(3);

/// Octets `from..to` that were not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    from: u64,
    to: u64,
    /// When a later number, or an acknowledgment, showed that these octets had left.
    pub since: Time,
    /// Value of the timestamp of the segment that showed it.
    pub timestamp: Option<u32>,
    /// When the hole was acknowledged.
    pub acknowledged: Option<Time>,
}

/// Result of [`Holes::fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilledHole {
    /// The first hole that the segment filled, as it was before that.
    pub hole: Hole,
    /// Octets of acknowledged holes among those that were filled.
    pub acknowledged_octets: u64,
}

/// The holes of one direction: at most `MAX_HOLES`, in the order of their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holes(Vec<Hole>);

impl Holes {
    /// Adds a hole after all others.
    pub fn open(&mut self, from: u64, to: u64, since: Time, timestamp: Option<u32>) {
        if self.0.len() < MAX_HOLES {
            self.0.push(Hole { from, to, since, timestamp, acknowledged: None });
        }
    }

    /// Adds a hole after all others, which an acknowledgment of unseen octets shows.
    pub fn open_acknowledged(&mut self, from: u64, to: u64, now: Time) {
        self.forget_old(now);
        if self.0.len() < MAX_HOLES {
            self.0.push(Hole { from, to, since: now, timestamp: None, acknowledged: Some(now) });
        }
    }

    /// Marks holes below `una` as acknowledged. Returns the number of octets that were not
    /// acknowledged before.
    pub fn acknowledge(&mut self, una: u64, now: Time) -> u64 {
        if self.0.first().is_none_or(|hole| hole.from >= una) {
            return 0;
        }
        self.forget_old(now);
        let mut octets = 0;
        if let Some(index) = self.0.iter().position(|hole| hole.from < una && una < hole.to) {
            let hole = self.0[index];
            if self.0.len() < MAX_HOLES {
                self.0[index].to = una;
                self.0.insert(index + 1, Hole { from: una, ..hole });
            } else {
                // There is no room for both parts: the acknowledged part is counted and dropped.
                self.0[index].from = una;
                octets += if hole.acknowledged.is_none() { una - hole.from } else { 0 };
            }
        }
        for hole in self.0.iter_mut().take_while(|hole| hole.to <= una) {
            if hole.acknowledged.is_none() {
                hole.acknowledged = Some(now);
                octets += hole.to - hole.from;
            }
        }
        octets
    }

    /// Removes `from..to` from all holes. Returns `None` if no hole overlaps it.
    pub fn fill(&mut self, from: u64, to: u64, now: Time) -> Option<FilledHole> {
        if self.0.is_empty() || from >= to {
            return None;
        }
        self.forget_old(now);
        let first = self.0.partition_point(|hole| hole.to <= from);
        let end = first + self.0[first..].partition_point(|hole| hole.from < to);
        if first == end {
            return None;
        }
        let filled = &self.0[first..end];
        let hole = filled[0];
        let overlap = |hole: &Hole| hole.to.min(to) - hole.from.max(from);
        let acknowledged_octets = filled.iter().filter(|hole| hole.acknowledged.is_some()).map(overlap).sum();
        let before = Hole { to: from, ..hole };
        let after = Hole { from: to, ..filled[filled.len() - 1] };
        let remaining = [before, after].into_iter().filter(|hole| hole.from < hole.to);
        self.0.splice(first..end, remaining);
        self.0.truncate(MAX_HOLES);
        Some(FilledHole { hole, acknowledged_octets })
    }

    /// Removes holes that were acknowledged longer than `REORDERING` ago: a first copy never fills
    /// them so late.
    fn forget_old(&mut self, now: Time) {
        self.0.retain(|hole| hole.acknowledged.is_none_or(|at| now.saturating_since(at) <= REORDERING));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Time {
        Time::from_nanos(at * 1_000_000)
    }

    #[test]
    fn filling_the_middle_of_a_hole_splits_it() {
        // The hole 10..40 loses its middle, then a larger segment fills both parts.
        let mut holes = Holes::default();
        holes.open(10, 40, ms(1), Some(7));
        let filled = holes.fill(20, 30, ms(2)).expect("the segment is inside the hole");
        assert_eq!((filled.hole.since, filled.hole.timestamp), (ms(1), Some(7)));
        assert_eq!(holes.0.iter().map(|hole| (hole.from, hole.to)).collect::<Vec<_>>(), [(10, 20), (30, 40)]);
        assert_eq!(holes.fill(20, 30, ms(2)), None);
        assert!(holes.fill(5, 50, ms(2)).is_some());
        assert!(holes.0.is_empty());
    }

    #[test]
    fn hole_octets_are_acknowledged_once_and_removed_after_3_ms() {
        let mut holes = Holes::default();
        holes.open(10, 40, ms(1), None);
        holes.open(50, 60, ms(1), None);
        // The holes are 10..40 and 50..60: first 10..30 is acknowledged, then 30..40 and 50..55.
        assert_eq!(holes.acknowledge(30, ms(5)), 20);
        assert_eq!(holes.acknowledge(55, ms(6)), 10 + 5);
        assert_eq!(holes.acknowledge(55, ms(6)), 0);
        assert_eq!(holes.fill(10, 35, ms(8)).map(|filled| filled.acknowledged_octets), Some(35 - 10));
        assert_eq!(holes.fill(35, 40, ms(20)), None, "acknowledged too long ago");
        assert!(holes.fill(55, 60, ms(20)).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let mut holes = Holes::default();
        (0..5_000).for_each(|number| holes.open(10 * number, 10 * number + 5, ms(number), None));
        assert_eq!(holes.0.len(), MAX_HOLES);
    }

    #[test]
    fn memory_is_bounded_for_octetwise_acknowledgments() {
        let mut holes = Holes::default();
        holes.open(0, 10_000, ms(1), None);
        let octets: u64 = (1..=5_000).map(|una| holes.acknowledge(una, ms(2))).sum();
        assert_eq!(octets, 5_000);
        assert!(holes.0.len() <= MAX_HOLES, "{}", holes.0.len());
        assert_eq!(holes.acknowledge(10_000, ms(9)), 5_000, "octets are counted once, forgotten parts too");
    }

    #[test]
    fn memory_is_bounded_when_every_second_octet_is_filled() {
        let mut holes = Holes::default();
        holes.open(0, 10_000, ms(1), None);
        for from in (1..9_000).step_by(2) {
            holes.fill(from, from + 1, ms(2));
        }
        assert_eq!(holes.0.len(), MAX_HOLES);
    }
}
