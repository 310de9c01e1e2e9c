//! Internet delays: most of them slightly above a minimum, a few far above it, and correlated
//! between successive packets.
//!
//! A delay is the minimum plus a lognormal part, limited to the maximum. The logarithm is driven by
//! a weighted sum of Gaussian processes with correlation times of 0.1 s to 1,000 s. The weights
//! approximate the long-range dependence of self-similar traffic. The model replaces the wavelet
//! model of De Vendictis and Baiocchi (2001), whose parameters are not public.

use umts_kernel::random::Stream;
use umts_units::{Duration, Time};

use crate::ids::Direction;
use crate::options::options;

/// Normal quantile of the probability 1e-5 that a delay exceeds the maximum. Together with the mean
/// it determines the distribution.
const EXCEEDANCE_QUANTILE: f64 = 4.264_890_793_922_825;

/// Directions of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"), schemars(rename = "Ways"))]
pub enum LinkDirections {
    /// Downlink and uplink, with independent delays.
    #[default]
    Both,
    /// Downlink only.
    Downlink,
    /// Uplink only.
    Uplink,
}

impl LinkDirections {
    pub fn contains(self, direction: Direction) -> bool {
        match self {
            LinkDirections::Both => true,
            LinkDirections::Downlink => direction == Direction::Downlink,
            LinkDirections::Uplink => direction == Direction::Uplink,
        }
    }
}

options! {
    /// Internet delay: a minimum plus a lognormal part, limited to a maximum. Delays of successive
    /// packets are correlated, and packets keep their order.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct InternetDelay as "InternetDelay" {
        /// Smallest Internet delay.
        [label = "Minimum Internet delay", max = "1 h", source = "Baiocchi and Vacirca (2002), §III.B: 35 ms"]
        pub minimum: Duration = Duration::from_millis(35),
        /// Mean Internet delay.
        [label = "Mean Internet delay", max = "1 h", source = "Baiocchi and Vacirca (2002), §III.B: 62 ms"]
        pub mean: Duration = Duration::from_millis(62),
        /// Largest Internet delay. One packet in 100,000 would exceed it without this limit.
        [label = "Maximum Internet delay", max = "1 h", source = "Baiocchi and Vacirca (2002), §III.B: 1.5 s"]
        pub maximum: Duration = Duration::from_millis(1_500),
        /// Hurst parameter of the delays, from 0.5. Larger values mean longer memory.
        [label = "Hurst parameter of delays", min = 0.5, max = 0.99,
            source = "Leland et al. (1994): 0.8 to 0.9 for traffic of networks"]
        pub hurst: f64 = 0.85,
        /// Direction of the packets that are delayed. With both, each direction has its own delays.
        [label = "Direction of Internet delays"]
        pub direction: LinkDirections = LinkDirections::Both,
    }
}

/// The distribution of the delay above the minimum: its logarithm is normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormalDelay {
    /// Mean of the logarithm of the delay in ns.
    pub mu: f64,
    /// Standard deviation of this logarithm.
    pub sigma: f64,
}

impl InternetDelay {
    /// The distribution of the delay above the minimum. `None` unless minimum < mean < maximum, or
    /// if the maximum is too large for the mean.
    pub fn law(&self) -> Option<LogNormalDelay> {
        if self.minimum >= self.mean || self.mean >= self.maximum {
            return None;
        }
        let log_above_minimum = |delay: Duration| libm::log((delay - self.minimum).as_nanos() as f64);
        let (mean, max) = (log_above_minimum(self.mean), log_above_minimum(self.maximum));
        // Solves mean = mu + sigma²/2 and max = mu + q sigma, with q = EXCEEDANCE_QUANTILE, for the
        // smaller sigma: sigma = q - sqrt(q² - 2 (max - mean)).
        let discriminant = EXCEEDANCE_QUANTILE * EXCEEDANCE_QUANTILE - 2.0 * (max - mean);
        (discriminant >= 0.0).then(|| {
            let sigma = EXCEEDANCE_QUANTILE - libm::sqrt(discriminant);
            LogNormalDelay { mu: max - EXCEEDANCE_QUANTILE * sigma, sigma }
        })
    }

    /// The largest maximum for which `law` has a solution, in whole milliseconds.
    pub fn longest_maximum(&self) -> Duration {
        // The discriminant of `law` is 0 if ln max = ln mean + q²/2.
        let above_minimum_ns = (self.mean - self.minimum).as_nanos() as f64
            * libm::exp(EXCEEDANCE_QUANTILE * EXCEEDANCE_QUANTILE / 2.0);
        Duration::from_millis((self.minimum.as_nanos() as f64 / 1e6 + above_minimum_ns / 1e6) as u64)
    }
}

/// Correlation times of the driver's parts in seconds, two per decade.
const CORRELATION_TIMES_S: [f64; 9] = [
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
    /// Mean of the logarithm of the delay above the minimum, in ns.
    mu: f64,
    /// Standard deviation of this logarithm.
    sigma: f64,
    /// Parts of the driver, each of variance 1, by correlation time.
    parts: [f64; CORRELATION_TIMES_S.len()],
    /// Weights of the parts.
    weights: [f64; CORRELATION_TIMES_S.len()],
    draws: Stream,
    /// Time of the last draw. `None`: there was none.
    drawn_at: Option<Time>,
}

