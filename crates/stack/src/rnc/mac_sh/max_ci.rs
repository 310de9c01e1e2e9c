//! The user with the best radio is first: who hears least of noise and of other cells for what he hears of his own.

use crate::radio::phy::sir::Link;

/// L (chi + P_N): what it takes to be as loud as what is not the own cell's.
#[inline]
pub fn rank(link: &Link, noise: f64) -> f64 {
    link.outside(noise)
}
