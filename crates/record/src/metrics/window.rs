//! The measurement window, and clocks that run only inside it.

use umts_units::{Duration, Time};

/// The measured part of a run: `from` inclusive, `to` exclusive, so that two adjoining windows share no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: Time,
    length: Duration,
}

impl Window {
    /// From `from` until `to`, which is not earlier.
    pub fn new(from: Time, to: Time) -> Self {
        Window { from, length: to - from }
    }

    pub fn to(&self) -> Time {
        self.from + self.length
    }

    /// It ends at `end`, unless it did before.
    pub fn end_by(&mut self, end: Time) {
        self.length = self.clamp(end) - self.from;
    }

    #[inline]
    pub fn contains(&self, at: Time) -> bool {
        // In one comparison: what is before it is as if it were long after.
        at.as_nanos().wrapping_sub(self.from.as_nanos()) < self.length.as_nanos()
    }

    /// `at`, moved to the nearer edge if it lies outside: differences of two such instants are the time in the window.
    #[inline]
    pub fn clamp(&self, at: Time) -> Time {
        at.clamp(self.from, self.to())
    }

    pub fn length(&self) -> Duration {
        self.length
    }

    /// The part of `start..end` that is measured.
    pub fn overlap(&self, start: Time, end: Time) -> Duration {
        self.clamp(end) - self.clamp(start)
    }
}

/// Time in the window during which at least one of several parties was busy.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BusyClock {
    busy: u32,
    since: Time,
    total: Duration,
}

impl BusyClock {
    /// One more party is busy from `at` (clamped to the window) on, or one less.
    #[inline]
    pub fn switch(&mut self, is_busy: bool, at: Time) {
        if is_busy { self.start(at) } else { self.stop(at) }
    }

    /// One more party is busy from `at` (clamped to the window) on.
    #[inline]
    pub fn start(&mut self, at: Time) {
        if self.busy == 0 {
            self.since = at;
        }
        self.busy += 1;
    }

    /// One party less is busy.
    #[inline]
    pub fn stop(&mut self, at: Time) {
        self.busy -= 1;
        if self.busy == 0 {
            self.total += at - self.since;
        }
    }

    /// Busy time until `at`.
    pub fn total(&self, at: Time) -> Duration {
        if self.busy == 0 { self.total } else { self.total + (at - self.since) }
    }
}
