//! Samples of round-trip times and other intervals in bounded memory: exact sums and extremes, percentiles to three significant digits.

use hdrhistogram::Histogram;
use umts_units::Duration;

#[derive(Debug, Default)]
pub(super) struct RttSamples {
    count: u64,
    sum_ns: u128,
    min: Duration,
    max: Duration,
    /// Microseconds; made with the first sample, because many short connections never have one.
    histogram: Option<Box<Histogram<u32>>>,
}

impl RttSamples {
    pub fn record(&mut self, rtt: Duration) {
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.count += 1;
        self.sum_ns += u128::from(rtt.as_nanos());
        let histogram =
            self.histogram.get_or_insert_with(|| Box::new(Histogram::new(3).expect("3 digits are allowed")));
        let us = rtt.as_nanos().div_ceil(1_000);
        histogram.record(us).expect("the histogram grows with its values");
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

    /// The smallest sample that at least the fraction `quantile` of all samples does not exceed.
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref()?;
        let us = histogram.median_equivalent(histogram.value_at_quantile(quantile));
        Some((us as f64 / 1e6).clamp(self.min.as_secs(), self.max.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_ramp_are_its_values() {
        let mut samples = RttSamples::default();
        for ms in 1..=1000 {
            samples.record(Duration::from_millis(ms));
        }
        for (quantile, expected) in [(0.5, 0.5), (0.95, 0.95), (0.99, 0.99)] {
            let found = samples.quantile_s(quantile).expect("there are samples");
            assert!((found / expected - 1.0).abs() < 0.001, "{quantile}: {found}");
        }
        assert_eq!((samples.min_s(), samples.max_s()), (Some(0.001), Some(1.0)));
        assert_eq!(samples.mean_s(), Some(0.5005));
    }

    #[test]
    fn without_samples_nothing_is_claimed() {
        let samples = RttSamples::default();
        assert_eq!((samples.mean_s(), samples.min_s(), samples.quantile_s(0.5)), (None, None, None));
    }
}
