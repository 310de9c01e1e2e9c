//! Delays as the Internet has them: never below a minimum, mostly a little above it, at times far above it, and alike for
//! packets that follow each other.
//!
//! A delay is the minimum and a lognormal part, cut at the maximum. What drives it is a sum of Gaussian processes that forget
//! within 0.1 s to 1,000 s, weighted so that together they have the long memory of self-similar traffic: a stand-in for the
//! wavelet model of De Vendictis and Baiocchi (2001), whose parameters are not public.

use umts_kernel::random::Stream;
use umts_units::{Duration, Time};

use crate::ids::Direction;

/// One packet in 100,000 would be delayed beyond the maximum: that, with the mean, makes the law. The normal quantile of it.
const QUANTILE: f64 = 4.264_890_793_922_825;

/// The ways of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Ways {
    /// To the user and from the user, each with delays of its own.
    #[default]
    Both,
    /// To the user only.
    Downlink,
    /// From the user only.
    Uplink,
}

impl Ways {
    /// Whether this direction is one of them.
    pub fn contains(self, direction: Direction) -> bool {
        match self {
            Ways::Both => true,
            Ways::Downlink => direction == Direction::Downlink,
            Ways::Uplink => direction == Direction::Uplink,
        }
    }
}

/// What delays are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InternetDelay {
    /// The shortest.
    pub minimum: Duration,
    /// The mean.
    pub mean: Duration,
    /// The longest.
    pub maximum: Duration,
    /// How long they remember: the Hurst parameter of what drives them, from 0.5 to below 1.
    pub hurst: f64,
    /// Whether packets keep their order: one that is faster waits for the one in front of it.
    pub keeps_order: bool,
    /// Which packets are delayed.
    pub direction: Ways,
}

impl Default for InternetDelay {
    /// Baiocchi and Vacirca (2002), §III.B.
    fn default() -> Self {
        InternetDelay {
            minimum: Duration::from_millis(35),
            mean: Duration::from_millis(62),
            maximum: Duration::from_millis(1_500),
            hurst: 0.85,
            keeps_order: true,
            direction: Ways::Both,
        }
    }
}

impl InternetDelay {
    /// Mean and deviation of the logarithm of what is above the minimum, in nanoseconds; `None` if there is no such law: minimum,
    /// mean and maximum are not in order, or the maximum is too far away.
    pub fn law(&self) -> Option<(f64, f64)> {
        if self.minimum >= self.mean || self.mean >= self.maximum {
            return None;
        }
        let above = |delay: Duration| libm::log((delay - self.minimum).as_nanos() as f64);
        let (mean, most) = (above(self.mean), above(self.maximum));
        // mean = mu + sigma²/2 and most = mu + QUANTILE sigma, the smaller of the two solutions.
        let root = QUANTILE * QUANTILE - 2.0 * (most - mean);
        (root >= 0.0).then(|| {
            let sigma = QUANTILE - libm::sqrt(root);
            (most - QUANTILE * sigma, sigma)
        })
    }

    /// The longest maximum for which there is a law, in whole milliseconds.
    pub fn longest_maximum(&self) -> Duration {
        let above = (self.mean - self.minimum).as_nanos() as f64 * libm::exp(QUANTILE * QUANTILE / 2.0);
        Duration::from_millis((self.minimum.as_nanos() as f64 / 1e6 + above / 1e6) as u64)
    }
}

/// The times over which the parts of the driver forget, in seconds: two in each power of ten.
const MEMORIES: [f64; 9] = [
    0.1,
    0.316_227_766_016_837_94,
    1.0,
    3.162_277_660_168_379_5,
    10.0,
    31.622_776_601_683_793,
    100.0,
    316.227_766_016_837_96,
    1_000.0,
];

/// The delays of one direction of a link.
#[derive(Debug, Clone)]
pub struct Delays {
    config: InternetDelay,
    mu: f64,
    sigma: f64,
    /// The parts of the driver, each of variance 1, and their weights.
    parts: [f64; MEMORIES.len()],
    weights: [f64; MEMORIES.len()],
    draws: Stream,
    drawn_at: Option<Time>,
}

impl Delays {
    /// Delays that nothing has met yet.
    ///
    /// # Panics
    /// If there is no law with this minimum, mean and maximum.
    pub fn new(config: InternetDelay, draws: Stream) -> Self {
        let (mu, sigma) = config.law().expect("a law was found when the scenario was checked");
        let weights = MEMORIES.map(|memory| libm::pow(memory, 2.0 * config.hurst - 2.0));
        let sum: f64 = weights.iter().sum();
        let weights = weights.map(|weight| libm::sqrt(weight / sum));
        Delays { config, mu, sigma, parts: [0.0; MEMORIES.len()], weights, draws, drawn_at: None }
    }

