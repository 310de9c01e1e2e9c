//! A reordering queue of the receiver of an HS-DSCH, the UE (TS 25.321 §11.6.2).
//!
//! Blocks arrive in the order in which HARQ succeeds. The queue passes them on in the order of
//! their transmission sequence numbers (TSN, modulo 64). It waits for a missing block until timer T1
//! expires or the receiver window moves past it.

use umts_units::{Duration, Time};

use super::tsn::{MODULUS, Tsn};

/// Parameters that RRC sets (TS 25.331 §10.3.5.1a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReorderingConfig {
    /// Size of the receiver window in blocks: 4, 6, 8, 12, 16, 24 or 32.
    pub window: u8,
    /// Longest wait for a missing block.
    pub t1: Duration,
}

/// Counts of blocks that were dropped or given up, and of T1 expiries, since the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReorderingCounts {
    /// Blocks received before, or too late: dropped.
    pub dropped: u64,
    /// Blocks given up because T1 expired.
    pub skipped_by_t1: u64,
    /// Blocks given up because the window moved past them.
    pub skipped_by_window: u64,
    /// Expiries of T1.
    pub t1_expiries: u64,
}

/// The queue of one UE and priority. `B` is a block: the MAC-d PDUs of one MAC-hs PDU.
///
/// The receiver window is the `window` numbers up to `upper_edge`. A block with a number outside the
/// window moves the window up to this number.
#[derive(Debug)]
pub struct ReorderingQueue<B> {
    config: ReorderingConfig,
    /// Blocks that cannot be passed on yet, by TSN.
    held: [Option<B>; MODULUS as usize],
    /// The TSN of the block that is passed on next. All blocks before it were passed on or given up.
    next_expected: Tsn,
    /// The highest TSN of the receiver window.
    upper_edge: Tsn,
    /// Timer T1: the time of its expiry, and the TSN of the block that started it.
    t1: Option<(Time, Tsn)>,
    counts: ReorderingCounts,
}

impl<B> ReorderingQueue<B> {
    /// # Panics
    /// If the window is not 1 to 32 blocks.
    pub fn new(config: ReorderingConfig) -> Self {
        assert!((1..=MODULUS / 2).contains(&config.window), "a window of 1 to 32 blocks");
        ReorderingQueue {
            config,
            held: std::array::from_fn(|_| None),
            next_expected: Tsn::of(0),
            upper_edge: Tsn::of(63),
            t1: None,
            counts: ReorderingCounts::default(),
        }
    }

    /// The expiry of T1.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.t1.map(|(at, _)| at)
    }

    pub fn counts(&self) -> ReorderingCounts {
        self.counts
    }

    /// Number of blocks that wait for an earlier one.
    pub fn held(&self) -> usize {
        self.held.iter().flatten().count()
    }

    /// Handles a block that HARQ decoded. Appends the blocks that can be passed on to `delivered`. Returns the
    /// block if it is dropped: its number was received before, or given up.
    pub fn handle_block(&mut self, now: Time, tsn: Tsn, block: B, delivered: &mut Vec<B>) -> Option<B> {
        if !self.is_in_window(tsn) {
            self.move_window(tsn, delivered);
        } else if self.is_before_next_expected(tsn) || self.held[slot(tsn)].is_some() {
            self.counts.dropped += 1;
            return Some(block);
        }
        self.held[slot(tsn)] = Some(block);
        self.pass_run(delivered);
        self.update_t1(now);
        None
    }

    /// Handles the expiry of T1: gives up all missing blocks before the one that started the timer.
    pub fn handle_timeout(&mut self, now: Time, delivered: &mut Vec<B>) {
        let Some((at, started_by)) = self.t1 else { return };
        if now < at {
            return;
        }
        self.t1 = None;
        self.counts.t1_expiries += 1;
        self.counts.skipped_by_t1 += self.skip_to(started_by, delivered);
        self.pass_run(delivered);
        self.update_t1(now);
    }

    /// Appends all blocks to `delivered` in the order of their numbers, and returns to the initial state
    /// (TS 25.321 §11.6.2, MAC-hs reset).
    pub fn reset(&mut self, delivered: &mut Vec<B>) {
        let lower_edge = self.lower_edge();
        delivered.extend((0..MODULUS).filter_map(|steps| self.held[slot(lower_edge.plus(steps))].take()));
        let counts = self.counts;
        *self = ReorderingQueue { counts, ..ReorderingQueue::new(self.config) };
    }

    /// Whether `tsn` is within the window that ends at its upper edge.
    fn is_in_window(&self, tsn: Tsn) -> bool {
        self.upper_edge.since(tsn) < self.config.window
    }

    /// Whether `tsn`, which is within the window, comes before the next expected TSN.
    fn is_before_next_expected(&self, tsn: Tsn) -> bool {
        let lower_edge = self.lower_edge();
        tsn.since(lower_edge) < self.next_expected.since(lower_edge)
    }

    /// The lowest TSN of the receiver window.
    fn lower_edge(&self) -> Tsn {
        self.upper_edge.plus(MODULUS + 1 - self.config.window)
    }

    /// Moves the upper edge of the window to `tsn`, and gives up missing blocks below the window.
    fn move_window(&mut self, tsn: Tsn, delivered: &mut Vec<B>) {
        self.upper_edge = tsn;
        if !self.is_in_window(self.next_expected) {
            self.counts.skipped_by_window += self.skip_to(self.lower_edge(), delivered);
        }
    }

    /// Passes on all held blocks before `tsn`, which becomes the next expected one. Returns the
    /// number of missing blocks.
    fn skip_to(&mut self, tsn: Tsn, delivered: &mut Vec<B>) -> u64 {
        let mut missing = 0;
        while self.next_expected != tsn {
            match self.held[slot(self.next_expected)].take() {
                Some(block) => delivered.push(block),
                None => missing += 1,
            }
            self.next_expected = self.next_expected.plus(1);
        }
        missing
    }

    /// Passes on the blocks from the next expected one up to the first missing one.
    fn pass_run(&mut self, delivered: &mut Vec<B>) {
        while let Some(block) = self.held[slot(self.next_expected)].take() {
            delivered.push(block);
            self.next_expected = self.next_expected.plus(1);
        }
    }

    /// Stops T1 if its block was passed on, and starts it for the highest held block.
    fn update_t1(&mut self, now: Time) {
        if self.t1.is_some_and(|(_, started_by)| self.held[slot(started_by)].is_none()) {
            self.t1 = None;
        }
        if self.t1.is_none() {
            let mut downwards = (0..self.config.window).map(|steps| self.upper_edge.plus(MODULUS - steps));
            let highest = downwards.find(|tsn| self.held[slot(*tsn)].is_some());
            self.t1 = highest.map(|tsn| (now + self.config.t1, tsn));
        }
    }
}

