//! Probability distributions of sizes, counts and times.
//!
//! Parameters are the moments before truncation, as in TR 25.892 and the studies that use it. A
//! draw outside the limits is either repeated or moved to the limit. The two treatments give
//! different means, and for heavy tails the difference is large.

use umts_kernel::random::Stream;
use umts_units::Duration;

/// Limits are narrow if their logarithms differ by less than this part of the distribution's width,
/// so that at most one draw in a hundred would be between them.
const NARROW_SHARE: f64 = 0.01;
/// Steps of the bisection in [`Distribution::pareto_with_mean`], enough for all digits of a float.
const BISECTION_STEPS: u32 = 200;

/// Treatment of draws outside the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Truncation {
    /// Draws again.
    Redraw,
    /// Moves the draw to the limit.
    Clip,
}

/// A distribution between two limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// The distribution before truncation.
    shape: Shape,
    /// Lower limit of a draw.
    min: f64,
    /// Upper limit of a draw.
    max: f64,
    truncation: Truncation,
    /// The limits are so close that almost every draw would be repeated.
    is_narrow: bool,
}

/// Mean and standard deviation of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributionMoments {
    pub mean: f64,
    pub deviation: f64,
}

/// The distribution before truncation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Mean and standard deviation of the logarithm.
    Lognormal { mu: f64, sigma: f64 },
    /// P(X > x) = (min/x)^alpha.
    Pareto { alpha: f64, min: f64 },
}

impl Distribution {
    /// Lognormal with this mean and standard deviation before truncation.
    pub fn lognormal(mean: f64, deviation: f64, min: f64, max: f64, truncation: Truncation) -> Self {
        let variance = libm::log1p((deviation / mean) * (deviation / mean));
        let mu = libm::log(mean) - variance / 2.0;
        Distribution::new(Shape::Lognormal { mu, sigma: libm::sqrt(variance) }, min, max, truncation)
    }

    /// Pareto from `min` on, up to `max`.
    pub fn pareto(alpha: f64, min: f64, max: f64, truncation: Truncation) -> Self {
        Distribution::new(Shape::Pareto { alpha, min }, min, max, truncation)
    }

    fn new(shape: Shape, min: f64, max: f64, truncation: Truncation) -> Self {
        // Standard deviation of the logarithm.
        let width = match shape {
            Shape::Lognormal { sigma, .. } => sigma,
            Shape::Pareto { alpha, .. } => 1.0 / alpha,
        };
        let limits_are_close = libm::log(max) - libm::log(min) < NARROW_SHARE * width;
        let is_narrow = truncation == Truncation::Redraw && limits_are_close;
        Distribution { shape, min, max, truncation, is_narrow }
    }

    /// Pareto with limit `max` and mean `mean` after truncation. Finds the minimum by bisection. If
    /// `mean` is at least `max`, every value is `max`.
    pub fn pareto_with_mean(alpha: f64, mean: f64, max: f64, truncation: Truncation) -> Self {
        if mean >= max {
            return Distribution::pareto(alpha, max, max, truncation);
        }
        // The mean rises with the minimum, and the minimum `mean` gives a larger mean.
        let (mut low, mut high) = (0.0, mean);
        for _ in 0..BISECTION_STEPS {
            let middle = 0.5 * (low + high);
            if pareto_mean(alpha, middle, max, truncation) < mean { low = middle } else { high = middle }
        }
        Distribution::pareto(alpha, 0.5 * (low + high), max, truncation)
    }

    /// Mean and standard deviation after truncation, in closed form: sample moments of a heavy tail
    /// converge too slowly.
    pub fn moments(&self) -> DistributionMoments {
        // The mean of X^power.
        let raw_moment = |power| match self.shape {
            Shape::Lognormal { mu, sigma } => lognormal_moment(mu, sigma, self, power),
            Shape::Pareto { alpha, min } => pareto_moment(alpha, min, self.max, self.truncation, power),
        };
        let (mean, square) = (raw_moment(1.0), raw_moment(2.0));
        DistributionMoments { mean, deviation: libm::sqrt((square - mean * mean).max(0.0)) }
    }

