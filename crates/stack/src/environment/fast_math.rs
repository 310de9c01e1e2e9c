//! Fast log2, exp2 and angles from small tables, for the gains of cells, which are computed about
//! 100,000 times per second.
//!
//! Each function looks up a nearby point and adds a short series, with a relative error of about
//! 1e-13. Only basic arithmetic is used, so results are equal to the bit on all machines.

use std::f64::consts::{LN_2, LOG2_E, TAU};

/// Intervals per octave in the table of logarithms.
const LOG_PARTS: usize = 128;
/// Intervals per octave in the table of powers.
const POWER_PARTS: usize = 64;
/// Intervals per side of the square |x| + |y| = 1 in the table of angles.
const SIDE_PARTS: usize = 64;
/// Intervals on all four sides.
const ANGLE_PARTS: usize = 4 * SIDE_PARTS;

/// Bits of the mantissa without the implicit one.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Added to the exponent of a number in its binary representation.
const EXPONENT_BIAS: i64 = 1023;

/// 3 · 2⁵¹: adding and subtracting it rounds to the nearest integer without a library call.
const ROUNDING_OFFSET: f64 = 6_755_399_441_055_744.0;

/// The tables.
#[derive(Debug, Clone)]
pub struct FastMath {
    /// For the middle of each interval: its reciprocal, and its logarithm to base 2.
    logs: [[f64; 2]; LOG_PARTS],
    /// Entry i is 2^(i/64).
    powers: [f64; POWER_PARTS],
    /// For a direction in each interval: angle, cosine and sine.
    angles: [[f64; 3]; ANGLE_PARTS + 1],
}

impl FastMath {
    pub fn new() -> Self {
        let middle = |part: usize, parts: usize| (part as f64 + 0.5) / parts as f64;
        let log = |part: usize| {
            let number = 1.0 + middle(part, LOG_PARTS);
            [1.0 / number, libm::log2(number)]
        };
        // The position along the square, as in `angle`, of the middle of an interval.
        let angle = |part: usize| {
            let position = 4.0 * middle(part, ANGLE_PARTS) - 1.0;
            let (x, y) = if position <= 1.0 {
                (1.0 - position.abs(), position)
            } else {
                ((2.0 - position).abs() - 1.0, 2.0 - position)
            };
            let angle = libm::atan2(y, x);
            [angle, libm::cos(angle), libm::sin(angle)]
        };
        FastMath {
            logs: std::array::from_fn(log),
            powers: std::array::from_fn(|part| libm::exp2(part as f64 / POWER_PARTS as f64)),
            angles: std::array::from_fn(angle),
        }
    }

    /// Logarithm to base 2 of a number above 0.
    #[inline]
    pub fn log2(&self, number: f64) -> f64 {
        let bits = number.to_bits();
        let octave = (bits >> MANTISSA_BITS) as i64 - EXPONENT_BIAS;
        // The first bits of the mantissa are the index in the table.
        let part = (bits >> (MANTISSA_BITS - LOG_PARTS.trailing_zeros())) as usize % LOG_PARTS;
        let fraction = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | 1.0_f64.to_bits());
        let [reciprocal, log] = self.logs[part];
        let residual = fraction * reciprocal - 1.0;
        let series = residual * (1.0 - residual * (0.5 - residual * (1.0 / 3.0 - residual * 0.25)));
        octave as f64 + log + series * LOG2_E
    }

    /// 2 to a power between -1000 and 1000.
    #[inline]
    pub fn exp2(&self, power: f64) -> f64 {
        let rounded = power * POWER_PARTS as f64 + ROUNDING_OFFSET;
        let residual = (power - (rounded - ROUNDING_OFFSET) * (1.0 / POWER_PARTS as f64)) * LN_2;
        let series =
            1.0 + residual * (1.0 + residual * (0.5 + residual * (1.0 / 6.0 + residual * (1.0 / 24.0))));
        // The low bits of `rounded` hold the rounded integer: the octave, then the index in the
        // table.
        let parts = rounded.to_bits();
        let octave =
            f64::from_bits(((parts >> POWER_PARTS.trailing_zeros()) + EXPONENT_BIAS as u64) << MANTISSA_BITS);
        octave * self.powers[parts as usize % POWER_PARTS] * series
    }

    /// Angle of a vector in radians, up to multiples of 2π. NaN for the zero vector.
    #[inline]
    pub fn angle(&self, x: f64, y: f64) -> f64 {
        // Position along the square |x| + |y| = 1, from -1 at its bottom corner to 3 at the same
        // corner again.
        let height = y / (x.abs() + y.abs());
        let position = if x >= 0.0 { height } else { 2.0 - height };
        let [angle, cosine, sine] = self.angles[((position + 1.0) * SIDE_PARTS as f64) as usize];
        // Rotated back by the angle of the table, the vector is almost on the x axis.
        let residual = (y * cosine - x * sine) / (x * cosine + y * sine);
        let square = residual * residual;
        angle + residual * (1.0 - square * (1.0 / 3.0 - square * 0.2))
    }
}

/// Reduces an angle in radians to the range from -π to π.
#[inline]
pub fn wrap_angle(angle: f64) -> f64 {
    let turns = angle * (1.0 / TAU);
    (turns - ((turns + ROUNDING_OFFSET) - ROUNDING_OFFSET)) * TAU
}

/// The smaller of two numbers. `other` if `number` is NaN.
#[inline]
pub fn min_ignoring_nan(number: f64, other: f64) -> f64 {
    if number < other { number } else { other }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn logarithms_and_powers_match_libm() {
        let fast_math = FastMath::new();
        for step in 0..100_000 {
            let power = -100.0 + f64::from(step) * 0.002_001;
            let number = libm::exp2(power);
            assert!((fast_math.exp2(power) / number - 1.0).abs() < 1e-13, "2 to the power of {power}");
            assert!((fast_math.log2(number) - libm::log2(number)).abs() < 1e-12, "logarithm of {number}");
        }
        assert_eq!(
            [fast_math.exp2(0.0), fast_math.exp2(-3.0), fast_math.exp2(20.0)],
            [1.0, 0.125, 1_048_576.0]
        );
    }

    #[test]
    fn angles_match_libm() {
        let fast_math = FastMath::new();
        for step in 0..100_000 {
            let angle = f64::from(step) * 1e-4;
            let [x, y] = [libm::cos(angle), libm::sin(angle)].map(|along| along * f64::from(step % 997 + 1));
            let error = wrap_angle(fast_math.angle(x, y) - libm::atan2(y, x));
            assert!(error.abs() < 1e-13, "{x} {y}: {error}");
        }
        for (x, y, angle) in [(1.0, 0.0, 0.0), (0.0, 2.0, PI / 2.0), (-3.0, 0.0, PI), (0.0, -1.0, -PI / 2.0)]
        {
            assert!(wrap_angle(fast_math.angle(x, y) - angle).abs() < 1e-15, "{x} {y}");
        }
        assert!((wrap_angle(7.0 * PI / 2.0) + PI / 2.0).abs() < 1e-14 && wrap_angle(0.5) == 0.5);
        assert!(fast_math.angle(-1.0, -0.0).is_finite() && fast_math.angle(-1e-300, -1.0).is_finite());
    }
}
