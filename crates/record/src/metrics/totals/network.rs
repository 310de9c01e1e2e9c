//! Sums that only the network as a whole has.

use umts_stack::ids::Direction;
use umts_stack::trace::QueuePlace;
use umts_units::Duration;

use super::{ApplicationTotals, Fairness, HsTotals};
use crate::metrics::e_dch::EDchTotals;

/// Internet delays of packets in both directions.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct InternetTotals {
    pub packets: u64,
    /// Sum of the delays, in nanoseconds.
    pub delay_ns: u128,
    /// Sum of the squares of the delays, in nanoseconds squared.
    pub delay_squares: u128,
    pub shortest: Option<Duration>,
    pub longest: Option<Duration>,
}

impl InternetTotals {
    /// Adds the delay of one packet.
    pub fn add(&mut self, delay: Duration) {
        let nanoseconds = u128::from(delay.as_nanos());
        self.packets += 1;
        self.delay_ns += nanoseconds;
        self.delay_squares += nanoseconds * nanoseconds;
        self.shortest = Some(self.shortest.map_or(delay, |shortest| shortest.min(delay)));
        self.longest = self.longest.max(Some(delay));
    }
}

/// Totals that only the network as a whole has.
#[derive(Debug, Default)]
pub(in crate::metrics) struct NetworkTotals {
    pub applications: ApplicationTotals,
    pub fach_queue_drops: u64,
    pub hs_dsch: HsTotals,
    pub e_dch: EDchTotals,
    pub link_drops: u64,
    pub rach_collisions: u64,
    pub rlc_unrecoverable_errors: u64,
    pub rlc_reestablishments: u64,
    pub cell_updates: u64,
    pub radio_link_failures: u64,
    pub internet: InternetTotals,
    pub fairness: Fairness,
}

/// Actions of queue management (RED, CoDel, PIE), by direction.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::metrics) struct QueueTotals {
    pub link_drops: [u64; 2],
    pub link_marks: [u64; 2],
    pub rlc_drops: [u64; 2],
    pub rlc_marks: [u64; 2],
}

impl QueueTotals {
    pub fn add(&mut self, place: QueuePlace, direction: Direction, marked: bool) {
        let actions = match (place, marked) {
            (QueuePlace::Link(_), false) => &mut self.link_drops,
            (QueuePlace::Link(_), true) => &mut self.link_marks,
            (QueuePlace::Rlc, false) => &mut self.rlc_drops,
            (QueuePlace::Rlc, true) => &mut self.rlc_marks,
        };
        actions[direction.index()] += 1;
    }
}
