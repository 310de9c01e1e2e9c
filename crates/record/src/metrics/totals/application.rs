//! Sums of datagrams, pages and sessions.

use umts_units::Duration;

use super::Intervals;
use crate::metrics::rtt::RttSamples;

/// UDP datagrams of all flows in one direction.
#[derive(Debug, Default)]
pub(in crate::metrics) struct DatagramTotals {
    pub window: Duration,
    pub sent: u64,
    pub received: u64,
    /// Payload received.
    pub bytes: u64,
    /// Number of datagrams from the first one sent in the window to the one with the highest number
    /// that arrived.
    pub expected: u64,
    /// Number of expected datagrams that arrived.
    pub arrived: u64,
    pub delay: RttSamples,
    /// Differences between the delays of successive datagrams.
    pub delay_steps: Intervals,
}

/// Pages and sessions of all flows.
#[derive(Debug, Default)]
pub(in crate::metrics) struct ApplicationTotals {
    pub pages: RttSamples,
    pub sessions: RttSamples,
}
