//! A queue for the tests of queue management. It records the numbers of the packets that are
//! dropped or marked.

use std::collections::VecDeque;

use umts_units::{Bytes, Duration, Time};

use super::{ManagedQueue, PacketQueue};

/// A first-in, first-out queue.
#[derive(Debug, Default)]
pub struct TestQueue {
    pub packets: VecDeque<TestPacket>,
    /// Numbers of the dropped packets.
    pub dropped: Vec<u64>,
    /// Numbers of the marked packets.
    pub marked: Vec<u64>,
    /// Whether the packets are ECN-capable.
    pub ecn: bool,
}

/// A packet, identified by a number.
#[derive(Debug)]
pub struct TestPacket {
    number: u64,
    /// Time at which the packet entered the queue.
    entered: Time,
    size: Bytes,
}

/// The time `ms` milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

impl TestQueue {
    /// Adds packet `number` of 1000 octets at `now`.
    pub fn push(&mut self, number: u64, now: Time) {
        self.packets.push_back(TestPacket { number, entered: now, size: Bytes(1000) });
    }

    /// Removes the first packet. Returns its number.
    pub fn pop(&mut self) -> Option<u64> {
        self.packets.pop_front().map(|first| first.number)
    }
}

impl PacketQueue for TestQueue {
    fn head_entered(&self) -> Option<Time> {
        self.packets.front().map(|first| first.entered)
    }

    fn packets(&self) -> usize {
        self.packets.len()
    }

    fn octets(&self) -> Bytes {
        Bytes(self.packets.iter().map(|packet| packet.size.0).sum())
    }

    fn head_octets(&self) -> Bytes {
        self.packets.front().map_or(Bytes::ZERO, |first| first.size)
    }
}

impl ManagedQueue for TestQueue {
    fn drop_head(&mut self) {
        let dropped = self.pop();
        self.dropped.extend(dropped);
    }

    fn mark_head(&mut self) -> bool {
        if self.ecn {
            self.marked.extend(self.packets.front().map(|first| first.number));
        }
        self.ecn
    }
}