    /// The delay of a packet that comes at `now`. Packets come in the order of their times.
    pub fn draw(&mut self, now: Time) -> Duration {
        let since = self.drawn_at.map(|before| (now - before).as_secs());
        self.drawn_at = Some(now);
        for (part, memory) in self.parts.iter_mut().zip(MEMORIES) {
            let kept = since.map_or(0.0, |seconds| libm::exp(-seconds / memory));
            *part = kept * *part + libm::sqrt(1.0 - kept * kept) * self.draws.normal();
        }
        let driver: f64 = self.parts.iter().zip(self.weights).map(|(part, weight)| part * weight).sum();
        let above = libm::exp(self.mu + self.sigma * driver);
        let most = (self.config.maximum - self.config.minimum).as_nanos() as f64;
        self.config.minimum + Duration::from_nanos(above.min(most) as u64)
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    fn delays(config: InternetDelay, seed: u64) -> Delays {
        Delays::new(config, Streams::new(seed, 0).stream("core_network/Uplink/hop0/server0/internet_delay"))
    }

    /// Delays in milliseconds of packets `spacing` ms apart.
    fn series(seed: u64, packets: u64, spacing: u64) -> Vec<f64> {
        let mut delays = delays(InternetDelay::default(), seed);
        let at = |n: u64| Time::ZERO + Duration::from_millis(n * spacing);
        (0..packets).map(|n| delays.draw(at(n)).as_secs() * 1e3).collect()
    }

    #[test]
    fn beyond_the_maximum_is_one_packet_in_so_many() {
        let above = 0.5 * libm::erfc(QUANTILE / std::f64::consts::SQRT_2);
        assert!((above / 1e-5 - 1.0).abs() < 1e-9, "{above}");
    }

    #[test]
    fn the_law_is_that_of_the_study() {
        // In milliseconds: ln Y normal with 2.722 and 1.071.
        let (mu, sigma) = InternetDelay::default().law().expect("there is one");
        assert!((mu - libm::log(1e6) - 2.722).abs() < 1e-3 && (sigma - 1.071).abs() < 1e-3, "{mu} {sigma}");
    }

    #[test]
    fn delays_have_their_moments_and_their_limits() {
        // Far apart in time they are independent: 100 s leave a tenth of the weight, 10,000 s nothing.
        let far: Vec<f64> = series(1, 400_000, 10_000_000);
        let n = far.len() as f64;
        let mean = far.iter().sum::<f64>() / n;
        let deviation = f64::sqrt(far.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / n);
        let mut sorted = far.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile = |p: f64| sorted[(p * n) as usize];
        // One standard error of the mean is 0.06 ms; the cut takes 0.02 ms of it.
        assert!((mean - 62.0).abs() < 0.3 && (deviation - 40.0).abs() < 1.5, "{mean} {deviation}");
        assert!((quantile(0.5) - 50.2).abs() < 0.3 && (quantile(0.99) - 219.0).abs() < 5.0);
        assert!(sorted[0] >= 35.0 && sorted[0] < 35.5 && *sorted.last().expect("many") <= 1_500.0);
    }

    #[test]
    fn the_memory_is_long() {
        // The driver's correlation is the sum of its weights times exp(-lag / memory); that of its exponential follows.
        let logs: Vec<f64> = (1..=24)
            .flat_map(|seed| series(seed, 20_000, 100).into_iter().map(|d| libm::log(d - 35.0)))
            .collect();
        let (mu, sigma) = (2.722, 1.071);
        for (lag, expected) in [(1, 0.729), (10, 0.351), (100, 0.153)] {
            let runs = logs.chunks_exact(20_000);
            let products = runs.flat_map(|run| run.iter().zip(&run[lag..]));
            let (mut sum, mut count) = (0.0, 0.0);
            for (a, b) in products {
                sum += (a - mu) * (b - mu);
                count += 1.0;
            }
            let found = sum / count / (sigma * sigma);
            assert!((found - expected).abs() < 0.06, "lag {lag}: {found}, not {expected}");
        }
    }

    #[test]
    fn the_same_draws_give_the_same_delays() {
        assert_eq!(series(3, 1_000, 20), series(3, 1_000, 20));
        assert!(series(3, 10, 20) != series(4, 10, 20));
    }

    #[test]
    fn there_is_not_always_a_law() {
        let with = |minimum, mean, maximum| {
            let [minimum, mean, maximum] = [minimum, mean, maximum].map(Duration::from_millis);
            InternetDelay { minimum, mean, maximum, ..InternetDelay::default() }
        };
        for (config, is_one) in [
            (with(35, 62, 1_500), true),
            (with(0, 1, 2), true),
            (with(62, 35, 1_500), false),
            (with(35, 35, 1_500), false),
            (with(35, 62, 62), false),
            (with(35, 36, 60_000), false),
        ] {
            assert_eq!(config.law().is_some(), is_one, "{config:?}");
        }
        let far = with(35, 36, 60_000);
        let nearer = InternetDelay { maximum: far.longest_maximum(), ..far };
        assert!(nearer.law().is_some(), "{:?}", nearer.maximum);
    }
}
