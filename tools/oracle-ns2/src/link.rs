//! ns-2's links and clock, in floating-point seconds as in ns-2.

use std::collections::{BTreeMap, VecDeque};

use crate::run::Spike;

/// Events in the order of ns-2, whose clock is a double. Rounding noise decides between events at
/// one instant (a delayed ACK's timer often coincides with an arrival), and only then the order of
/// scheduling.
#[derive(Debug)]
pub struct Calendar<E> {
    /// Events by the bits of their time, then by their number.
    events: BTreeMap<(u64, u64), E>,
    /// Number of events scheduled so far.
    scheduled: u64,
}

impl<E> Calendar<E> {
    pub fn new() -> Self {
        Calendar { events: BTreeMap::new(), scheduled: 0 }
    }

    pub fn push(&mut self, at_s: f64, event: E) {
        // The bits of positive doubles sort like their values.
        self.events.insert((at_s.to_bits(), self.scheduled), event);
        self.scheduled += 1;
    }

    pub fn pop(&mut self) -> Option<(f64, E)> {
        self.events.pop_first().map(|((bits, _), event)| (f64::from_bits(bits), event))
    }
}

/// A store-and-forward link: a packet occupies it for its transmission time, then propagates.
#[derive(Debug)]
pub struct Link {
    pub rate_bps: f64,
    pub delay_s: f64,
    /// Capacity in packets, including the one in transmission.
    pub queue: u64,
    pub spike: Option<Spike>,
    /// Packets do not overtake each other.
    pub fifo: bool,
    /// Time at which the last packet will have left.
    free_s: f64,
    /// Times at which the packets that are queued or in transmission will have left.
    leaving: VecDeque<f64>,
    /// The latest arrival.
    latest_s: f64,
}

impl Link {
    pub fn new(rate_bps: f64, delay_s: f64) -> Self {
        Link {
            rate_bps,
            delay_s,
            queue: u64::MAX,
            spike: None,
            fifo: true,
            free_s: 0.0,
            leaving: VecDeque::new(),
            latest_s: 0.0,
        }
    }

    /// Returns when a packet of `size` octets arrives, or `None` if the queue is full.
    pub fn send(&mut self, now_s: f64, size: u64) -> Option<f64> {
        // A packet that leaves at this instant still occupies the queue (ties occur to the
        // nanosecond).
        while self.leaving.front().is_some_and(|&at| at < now_s) {
            self.leaving.pop_front();
        }
        if self.leaving.len() as u64 >= self.queue {
            return None;
        }
        let sending = 8.0 * size as f64 / self.rate_bps;
        let begin = self.free_s.max(now_s);
        self.free_s = begin + sending;
        self.leaving.push_back(self.free_s);
        let extra = self.spike.filter(|spike| begin >= spike.from_s && begin < spike.from_s + spike.length_s);
        let crossing = sending + (self.delay_s + extra.map_or(0.0, |spike| spike.extra_s));
        // A packet that would overtake the one before it arrives one transmission time after it.
        // ns-2 compares and schedules times from now instead of instants, so these sums do so too:
        // another order of the same sums rounds differently.
        if self.fifo && crossing < self.latest_s - begin {
            self.latest_s += sending;
            return Some(begin + (self.latest_s - begin));
        }
        self.latest_s = begin + crossing;
        Some(self.latest_s)
    }
}
