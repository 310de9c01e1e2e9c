//! Time during which at least one half-connection was active.

use umts_units::{Duration, Time};

/// A clock that runs while at least one user is active.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BusyClock {
    busy: u64,
    since: Time,
    total: Duration,
}

impl BusyClock {
    /// Adds an active user.
    pub fn start(&mut self, at: Time) {
        if self.busy == 0 {
            self.since = at;
        }
        self.busy += 1;
    }

    /// Removes an active user.
    pub fn stop(&mut self, at: Time) {
        self.busy -= 1;
        if self.busy == 0 {
            self.total += at.saturating_since(self.since);
        }
    }

    /// Returns the accumulated time. All users must be inactive.
    pub fn total(&self) -> Duration {
        self.total
    }
}
