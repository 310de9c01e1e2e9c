//! Maximum carrier-to-interference ratio: the UE with the best radio is next.

use super::Rank;

/// L (chi + P_N): the power in mW at which the own cell equals noise and other cells at the UE.
#[inline]
pub fn rank(outside_mw: f64) -> Rank {
    Rank(outside_mw, 0.0)
}
