//! Random draws by name and by address.
//!
//! Every purpose has a stream of its own, seeded by blake3(seed, run, name), so an additional draw
//! in one stream does not affect others. Radio draws are not consumed in order but addressed by
//! (stream, TTI, block). So another TCP variant or one more user meets the same radio conditions,
//! and idle time costs nothing.
//!
//! Logarithms and exponentials come from `libm`, a software library: the functions of platforms
//! differ in the last bit.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Dxsm;

use crate::normal::quantile;

/// 2^53. Uniform values have 53 bits, as many as the mantissa of a float.
const TWO_POW_53: f64 = 9_007_199_254_740_992.0;

/// Low bits of a draw that a uniform value does not use: 64 - 53.
const UNUSED_BITS: u32 = 11;

/// Creates the random streams of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
    run: u64,
}

impl Streams {
    /// Returns the streams of run number `run` with `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        Streams { seed, run }
    }

    /// Returns a sequential stream, for example `"web/page_size/ue3"`.
    pub fn stream(&self, name: &str) -> Stream {
        Stream(Pcg64Dxsm::from_seed(self.key(name)))
    }

    /// Returns a stream with addressed draws, for example `"radio/downlink/ue3"`.
    pub fn addressed(&self, name: &str) -> AddressedStream {
        let key = self.key(name);
        let word = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().expect("eight bytes"));
        AddressedStream { key: [word(0), word(8)] }
    }

    /// Returns the hash of seed, run and name, which seeds a stream.
    fn key(&self, name: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(&self.run.to_le_bytes());
        hasher.update(name.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// A stream with draws that are consumed in order.
#[derive(Debug, Clone)]
pub struct Stream(Pcg64Dxsm);

impl Stream {
    /// Returns a uniform value in [0, 1) with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        to_unit(self.0.next_u64())
    }

    /// Returns a uniform number from `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.random_range(0..n)
    }

    /// Returns an exponential value with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.uniform())
    }

    /// Returns a normal value with mean 0 and deviation 1, from two uniform draws (Box and Muller,
    /// 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

/// A stream with draws that are independent of their order: equal addresses give equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressedStream {
    key: [u64; 2],
}

/// A probability in a form that is compared with addressed draws: the number of 53-bit values below
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// Probability 0.
    pub const NEVER: Chance = Chance(0);
    /// Probability 1.
    pub const ALWAYS: Chance = Chance(1 << 53);

    /// Converts a probability. Values outside 0 to 1 are clamped, and NaN is 0.
    #[inline]
    pub fn of(probability: f64) -> Self {
        // `uniform` has 53 bits. n / 2^53 < p is equivalent to n < 2^53 p, and scaling by a power
        // of two does not round.
        let scaled = probability * TWO_POW_53;
        let whole = scaled as u64;
        let below = whole.saturating_add(u64::from((whole as f64) < scaled));
        Chance(below.min(Chance::ALWAYS.0))
    }

    /// Returns whether the `uniform` value of a draw with these [`bits`](TtiDraws::bits) is below
    /// the probability.
    #[inline]
    pub fn is_met(self, bits: u64) -> bool {
        bits >> UNUSED_BITS < self.0
    }
}

/// The draws of one TTI.
#[derive(Debug, Clone, Copy)]
pub struct TtiDraws {
    /// Hash of the stream and the number of the TTI.
    base: u64,
    /// Second half of the stream's key.
    key: u64,
}

impl AddressedStream {
    /// Returns the draws of TTI number `tti`.
    #[inline]
    pub fn tti(&self, tti: u64) -> TtiDraws {
        TtiDraws { base: mix(tti ^ self.key[0], TTI_FACTOR), key: self.key[1] }
    }
}

impl TtiDraws {
    /// Returns a uniform value in [0, 1) for block number `block` of this TTI.
    #[inline]
    pub fn uniform(&self, block: u32) -> f64 {
        to_unit(self.bits(block))
    }

    /// Returns whether an event with this probability happens to block number `block` of this TTI:
    /// whether `uniform` is below the probability.
    #[inline]
    pub fn happens(&self, block: u32, chance: Chance) -> bool {
        chance.is_met(self.bits(block))
    }

    /// Returns a normal value with mean 0 and deviation 1 for block number `block` of this TTI: the
    /// quantile of its draw.
    #[inline]
    pub fn normal(&self, block: u32) -> f64 {
        // The middle of the draw's interval, so that the probability is never 0 or 1.
        let middle = (self.bits(block) >> UNUSED_BITS) as f64 + 0.5;
        quantile(middle * (1.0 / TWO_POW_53))
    }

    /// Returns 64 random bits for block number `block` of this TTI.
    #[inline]
    pub fn bits(&self, block: u32) -> u64 {
        let spread_block = u64::from(block).wrapping_mul(GOLDEN_RATIO);
        let first = mix(self.base ^ spread_block, self.key | 1);
        mix(first ^ self.base, BLOCK_FACTOR)
    }
}

