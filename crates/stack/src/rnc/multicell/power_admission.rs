//! Admission by power: a cell refuses a new DCH or call if its mean transmit power and the power
//! that the new link is expected to need exceed a limit. An HS-DSCH counts with its largest power,
//! sent or not. Without such a limit it does not count: it has what DCHs and calls leave.
//!
//! The mean is over the period of the measurements. A link that was admitted counts with its
//! expected power until its own power is part of the mean.

use crate::ids::CellId;
use crate::radio::phy::power_control::{PowerConfig, Sent};
use crate::radio::phy::sir::Link;

/// The powers of all cells in the last turns, and the limit.
#[derive(Debug)]
pub(super) struct PowerAdmission {
    /// Largest mean power with the new link, in mW.
    limit: f64,
    /// Power in mW of each cell in the last turns.
    recent: Vec<Vec<f64>>,
    /// Number of turns so far.
    turns: usize,
}

impl PowerAdmission {
    /// Cells that have transmitted `common` in `period` turns.
    pub fn new(limit: f64, cells: usize, period: u64, common: f64) -> Self {
        PowerAdmission { limit, recent: vec![vec![common; period as usize]; cells], turns: 0 }
    }

    /// Adds the powers of all cells in a turn.
    pub fn record(&mut self, powers: &[f64]) {
        for (recent, power) in self.recent.iter_mut().zip(powers) {
            let oldest = self.turns % recent.len();
            recent[oldest] = *power;
        }
        self.turns += 1;
    }

    /// The power in mW that a link from `cell` is expected to need.
    pub fn expected(&self, power: &PowerConfig, link: &Link, cell: CellId) -> f64 {
        power.dch_power(&Sent { total: self.mean(cell), factor: 1.0 }, link)
    }

    /// Whether `cell` may transmit `added` mW in addition.
    pub fn admits(&self, cell: CellId, added: f64) -> bool {
        self.mean(cell) + added <= self.limit
    }

    /// A link with this expected power begins. It raises the mean until measured powers contain it.
    pub fn begin_link(&mut self, cell: CellId, expected: f64) {
        self.recent[cell.index()].iter_mut().for_each(|power| *power += expected);
    }

    fn mean(&self, cell: CellId) -> f64 {
        let recent = &self.recent[cell.index()];
        recent.iter().sum::<f64>() / recent.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: CellId = CellId(1);

    fn admission() -> PowerAdmission {
        PowerAdmission::new(100.0, 2, 5, 10.0)
    }

    #[test]
    fn mean_power_and_new_link_are_at_most_the_limit() {
        let mut admission = admission();
        assert!(admission.admits(CELL, 90.0) && !admission.admits(CELL, 90.1));
        (0..5).for_each(|turn| admission.record(&[0.0, 20.0 * f64::from(turn)]));
        // The mean of 0, 20, 40, 60 and 80 mW.
        assert!(admission.admits(CELL, 60.0) && !admission.admits(CELL, 60.1));
        assert!(admission.admits(CellId(0), 100.0));
    }

    #[test]
    fn admitted_link_counts_until_its_power_is_measured() {
        let mut admission = admission();
        admission.begin_link(CELL, 80.0);
        assert!(!admission.admits(CELL, 20.0) && admission.admits(CellId(0), 20.0));
        for turn in 0..5 {
            assert_eq!(admission.mean(CELL), 90.0 - 16.0 * f64::from(turn));
            admission.record(&[10.0, 10.0]);
        }
        assert_eq!(admission.mean(CELL), 10.0);
    }

    #[test]
    fn expected_power_gives_the_target_beside_the_mean_power() {
        let admission = PowerAdmission::new(1e4, 2, 5, 1e3);
        let power = PowerConfig::default();
        let link = Link { processing: 60.0, target: 2.0, gain: 1e-12, interference: 3e-10 };
        let expected = admission.expected(&power, &link, CELL);
        let ebn0 = link.achieved(power.own_share, power.noise, 1e3, expected);
        assert!((ebn0 / 2.0 - 1.0).abs() < 1e-9, "{ebn0}");
        let limited = PowerConfig { dch_max: Some(1.0), ..power };
        assert_eq!(admission.expected(&limited, &link, CELL), 1.0);
    }
}
