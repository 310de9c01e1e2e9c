//! e²: by how much the power at the receiver differs from what open-loop power control was after, since the channel was
//! estimated with an error.
//!
//! Its logarithm is a Gaussian process with a negative exponential correlation, one value for each frame (Baiocchi and
//! Vacirca 2002, §II.A): AR(1). A value is a function of its address (seed, run, UE, direction, frame) and costs no more
//! for the frames in between that nobody asks for:
//!
//! ```text
//! frames     0                               16                               32   anchors: independent draws
//!            |               8               |               24               |    each mid-point: Gaussian, given
//!            |       4       |      12       |       20      |       28       |    its two neighbours
//!            |   2   |   6   |  10   |  14   |   ...
//! ```
//!
//! The process is Markov, so that a mid-point depends on the two points beside it alone. Every frame has its place in the
//! tree, and its own draw. Anchors are so far apart that the correlation between two is below 10⁻⁹: as good as none.

use umts_kernel::random::AddressedStream;

/// Correlation that is none.
const FORGOTTEN: f64 = 1e-9;

/// The law of the process, the same for all users.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateLaw {
    sigma_db: f64,
    /// Of mid-points 1, 2, 4, … frames from their neighbours.
    mid_points: Vec<MidPoint>,
}

/// A value between two others equally far away: `weight` of each, and a draw of this deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MidPoint {
    weight: f64,
    deviation: f64,
}

impl EstimateLaw {
    /// Deviation `sigma_db` in dB, correlation `rho` from one frame to the next, below 1.
    pub fn new(sigma_db: f64, rho: f64) -> Self {
        assert!((0.0..1.0).contains(&rho), "a correlation of {rho} never ends");
        let mut mid_points = Vec::new();
        // The correlation over half the distance between two neighbours; over the distance it is the square.
        let mut half = rho;
        while half > FORGOTTEN {
            let squared = half * half;
            let deviation = sigma_db * libm::sqrt((1.0 - squared) / (1.0 + squared));
            mid_points.push(MidPoint { weight: half / (1.0 + squared), deviation });
            half = squared;
        }
        EstimateLaw { sigma_db, mid_points }
    }

    /// The frames from one anchor to the next, as a power of two.
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

/// The process of one UE and direction, and which of its points were worked out last.
#[derive(Debug, Clone)]
pub struct Estimate {
    draws: AddressedStream,
    /// The last mid-point of each level, then the last anchor of those with even numbers and of those with odd ones. The two
    /// neighbours of a point are never kept in one place: their levels differ, or they are an even anchor and an odd one.
    last: Vec<Point>,
    asked: Option<(u64, f64)>,
}

impl Estimate {
    /// A process with draws of its own.
    pub fn new(law: &EstimateLaw, draws: AddressedStream) -> Self {
        // A run ends before the last frame that has a number.
        let none = Point { frame: u64::MAX, db: 0.0 };
        Estimate { draws, last: vec![none; law.levels() + 2], asked: None }
    }

    /// e² in this frame, linear.
    #[inline]
    pub fn error(&mut self, law: &EstimateLaw, frame: u64) -> f64 {
        if let Some((asked, error)) = self.asked
            && asked == frame
        {
            return error;
        }
        let error = libm::exp2(self.db(law, frame) * (std::f64::consts::LOG2_10 / 10.0));
        self.asked = Some((frame, error));
        error
    }

    /// 10 log10 e² in this frame.
    #[inline]
    fn db(&mut self, law: &EstimateLaw, frame: u64) -> f64 {
        let level = (frame.trailing_zeros() as usize).min(law.levels());
        let is_anchor = level == law.levels();
        let place = level + usize::from(is_anchor && frame >> level & 1 == 1);
        match self.last[place] {
            known if known.frame == frame => known.db,
            _ => self.work_out(law, (frame, level), place),
        }
    }

    /// The value of a frame at this level, which is kept in this place.
    #[inline(never)]
    fn work_out(&mut self, law: &EstimateLaw, (frame, level): (u64, usize), place: usize) -> f64 {
        let draw = self.draws.tti(frame).normal(0);
        let db = match law.mid_points.get(level) {
            Some(MidPoint { weight, deviation }) => {
                let around = self.db(law, frame - (1 << level)) + self.db(law, frame + (1 << level));
                around * weight + draw * deviation
            }
            None => draw * law.sigma_db,
        };
        self.last[place] = Point { frame, db };
        db
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    const RHOS: [f64; 7] = [0.0, 0.1, 0.5, 0.8, 0.9, 0.99, 0.9999];

    fn process(law: &EstimateLaw) -> Estimate {
        Estimate::new(law, Streams::new(1, 0).addressed("radio/tdd/Uplink/ue0"))
    }

    fn series(law: &EstimateLaw, frames: u64) -> Vec<f64> {
        let mut process = process(law);
        (0..frames).map(|frame| process.db(law, frame)).collect()
    }

    #[test]
    fn a_frame_has_its_value_in_any_order_of_asking() {
        for rho in RHOS {
            let law = EstimateLaw::new(10.0, rho);
            let in_order = series(&law, 5_000);
            let mut process = process(&law);
            // A stride that meets every residue, then backwards, then the same again and again.
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
        let far: Vec<f64> = (0..100).map(|n| process.error(&law, n << 40 | 5)).collect();
        assert!(far.iter().all(|&error| error > 0.0 && error.is_finite()));
        assert!(law.levels() <= 5);
    }

    #[test]
    fn mean_variance_and_correlation_are_those_of_the_process() {
        for rho in [0.0, 0.1, 0.5, 0.9, 0.95] {
            let law = EstimateLaw::new(2.0, rho);
            let x = series(&law, 400_000);
            let n = x.len() as f64;
            let mean = x.iter().sum::<f64>() / n;
            let product = |lag: usize| {
                let pairs = x.iter().zip(&x[lag..]);
                pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / (n - lag as f64)
            };
            // Independent values among n of an AR(1) series: n (1 - rho) / (1 + rho); the bounds are five standard errors.
            let error = f64::sqrt((1.0 + rho) / (1.0 - rho) / n);
            assert!(mean.abs() < 5.0 * 2.0 * error, "rho {rho}: mean {mean}");
            let variance = product(0);
            assert!((variance / 4.0 - 1.0).abs() < 5.0 * 1.5 * error, "rho {rho}: variance {variance}");
            for lag in [1, 2, 3, 5, 16, 33] {
                let (found, expected) = (product(lag) / variance, rho.powi(lag as i32));
                assert!(
                    (found - expected).abs() < 5.0 * error,
                    "rho {rho}, lag {lag}: {found}, not {expected}"
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