/// Constants of the hash function wyhash: odd numbers with as many ones as zeros.
const TTI_FACTOR: u64 = 0xa076_1d64_78bd_642f;
const BLOCK_FACTOR: u64 = 0xe703_7ed1_a0b4_28db;
const MIX_MASK: u64 = 0x8ebc_6af0_9c88_c6e3;
/// 2^64 divided by the golden ratio: spreads consecutive numbers of blocks over all bits.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the exclusive or of both halves of a 128-bit product: every input bit affects every
/// output bit.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ MIX_MASK) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Returns the upper 53 bits as a fraction in [0, 1).
#[inline]
fn to_unit(bits: u64) -> f64 {
    (bits >> UNUSED_BITS) as f64 * (1.0 / TWO_POW_53)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a new version of a library changes the draws, and so the results of all runs.
    #[test]
    fn first_draws_are_pinned() {
        let streams = Streams::new(1, 0);
        let mut named = streams.stream("web/page_size/ue3");
        let addressed = streams.addressed("radio/downlink/ue0");
        assert_eq!([named.0.next_u64(), named.0.next_u64()], PINNED_NAMED);
        assert_eq!([addressed.tti(0).bits(0), addressed.tti(7).bits(3)], PINNED_ADDRESSED);
    }
    const PINNED_NAMED: [u64; 2] = [9_068_615_039_104_746_929, 16_020_224_211_345_758_576];
    const PINNED_ADDRESSED: [u64; 2] = [7_339_703_658_446_548_853, 4_300_956_865_318_990_040];

    #[test]
    fn streams_differ_by_seed_run_and_name() {
        let first = |streams: Streams, name| streams.stream(name).0.next_u64();
        let all = [
            first(Streams::new(1, 0), "a"),
            first(Streams::new(2, 0), "a"),
            first(Streams::new(1, 1), "a"),
            first(Streams::new(1, 0), "b"),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    /// Returns chi-square over 256 cells of the high byte. With 255 degrees of freedom, a uniform
    /// variable exceeds `CHI_SQUARE_LIMIT` with a probability below 1e-9.
    fn chi_square(draws: impl Iterator<Item = u64>) -> f64 {
        let mut cells = [0u32; 256];
        let mut n = 0u32;
        for bits in draws {
            cells[(bits >> 56) as usize] += 1;
            n += 1;
        }
        let expected = f64::from(n) / 256.0;
        cells.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum()
    }

    const CHI_SQUARE_LIMIT: f64 = 420.0;

    #[test]
    fn addressed_draws_are_uniform_along_blocks_and_ttis() {
        let stream = Streams::new(7, 3).addressed("radio/uplink/ue1");
        assert!(chi_square((0..100_000).map(|tti| stream.tti(tti).bits(0))) < CHI_SQUARE_LIMIT);
        assert!(chi_square((0..100_000).map(|block| stream.tti(5).bits(block))) < CHI_SQUARE_LIMIT);
        assert!(
            chi_square((0..100_000).map(|i| stream.tti(i / 12).bits((i % 12) as u32))) < CHI_SQUARE_LIMIT
        );
        // Neighbouring blocks of one TTI, and equal blocks of neighbouring TTIs, are uncorrelated.
        assert!(
            chi_square((0..100_000).map(|t| stream.tti(t).bits(0) ^ stream.tti(t).bits(1)))
                < CHI_SQUARE_LIMIT
        );
        assert!(
            chi_square((0..100_000).map(|t| stream.tti(t).bits(0) ^ stream.tti(t + 1).bits(0)))
                < CHI_SQUARE_LIMIT
        );
    }

    #[test]
    fn each_tti_bit_flips_half_of_the_output() {
        let stream = Streams::new(9, 0).addressed("radio/downlink/ue0");
        for bit in 0..20 {
            let flips: u32 = (0..2_000u64)
                .map(|t| (stream.tti(t).bits(1) ^ stream.tti(t ^ (1 << bit)).bits(1)).count_ones())
                .sum();
            let mean = f64::from(flips) / 2_000.0;
            assert!((31.0..33.0).contains(&mean), "bit {bit} of the TTI flips {mean} of 64");
        }
    }

    #[test]
    fn chance_is_met_exactly_below_its_probability() {
        let draws = Streams::new(1, 0).addressed("radio/downlink/ue0");
        for tti in 0..1_000 {
            let draws = draws.tti(tti);
            let drawn = draws.uniform(3);
            for p in [0.0, 0.3, drawn, drawn.next_up(), 1.0 - f64::EPSILON, 1.0, 2.0, -1.0, f64::NAN] {
                assert_eq!(draws.happens(3, Chance::of(p)), drawn < p, "{drawn} {p}");
            }
        }
        assert_eq!([0.0, 1.0].map(Chance::of), [Chance::NEVER, Chance::ALWAYS]);
    }

    #[test]
    fn exponential_has_mean_one() {
        let mut stream = Streams::new(1, 0).stream("x");
        let mean = (0..200_000).map(|_| stream.exponential()).sum::<f64>() / 200_000.0;
        // One standard error is 0.0022.
        assert!((mean - 1.0).abs() < 0.012, "{mean}");
    }

    #[test]
    fn first_four_moments_of_normal_draws_are_right() {
        let mut stream = Streams::new(1, 0).stream("x");
        let addressed = Streams::new(1, 0).addressed("x");
        for draws in [
            (0..200_000).map(|_| stream.normal()).collect::<Vec<f64>>(),
            (0..200_000).map(|tti| addressed.tti(tti).normal(3)).collect(),
        ] {
            // One standard error of the mean of x^k is sqrt(E[x^2k] - E[x^k]^2) / sqrt(n). The
            // bound is five standard errors.
            for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
            {
                let moment = draws.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / 200_000.0;
                let error = f64::sqrt(variance / 200_000.0);
                assert!((moment - expected).abs() < 5.0 * error, "moment {power} is {moment}");
            }
        }
    }
}
