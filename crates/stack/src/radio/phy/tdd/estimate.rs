//! The error of open-loop power control in a TDD cell, e²: the ratio of the received power to the target
//! power, which differs from 1 because a UE estimates its channel with an error.
//!
//! Its logarithm is a Gaussian process with a negative exponential correlation and one value per
//! frame (Baiocchi and Vacirca 2002, §II.A): a first-order autoregressive process, AR(1). Each value
//! is a function of its address (seed, run, UE, direction, frame), and frames that are skipped cost
//! nothing:
//!
//! ```text
//! frames     0                               16                               32   anchors: independent draws
//!            |               8               |               24               |    each mid-point: Gaussian, given
//!            |       4       |      12       |       20      |       28       |    its two neighbours
//!            |   2   |   6   |  10   |  14   |   ...
//! ```
//!
//! The process is Markov, so a mid-point depends only on its two neighbours in the tree. Every frame
//! has one position in the tree and one draw. The correlation of two anchors is at most 1e-9, so they
//! are drawn independently.

use umts_kernel::random::AddressedStream;

/// Correlations up to this value are treated as zero.
const FORGOTTEN: f64 = 1e-9;

/// Parameters of the process, the same for all users.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateLaw {
    sigma_db: f64,
    /// Mid-points by level: at level n the neighbours are 2^n frames away.
    mid_points: Vec<MidPoint>,
}

/// A value in the middle of two others: `weight` times their sum, plus a draw with this standard
/// deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MidPoint {
    weight: f64,
    deviation: f64,
}

impl EstimateLaw {
    /// `sigma_db` is the standard deviation in dB. `rho` is the correlation between successive
    /// frames, below 1.
    pub fn new(sigma_db: f64, rho: f64) -> Self {
        assert!((0.0..1.0).contains(&rho), "a correlation of {rho} does not decrease with the distance");
        let mut mid_points = Vec::new();
        // Correlation over half the distance of two neighbours. Over the whole distance it is the
        // square.
        let mut half = rho;
        while half > FORGOTTEN {
            let squared = half * half;
            let deviation = sigma_db * libm::sqrt((1.0 - squared) / (1.0 + squared));
            mid_points.push(MidPoint { weight: half / (1.0 + squared), deviation });
            half = squared;
        }
        EstimateLaw { sigma_db, mid_points }
    }

    /// log2 of the number of frames between two anchors.
    fn levels(&self) -> usize {
        self.mid_points.len()
    }
}

/// A frame and its value in dB.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    frame: u64,
    db: f64,
}

/// The process of one UE and direction, with the points computed last.
#[derive(Debug, Clone)]
pub struct Estimate {
    draws: AddressedStream,
    /// The last mid-point of each level, then the last even anchor and the last odd anchor. The two
    /// neighbours of a point never share an entry: their levels differ, or one is an even and one
    /// an odd anchor.
    last: Vec<Point>,
    /// Frame and e² of the latest query.
    latest: Option<(u64, f64)>,
}

impl Estimate {
    pub fn new(law: &EstimateLaw, draws: AddressedStream) -> Self {
        // Frame u64::MAX is never reached.
        let none = Point { frame: u64::MAX, db: 0.0 };
        Estimate { draws, last: vec![none; law.levels() + 2], latest: None }
    }

    /// e² in this frame, linear.
    #[inline]
    pub fn error(&mut self, law: &EstimateLaw, frame: u64) -> f64 {
        if let Some((latest, error)) = self.latest
            && latest == frame
        {
            return error;
        }
        let error = libm::exp2(self.db(law, frame) * (std::f64::consts::LOG2_10 / 10.0));
        self.latest = Some((frame, error));
        error
    }

    /// 10 log10 e² in this frame.
    #[inline]
    fn db(&mut self, law: &EstimateLaw, frame: u64) -> f64 {
        let level = (frame.trailing_zeros() as usize).min(law.levels());
        let is_anchor = level == law.levels();
        let is_odd_anchor = is_anchor && frame >> level & 1 == 1;
        let index = level + usize::from(is_odd_anchor);
        match self.last[index] {
            known if known.frame == frame => known.db,
            _ => self.compute_value(law, frame, level, index),
        }
    }

