//! Cell selection: a UE is in its best cell, and changes to another cell only if that is better by a
//! hysteresis.
//!
//! All pilots have the same power, so the path gains decide (TS 25.304 §5.2.6 with one frequency). The
//! timers of the standard are not modelled: the period of the measurements replaces them.

use crate::environment::Gains;
use crate::ids::CellId;

/// The hysteresis of cell selection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellSelection {
    /// Minimum ratio of the other cell's gain to that of the current cell, at least 1.
    min_ratio: f64,
}

impl CellSelection {
    /// Another cell must be better by more than `hysteresis_db`.
    pub fn new(hysteresis_db: f64) -> Self {
        CellSelection { min_ratio: libm::exp10(hysteresis_db / 10.0) }
    }

    /// The best cell for these gains, if it is better than `own` by more than the hysteresis.
    #[inline]
    pub fn better(&self, own: CellId, gains: &Gains) -> Option<CellId> {
        let best = gains.best();
        self.is_better(own, best, gains).then_some(best)
    }

    /// Whether `other` is better than `own` by more than the hysteresis.
    #[inline]
    pub fn is_better(&self, own: CellId, other: CellId, gains: &Gains) -> bool {
        gains.of(other) > self.min_ratio * gains.of(own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::Sites;

    /// Gains of the three cells of a site.
    fn gains(losses_db: [f64; 3]) -> Gains {
        let mut gains = Gains::of_sites(Arc::new(Sites::new(vec![0])));
        for (_, of) in gains.each_site() {
            *of = losses_db.map(|loss| libm::exp10(-loss / 10.0));
        }
        gains
    }

    #[test]
    fn another_cell_must_be_better_by_more_than_the_hysteresis() {
        let selection = CellSelection::new(1.0);
        let own = CellId(0);
        for (losses_db, chosen) in [
            ([120.0, 125.0, 130.0], None),
            ([120.0, 119.1, 130.0], None),
            ([120.0, 118.9, 130.0], Some(CellId(1))),
            ([120.0, 118.9, 118.0], Some(CellId(2))),
            ([120.0, 120.0, 120.0], None),
        ] {
            assert_eq!(selection.better(own, &gains(losses_db)), chosen, "{losses_db:?}");
        }
    }

    #[test]
    fn without_hysteresis_the_best_cell_is_selected_and_an_equal_one_is_kept() {
        let selection = CellSelection::new(0.0);
        assert_eq!(selection.better(CellId(1), &gains([120.0, 120.0, 121.0])), None);
        assert_eq!(selection.better(CellId(2), &gains([120.0, 120.0, 121.0])), Some(CellId(0)));
    }
}
