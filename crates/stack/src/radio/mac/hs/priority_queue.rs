//! A priority queue of the Node B for the HS-DSCH: TS 25.321 §4.2.3.3.
//!
//! It keeps the MAC-d PDUs of one UE and priority, and numbers the blocks that it fills from them. HARQ
//! transmits each block until it ends. At most a receiver window of the UE lies between the oldest block
//! in HARQ and the newest one.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use super::segmentation::{MAX_PART, PART_HEADER, Segmentation};
use super::tsn::Tsn;

/// A block of MAC-d PDUs that leaves the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<P> {
    /// Number of the block, without wrap-around. Its transmission sequence number is `Tsn::of`.
    pub count: u64,
    /// PDUs that end in the block.
    pub pdus: Vec<P>,
    /// Whether the block has parts of PDUs (MAC-ehs).
    pub segmentation: Segmentation,
    /// Size of the content, in the unit of the queue.
    pub size: u32,
}

impl<P> Block<P> {
    pub fn tsn(&self) -> Tsn {
        Tsn::of(self.count)
    }
}

/// The queue. `P` is a MAC-d PDU. The unit of sizes is a PDU for MAC-hs, whose PDUs have one size,
/// and an octet for MAC-ehs.
#[derive(Debug)]
pub struct PriorityQueue<P> {
    /// Largest size of the queue.
    capacity: u64,
    /// Longest time of a PDU in the queue. `None`: PDUs are not discarded.
    discard_timer: Option<Duration>,
    /// Receiver window of the UE, in blocks.
    window: u8,
    /// PDUs with their time of arrival and their size.
    pdus: VecDeque<(Time, u32, P)>,
    /// Size of the PDUs, without the part of the first one that is in blocks.
    size: u64,
    /// Size of the part of the first PDU that is in blocks (MAC-ehs).
    head_sent: u32,
    /// Number of the next block, without wrap-around.
    next: u64,
    /// Blocks that HARQ still transmits, in the order of their numbers.
    in_harq: VecDeque<u64>,
}

impl<P> PriorityQueue<P> {
    pub fn new(capacity: u64, discard_timer: Option<Duration>, window: u8) -> Self {
        let (pdus, in_harq) = (VecDeque::new(), VecDeque::new());
        PriorityQueue { capacity, discard_timer, window, pdus, size: 0, head_sent: 0, next: 0, in_harq }
    }

    /// Adds a PDU. Returns it if the queue is full.
    pub fn push(&mut self, now: Time, size: u32, pdu: P) -> Option<P> {
        if self.size + u64::from(size) > self.capacity {
            return Some(pdu);
        }
        self.size += u64::from(size);
        self.pdus.push_back((now, size, pdu));
        None
    }

    /// Size of the PDUs in the queue. Those of blocks in HARQ are not among them.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of PDUs in the queue. Those that end in blocks in HARQ are not among them.
    pub fn len(&self) -> usize {
        self.pdus.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pdus.is_empty()
    }

    /// Arrival of the oldest PDU.
    pub fn oldest(&self) -> Option<Time> {
        self.pdus.front().map(|(at, ..)| *at)
    }

    /// Whether a further block would leave all blocks in HARQ within the receiver window.
    pub fn is_window_open(&self) -> bool {
        self.in_harq.front().is_none_or(|oldest| self.next - oldest < u64::from(self.window))
    }

    /// Takes a block of at most `max_pdus` PDUs of size 1, for MAC-hs. `None` if the queue is empty,
    /// `max_pdus` is 0, or the window is not open.
    pub fn take(&mut self, max_pdus: u32) -> Option<Block<P>> {
        let number = self.pdus.len().min(max_pdus as usize);
        if number == 0 || !self.is_window_open() {
            return None;
        }
        self.size -= number as u64;
        let pdus = self.pdus.drain(..number).map(|(.., pdu)| pdu).collect();
        Some(self.number(pdus, Segmentation::default(), number as u32))
    }

    /// Takes a block with room for `room` octets of one PDU, for MAC-ehs. Further PDUs have a header each.
    /// A PDU that does not fit is divided. `None` if the queue is empty, `room` is 0, or the window is
    /// not open.
    pub fn take_octets(&mut self, mut room: u32) -> Option<Block<P>> {
        if self.pdus.is_empty() || room == 0 || !self.is_window_open() {
            return None;
        }
        let (mut pdus, mut taken) = (Vec::new(), 0);
        let starts_inside = self.head_sent > 0;
        while room > 0
            && let Some(&(_, size, _)) = self.pdus.front()
        {
            let left = size - self.head_sent;
            let part = left.min(room).min(MAX_PART);
            taken += part;
            self.head_sent += part;
            if part < left {
                break;
            }
            self.head_sent = 0;
            pdus.extend(self.pdus.pop_front().map(|(.., pdu)| pdu));
            room = (room - part).saturating_sub(PART_HEADER);
        }
        self.size -= u64::from(taken);
        let segmentation = Segmentation { starts_inside, ends_inside: self.head_sent > 0 };
        Some(self.number(pdus, segmentation, taken))
    }

