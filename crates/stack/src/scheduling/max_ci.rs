//! Maximum carrier-to-interference ratio: the UE with the best radio is next.

use super::Rank;

/// Ranks by the inverse of C/I. The smaller, the better the radio.
#[inline]
pub fn rank(interference_to_signal: f64) -> Rank {
    Rank::new(interference_to_signal)
}
