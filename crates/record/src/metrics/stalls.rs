//! Stalls: times without a new acknowledgment while data is in flight.

use umts_units::{Duration, Time};

use super::window::Window;

/// Detects the stalls of one sender.
#[derive(Debug)]
pub(super) struct StallDetector {
    /// Minimum length of a stall.
    limit: Duration,
    /// Last progress, while data is in flight: the last new acknowledgment, or the segment that was
    /// sent when no other data was in flight.
    since: Option<Time>,
}

/// Stalls of one connection or of several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stalls {
    /// Stalls that begin in the window.
    pub count: u64,
    /// Sum of the parts of stalls inside the window.
    pub sum: Duration,
    /// Longest part of a stall inside the window.
    pub longest: Duration,
}

impl StallDetector {
    pub fn new(limit: Duration) -> Self {
        StallDetector { limit, since: None }
    }

    /// Data was sent and is now in flight.
    #[inline]
    pub fn sent(&mut self, at: Time) {
        self.since.get_or_insert(at);
    }

    /// New data was acknowledged, or the connection or the run ended. Adds the stall that ends at
    /// `at`, if there is one. `in_flight`: data remains in flight.
    #[inline]
    pub fn progress(&mut self, at: Time, in_flight: bool, window: &Window, stalls: &mut Stalls) {
        let before = std::mem::replace(&mut self.since, in_flight.then_some(at));
        if let Some(since) = before
            && at.saturating_since(since) >= self.limit
        {
            stalls.add(window.contains(since), window.overlap(since, at));
        }
    }
}

impl Stalls {
    /// Adds a stall with this part inside the window.
    fn add(&mut self, begins_in_window: bool, part: Duration) {
        self.count += u64::from(begins_in_window);
        self.sum += part;
        self.longest = self.longest.max(part);
    }

    /// Adds the stalls of another connection.
    pub fn merge(&mut self, other: &Stalls) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
    }
}
