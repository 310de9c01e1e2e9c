//! The measurement window, and clocks that run only inside it.

use umts_units::{Duration, Time};

/// The measured part of a run. It includes `from` and excludes `to`, so that two adjoining windows
/// share no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: Time,
    length: Duration,
}

impl Window {
    /// A window from `from` to `to`, which must not be earlier.
    pub fn new(from: Time, to: Time) -> Self {
        Window { from, length: to - from }
    }

    pub fn to(&self) -> Time {
        self.from + self.length
    }

    /// Ends the window at `end`, unless it ends earlier: the run may end inside the window.
    pub fn end_by(&mut self, end: Time) {
        self.length = self.clamp(end) - self.from;
    }

    #[inline]
    pub fn contains(&self, at: Time) -> bool {
        // One comparison: the subtraction wraps, so that times before the window look like times
        // long after it.
        at.as_nanos().wrapping_sub(self.from.as_nanos()) < self.length.as_nanos()
    }

    /// `at`, moved to the nearer edge if it is outside. The difference of two clamped times is the
    /// time inside the window.
    #[inline]
    pub fn clamp(&self, at: Time) -> Time {
        at.clamp(self.from, self.to())
    }

    pub fn length(&self) -> Duration {
        self.length
    }

    /// The part of `start..end` inside the window.
    pub fn overlap(&self, start: Time, end: Time) -> Duration {
        self.clamp(end) - self.clamp(start)
    }
}

/// Time in the window in which at least one of several objects (connections, buffers) was busy.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BusyClock {
    /// Number of busy objects.
    busy: u32,
    /// Time since which at least one object is busy.
    since: Time,
    total: Duration,
}

impl BusyClock {
    /// Adds or removes a busy object at `at`, which must be clamped to the window.
    #[inline]
    pub fn switch(&mut self, is_busy: bool, at: Time) {
        if is_busy { self.start(at) } else { self.stop(at) }
    }

    /// Adds a busy object at `at`, which must be clamped to the window.
    #[inline]
    pub fn start(&mut self, at: Time) {
        if self.busy == 0 {
            self.since = at;
        }
        self.busy += 1;
    }

    /// Removes a busy object at `at`.
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
