//! Time during which at least one half-connection was active.

use umts_units::{Duration, Time};

/// A clock that runs while at least one half-connection is active.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BusyClock {
    /// Number of active half-connections.
    busy: u64,
    since: Time,
    total: Duration,
}

impl BusyClock {
    /// A half-connection becomes active.
    pub fn start(&mut self, at: Time) {
        if self.busy == 0 {
            self.since = at;
        }
        self.busy += 1;
    }

    /// A half-connection becomes inactive.
    pub fn stop(&mut self, at: Time) {
        self.busy -= 1;
        if self.busy == 0 {
            self.total += at.saturating_since(self.since);
        }
    }

    /// Returns the accumulated time. All half-connections must be inactive.
    pub fn total(&self) -> Duration {
        self.total
    }
}
