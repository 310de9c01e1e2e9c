//! The active set of a user in soft handover: the cells that send the same data to the UE
//! simultaneously (TR 25.922 §5.1.4; events 1A, 1B and 1C of TS 25.331 §14.1.2). The timers of the
//! events are not modelled: the period of the measurements replaces them.

use umts_units::Db;

use crate::environment::Gains;
use crate::ids::CellId;
use crate::options::options;

options! {
    /// Soft and softer handover: all cells of a call's active set send to the user.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct SoftHandover as "Soft" {
        /// A cell joins the active set if it is worse than the best cell by at most this margin.
        [label = "Window to join an active set", range = "0 dB to 30 dB",
            source = "Holma and Toskala (2000), §9.3.1: windows of 1 to 3 dB"]
        pub add: Db = Db(3.0),
        /// A cell leaves the active set if it is worse than the best cell by more than this margin.
        [label = "Window to leave an active set", range = "add to 30 dB",
            source = "Holma and Toskala (2000), §9.3.1: beyond the first by a hysteresis"]
        pub drop: Db = Db(5.0),
        /// Largest number of cells in the active set.
        [label = "Maximum size of an active set", min = 2, max = 6,
            source = "TS 25.133 §8.1.2: six can be measured; three are usual"]
        pub legs: u8 = 3,
    }
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
        let linear = |db: Db| libm::exp10(-db.0 / 10.0);
        ActiveSet { add: linear(config.add), drop: linear(config.drop), legs: config.legs.into() }
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
        let set = ActiveSet::new(&SoftHandover::default());
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
