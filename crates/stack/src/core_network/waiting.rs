//! What waits for a transmitter or is being sent: how many packets, and how many octets.

use std::collections::VecDeque;

use umts_units::{Bytes, Time};

/// Packets that are not through the transmitter yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    /// The last one, which mostly is alone: when it is through, and its size.
    last: (Time, Bytes),
    /// Those before it.
    before: VecDeque<(Time, Bytes)>,
    packets: usize,
    octets: Bytes,
}

impl Waiting {
    /// How many there are.
    #[inline]
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Their octets.
    #[inline]
    pub fn octets(&self) -> Bytes {
        self.octets
    }

    /// One more, of `size`, will be through at `through`, not before the others.
    #[inline]
    pub fn push(&mut self, through: Time, size: Bytes) {
        if self.packets > 0 {
            self.before.push_back(self.last);
        }
        self.last = (through, size);
        self.packets += 1;
        self.octets += size;
    }

    /// Those that are through are forgotten. One that is at this very instant still takes its place, as in ns-2.
    #[inline]
    pub fn forget_what_is_through(&mut self, now: Time) {
        if self.last.0 < now {
            self.before.clear();
            (self.packets, self.octets) = (0, Bytes::ZERO);
            return;
        }
        while self.before.front().is_some_and(|&(through, _)| through < now) {
            let (_, size) = self.before.pop_front().expect("it was looked at");
            self.packets -= 1;
            self.octets = self.octets - size;
        }
    }
}
