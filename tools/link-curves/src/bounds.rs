//! Union bounds of the block error ratio, for independent errors of code bits.

use crate::code::{Weight, spectrum};

/// A transport block of 336 bits with its CRC of 16 bits, without the tail bits.
pub const BLOCK_BITS: usize = 336 + 16;
/// The largest weight in the sums.
pub const MAX_WEIGHT: usize = 30;

/// The input of the decoder for a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// 0 or 1.
    Hard,
    /// The received value.
    Soft,
}

/// Bounds at one SIR.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Bound of the error ratio of decoded bits.
    pub bits: f64,
    /// Bound of the error ratio of blocks.
    pub blocks: f64,
}

/// Returns the probability of a QPSK bit error before decoding. `sir` is linear, per symbol.
pub fn raw_bit_error(sir: f64) -> f64 {
    q(libm::sqrt(sir))
}

/// The distance spectrum of the code.
#[derive(Debug, Clone)]
pub struct Code(Vec<Weight>);

impl Default for Code {
    fn default() -> Self {
        Code(spectrum(MAX_WEIGHT))
    }
}

impl Code {
    /// Returns the bounds at a linear SIR.
    pub fn bounds(&self, decision: Decision, sir: f64) -> Bounds {
        let raw_error = raw_bit_error(sir);
        let pairwise_error = |d: usize| match decision {
            Decision::Hard => prefers_another(d, raw_error),
            Decision::Soft => q(libm::sqrt(d as f64 * sir)),
        };
        let (mut event, mut bits) = (0.0, 0.0);
        for weight in &self.0 {
            let probability = pairwise_error(weight.d);
            event += weight.events as f64 * probability;
            bits += weight.bits as f64 * probability;
        }
        // A block is correct if no error event begins at any of its bits: 1 - (1 - event)^bits.
        let blocks = -libm::expm1(BLOCK_BITS as f64 * libm::log1p(-f64::min(event, 1.0)));
        Bounds { bits: f64::min(bits, 0.5), blocks }
    }
}

/// Returns the probability that a hard-decision decoder prefers a code word at distance `d`: more
/// than half of the differing bits are wrong, or exactly half of them, in half of these cases. `p`
/// is the probability of a wrong bit.
fn prefers_another(d: usize, p: f64) -> f64 {
    let exactly = |wrong: usize| {
        binomial(d, wrong) * libm::pow(p, wrong as f64) * libm::pow(1.0 - p, (d - wrong) as f64)
    };
    let tie = if d.is_multiple_of(2) { exactly(d / 2) / 2.0 } else { 0.0 };
    tie + (d / 2 + 1..=d).map(exactly).sum::<f64>()
}

/// Returns the number of ways to choose `k` of `n`.
fn binomial(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// Returns the probability that a standard normal variable exceeds `x`.
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}
