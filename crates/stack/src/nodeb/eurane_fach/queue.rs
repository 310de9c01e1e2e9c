//! The Iub towards the Node B's queue, and the queue.

use std::collections::VecDeque;

use umts_units::Time;

use crate::ids::UeId;
use crate::radio::rlc::BlockSet;

/// One block on its way.
#[derive(Debug)]
pub struct Pushed {
    /// When it reaches the Node B.
    pub at: Time,
    /// Whose it is.
    pub ue: UeId,
    /// The block.
    pub set: Box<BlockSet>,
    /// The life of the UE's RLC entities that it belongs to.
    pub epoch: u16,
}

/// The Iub towards the queue, and the queue.
#[derive(Debug)]
pub struct FachQueue {
    limit: usize,
    on_the_iub: VecDeque<Pushed>,
    queue: VecDeque<Pushed>,
}

impl FachQueue {
    /// A queue with room for `limit` blocks.
    pub fn new(limit: u32) -> Self {
        FachQueue { limit: limit as usize, on_the_iub: VecDeque::new(), queue: VecDeque::new() }
    }

    /// A block leaves the RNC. Jitter may let it overtake others of its tick.
    pub fn push(&mut self, block: Pushed) {
        if self.on_the_iub.back().is_none_or(|last| last.at <= block.at) {
            return self.on_the_iub.push_back(block);
        }
        let after = self.on_the_iub.partition_point(|other| other.at <= block.at);
        self.on_the_iub.insert(after, block);
    }

    /// Lets the blocks that have reached the Node B by `now` queue; those that find no room go to `dropped`.
    #[inline(always)]
    pub fn settle(&mut self, now: Time, mut dropped: impl FnMut(Pushed)) {
        while self.on_the_iub.front().is_some_and(|block| block.at <= now) {
            let block = self.on_the_iub.pop_front().expect("it was looked at");
            if self.queue.len() < self.limit {
                self.queue.push_back(block);
            } else {
                dropped(block);
            }
        }
    }

    /// The block at the head of the queue.
    #[inline]
    pub fn pop(&mut self) -> Option<Pushed> {
        self.queue.pop_front()
    }

    /// From when on there is something to send, if anything is known of.
    #[inline]
    pub fn next(&self, now: Time) -> Option<Time> {
        if self.queue.is_empty() { self.on_the_iub.front().map(|block| block.at) } else { Some(now) }
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    fn block(us: u64, ue: u16) -> Pushed {
        Pushed { at: Time::ZERO + Duration::from_micros(us), ue: UeId(ue), set: Box::default(), epoch: 0 }
    }

    #[test]
    fn the_queue_keeps_the_order_of_arrival_and_drops_the_rest() {
        let mut fach = FachQueue::new(2);
        for pushed in [block(30, 0), block(10, 1), block(20, 2), block(99, 3)] {
            fach.push(pushed);
        }
        let mut dropped = Vec::new();
        fach.settle(Time::from_nanos(30_000), |block| dropped.push(block.ue.0));
        assert_eq!(dropped, [0]);
        assert_eq!([fach.pop().unwrap().ue.0, fach.pop().unwrap().ue.0], [1, 2]);
        assert_eq!(fach.next(Time::ZERO), Some(Time::from_nanos(99_000)));
    }
}