    /// Gives a block the next number.
    fn number(&mut self, pdus: Vec<P>, segmentation: Segmentation, size: u32) -> Block<P> {
        let count = self.next;
        self.next += 1;
        self.in_harq.push_back(count);
        Block { count, pdus, segmentation, size }
    }

    /// HARQ has ended the transmission of block `count`, with success or without.
    pub fn handle_ended(&mut self, count: u64) {
        self.in_harq.retain(|waiting| *waiting != count);
    }

    /// Removes and returns the PDUs that are older than the discard timer. A PDU of which a part is in a
    /// block stays.
    pub fn discard_expired(&mut self, now: Time) -> impl Iterator<Item = P> + '_ {
        let is_expired = |at: Time| self.discard_timer.is_some_and(|limit| at + limit <= now);
        let first = usize::from(self.head_sent > 0);
        let expired = self.pdus.iter().skip(first).take_while(|(at, ..)| is_expired(*at)).count();
        let range = first..first + expired;
        self.size -= self.pdus.range(range.clone()).map(|(_, size, _)| u64::from(*size)).sum::<u64>();
        self.pdus.drain(range).map(|(.., pdu)| pdu)
    }

    /// Removes and returns the PDUs for which `is_removed` returns true. The receiver loses parts of a
    /// removed PDU that are in blocks.
    pub fn remove_if(&mut self, is_removed: impl Fn(&P) -> bool) -> Vec<P> {
        if self.pdus.front().is_some_and(|(.., head)| is_removed(head)) {
            self.size += u64::from(std::mem::take(&mut self.head_sent));
        }
        let (removed, kept): (VecDeque<_>, _) =
            std::mem::take(&mut self.pdus).into_iter().partition(|(.., pdu)| is_removed(pdu));
        self.pdus = kept;
        self.size -= removed.iter().map(|(_, size, _)| u64::from(*size)).sum::<u64>();
        removed.into_iter().map(|(.., pdu)| pdu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue with room for 500 PDUs and a discard timer of 100 ms. PDU n arrived at n ms.
    fn filled(pdus: u64, window: u8) -> PriorityQueue<u64> {
        let mut queue = PriorityQueue::new(500, Some(Duration::from_millis(100)), window);
        for pdu in 0..pdus {
            assert_eq!(queue.push(Time::from_nanos(pdu * 1_000_000), 1, pdu), None);
        }
        queue
    }

    #[test]
    fn a_full_queue_returns_the_pdu() {
        let mut queue = filled(500, 16);
        assert_eq!(queue.push(Time::ZERO, 1, 7), Some(7));
        assert_eq!(queue.len(), 500);
    }

    #[test]
    fn blocks_take_pdus_in_order_and_are_numbered() {
        let mut queue = filled(10, 16);
        let blocks: Vec<_> = std::iter::from_fn(|| queue.take(4)).collect();
        let pdus: Vec<_> = blocks.iter().map(|block| (block.count, block.pdus.clone())).collect();
        assert_eq!(pdus, [(0, vec![0, 1, 2, 3]), (1, vec![4, 5, 6, 7]), (2, vec![8, 9])]);
    }

    /// Blocks with room for 100 octets: PDUs of 60 octets are divided, and the second one in a block has a
    /// header of 2 octets.
    #[test]
    fn mac_ehs_divides_pdus_to_fill_blocks() {
        let mut queue = PriorityQueue::new(500, None, 32);
        for pdu in 0..4 {
            assert_eq!(queue.push(Time::ZERO, 60, pdu), None);
        }
        let blocks: Vec<Block<i32>> = std::iter::from_fn(|| queue.take_octets(100)).collect();
        let summary: Vec<_> =
            blocks.iter().map(|block| (block.pdus.as_slice(), block.size, block.segmentation.si())).collect();
        // 60 + 38, 22 + 60 + 14 (two headers), 46.
        assert_eq!(summary, [(&[0][..], 98, 0b10), (&[1, 2], 96, 0b11), (&[3], 46, 0b01)]);
        assert_eq!((queue.len(), queue.size()), (0, 0));
    }

    #[test]
    fn removing_a_divided_pdu_begins_the_next_block_with_another_one() {
        let mut queue = PriorityQueue::new(500, Some(Duration::from_millis(1)), 32);
        for (pdu, ms) in [(0, 0), (1, 0), (2, 5)] {
            queue.push(Time::from_nanos(ms * 1_000_000), 60, pdu);
        }
        assert_eq!(queue.take_octets(50).map(|block| block.segmentation.si()), Some(0b10));
        assert_eq!(queue.size(), 130);
        // The first PDU has begun, and stays.
        assert_eq!(queue.discard_expired(Time::from_nanos(2_000_000)).collect::<Vec<_>>(), [1]);
        assert_eq!(queue.size(), 70);
        assert_eq!(queue.remove_if(|pdu| *pdu == 0), [0]);
        assert_eq!(queue.size(), 60);
        let block = queue.take_octets(80).expect("a PDU waits");
        assert_eq!((block.pdus, block.segmentation.si()), (vec![2], 0));
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
