//! The queue of the Node B for the FACH (forward access channel) of EURANE, an extension of ns-2. The
//! RNC sends blocks over the Iub without flow control. The Node B queues up to a number of blocks and
//! drops further ones.

use std::collections::VecDeque;

use umts_units::Time;

use crate::ids::UeId;
use crate::radio::rlc::BlockSet;

/// A block on the Iub or in the queue.
#[derive(Debug)]
pub struct QueuedBlock {
    /// Arrival at the Node B.
    pub at: Time,
    pub ue: UeId,
    pub set: Box<BlockSet>,
    /// Epoch of the UE's RLC entities.
    pub epoch: u16,
}

/// Blocks on the Iub and in the queue.
#[derive(Debug)]
pub struct FachQueue {
    /// Maximum number of queued blocks.
    limit: usize,
    /// Queued blocks, then blocks on the Iub, in the order of their arrival at the Node B.
    blocks: VecDeque<QueuedBlock>,
    /// Number of queued blocks, the first of `blocks`.
    queued: usize,
}

impl FachQueue {
    pub fn new(limit: u32) -> Self {
        FachQueue { limit: limit as usize, blocks: VecDeque::new(), queued: 0 }
    }

    /// Adds a block that leaves the RNC. Jitter may let it overtake other blocks of its tick.
    #[inline]
    pub fn push(&mut self, block: QueuedBlock) {
        if self.blocks.back().is_none_or(|last| last.at <= block.at) {
            return self.blocks.push_back(block);
        }
        let position = self.blocks.partition_point(|other| other.at <= block.at);
        self.blocks.insert(position, block);
    }

    /// Queues the blocks that have reached the Node B by `now`. Calls `dropped` for blocks that
    /// find the queue full.
    #[inline]
    pub fn receive(&mut self, now: Time, mut dropped: impl FnMut(QueuedBlock)) {
        while self.blocks.get(self.queued).is_some_and(|block| block.at <= now) {
            if self.queued < self.limit {
                self.queued += 1;
            } else {
                dropped(self.blocks.remove(self.queued).expect("the loop condition found a block"));
            }
        }
    }

    /// Removes the block at the head of the queue.
    #[inline]
    pub fn pop(&mut self) -> Option<QueuedBlock> {
        self.queued = self.queued.checked_sub(1)?;
        self.blocks.pop_front()
    }

    /// Time from which a block can be sent. `None` if there is none.
    #[inline]
    pub fn next(&self, now: Time) -> Option<Time> {
        if self.queued > 0 { Some(now) } else { self.blocks.front().map(|block| block.at) }
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    /// A block for `ue` that reaches the Node B at `arrival_us`.
    fn block(arrival_us: u64, ue: u16) -> QueuedBlock {
        QueuedBlock { at: us(arrival_us), ue: UeId(ue), set: Box::default(), epoch: 0 }
    }

    #[test]
    fn full_queue_keeps_arrival_order_and_drops_later_blocks() {
        let mut fach = FachQueue::new(2);
        for pushed in [block(30, 0), block(10, 1), block(20, 2), block(99, 3)] {
            fach.push(pushed);
        }
        // By 30 µs three blocks have arrived. The block for UE 0 is the last one and finds two blocks in
        // the queue.
        let mut dropped = Vec::new();
        fach.receive(us(30), |block| dropped.push(block.ue.0));
        assert_eq!(dropped, [0]);
        assert_eq!([fach.pop().unwrap().ue.0, fach.pop().unwrap().ue.0], [1, 2]);
        assert_eq!(fach.next(Time::ZERO), Some(us(99)));
    }
}
