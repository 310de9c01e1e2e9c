//! Time during which at least one of several parties was busy.

use umts_units::{Duration, Time};

/// A clock that runs while anybody is busy.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BusyClock {
    busy: u64,
    since: Time,
    total: Duration,
}

impl BusyClock {
    /// One more party is busy.
    pub fn start(&mut self, at: Time) {
        if self.busy == 0 {
            self.since = at;
        }
        self.busy += 1;
    }

    /// One party less is busy.
    pub fn stop(&mut self, at: Time) {
        self.busy -= 1;
        if self.busy == 0 {
            self.total += at.saturating_since(self.since);
        }
    }

    /// Busy time so far; nobody is busy any more.
    pub fn total(&self) -> Duration {
        self.total
    }
}
