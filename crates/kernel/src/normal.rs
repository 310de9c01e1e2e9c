//! The quantile function of the normal distribution, which turns a uniform addressed draw into a
//! normal one.

/// Returns the value below which a normal variable with mean 0 and deviation 1 lies with
/// probability `p`, which must be between 0 and 1, exclusive.
///
/// Wichura (1988), algorithm AS 241: quotients of two polynomials, accurate to 16 digits. 85 % of
/// the draws need neither a logarithm nor a root. All constants are from the algorithm; 0.180625 is
/// 0.425².
#[inline]
pub(crate) fn quantile(p: f64) -> f64 {
    // Distance from the median.
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * quotient(r, &MIDDLE);
    }
    let distance_to_end = if centred < 0.0 { p } else { 1.0 - p };
    let r = libm::sqrt(-libm::log(distance_to_end));
    let magnitude = if r <= 5.0 { quotient(r - 1.6, &SIDES) } else { quotient(r - 5.0, &FAR) };
    if centred < 0.0 { -magnitude } else { magnitude }
}

/// Numerator and denominator, polynomials of degree 7, the coefficient of the highest power first.
type Quotient = [[f64; 8]; 2];

/// Evaluates the quotient of the two polynomials at `r`.
#[inline]
fn quotient(r: f64, [numerator, denominator]: &Quotient) -> f64 {
    let value = |polynomial: &[f64; 8]| polynomial.iter().fold(0.0, |sum, coefficient| sum * r + coefficient);
    value(numerator) / value(denominator)
}

/// For probabilities from 0.075 to 0.925.
const MIDDLE: Quotient = [
    [
        2.509_080_928_730_122_7e3,
        3.343_057_558_358_813e4,
        6.726_577_092_700_87e4,
        4.592_195_393_154_987e4,
        1.373_169_376_550_946e4,
        1.971_590_950_306_551_3e3,
        1.331_416_678_917_843_8e2,
        3.387_132_872_796_366_5,
    ],
    [
        5.226_495_278_852_854e3,
        2.872_908_573_572_194_3e4,
        3.930_789_580_009_271e4,
        2.121_379_430_158_659_7e4,
        5.394_196_021_424_751e3,
        6.871_870_074_920_579e2,
        4.231_333_070_160_091e1,
        1.0,
    ],
];

/// For probabilities outside that range whose distance from 0 or 1 is at least e^-25.
const SIDES: Quotient = [
    [
        7.745_450_142_783_414e-4,
        2.272_384_498_926_918_4e-2,
        2.417_807_251_774_506e-1,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        1.519_866_656_361_645_7e-2,
        1.481_039_764_274_800_8e-1,
        6.897_673_349_851e-1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

/// For probabilities nearer to 0 or 1.
const FAR: Quotient = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        1.242_660_947_388_078_4e-3,
        2.653_218_952_657_612_4e-2,
        2.965_605_718_285_048_7e-1,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        1.487_536_129_085_061_5e-2,
        1.369_298_809_227_358e-1,
        5.998_322_065_558_88e-1,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of a value above `x`, by the complementary error function.
    fn above(x: f64) -> f64 {
        0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
    }

    #[test]
    fn quantile_inverts_the_error_function() {
        // Both sides of the limits at 0.075 and e^-25, and far out.
        for p in [0.5, 0.3, 0.1, 0.075_001, 0.074_999, 1e-3, 1.4e-11, 1.3e-11, 1e-15, 1e-100, 1e-300] {
            let x = quantile(p);
            assert!((above(-x) / p - 1.0).abs() < 1e-12, "{p}: {x}");
            if p > 1e-3 {
                assert!((quantile(1.0 - p) + x).abs() < 1e-13, "{p}: {x}");
            }
        }
        assert_eq!(quantile(0.5), 0.0);
    }

    #[test]
    fn quantile_increases() {
        let values: Vec<f64> = (1..10_000).map(|n| quantile(f64::from(n) / 10_000.0)).collect();
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
