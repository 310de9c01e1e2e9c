//! Which cell a UE is in: the one of which it receives most, left for another only if that is better by a hysteresis.
//!
//! All pilots have the same power, so the loss decides (TS 25.304 §5.2.6 with one frequency, its timers left to the period
//! of the measurements).

use crate::environment::Gains;
use crate::ids::CellId;

/// How cells are selected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellSelection {
    /// By how many times more another cell has to give, 1 or more.
    least: f64,
}

impl CellSelection {
    /// Another cell has to be better by more than this many decibels.
    pub fn new(hysteresis_db: f64) -> Self {
        CellSelection { least: libm::exp10(hysteresis_db / 10.0) }
    }

    /// The cell that the UE should be in instead of `own`, if there is a better one, for what it hears.
    #[inline]
    pub fn better(&self, own: CellId, gains: &Gains) -> Option<CellId> {
        let best = gains.best();
        self.is_better(own, best, gains).then_some(best)
    }

    /// Whether `other` is better than `own` by more than the hysteresis.
    #[inline]
    pub fn is_better(&self, own: CellId, other: CellId, gains: &Gains) -> bool {
        gains.of(other) > self.least * gains.of(own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::Sites;

    /// Of the three cells of a site.
    fn gains(losses_db: [f64; 3]) -> Gains {
        let mut gains = Gains::of_sites(Arc::new(Sites::new(vec![0])));
        for (_, of) in gains.each_site() {
            *of = losses_db.map(|loss| libm::exp10(-loss / 10.0));
        }
        gains
    }

    #[test]
    fn another_cell_has_to_be_better_by_more_than_the_hysteresis() {
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
    fn without_hysteresis_the_best_is_taken_and_equals_are_left_alone() {
        let selection = CellSelection::new(0.0);
        assert_eq!(selection.better(CellId(1), &gains([120.0, 120.0, 121.0])), None);
        assert_eq!(selection.better(CellId(2), &gains([120.0, 120.0, 121.0])), Some(CellId(0)));
    }
}
