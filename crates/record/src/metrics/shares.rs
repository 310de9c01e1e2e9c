//! How evenly users share a cell within a short time.

use std::collections::BTreeMap;

use umts_stack::ids::UeId;
use umts_units::{Duration, Time};

use super::tcp::jain;
use super::window::Window;

/// Jain's index of what users get carried, in one stretch of time after the other.
#[derive(Debug)]
pub(super) struct Shares {
    stretch: Duration,
    /// The stretch at hand ends here.
    end: Time,
    /// What everybody got in it who ever got something.
    octets: BTreeMap<UeId, u64>,
    /// Over the stretches in which somebody got something.
    sum: f64,
    count: u64,
}

impl Shares {
    /// Stretches of this length, from the beginning of `window`.
    pub fn new(window: Window, stretch: Duration) -> Self {
        Shares { stretch, end: window.from + stretch, octets: BTreeMap::new(), sum: 0.0, count: 0 }
    }

    /// `ue` gets so many octets, inside the window.
    pub fn add(&mut self, at: Time, ue: UeId, octets: u64) {
        while self.end <= at {
            self.close();
            self.end += self.stretch;
        }
        *self.octets.entry(ue).or_default() += octets;
    }

    fn close(&mut self) {
        if let Some(index) = jain(self.octets.values().map(|&octets| octets as f64)) {
            self.sum += index;
            self.count += 1;
        }
        self.octets.values_mut().for_each(|octets| *octets = 0);
    }

    /// The mean over the stretches that ended, of a window that ends here.
    pub fn finish(mut self, window: Window) -> Option<f64> {
        if self.end <= window.to() {
            self.close();
        }
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