    /// Draws a value between the limits.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        if self.is_narrow {
            return self.draw_between_narrow_limits(stream);
        }
        loop {
            let value = match self.shape {
                Shape::Lognormal { mu, sigma } => libm::exp(mu + sigma * stream.normal()),
                Shape::Pareto { alpha, min } => min * libm::exp(stream.exponential() / alpha),
            };
            match self.truncation {
                Truncation::Clip => return value.clamp(self.min, self.max),
                Truncation::Redraw if (self.min..=self.max).contains(&value) => return value,
                Truncation::Redraw => {}
            }
        }
    }

    /// Draws between narrow limits by rejection: uniform in the logarithm, accepted in proportion
    /// to the density.
    fn draw_between_narrow_limits(&self, stream: &mut Stream) -> f64 {
        let [low, high] = [self.min, self.max].map(libm::log);
        let log_density = |logarithm: f64| match self.shape {
            Shape::Lognormal { mu, sigma } => {
                let deviations = (logarithm - mu) / sigma;
                -0.5 * deviations * deviations
            }
            Shape::Pareto { alpha, .. } => -alpha * logarithm,
        };
        let highest = log_density(match self.shape {
            Shape::Lognormal { mu, .. } => mu.clamp(low, high),
            Shape::Pareto { .. } => low,
        });
        loop {
            let logarithm = low + (high - low) * stream.uniform();
            if stream.uniform() < libm::exp(log_density(logarithm) - highest) {
                return libm::exp(logarithm).clamp(self.min, self.max);
            }
        }
    }

    /// Draws a size in whole octets, at least 1.
    pub fn draw_octets(&self, stream: &mut Stream) -> u64 {
        libm::round(self.draw(stream)).max(1.0) as u64
    }
}

/// Mean of a Pareto distribution with limit `max`.
fn pareto_mean(alpha: f64, min: f64, max: f64, truncation: Truncation) -> f64 {
    pareto_moment(alpha, min, max, truncation, 1.0)
}

/// Mean of X^power for a Pareto distribution with limit `max`.
fn pareto_moment(alpha: f64, min: f64, max: f64, truncation: Truncation, power: f64) -> f64 {
    if min <= 0.0 {
        return 0.0;
    }
    let share_above_max = libm::pow(min / max, alpha);
    let [low, high] = [min, max].map(|limit| libm::pow(limit, power));
    // The integral of x^power dF from `min` to `max`.
    let inside = if alpha == power {
        alpha * low * libm::log(max / min)
    } else {
        alpha * (low - high * share_above_max) / (alpha - power)
    };
    match truncation {
        Truncation::Clip => inside + high * share_above_max,
        Truncation::Redraw => inside / (1.0 - share_above_max),
    }
}

/// Mean of X^power for a lognormal distribution with the limits of `distribution`.
fn lognormal_moment(mu: f64, sigma: f64, distribution: &Distribution, power: f64) -> f64 {
    // The distribution function of the standard normal distribution.
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    // The limits in standard deviations of the logarithm from its mean.
    let [low, high] = [distribution.min, distribution.max].map(|limit| (libm::log(limit) - mu) / sigma);
    // The integral of x^power dF between the limits is E[X^power] times the probability that a
    // lognormal variable with mu + power x sigma^2 instead of mu is between the limits.
    let untruncated = libm::exp(power * mu + 0.5 * (power * sigma) * (power * sigma));
    let inside = untruncated * (normal(high - power * sigma) - normal(low - power * sigma));
    let (share_below, share_above) = (normal(low), normal(-high));
    match distribution.truncation {
        Truncation::Clip => {
            inside
                + share_below * libm::pow(distribution.min, power)
                + share_above * libm::pow(distribution.max, power)
        }
        Truncation::Redraw => inside / (1.0 - share_below - share_above),
    }
}

