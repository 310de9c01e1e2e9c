//! Proportional fairness: the UE with the highest possible rate, relative to its recent mean rate,
//! is next.

use umts_units::Duration;

use super::Rank;

/// Floor of the mean in blocks per TTI. UEs that were not served for a long time are at the floor: they
/// precede all others and are ranked by their possible rate.
const MIN_MEAN: f64 = 1e-9;

/// Weight of the past mean after one TTI, for a time constant of `mean_over`.
pub fn memory(tti: Duration, mean_over: Duration) -> f64 {
    1.0 - (tti.as_secs() / mean_over.as_secs()).min(1.0)
}

/// Ranks by the possible rate relative to the mean rate: the largest ratio is first.
#[inline]
pub fn rank(possible_blocks: u32, mean_blocks: f64) -> Rank {
    Rank::new(-f64::from(possible_blocks) / mean_blocks.max(MIN_MEAN))
}
