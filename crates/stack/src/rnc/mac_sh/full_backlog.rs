//! Whoever has something to send wants to send all of it.

use super::MacShConfig;

/// The number of the format that holds what waits, or the largest.
#[inline]
pub fn want(config: &MacShConfig, backlog: u32) -> usize {
    config.holding(backlog)
}
