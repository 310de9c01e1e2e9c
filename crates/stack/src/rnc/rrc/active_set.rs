//! The active set of a user in soft handover: the cells that send the same data to the UE
//! simultaneously (TR 25.922 §5.1.4; events 1A, 1B and 1C of TS 25.331 §14.1.2). The timers of the
//! events are not modelled: the period of the measurements replaces them.

use crate::environment::Gains;
use crate::ids::CellId;

/// Conditions for cells to join and leave an active set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftHandover {
    /// A cell joins if it is worse than the best cell by at most this, in dB.
    pub add_db: f64,
    /// A cell leaves if it is worse than the best cell by more than this, in dB.
    pub drop_db: f64,
    /// Maximum number of cells in the set.
    pub legs: usize,
}

/// The conditions as linear gain ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveSet {
    add: f64,
    drop: f64,
    /// Maximum number of cells in the set.
    pub legs: usize,
}

impl ActiveSet {
    /// Converts the windows to linear ratios.
    pub fn new(config: &SoftHandover) -> Self {
        let linear = |db: f64| libm::exp10(-db / 10.0);
        ActiveSet { add: linear(config.add_db), drop: linear(config.drop_db), legs: config.legs }
    }

    /// The cells that satisfy the condition to join, up to the size of the set, the best first. Cells of
    /// equal gain are in the order of their numbers.
    pub fn wanted(&self, gains: &Gains) -> Vec<CellId> {
        let min_gain = self.add * gains.of(gains.best());
        let near = gains.iter().filter(|(_, gain)| *gain >= min_gain);
        let mut wanted: Vec<CellId> = near.map(|(cell, _)| CellId(cell as u16)).collect();
        wanted.sort_by(|a, b| gains.of(*b).total_cmp(&gains.of(*a)));
        wanted.truncate(self.legs);
        wanted
    }

    /// Whether a cell of the set stays in it.
    pub fn keeps(&self, cell: CellId, gains: &Gains) -> bool {
        gains.of(cell) >= self.drop * gains.of(gains.best())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::Sites;

    #[test]
    fn cells_join_within_one_window_and_leave_beyond_a_wider_one() {
        let set = ActiveSet::new(&SoftHandover { add_db: 3.0, drop_db: 5.0, legs: 3 });
        let gains = |losses: &[f64]| {
            let mut gains = Gains::of_sites(Arc::new(Sites::new(vec![0, 1])));
            for (site, of) in gains.each_site() {
                *of = [0, 1, 2].map(|sector| {
                    losses.get(3 * site + sector).map_or(0.0, |loss| libm::exp10(-loss / 10.0))
                });
            }
            gains
        };
        let cases: [(&[f64], &[u16]); 4] = [
            (&[120.0, 122.9, 123.1], &[0, 1]),
            (&[123.0, 120.0, 121.0, 122.0], &[1, 2, 3]),
            (&[120.0, 120.0], &[0, 1]),
            (&[120.0, 140.0], &[0]),
        ];
        for (losses, wanted) in cases {
            let cells: Vec<CellId> = wanted.iter().map(|&cell| CellId(cell)).collect();
            assert_eq!(set.wanted(&gains(losses)), cells, "{losses:?}");
        }
        let losses = gains(&[120.0, 124.9, 125.1]);
        assert_eq!([0, 1, 2].map(|cell| set.keeps(CellId(cell), &losses)), [true, true, false]);
    }
}