impl Delays {
    /// Creates the delays of one direction of a link.
    ///
    /// # Panics
    /// Panics if `config.law()` is `None`.
    pub fn new(config: InternetDelay, draws: Stream) -> Self {
        let LogNormalDelay { mu, sigma } =
            config.law().expect("a distribution was found when the scenario was checked");
        let weights =
            CORRELATION_TIMES_S.map(|correlation_time| libm::pow(correlation_time, 2.0 * config.hurst - 2.0));
        let sum: f64 = weights.iter().sum();
        let weights = weights.map(|weight| libm::sqrt(weight / sum));
        Delays { config, mu, sigma, parts: [0.0; CORRELATION_TIMES_S.len()], weights, draws, drawn_at: None }
    }

    /// Delay of a packet that arrives at `now`. `now` must not decrease.
    pub fn draw(&mut self, now: Time) -> Duration {
        let lag = self.drawn_at.map(|previous| (now - previous).as_secs());
        self.drawn_at = Some(now);
        for (part, correlation_time) in self.parts.iter_mut().zip(CORRELATION_TIMES_S) {
            let correlation = lag.map_or(0.0, |seconds| libm::exp(-seconds / correlation_time));
            // A Gaussian process of variance 1 with this correlation to the previous draw.
            *part = correlation * *part + libm::sqrt(1.0 - correlation * correlation) * self.draws.normal();
        }
        let driver: f64 = self.parts.iter().zip(self.weights).map(|(part, weight)| part * weight).sum();
        let above_minimum_ns = libm::exp(self.mu + self.sigma * driver);
        let max_ns = (self.config.maximum - self.config.minimum).as_nanos() as f64;
        self.config.minimum + Duration::from_nanos(above_minimum_ns.min(max_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    fn delays(config: InternetDelay, seed: u64) -> Delays {
        Delays::new(config, Streams::new(seed, 0).stream("core_network/Uplink/hop0/server0/internet_delay"))
    }

    /// Delays in milliseconds of packets `spacing_ms` apart.
    fn series(seed: u64, packets: u64, spacing_ms: u64) -> Vec<f64> {
        let mut delays = delays(InternetDelay::default(), seed);
        let at = |n: u64| Time::ZERO + Duration::from_millis(n * spacing_ms);
        (0..packets).map(|n| delays.draw(at(n)).as_secs() * 1e3).collect()
    }

    #[test]
    fn quantile_has_exceedance_probability_1e_5() {
        let exceedance = 0.5 * libm::erfc(EXCEEDANCE_QUANTILE / std::f64::consts::SQRT_2);
        assert!((exceedance / 1e-5 - 1.0).abs() < 1e-9, "{exceedance}");
    }

    #[test]
    fn default_distribution_matches_the_study() {
        // In milliseconds: ln Y is normal with mean 2.722 and standard deviation 1.071.
        let law = InternetDelay::default().law().expect("the default has a distribution");
        let mu_of_ms = law.mu - libm::log(1e6);
        assert!((mu_of_ms - 2.722).abs() < 1e-3 && (law.sigma - 1.071).abs() < 1e-3, "{law:?}");
    }

    #[test]
    fn delays_have_the_expected_moments_and_limits() {
        // Delays 10,000 s apart are almost independent.
        let delays: Vec<f64> = series(1, 400_000, 10_000_000);
        let n = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / n;
        let deviation =
            f64::sqrt(delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / n);
        let mut sorted = delays.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile = |p: f64| sorted[(p * n) as usize];
        // The standard error of the mean is 0.06 ms. The limit lowers the mean by 0.02 ms.
        assert!((mean - 62.0).abs() < 0.3 && (deviation - 40.0).abs() < 1.5, "{mean} {deviation}");
        assert!((quantile(0.5) - 50.2).abs() < 0.3 && (quantile(0.99) - 219.0).abs() < 5.0);
        assert!(sorted[0] >= 35.0 && sorted[0] < 35.5 && *sorted.last().expect("many") <= 1_500.0);
    }

    #[test]
    fn delays_have_long_range_correlation() {
        // The driver's correlation is the sum of its squared weights times exp(-lag / correlation
        // time), and is also the correlation of the logarithms. A lag of 1 is 100 ms.
        let logs: Vec<f64> = (1..=24)
            .flat_map(|seed| series(seed, 20_000, 100).into_iter().map(|delay| libm::log(delay - 35.0)))
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
            let measured = sum / count / (sigma * sigma);
            assert!((measured - expected).abs() < 0.06, "lag {lag}: {measured}, not {expected}");
        }
    }

    #[test]
    fn the_same_draws_give_the_same_delays() {
        assert_eq!(series(3, 1_000, 20), series(3, 1_000, 20));
        assert!(series(3, 10, 20) != series(4, 10, 20));
    }

    #[test]
    fn inconsistent_delays_have_no_distribution() {
        // Minimum, mean and maximum in ms.
        let with = |minimum, mean, maximum| {
            let [minimum, mean, maximum] = [minimum, mean, maximum].map(Duration::from_millis);
            InternetDelay { minimum, mean, maximum, ..InternetDelay::default() }
        };
        for (config, has_law) in [
            (with(35, 62, 1_500), true),
            (with(0, 1, 2), true),
            (with(62, 35, 1_500), false),
            (with(35, 35, 1_500), false),
            (with(35, 62, 62), false),
            (with(35, 36, 60_000), false),
        ] {
            assert_eq!(config.law().is_some(), has_law, "{config:?}");
        }
        let too_long = with(35, 36, 60_000);
        let longest = InternetDelay { maximum: too_long.longest_maximum(), ..too_long };
        assert!(longest.law().is_some(), "{:?}", longest.maximum);
    }
}
