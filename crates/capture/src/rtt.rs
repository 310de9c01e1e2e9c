//! Round-trip time samples in bounded memory: exact sums and extremes, percentiles to three
//! significant digits.

use hdrhistogram::Histogram;
use umts_units::Duration;

/// Maximum number of samples that are stored individually. Most connections have no more, and a
/// histogram takes about a thousand times as much memory.
const MAX_FEW: usize = 32;

/// Count, sum and extremes of samples.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RttSums {
    count: u64,
    ns: u128,
    min: Duration,
    max: Duration,
}

impl RttSums {
    pub fn record(&mut self, rtt: Duration) {
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.count += 1;
        self.ns += u128::from(rtt.as_nanos());
    }

    /// Adds the samples of another connection.
    pub fn merge(&mut self, other: &RttSums) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.ns += other.ns;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.ns as f64 / self.count as f64 / 1e9)
    }

    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.min)
    }

    pub fn min_s(&self) -> Option<f64> {
        self.min().map(Duration::as_secs)
    }

    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max.as_secs())
    }
}

/// Samples with percentiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct RttSamples {
    pub sums: RttSums,
    /// The samples while there are at most [`MAX_FEW`], in microseconds, rounded up.
    few: Vec<u64>,
    /// All samples once there are more, in microseconds.
    histogram: Option<Box<Histogram<u64>>>,
}

impl RttSamples {
    pub fn record(&mut self, rtt: Duration) {
        self.sums.record(rtt);
        let us = rtt.as_nanos().div_ceil(1_000);
        match &mut self.histogram {
            Some(histogram) => add(histogram, us),
            None if self.few.len() < MAX_FEW => self.few.push(us),
            None => add(self.as_histogram(), us),
        }
    }

    /// Adds the samples of another connection.
    pub fn merge(&mut self, other: &RttSamples) {
        if other.sums.count == 0 {
            return;
        }
        self.sums.merge(&other.sums);
        let histogram = self.as_histogram();
        other.few.iter().for_each(|&us| add(histogram, us));
        if let Some(theirs) = &other.histogram {
            histogram.add(theirs.as_ref()).expect("resizable histograms of equal precision can be added");
        }
    }

    /// Returns the smallest sample such that at least the fraction `quantile` of all samples is not
    /// larger, in seconds.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        if self.sums.count == 0 {
            return None;
        }
        let us = match &self.histogram {
            Some(histogram) => histogram.median_equivalent(histogram.value_at_quantile(quantile)),
            None => {
                let mut few = [0; MAX_FEW];
                let few = &mut few[..self.few.len()];
                few.copy_from_slice(&self.few);
                few.sort_unstable();
                let rank = (quantile * few.len() as f64).ceil() as usize;
                few[rank.clamp(1, few.len()) - 1]
            }
        };
        Some((us as f64 / 1e6).clamp(self.sums.min.as_secs(), self.sums.max.as_secs()))
    }

    /// Returns the histogram. Creates it from the individual samples if there is none.
    fn as_histogram(&mut self) -> &mut Histogram<u64> {
        let few = std::mem::take(&mut self.few);
        let histogram = self.histogram.get_or_insert_with(|| {
            let mut histogram = Histogram::new(3).expect("three digits are allowed");
            histogram.auto(true);
            Box::new(histogram)
        });
        few.into_iter().for_each(|us| add(histogram, us));
        histogram
    }
}

fn add(histogram: &mut Histogram<u64>, us: u64) {
    histogram.record(us).expect("the histogram grows with its values");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from_ms: u64, to_ms: u64) -> RttSamples {
        let mut samples = RttSamples::default();
        (from_ms..=to_ms).for_each(|ms| samples.record(Duration::from_millis(ms)));
        samples
    }

    #[test]
    fn percentiles_are_accurate_for_few_many_and_merged_samples() {
        let mut merged = ramp(1, 20);
        merged.merge(&ramp(21, 990));
        merged.merge(&ramp(991, 1000));
        for samples in [ramp(1, 1000), merged] {
            for (quantile, expected) in [(0.5, 0.5), (0.95, 0.95), (0.99, 0.99)] {
                let actual = samples.quantile_s(quantile).expect("there are samples");
                assert!((actual / expected - 1.0).abs() < 0.001, "{quantile}: {actual}");
            }
            assert_eq!((samples.sums.min_s(), samples.sums.max_s()), (Some(0.001), Some(1.0)));
            assert_eq!((samples.sums.mean_s(), samples.sums.count()), (Some(0.5005), 1000));
        }
        let median = ramp(1, 9).quantile_s(0.5).expect("there are samples");
        assert!((median / 0.005 - 1.0).abs() < 0.001, "{median}");
    }

    #[test]
    fn empty_samples_have_no_statistics() {
        let samples = RttSamples::default();
        assert_eq!(
            (samples.sums.mean_s(), samples.sums.min_s(), samples.quantile_s(0.5)),
            (None, None, None)
        );
    }
}