/// Index of a TSN in `held`.
fn slot(tsn: Tsn) -> usize {
    usize::from(tsn.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    const T1: Duration = Duration::from_millis(50);

    fn queue(window: u8) -> ReorderingQueue<u64> {
        ReorderingQueue::new(ReorderingConfig { window, t1: T1 })
    }

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Blocks that are delivered when the blocks `counts` arrive at the times 0, 1, 2 … ms.
    fn arrive(queue: &mut ReorderingQueue<u64>, counts: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut delivered = Vec::new();
        for (ms, count) in (0..).zip(counts) {
            queue.handle_block(at(ms), Tsn::of(count), count, &mut delivered);
        }
        delivered
    }

    #[test]
    fn blocks_in_order_are_delivered_at_once() {
        for window in [1, 4, 16, 32] {
            let mut queue = queue(window);
            assert_eq!(arrive(&mut queue, 0..200), (0..200).collect::<Vec<_>>());
            assert_eq!((queue.held(), queue.poll_timeout()), (0, None));
        }
    }

    #[test]
    fn a_late_block_releases_the_blocks_that_waited_for_it() {
        let mut queue = queue(16);
        assert_eq!(arrive(&mut queue, [0, 2, 3]), [0]);
        assert_eq!(queue.poll_timeout(), Some(at(1) + T1));
        let mut delivered = Vec::new();
        queue.handle_block(at(9), Tsn::of(1), 1, &mut delivered);
        assert_eq!((delivered, queue.poll_timeout()), (vec![1, 2, 3], None));
    }

    #[test]
    fn t1_gives_up_missing_blocks_before_the_block_that_started_it() {
        let mut queue = queue(16);
        // Blocks 1 and 4 are missing: block 2 starts T1.
        assert_eq!(arrive(&mut queue, [0, 2, 3, 5]), [0]);
        let mut delivered = Vec::new();
        queue.handle_timeout(at(1) + T1, &mut delivered);
        assert_eq!(delivered, [2, 3]);
        // Block 5 waits for block 4: T1 runs again.
        assert_eq!(queue.poll_timeout(), Some(at(1) + T1 + T1));
        queue.handle_timeout(at(1) + T1 + T1, &mut delivered);
        assert_eq!(delivered, [2, 3, 5]);
        let expected = ReorderingCounts { skipped_by_t1: 2, t1_expiries: 2, ..Default::default() };
        assert_eq!((queue.counts(), queue.poll_timeout()), (expected, None));
    }

    #[test]
    fn t1_does_nothing_before_its_time() {
        let mut queue = queue(16);
        arrive(&mut queue, [1]);
        let mut delivered = Vec::new();
        queue.handle_timeout(at(49), &mut delivered);
        assert_eq!((delivered.len(), queue.held()), (0, 1));
    }

    #[test]
    fn repeated_and_late_blocks_are_dropped() {
        let mut queue = queue(8);
        assert_eq!(arrive(&mut queue, [0, 1, 1, 3, 3, 0]), [0, 1]);
        assert_eq!(queue.counts().dropped, 3);
    }

    #[test]
    fn a_block_above_the_window_moves_it() {
        let mut queue = queue(4);
        // Block 0 is missing. Block 4 moves the window to 1 to 4, block 9 moves it to 6 to 9.
        assert_eq!(arrive(&mut queue, [1, 2, 4]), [1, 2]);
        assert_eq!(queue.counts().skipped_by_window, 1);
        let mut delivered = Vec::new();
        queue.handle_block(at(3), Tsn::of(9), 9, &mut delivered);
        assert_eq!(delivered, [4]);
        // Blocks 3 and 5.
        assert_eq!(queue.counts().skipped_by_window, 3);
    }

    /// A TSN outside the window moves it forward, by up to 64 minus the window size. Blocks 4 to 62, 59
    /// blocks, are given up: by the window, or when T1 expires for block 63.
    #[test]
    fn a_jump_of_sixty_blocks_moves_a_window_of_four_forward() {
        let mut queue = queue(4);
        assert_eq!(arrive(&mut queue, [0, 1, 2, 3, 63]), [0, 1, 2, 3]);
        let mut delivered = Vec::new();
        queue.handle_timeout(at(4) + T1, &mut delivered);
        assert_eq!(delivered, [63]);
        assert_eq!(queue.counts().skipped_by_window + queue.counts().skipped_by_t1, 59);
    }

    #[test]
    fn at_most_a_window_of_blocks_is_held() {
        let mut queue = queue(32);
        arrive(&mut queue, (1..500).filter(|count| count % 40 != 0));
        assert!(queue.held() < 32, "{}", queue.held());
    }
}
