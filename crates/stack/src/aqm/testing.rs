//! A queue of packets for tests.

use std::collections::VecDeque;

use umts_units::{Bytes, Duration, Time};

use super::{ManagedQueue, PacketQueue};

#[derive(Debug, Default)]
pub struct TestQueue {
    /// Number, time of entry and size of each packet.
    pub packets: VecDeque<(u64, Time, Bytes)>,
    /// Numbers of the dropped packets.
    pub dropped: Vec<u64>,
    /// Numbers of the marked packets.
    pub marked: Vec<u64>,
    /// Whether the packets are ECN-capable.
    pub ecn: bool,
}

pub fn ms(n: u64) -> Time {
    Time::ZERO + Duration::from_millis(n)
}

impl TestQueue {
    /// Adds packet `number` of 1000 octets at `now`.
    pub fn push(&mut self, number: u64, now: Time) {
        self.packets.push_back((number, now, Bytes(1000)));
    }

    /// Removes the first packet. Returns its number.
    pub fn pop(&mut self) -> Option<u64> {
        self.packets.pop_front().map(|(number, ..)| number)
    }
}

impl PacketQueue for TestQueue {
    fn head_entered(&self) -> Option<Time> {
        self.packets.front().map(|&(_, entered, _)| entered)
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn octets(&self) -> Bytes {
        Bytes(self.packets.iter().map(|(.., size)| size.0).sum())
    }

    fn head_octets(&self) -> Bytes {
        self.packets.front().map_or(Bytes::ZERO, |&(.., size)| size)
    }
}

impl ManagedQueue for TestQueue {
    fn drop_head(&mut self) {
        let dropped = self.pop();
        self.dropped.extend(dropped);
    }

    fn mark_head(&mut self) -> bool {
        if self.ecn {
            self.marked.extend(self.packets.front().map(|&(number, ..)| number));
        }
        self.ecn
    }
}
