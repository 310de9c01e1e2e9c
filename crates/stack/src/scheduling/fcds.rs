//! Fair channel-dependent scheduling: the UE whose SNR exceeds its own recent mean by the most standard
//! deviations is next. UEs far from the cell are served in their good TTIs too.

use super::Rank;

/// Exponential filters of the mean and the variance of the SNR in dB.
#[derive(Debug, Clone, Copy, Default)]
pub struct SnrFilter {
    /// `None` before the first SNR.
    moments: Option<Moments>,
}

#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    variance: f64,
}

impl SnrFilter {
    /// Adds the SNR of a TTI. `memory`: weight of the past.
    pub fn add(&mut self, snr_db: f64, memory: f64) {
        self.moments = Some(match self.moments {
            None => Moments { mean: snr_db, variance: 0.0 },
            Some(Moments { mean, variance }) => {
                let mean = mean * memory + (1.0 - memory) * snr_db;
                let difference = snr_db - mean;
                let variance = variance * memory + (1.0 - memory) * difference * difference;
                Moments { mean, variance }
            }
        });
    }

    /// Difference of `snr_db` to the mean in standard deviations. 0 without a deviation.
    pub fn deviation(&self, snr_db: f64) -> f64 {
        match self.moments {
            Some(Moments { mean, variance }) if variance > 0.0 => (snr_db - mean) / libm::sqrt(variance),
            _ => 0.0,
        }
    }
}

/// Ranks by the deviation of the SNR from its mean: the largest positive deviation is first.
#[inline]
pub fn rank(snr_deviation: f64) -> Rank {
    Rank::new(-snr_deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_relative_to_mean_and_standard_deviation() {
        let mut filter = SnrFilter::default();
        assert_eq!(filter.deviation(7.0), 0.0);
        let memory = 0.999;
        // Alternates between 8 and 12 dB: mean 10 dB, standard deviation 2 dB.
        for tti in 0..20_000 {
            filter.add(if tti % 2 == 0 { 8.0 } else { 12.0 }, memory);
        }
        assert!((filter.deviation(12.0) - 1.0).abs() < 0.01);
        assert!((filter.deviation(6.0) + 2.0).abs() < 0.01);
    }

    #[test]
    fn constant_snr_has_no_deviation() {
        let mut filter = SnrFilter::default();
        let memory = 0.999;
        (0..10).for_each(|_| filter.add(3.0, memory));
        assert_eq!(filter.deviation(3.0), 0.0);
    }
}
