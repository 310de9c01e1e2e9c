//! Lateness of the wall clock, which decides whether an emulation can be trusted.

use hdrhistogram::Histogram;
use umts_units::Duration;

/// Largest recorded lateness: one minute.
const MAX_NS: u64 = 60_000_000_000;

/// Number of late instants that is tolerated however short the run is.
const TOLERATED: u64 = 2;

/// Distribution of the lateness of instants, with three significant digits.
#[derive(Debug, Clone)]
pub struct Lateness {
    /// In nanoseconds.
    histogram: Histogram<u64>,
    /// A larger value counts in `above_limit`.
    limit: Duration,
    above_limit: u64,
}

impl Lateness {
    /// Creates an empty distribution. Instants later than `limit` are also counted separately.
    pub fn new(limit: Duration) -> Self {
        let histogram = Histogram::new_with_max(MAX_NS, 3).expect("three digits of a minute fit");
        Lateness { histogram, limit, above_limit: 0 }
    }

    /// Records the lateness of an instant.
    pub fn record(&mut self, late: Duration) {
        self.histogram.saturating_record(late.as_nanos());
        self.above_limit += u64::from(late > self.limit);
    }

    /// Number of recorded instants.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Number of instants later than the limit.
    pub fn beyond_limit(&self) -> u64 {
        self.above_limit
    }

    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Lateness that the given share of the instants does not exceed. A share of 1 gives the
    /// maximum.
    pub fn quantile(&self, share: f64) -> Duration {
        if self.histogram.is_empty() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.histogram.value_at_quantile(share))
    }

    /// Whether the clock was too late to be trusted: the 99th percentile exceeds half the limit, or
    /// more than one instant in a thousand exceeds the limit. Both conditions also require more
    /// than two late instants.
    pub fn is_degraded(&self) -> bool {
        let half = self.limit.as_nanos() / 2;
        let above_half = self.histogram.count_between(half + 1, MAX_NS);
        let is_slow = self.quantile(0.99).as_nanos() > half && above_half > TOLERATED;
        is_slow || self.above_limit > TOLERATED && self.above_limit * 1000 > self.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(values_us: &[u64]) -> Lateness {
        let mut lateness = Lateness::new(Duration::from_millis(10));
        values_us.iter().for_each(|&us| lateness.record(Duration::from_micros(us)));
        lateness
    }

    #[test]
    fn empty_distribution_is_not_degraded() {
        assert!(!late(&[]).is_degraded());
        assert_eq!(late(&[]).quantile(1.0), Duration::ZERO);
    }

    #[test]
    fn one_late_instant_in_a_thousand_is_tolerated() {
        let with_late = |count: usize, late_ones: usize| {
            let values: Vec<u64> = (0..count).map(|n| if n < late_ones { 20_000 } else { 100 }).collect();
            late(&values).is_degraded()
        };
        assert!(!with_late(3000, 3));
        assert!(with_late(3000, 4));
    }

    #[test]
    fn two_late_instants_are_tolerated_in_any_run() {
        for count in [1, 2, 3, 10, 50, 243] {
            let values = |late_ones: usize| -> Vec<u64> {
                (0..count).map(|n| if n < late_ones { 20_000 } else { 100 }).collect()
            };
            assert!(!late(&values(1)).is_degraded(), "{count}");
            assert!(!late(&values(2)).is_degraded(), "{count}");
            assert_eq!(late(&values(3)).is_degraded(), count >= 3, "{count}");
        }
    }

    #[test]
    fn high_99th_percentile_is_degraded() {
        let values: Vec<u64> = (0..100).map(|n| if n < 97 { 100 } else { 6_000 }).collect();
        let lateness = late(&values);
        assert!(lateness.is_degraded());
        assert_eq!(lateness.beyond_limit(), 0);
        assert_eq!(lateness.quantile(0.5).as_nanos() / 1000, 100);
    }
}
