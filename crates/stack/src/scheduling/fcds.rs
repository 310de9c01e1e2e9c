//! Fair channel-dependent scheduling: the UE whose SNR exceeds its own recent mean by the most standard
//! deviations is next. UEs far from the cell are served in their good TTIs too.

use super::Rank;

/// Exponential filters of the mean and the variance of the SNR in dB.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnrFilter {
    /// Mean and variance. `None` before the first SNR.
    state: Option<(f64, f64)>,
}

impl SnrFilter {
    /// Adds the SNR of a TTI. `memory`: weight of the past.
    pub fn add(&mut self, snr_db: f64, memory: f64) {
        self.state = Some(match self.state {
            None => (snr_db, 0.0),
            Some((mean, variance)) => {
                let mean = mean * memory + (1.0 - memory) * snr_db;
                let difference = snr_db - mean;
                (mean, variance * memory + (1.0 - memory) * difference * difference)
            }
        });
    }

    /// Difference of `snr_db` to the mean in standard deviations. 0 without a deviation.
    pub fn deviation(&self, snr_db: f64) -> f64 {
        match self.state {
            Some((mean, variance)) if variance > 0.0 => (snr_db - mean) / libm::sqrt(variance),
            _ => 0.0,
        }
    }
}

#[inline]
pub fn rank(snr_deviation: f64) -> Rank {
    Rank(-snr_deviation, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_relative_to_mean_and_standard_deviation() {
        let mut filter = SnrFilter::default();
        assert_eq!(filter.deviation(7.0), 0.0);
        // Alternates between 8 and 12 dB: mean 10 dB, standard deviation 2 dB.
        for tti in 0..20_000 {
            filter.add(if tti % 2 == 0 { 8.0 } else { 12.0 }, 0.999);
        }
        assert!((filter.deviation(12.0) - 1.0).abs() < 0.01);
        assert!((filter.deviation(6.0) + 2.0).abs() < 0.01);
    }

    #[test]
    fn constant_snr_has_no_deviation() {
        let mut filter = SnrFilter::default();
        (0..10).for_each(|_| filter.add(3.0, 0.999));
        assert_eq!(filter.deviation(3.0), 0.0);
    }
}
