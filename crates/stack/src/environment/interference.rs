//! What reaches a mobile from other cells.

use crate::ids::CellId;

/// Sums at a time: one after another, each addition would wait for the one before.
const LANES: usize = 4;

/// Power received from all cells but `own`, for gains and powers of all cells: χ of rrm.md, in the unit of the powers.
///
/// The order of the additions is that of the cells, four sums side by side, whatever the machine.
#[inline]
pub fn from_others(gains: &[f64], powers: &[f64], own: CellId) -> f64 {
    let own = own.index();
    let before = sum(&gains[..own], &powers[..own]);
    before + sum(&gains[own + 1..], &powers[own + 1..])
}

#[inline]
fn sum(gains: &[f64], powers: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (gains, last_gains) = gains.as_chunks::<LANES>();
    let (powers, last_powers) = powers.as_chunks::<LANES>();
    for (gains, powers) in gains.iter().zip(powers) {
        for lane in 0..LANES {
            lanes[lane] += gains[lane] * powers[lane];
        }
    }
    for (lane, (gain, power)) in last_gains.iter().zip(last_powers).enumerate() {
        lanes[lane] += gain * power;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}