/// Number of embedded objects: a Pareto distribution, rounded, minus its minimum (TR 25.892, Annex
/// A.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    pub distribution: Distribution,
    /// Minimum of the distribution.
    pub min: f64,
    /// Rounds to the nearest integer, which keeps the mean. Otherwise rounds down.
    pub nearest: bool,
}

impl Count {
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let draw = self.distribution.draw(stream);
        let whole = if self.nearest { libm::round(draw) } else { libm::floor(draw) };
        (whole - self.min).max(0.0) as u32
    }
}

/// An exponentially distributed time, rounded to nanoseconds.
pub fn exponential(mean: Duration, stream: &mut Stream) -> Duration {
    let ns = libm::round(mean.as_nanos() as f64 * stream.exponential());
    Duration::from_nanos(ns as u64)
}

/// A geometrically distributed number of at least 1.
pub fn geometric(mean: u32, stream: &mut Stream) -> u32 {
    let draw = stream.exponential();
    if mean <= 1 {
        return 1;
    }
    // A geometric number is a rounded exponential one: P(number > k) = (1 - 1/mean)^k.
    let number = 1.0 + libm::floor(draw / -libm::log1p(-1.0 / f64::from(mean)));
    number as u32
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;

    use super::*;

    /// Draws per distribution. Chosen before any result was known.
    const DRAWS: usize = 1_000_000;
    /// Permitted deviation of a moment in standard errors.
    const ERRORS: f64 = 4.0;
    /// Standard error of a moment in closed form.
    const EXACT: f64 = 0.0;

    /// Moments and extremes of many draws.
    struct Sample {
        mean: f64,
        deviation: f64,
        /// Standard errors of mean and deviation, from the second and fourth moments of the sample.
        mean_error: f64,
        deviation_error: f64,
        min: f64,
        max: f64,
    }

    fn sample(mut draw: impl FnMut(&mut Stream) -> f64) -> Sample {
        let mut stream = Streams::new(2005, 0).stream("laws");
        let values: Vec<f64> = (0..DRAWS).map(|_| draw(&mut stream)).collect();
        let n = DRAWS as f64;
        let mean = values.iter().sum::<f64>() / n;
        let moment = |power| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        let (second, fourth) = (moment(2), moment(4));
        Sample {
            mean,
            deviation: second.sqrt(),
            mean_error: (second / n).sqrt(),
            deviation_error: ((fourth - second * second) / n).sqrt() / (2.0 * second.sqrt()),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Checks a moment with this standard error against its expected value, which is exact to half
    /// a unit of its last digit.
    fn assert_near(measured: f64, expected: f64, last_digit: f64, error: f64) {
        let tolerance = ERRORS * error + 0.5 * last_digit;
        assert!((measured - expected).abs() < tolerance, "{measured}, not {expected} ± {error}");
    }

    /// Checks the moments of a sample and of the closed form against their expected values, which
    /// are exact to half a unit of their last digit.
    fn assert_moments(
        distribution: &Distribution,
        sample: &Sample,
        expected: DistributionMoments,
        last_digit: f64,
    ) {
        let DistributionMoments { mean, deviation } = expected;
        assert_near(sample.mean, mean, last_digit, sample.mean_error);
        assert_near(sample.deviation, deviation, last_digit, sample.deviation_error);
        let closed_form = distribution.moments();
        assert_near(closed_form.mean, mean, last_digit, EXACT);
        assert_near(closed_form.deviation, deviation, last_digit, EXACT);
    }

    /// Expected mean and deviation by quadrature of the density (Dubois 2005, Tables 5.1 and 5.2;
    /// TR 25.892).
    #[test]
    fn truncated_lognormal_distributions_have_the_expected_moments() {
        use Truncation::{Clip, Redraw};
        let check = |mean, deviation, (min, max), truncation, expected, last_digit| {
            let distribution = Distribution::lognormal(mean, deviation, min, max, truncation);
            let sample = sample(|stream| distribution.draw(stream));
            assert_moments(&distribution, &sample, expected, last_digit);
            assert!(sample.min >= min && sample.max <= max);
        };
        // Sizes in bytes of web pages, of embedded objects, and of files.
        let page = |truncation, expected| check(10_710.0, 25_032.0, (100.0, 2e6), truncation, expected, 1.0);
        page(Redraw, DistributionMoments { mean: 10_734.0, deviation: 24_504.0 });
        page(Clip, DistributionMoments { mean: 10_708.0, deviation: 24_732.0 });
        let object = |truncation, expected| check(7_758.0, 126_168.0, (50.0, 2e6), truncation, expected, 1.0);
        object(Redraw, DistributionMoments { mean: 8_212.0, deviation: 46_606.0 });
        object(Clip, DistributionMoments { mean: 7_236.0, deviation: 51_310.0 });
        let file = |truncation, expected| check(2e6, 0.722e6, (0.0, 5e6), truncation, expected, 100.0);
        file(Redraw, DistributionMoments { mean: 1.9906e6, deviation: 0.6987e6 });
        file(Clip, DistributionMoments { mean: 1.9985e6, deviation: 0.7144e6 });
    }

    /// Without effective limits the moments are the parameters. For Pareto they are compared with a
    /// sample.
    #[test]
    fn closed_form_moments_match_parameters_and_samples() {
        let distribution = Distribution::lognormal(7_758.0, 126_168.0, 1e-9, 1e30, Truncation::Redraw);
        let DistributionMoments { mean, deviation } = distribution.moments();
        assert_near(mean, 7_758.0, 1e-3, EXACT);
        assert_near(deviation, 126_168.0, 1e-2, EXACT);
        for truncation in [Truncation::Redraw, Truncation::Clip] {
            for alpha in [1.0, 1.1, 2.0, 2.5] {
                let distribution = Distribution::pareto(alpha, 81.5, 815.0, truncation);
                let sample = sample(|stream| distribution.draw(stream));
                let DistributionMoments { mean, deviation } = distribution.moments();
                let all_digits = 0.0;
                assert_near(sample.mean, mean, all_digits, sample.mean_error);
                assert_near(sample.deviation, deviation, all_digits, sample.deviation_error);
            }
        }
    }

    /// With equal limits the distribution is a constant, and redraws must not continue forever.
    #[test]
    fn draws_between_narrow_limits_terminate() {
        use Truncation::Redraw;
        let mut stream = Streams::new(1, 0).stream("laws");
        for distribution in [
            Distribution::lognormal(1000.0, 500.0, 1000.0, 1000.0, Redraw),
            Distribution::lognormal(1000.0, 1.0, 1000.0, 1000.0, Redraw),
            Distribution::pareto(1.1, 1000.0, 1000.0, Redraw),
        ] {
            assert_eq!(distribution.draw(&mut stream), 1000.0);
        }
        let no_objects =
            Count { distribution: Distribution::pareto(1.1, 2.0, 2.0, Redraw), min: 2.0, nearest: true };
        assert_eq!(no_objects.draw(&mut stream), 0);
        // Expected means by numerical integration over y = ln x: the mean of x = e^y, weighted by
        // the density of y. This density is normal for the lognormal distribution, and e^(-alpha y)
        // for Pareto.
        let mean = |min: f64, max: f64, log_density: &dyn Fn(f64) -> f64| {
            let (low, high, steps) = (libm::log(min), libm::log(max), 10_000);
            let at = |n: i32| low + (high - low) * (f64::from(n) + 0.5) / f64::from(steps);
            let sum = |of: &dyn Fn(f64) -> f64| (0..steps).map(at).map(of).sum::<f64>();
            sum(&|y| libm::exp(y + log_density(y))) / sum(&|y| libm::exp(log_density(y)))
        };
        let wide = Distribution::lognormal(1000.0, 1e6, 985.0, 1015.0, Redraw);
        let Shape::Lognormal { mu, sigma } = wide.shape else { panic!("a lognormal distribution") };
        let pareto = Distribution::pareto(0.2, 985.0, 1015.0, Redraw);
        for (distribution, expected) in [
            (wide, mean(985.0, 1015.0, &|y| -((y - mu) / sigma) * ((y - mu) / sigma) / 2.0)),
            (pareto, mean(985.0, 1015.0, &|y| -0.2 * y)),
        ] {
            assert!(distribution.is_narrow);
            let sample = sample(|stream| distribution.draw(stream));
            assert_near(sample.mean, expected, 1e-6, sample.mean_error);
            assert!(sample.min >= 985.0 && sample.max <= 1015.0);
        }
    }

    #[test]
    fn embedded_object_counts_have_the_expected_mean_and_maximum() {
        // Sums over the distribution function. The mean before rounding is 5.642 (clip) and 4.37
        // (redraw). Truncation, rounding to the nearest integer or down, and expected mean.
        for (truncation, nearest, expected) in [
            (Truncation::Clip, true, 5.6200),
            (Truncation::Clip, false, 5.1996),
            (Truncation::Redraw, true, 4.3499),
            (Truncation::Redraw, false, 3.9183),
        ] {
            let count =
                Count { distribution: Distribution::pareto(1.1, 2.0, 55.0, truncation), min: 2.0, nearest };
            let sample = sample(|stream| f64::from(count.draw(stream)));
            assert_near(sample.mean, expected, 1e-4, sample.mean_error);
            assert_eq!(sample.min, 0.0);
            assert!(sample.max <= 53.0, "{}", sample.max);
        }
    }

    #[test]
    fn umts_30_03_datagram_sizes_have_the_expected_mean() {
        let distribution = Distribution::pareto(1.1, 81.5, 66_666.0, Truncation::Clip);
        let sample = sample(|stream| distribution.draw(stream));
        assert_near(sample.mean, 479.7, 0.1, sample.mean_error);
        assert_eq!(sample.max, 66_666.0);
    }

    #[test]
    fn pareto_with_mean_has_the_requested_mean() {
        for truncation in [Truncation::Redraw, Truncation::Clip] {
            for alpha in [1.0, 1.2, 1.76] {
                let distribution = Distribution::pareto_with_mean(alpha, 40_000.0, 2e6, truncation);
                let sample = sample(|stream| distribution.draw(stream));
                assert_near(sample.mean, 40_000.0, 1.0, sample.mean_error);
            }
            for mean in [2e6, 3e6] {
                let always = Distribution::pareto_with_mean(1.2, mean, 2e6, truncation);
                let sample = sample(|stream| always.draw(stream));
                assert_eq!(sample.mean, 2e6, "{mean}");
                assert_eq!(sample.max, 2e6, "{mean}");
            }
        }
    }

    #[test]
    fn exponential_and_geometric_draws_have_the_expected_moments() {
        let time = sample(|stream| exponential(Duration::from_millis(130), stream).as_secs());
        assert_near(time.mean, 0.13, 0.0, time.mean_error);
        assert_near(time.deviation, 0.13, 0.0, time.deviation_error);
        for mean in [5, 25] {
            let number = sample(|stream| f64::from(geometric(mean, stream)));
            let mean = f64::from(mean);
            assert_near(number.mean, mean, 0.0, number.mean_error);
            assert_near(number.deviation, (mean * (mean - 1.0)).sqrt(), 0.0, number.deviation_error);
            assert_eq!(number.min, 1.0);
        }
        let constant = sample(|stream| f64::from(geometric(1, stream)));
        assert_eq!(constant.min, 1.0);
        assert_eq!(constant.max, 1.0);
    }
}
