//! Samples of round-trip times and other intervals in bounded memory: exact sums and extremes,
//! percentiles to three significant digits.

use hdrhistogram::Histogram;
use umts_units::Duration;

/// Maximum number of samples that are stored individually. Most connections have no more, and a
/// histogram takes a hundred times the memory and time.
const FEW: usize = 32;

/// A histogram of three digits distinguishes all values below this one, 2^11. From there on, values
/// below 2^12 are rounded to multiples of 2, values below 2^13 to multiples of 4, and so on.
const EXACT_BELOW: u64 = 2_048;

/// Samples of an interval, not necessarily of a round-trip time.
#[derive(Debug, Default)]
pub(super) struct RttSamples {
    count: u64,
    sum_ns: u128,
    min: Duration,
    max: Duration,
    /// In microseconds, while there are few samples.
    few: Vec<u64>,
    /// All samples in microseconds, once there are many.
    histogram: Option<Box<Histogram<u32>>>,
}

impl RttSamples {
    pub fn record(&mut self, rtt: Duration) {
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.count += 1;
        self.sum_ns += u128::from(rtt.as_nanos());
        let us = rtt.as_nanos().div_ceil(1_000);
        match &mut self.histogram {
            Some(histogram) => add(histogram, us),
            None if self.few.len() < FEW => self.few.push(us),
            None => self.begin_histogram(us),
        }
    }

    #[cold]
    fn begin_histogram(&mut self, us: u64) {
        let mut histogram = Histogram::new(3).expect("three digits are allowed");
        self.few.drain(..).chain([us]).for_each(|us| add(&mut histogram, us));
        self.histogram = Some(Box::new(histogram));
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.min.as_secs())
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max.as_secs())
    }

    /// The smallest sample such that at least the fraction `quantile` of all samples is not larger,
    /// in seconds.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let us = match &self.histogram {
            Some(histogram) => histogram.median_equivalent(histogram.value_at_quantile(quantile)),
            None => self.quantile_of_few(quantile),
        };
        Some((us as f64 / 1e6).clamp(self.min.as_secs(), self.max.as_secs()))
    }

    /// The quantile that a histogram would return for the same samples, with the same rounding.
    fn quantile_of_few(&self, quantile: f64) -> u64 {
        let mut few = [0; FEW];
        let few = &mut few[..self.few.len()];
        few.copy_from_slice(&self.few);
        few.sort_unstable();
        let rank = (quantile * few.len() as f64).ceil() as usize;
        let us = few[rank.clamp(1, few.len()) - 1];
        // A histogram counts `step` successive values together, and returns the middle one.
        let step = 1 << (us / EXACT_BELOW).checked_ilog2().map_or(0, |log2| log2 + 1);
        us / step * step + step / 2
    }
}

fn add(histogram: &mut Histogram<u32>, us: u64) {
    histogram.record(us).expect("the histogram grows with its values");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_of_a_ramp_are_its_values() {
        let mut samples = RttSamples::default();
        for ms in 1..=1000 {
            samples.record(Duration::from_millis(ms));
        }
        for (quantile, expected) in [(0.5, 0.5), (0.95, 0.95), (0.99, 0.99)] {
            let actual = samples.quantile_s(quantile).expect("there are samples");
            assert!((actual / expected - 1.0).abs() < 0.001, "{quantile}: {actual}");
        }
        assert_eq!((samples.min_s(), samples.max_s()), (Some(0.001), Some(1.0)));
        assert_eq!(samples.mean_s(), Some(0.5005));
    }

    proptest! {
        /// Few samples must give the same quantiles as a histogram, at any magnitude.
        #[test]
        fn few_samples_are_rounded_like_many(ns in proptest::collection::vec((0u64..1 << 20, 0u32..24), 1..=FEW)) {
            let mut samples = RttSamples::default();
            let mut histogram = Histogram::<u32>::new(3).expect("three digits are allowed");
            for (ns, magnitude) in ns {
                samples.record(Duration::from_nanos(ns << magnitude));
                add(&mut histogram, (ns << magnitude).div_ceil(1_000));
            }
            prop_assert!(samples.histogram.is_none());
            for quantile in [0.0001, 0.25, 0.5, 0.95, 0.99, 1.0] {
                let expected = histogram.median_equivalent(histogram.value_at_quantile(quantile));
                prop_assert_eq!(samples.quantile_of_few(quantile), expected);
            }
        }
    }

    #[test]
    fn no_samples_give_no_values() {
        let samples = RttSamples::default();
        assert_eq!((samples.mean_s(), samples.min_s(), samples.quantile_s(0.5)), (None, None, None));
    }
}
