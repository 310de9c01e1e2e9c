//! The sums that the recorders of metrics collect from trace events during the measurement window:
//! of TCP, datagrams, radio, RRC, TDD cells, layouts, HS-DSCH and queues. At the end of the run
//! `definitions.rs` computes every metric from them.
//!
//! Sums are exact integers where possible, so that the sums of two adjoining windows add up to the
//! sum of both together. An array of two elements is indexed by direction (downlink, uplink) unless
//! its comment says otherwise.

mod application;
mod layout;
mod network;
mod radio;
mod rrc;
mod tcp;

use umts_units::Duration;

pub(super) use application::{ApplicationTotals, DatagramTotals};
pub(super) use layout::LayoutTotals;
pub(super) use network::{NetworkTotals, QueueTotals};
pub(super) use radio::{HsTotals, RadioTotals, TddTotals};
pub(super) use rrc::{CellTotals, ChannelTotals};
pub(super) use tcp::{Fairness, LegTotals, TcpTotals};

/// Number and sum of time intervals, for a mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Intervals {
    pub count: u64,
    pub sum: Duration,
}

impl Intervals {
    pub fn add(&mut self, interval: Duration) {
        self.count += 1;
        self.sum += interval;
    }

    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.as_secs() / self.count as f64)
    }
}
