//! Maximum carrier-to-interference ratio: the UE with the best radio is next.

use super::Rank;

/// Ranks by L (chi + P_N): the transmit power in mW at which the own cell would be received as strongly
/// as noise and other cells together. The smaller, the better the radio.
#[inline]
pub fn rank(outside_mw: f64) -> Rank {
    Rank(outside_mw, 0.0)
}
