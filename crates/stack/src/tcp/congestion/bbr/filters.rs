//! Filters of BBR's model of the path: the maximum delivery rate of recent round trips, and the
//! count of round trips by delivered data.

use std::collections::VecDeque;

use super::RateSample;

/// Number of round trips in the maximum filter of the rate.
const RATE_ROUNDS: u64 = 10;

/// The maximum rate of the last [`RATE_ROUNDS`] round trips.
#[derive(Debug, Clone, Default)]
pub(super) struct MaxRate {
    /// The rates that are the maximum or can still become it when larger ones expire: the largest
    /// and oldest first.
    candidates: VecDeque<RateOfRound>,
}

#[derive(Debug, Clone, Copy)]
struct RateOfRound {
    /// Number of the round trip.
    round: u64,
    /// Delivery rate, in bytes per second.
    rate: f64,
}

impl MaxRate {
    /// Adds a rate that was measured in `round`.
    pub fn add(&mut self, round: u64, rate: f64) {
        while self.candidates.back().is_some_and(|earlier| earlier.rate <= rate) {
            self.candidates.pop_back();
        }
        self.candidates.push_back(RateOfRound { round, rate });
        while self.candidates.front().is_some_and(|oldest| oldest.round + RATE_ROUNDS <= round) {
            self.candidates.pop_front();
        }
    }

    /// The maximum rate, in bytes per second. 0 before the first sample.
    pub fn get(&self) -> f64 {
        self.candidates.front().map_or(0.0, |largest| largest.rate)
    }
}

/// Counts round trips by delivered data (§4.1.1.3): a round trip ends when a segment is
/// acknowledged that was sent after the round trip began.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    count: u64,
    /// Payload that had been delivered when the current round trip began, in bytes. A segment was
    /// sent after the beginning if at least this payload had been delivered before it.
    began_at: u64,
    just_began: bool,
}

impl Rounds {
    /// Number of round trips so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a round trip began with the current acknowledgment.
    pub fn just_began(&self) -> bool {
        self.just_began
    }

    /// Processes an acknowledgment. `delivered`: payload delivered so far, in bytes.
    pub fn update(&mut self, sample: &RateSample, delivered: u64) {
        self.just_began = sample.newly_delivered > 0 && sample.prior_delivered >= self.began_at;
        if self.just_began {
            self.began_at = delivered;
            self.count += 1;
        }
    }

    /// Begins the current round trip again, so that only segments sent from now on end it.
    pub fn restart(&mut self, delivered: u64) {
        self.began_at = delivered;
    }
}
