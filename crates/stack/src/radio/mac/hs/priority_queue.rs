//! A priority queue of the Node B for the HS-DSCH: TS 25.321 §4.2.3.3.
//!
//! It keeps the MAC-d PDUs of one UE and priority, and numbers the blocks that it fills from them. HARQ
//! transmits each block until it ends. At most a receiver window of the UE lies between the oldest block
//! in HARQ and the newest one.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use super::tsn::Tsn;

/// A block of MAC-d PDUs that leaves the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<P> {
    /// Number of the block, without wrap-around. Its transmission sequence number is `Tsn::of`.
    pub count: u64,
    pub pdus: Vec<P>,
}

impl<P> Block<P> {
    pub fn tsn(&self) -> Tsn {
        Tsn::of(self.count)
    }
}

/// The queue. `P` is a MAC-d PDU.
#[derive(Debug)]
pub struct PriorityQueue<P> {
    /// Maximum number of PDUs in the queue.
    capacity: usize,
    /// Longest time of a PDU in the queue. `None`: PDUs are not discarded.
    discard_timer: Option<Duration>,
    /// Receiver window of the UE, in blocks.
    window: u8,
    /// PDUs with their time of arrival.
    pdus: VecDeque<(Time, P)>,
    /// Number of the next block, without wrap-around.
    next: u64,
    /// Blocks that HARQ still transmits, in the order of their numbers.
    in_harq: VecDeque<u64>,
}

impl<P> PriorityQueue<P> {
    pub fn new(capacity: usize, discard_timer: Option<Duration>, window: u8) -> Self {
        let (pdus, in_harq) = (VecDeque::new(), VecDeque::new());
        PriorityQueue { capacity, discard_timer, window, pdus, next: 0, in_harq }
    }

    /// Adds a PDU. Returns it if the queue is full.
    pub fn push(&mut self, now: Time, pdu: P) -> Option<P> {
        if self.pdus.len() == self.capacity {
            return Some(pdu);
        }
        self.pdus.push_back((now, pdu));
        None
    }

    /// Number of PDUs in the queue. Those of blocks in HARQ are not among them.
    pub fn len(&self) -> usize {
        self.pdus.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pdus.is_empty()
    }

    /// Arrival of the oldest PDU.
    pub fn oldest(&self) -> Option<Time> {
        self.pdus.front().map(|(at, _)| *at)
    }

    /// Whether a further block would leave all blocks in HARQ within the receiver window.
    pub fn is_window_open(&self) -> bool {
        self.in_harq.front().is_none_or(|oldest| self.next - oldest < u64::from(self.window))
    }

    /// Takes a block of at most `max_pdus` PDUs. `None` if the queue is empty, `max_pdus` is 0, or the
    /// window is not open.
    pub fn take(&mut self, max_pdus: u32) -> Option<Block<P>> {
        let pdus_in_block = self.pdus.len().min(max_pdus as usize);
        if pdus_in_block == 0 || !self.is_window_open() {
            return None;
        }
        let count = self.next;
        self.next += 1;
        self.in_harq.push_back(count);
        Some(Block { count, pdus: self.pdus.drain(..pdus_in_block).map(|(_, pdu)| pdu).collect() })
    }

    /// HARQ has ended the transmission of block `count`, with success or without.
    pub fn handle_ended(&mut self, count: u64) {
        self.in_harq.retain(|waiting| *waiting != count);
    }

    /// Removes and returns the PDUs that are older than the discard timer.
    pub fn discard_expired(&mut self, now: Time) -> impl Iterator<Item = P> + '_ {
        let is_expired = |at: Time| self.discard_timer.is_some_and(|limit| at + limit <= now);
        let expired = self.pdus.iter().take_while(|(at, _)| is_expired(*at)).count();
        self.pdus.drain(..expired).map(|(_, pdu)| pdu)
    }

    /// Removes and returns the PDUs for which `is_removed` returns true.
    pub fn remove_if(&mut self, is_removed: impl Fn(&P) -> bool) -> Vec<P> {
        let (removed, kept) =
            std::mem::take(&mut self.pdus).into_iter().partition(|(_, pdu)| is_removed(pdu));
        self.pdus = kept;
        VecDeque::into_iter(removed).map(|(_, pdu)| pdu).collect()
    }

    /// Removes and returns all PDUs: the serving cell changes, or RLC is reset.
    pub fn flush(&mut self) -> impl Iterator<Item = P> + '_ {
        self.pdus.drain(..).map(|(_, pdu)| pdu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue with room for 500 PDUs and a discard timer of 100 ms. PDU n arrived at n ms.
    fn filled(pdus: u64, window: u8) -> PriorityQueue<u64> {
        let mut queue = PriorityQueue::new(500, Some(Duration::from_millis(100)), window);
        for pdu in 0..pdus {
            assert_eq!(queue.push(Time::from_nanos(pdu * 1_000_000), pdu), None);
        }
        queue
    }

    #[test]
    fn a_full_queue_returns_the_pdu() {
        let mut queue = filled(500, 16);
        assert_eq!(queue.push(Time::ZERO, 7), Some(7));
        assert_eq!(queue.len(), 500);
    }

    #[test]
    fn blocks_take_pdus_in_order_and_are_numbered() {
        let mut queue = filled(10, 16);
        let blocks: Vec<_> = std::iter::from_fn(|| queue.take(4)).collect();
        let pdus: Vec<_> = blocks.iter().map(|block| (block.count, block.pdus.clone())).collect();
        assert_eq!(pdus, [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6, 7]), (2, vec![8, 9])]);
    }

    #[test]
    fn blocks_in_harq_stay_within_the_window() {
        let mut queue = filled(500, 4);
        assert_eq!(std::iter::from_fn(|| queue.take(1)).count(), 4);
        queue.handle_ended(2);
        assert_eq!(queue.take(1), None);
        queue.handle_ended(0);
        assert_eq!(queue.take(1).map(|block| block.count), Some(4));
        // Block 1 is the oldest now.
        assert_eq!(queue.take(1), None);
    }

    #[test]
    fn old_pdus_are_discarded_and_others_stay() {
        let mut queue = filled(10, 16);
        let discarded: Vec<_> = queue.discard_expired(Time::from_nanos(104_000_000)).collect();
        assert_eq!(discarded, [0, 1, 2, 3, 4]);
        assert_eq!((queue.len(), queue.oldest()), (5, Some(Time::from_nanos(5_000_000))));
    }
}
