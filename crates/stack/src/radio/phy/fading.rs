//! Rayleigh fading of one path between a cell and a UE.
//!
//! A sum of sinusoids gives the gain at any instant without a state, so that idle UEs cost nothing:
//!
//! ```text
//! h(t) = 1/√M Σ exp(j (2π f_d t cos((2π n + θ_n)/M) + φ_n))     n = 1 … M, θ_n and φ_n uniform
//! ```
//!
//! The angles spread the paths evenly around the UE: the autocorrelation of h is close to Jakes's
//! J_0(2π f_d τ), and |h|² is close to exponential with mean 1.

use std::f64::consts::PI;

use umts_kernel::random::AddressedStream;
use umts_units::Time;

/// Number of sinusoids M.
const PATHS: usize = 16;

/// Speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// Doppler frequency in Hz of a UE with `speed` in m/s on a carrier of `carrier` Hz.
pub fn doppler(speed: f64, carrier: f64) -> f64 {
    speed * carrier / LIGHT
}

/// One Rayleigh fading process.
#[derive(Debug, Clone, PartialEq)]
pub struct RayleighFading {
    paths: [Path; PATHS],
}

/// A path on which the signal arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Path {
    /// Angular frequency of its Doppler shift, in rad/s.
    frequency: f64,
    /// Phase at time 0, in rad.
    phase: f64,
}

impl RayleighFading {
    /// Process number `process` of a stream of random numbers. `doppler` in Hz.
    pub fn new(stream: &AddressedStream, process: u64, doppler: f64) -> Self {
        let draws = stream.tti(process);
        let angle = |number: usize| PI * (2.0 * draws.uniform(number as u32) - 1.0);
        let paths = std::array::from_fn(|n| {
            let arrival = (2.0 * PI * (n + 1) as f64 + angle(n)) / PATHS as f64;
            Path { frequency: 2.0 * PI * doppler * libm::cos(arrival), phase: angle(PATHS + n) }
        });
        RayleighFading { paths }
    }

    /// Power gain |h|² at `at`, with mean 1.
    pub fn power(&self, at: Time) -> f64 {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for Path { frequency, phase } in self.paths {
            let (sine, cosine) = libm::sincos(frequency * at.as_secs() + phase);
            real += cosine;
            imaginary += sine;
        }
        (real * real + imaginary * imaginary) / PATHS as f64
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::random::Streams;
    use umts_units::Duration;

    use super::*;

    const DOPPLER: f64 = 5.6;

    fn processes(count: u64) -> Vec<RayleighFading> {
        let stream = Streams::new(1, 0).addressed("fading");
        (0..count).map(|process| RayleighFading::new(&stream, process, DOPPLER)).collect()
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    }

    #[test]
    fn a_ue_at_50_km_h_has_a_doppler_frequency_of_93_hz_at_2_ghz() {
        assert!((doppler(50.0 / 3.6, 2e9) - 92.66).abs() < 0.01);
    }

    /// Over 20,000 processes at one instant each: standard error of the mean 0.007.
    #[test]
    fn the_power_is_exponential_with_mean_1() {
        let powers: Vec<f64> =
            processes(20_000).iter().map(|process| process.power(Time::from_nanos(7_654_321_000))).collect();
        assert!((mean(powers.iter().copied()) - 1.0).abs() < 0.021);
        // The sum of 16 paths is a little narrower than exponential far out.
        for level in [0.1, 0.5, 1.0, 2.0] {
            let above = mean(powers.iter().map(|power| f64::from(*power > level)));
            assert!((above - libm::exp(-level)).abs() < 0.015, "{level}: {above}");
        }
    }

    /// The covariance of the powers is J_0², as for Rayleigh fading, minus 1/M because the M paths
    /// have equal powers. Standard error at most 0.014.
    #[test]
    fn covariance_over_time_follows_jakes() {
        let processes = processes(4_000);
        for lag_ms in [5, 20, 40, 68, 100] {
            let pairs = processes.iter().flat_map(|process| {
                (0..25).map(move |origin| {
                    let from = Time::from_nanos(origin * 400_000_000);
                    process.power(from) * process.power(from + Duration::from_millis(lag_ms))
                })
            });
            let covariance = mean(pairs) - 1.0;
            let jakes = libm::pow(libm::j0(2.0 * PI * DOPPLER * lag_ms as f64 * 1e-3), 2.0);
            let expected = jakes - 1.0 / PATHS as f64;
            assert!((covariance - expected).abs() < 0.042, "{lag_ms} ms: {covariance}, not {expected}");
        }
    }

    /// The level crossing rate of Rayleigh fading is √(2π) f_d ρ exp(-ρ²) at level ρ of the rms
    /// amplitude.
    #[test]
    fn level_crossing_rate_matches_rayleigh_fading() {
        let seconds = 20;
        for rho in [0.3, 1.0] {
            let crossings: usize = processes(200)
                .iter()
                .map(|process| {
                    let above = (0..seconds * 1_000)
                        .map(|ms| process.power(Time::from_nanos(ms * 1_000_000)) > rho * rho);
                    let above: Vec<bool> = above.collect();
                    above.windows(2).filter(|pair| !pair[0] && pair[1]).count()
                })
                .sum();
            let rate = crossings as f64 / (200 * seconds) as f64;
            let expected = libm::sqrt(2.0 * PI) * DOPPLER * rho * libm::exp(-rho * rho);
            assert!((rate / expected - 1.0).abs() < 0.05, "{rho}: {rate} per second, not {expected}");
        }
    }
}