    /// Computes the value of a frame at this level, and stores it at `index` of the last points.
    #[inline(never)]
    fn compute_value(&mut self, law: &EstimateLaw, frame: u64, level: usize, index: usize) -> f64 {
        let draw = self.draws.tti(frame).normal(0);
        let db = match law.mid_points.get(level) {
            Some(MidPoint { weight, deviation }) => {
                let distance = 1 << level;
                let neighbours = self.db(law, frame - distance) + self.db(law, frame + distance);
                neighbours * weight + draw * deviation
            }
            None => draw * law.sigma_db,
        };
        self.last[index] = Point { frame, db };
        db
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    const RHOS: [f64; 7] = [0.0, 0.1, 0.5, 0.8, 0.9, 0.99, 0.9999];

    /// The process of a UE in the uplink.
    fn process(law: &EstimateLaw) -> Estimate {
        Estimate::new(law, Streams::new(1, 0).addressed("radio/tdd/Uplink/ue0"))
    }

    /// Values in dB of the first `frames` frames.
    fn series(law: &EstimateLaw, frames: u64) -> Vec<f64> {
        let mut process = process(law);
        (0..frames).map(|frame| process.db(law, frame)).collect()
    }

    #[test]
    fn frame_values_do_not_depend_on_the_query_order() {
        for rho in RHOS {
            let law = EstimateLaw::new(10.0, rho);
            let in_order = series(&law, 5_000);
            let mut process = process(&law);
            // All frames with a stride of 1,237 (coprime to 5,000), then backwards, then repeated queries.
            let jumping = (0..5_000).map(|n| n * 1_237 % 5_000);
            for frame in jumping.chain((0..5_000).rev()).chain([17, 17, 18, 17]) {
                assert_eq!(process.db(&law, frame), in_order[frame as usize], "rho {rho}, frame {frame}");
            }
        }
    }

    #[test]
    fn frames_far_apart_cost_one_path_through_the_tree() {
        let law = EstimateLaw::new(3.16, 0.5);
        let mut process = process(&law);
        let errors: Vec<f64> = (0..100).map(|n| process.error(&law, n << 40 | 5)).collect();
        assert!(errors.iter().all(|&error| error > 0.0 && error.is_finite()));
        assert!(law.levels() <= 5);
    }

    #[test]
    fn mean_variance_and_correlation_match_the_process() {
        const SIGMA_DB: f64 = 2.0;
        for rho in [0.0, 0.1, 0.5, 0.9, 0.95] {
            let law = EstimateLaw::new(SIGMA_DB, rho);
            let x = series(&law, 400_000);
            let n = x.len() as f64;
            let mean = x.iter().sum::<f64>() / n;
            let product = |lag: usize| {
                let pairs = x.iter().zip(&x[lag..]);
                pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / (n - lag as f64)
            };
            // Effective sample size of an AR(1) series of length n: n (1 - rho) / (1 + rho). Bounds
            // are five standard errors: of the mean `SIGMA_DB * error`, and of the variance, relative
            // to its value, at most `√2 * error`, here rounded up to `1.5 * error`.
            let error = f64::sqrt((1.0 + rho) / (1.0 - rho) / n);
            assert!(mean.abs() < 5.0 * SIGMA_DB * error, "rho {rho}: mean {mean}");
            let variance = product(0);
            let relative = variance / (SIGMA_DB * SIGMA_DB);
            assert!((relative - 1.0).abs() < 5.0 * 1.5 * error, "rho {rho}: variance {variance}");
            for lag in [1, 2, 3, 5, 16, 33] {
                let (measured, expected) = (product(lag) / variance, rho.powi(lag as i32));
                assert!(
                    (measured - expected).abs() < 5.0 * error,
                    "rho {rho}, lag {lag}: {measured}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn users_and_directions_differ() {
        let law = EstimateLaw::new(3.16, 0.9);
        let streams = Streams::new(1, 0);
        let first = |name: &str| Estimate::new(&law, streams.addressed(name)).error(&law, 7);
        assert!(first("radio/tdd/Uplink/ue0") != first("radio/tdd/Uplink/ue1"));
        assert!(first("radio/tdd/Uplink/ue0") != first("radio/tdd/Downlink/ue0"));
    }
}
