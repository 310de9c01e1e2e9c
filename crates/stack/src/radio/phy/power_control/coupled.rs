//! The powers of all cells together: each is what its users need, and they need more the more the others send.
//!
//! `P_k = P_c + Σ_j A_kj P_j + b_k`, where A_kk is the load that the cell makes itself and A_kj what a milliwatt of cell j costs
//! it. Below the limits that is `P = (I - A)⁻¹ b`. At its limit a cell stops, so that there is a solution even where no power
//! would be enough, and only one, which is reached from any start (Yates 1995: a standard interference function).

use super::{Load, PowerConfig};
use crate::radio::phy::sir::Link;

/// What is left of the way to the solution when the search ends, relative to a power.
const TOLERANCE: f64 = 1e-6;
/// Rounds after which it ends anyway.
const MOST_ROUNDS: u32 = 10_000;

/// The equations of one TTI.
#[derive(Debug, Clone, Default)]
pub struct Coupled {
    cells: usize,
    /// A, row by row.
    pub(super) coupling: Vec<f64>,
    /// What each cell needs though all others are silent, without its common channels.
    pub(super) noise: Vec<f64>,
}

impl Coupled {
    /// A network of `cells`, of which nobody asks for anything.
    pub fn new(cells: usize) -> Self {
        Coupled { cells, coupling: vec![0.0; cells * cells], noise: vec![0.0; cells] }
    }

    /// A TTI begins: nobody asks for anything.
    pub fn begin(&mut self) {
        self.coupling.fill(0.0);
        self.noise.fill(0.0);
    }

    /// A user of `cell`, whose gains are these, each with its cell. What the link says of other cells is not looked at.
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

    /// Moves the powers of all cells, which begin anywhere, to the solution.
    pub fn solve(&self, configs: &[PowerConfig], powers: &mut [f64]) {
        let (mut last, mut rounds) = (f64::INFINITY, 0);
        loop {
            let change = self.round(configs, powers);
            rounds += 1;
            // Changes shrink by about the same share in each round: what is left is a geometric series.
            let shrinks = if last.is_finite() { (change / last).min(1.0) } else { 1.0 };
            let is_there = change == 0.0 || change < TOLERANCE * (1.0 - shrinks);
            if is_there || rounds == MOST_ROUNDS {
                break;
            }
            last = change;
        }
    }

    /// One power after the other, in cell order; returns the largest relative change.
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
