//! A function of a positive number as a table with equal steps within each octave, the numbers from 2^n
//! to 2^(n + 1). A lookup needs no logarithm, because the bits of a floating-point number contain its
//! octave.

/// Table steps per octave.
const STEPS: usize = 256;

/// Values at equal steps within each octave from 2^`FROM` to 2^`TO`, with one more value at the
/// end.
#[derive(Debug, Clone, PartialEq)]
pub struct OctaveTable<const FROM: i32, const TO: i32> {
    values: Vec<f64>,
}

impl<const FROM: i32, const TO: i32> OctaveTable<FROM, TO> {
    pub fn new(function: impl Fn(f64) -> f64) -> Self {
        let octave = |octave: i32| {
            let from = libm::exp2(f64::from(octave));
            (0..STEPS).map(move |step| from * (1.0 + step as f64 / STEPS as f64))
        };
        let mut values: Vec<f64> = (FROM..TO).flat_map(octave).map(&function).collect();
        values.push(function(libm::exp2(f64::from(TO))));
        OctaveTable { values }
    }

    /// Value at `x` by linear interpolation. Returns `below` before the first octave and `above`
    /// after the last one.
    #[inline]
    pub fn at(&self, x: f64, below: f64, above: f64) -> f64 {
        // The bits of a positive floating-point number are its exponent (the octave plus BIAS), then
        // the mantissa (the position in the octave). The highest bits of the mantissa are the number of
        // the step, and the other ones, of width BELOW_STEP, the position in the step.
        const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
        const BELOW_STEP: u32 = MANTISSA - STEPS.trailing_zeros();
        const BIAS: i32 = f64::MAX_EXP - 1;
        let first_step = ((BIAS + FROM) as u64) << (MANTISSA - BELOW_STEP);
        let bits = x.to_bits();
        let Some(step) = (bits >> BELOW_STEP).checked_sub(first_step) else { return below };
        let Some(&[from, to]) = self.values.get(step as usize..step as usize + 2) else { return above };
        let position_in_step = (bits & ((1 << BELOW_STEP) - 1)) as f64 / (1_u64 << BELOW_STEP) as f64;
        from + (to - from) * position_in_step
    }
}
