//! The downlink powers of all cells together, for ideal power control. Each cell transmits the power
//! that its users need, and they need more if other cells transmit more.
//!
//! `P_k = P_c + Σ_j A_kj P_j + b_k`. A_kk is the load of the own cell, and A_kj is the additional power
//! that cell k needs for each milliwatt of cell j. Below the limits the solution is
//! `P = (I - A)⁻¹ (P_c + b)`. Because a cell never exceeds its limit, a solution exists even if the
//! needed power is infinite. It is unique and is reached from any start (Yates 1995: a standard
//! interference function).

use super::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// Remaining relative distance to the solution at which the iteration stops.
const TOLERANCE: f64 = 1e-6;
/// Maximum number of iterations.
const MAX_ROUNDS: u32 = 10_000;

/// The equations of one TTI.
#[derive(Debug, Clone, Default)]
pub struct Coupled {
    cells: usize,
    /// A, row by row.
    pub(super) coupling: Vec<f64>,
    /// b: the power that each cell needs because of the noise, without its common channels.
    pub(super) noise: Vec<f64>,
}

impl Coupled {
    /// Equations for `cells` cells without users.
    pub fn new(cells: usize) -> Self {
        Coupled { cells, coupling: vec![0.0; cells * cells], noise: vec![0.0; cells] }
    }

    /// Starts a TTI without users.
    pub fn begin(&mut self) {
        self.coupling.fill(0.0);
        self.noise.fill(0.0);
    }

    /// Adds a user of `cell` with its gains to all cells. The interference in `link` is ignored.
    pub fn add(
        &mut self,
        power: &PowerConfig,
        cell: usize,
        link: &Link,
        gains: impl Iterator<Item = (usize, f64)>,
    ) {
        let load = Load::of(power, &Link { interference: 0.0, ..*link });
        let weight = 1.0 / ((link.margin() + power.own_share) * link.gain);
        self.noise[cell] += load.outside;
        let row = &mut self.coupling[cell * self.cells..][..self.cells];
        for (other, gain) in gains {
            row[other] += if other == cell { load.own } else { weight * gain };
        }
    }

    /// Iterates the powers of all cells from any start to the solution.
    pub fn solve(&self, configs: &[PowerConfig], powers: &mut [f64]) {
        let (mut last_change, mut rounds) = (f64::INFINITY, 0);
        loop {
            let change = self.round(configs, powers);
            rounds += 1;
            // Changes shrink by about the same factor in each iteration, so the remaining distance is
            // the sum of a geometric series, at most change / (1 - factor).
            let factor = if last_change.is_finite() { (change / last_change).min(1.0) } else { 1.0 };
            let has_converged = change == 0.0 || change < TOLERANCE * (1.0 - factor);
            if has_converged || rounds == MAX_ROUNDS {
                break;
            }
            last_change = change;
        }
    }

    /// One iteration in the order of the cells. Returns the largest relative change.
    fn round(&self, configs: &[PowerConfig], powers: &mut [f64]) -> f64 {
        let mut largest = 0.0_f64;
        for (cell, power) in configs.iter().enumerate() {
            let row = &self.coupling[cell * self.cells..][..self.cells];
            let mut outside = self.noise[cell];
            for (other, (coupling, sent)) in row.iter().zip(powers.iter()).enumerate() {
                outside += if other == cell { 0.0 } else { coupling * sent };
            }
            let total = Load { own: row[cell], outside, others: 0.0 }.sent(power).total;
            largest = largest.max((total - powers[cell]).abs() / total);
            powers[cell] = total;
        }
        largest
    }
}
