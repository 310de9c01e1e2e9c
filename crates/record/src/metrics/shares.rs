//! Fairness among the users of a cell over short times.

use std::collections::BTreeMap;

use umts_stack::ids::UeId;
use umts_units::{Duration, Time};

use super::tcp::jain;
use super::window::Window;

/// Jain's fairness index of the octets carried for users, averaged over successive intervals.
#[derive(Debug)]
pub(super) struct Shares {
    interval: Duration,
    /// End of the current interval.
    end: Time,
    /// Octets in the current interval, for each user with any octets in this or an earlier
    /// interval.
    octets: BTreeMap<UeId, u64>,
    /// Sum of the indices of the intervals in which anything was carried.
    sum: f64,
    /// Number of these intervals.
    count: u64,
}

impl Shares {
    /// Intervals of this length, from the start of `window`.
    pub fn new(window: Window, interval: Duration) -> Self {
        Shares { interval, end: window.from + interval, octets: BTreeMap::new(), sum: 0.0, count: 0 }
    }

    /// Adds octets carried for `ue`, inside the window.
    pub fn add(&mut self, at: Time, ue: UeId, octets: u64) {
        while self.end <= at {
            self.close_interval();
            self.end += self.interval;
        }
        *self.octets.entry(ue).or_default() += octets;
    }

    /// Adds the index of the current interval, unless nothing was carried in it.
    fn close_interval(&mut self) {
        if let Some(index) = jain(self.octets.values().map(|&octets| octets as f64)) {
            self.sum += index;
            self.count += 1;
        }
        self.octets.values_mut().for_each(|octets| *octets = 0);
    }

    /// The mean over the complete intervals of `window`.
    pub fn finish(mut self, window: Window) -> Option<f64> {
        if self.end <= window.to() {
            self.close_interval();
        }
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
