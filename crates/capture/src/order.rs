//! Sorts packets by time, within a window.
//!
//! Network cards with several queues, captures of several interfaces and merged files may have
//! packets out of order. The window has a bounded number of packets. A packet is not moved before
//! packets that have left the window.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

/// Number of packets in the window.
const WINDOW: usize = 4096;
/// If more than `MAX_OUTLIERS` packets in the window are later than a packet by more than
/// `MAX_DISORDER`, the clock was set back, and the packet stays last. If there are fewer, their
/// times are wrong, and the packet is moved before them.
const MAX_DISORDER: Duration = Duration::from_secs(10);
const MAX_OUTLIERS: usize = 16;

/// Items in a window, sorted by time.
#[derive(Debug)]
pub(crate) struct TimeWindow<T> {
    /// Times by which items are sorted, and the slots of the items. Items with the same time keep
    /// their order.
    order: VecDeque<(Time, u32)>,
    slots: Vec<T>,
    free: Vec<u32>,
    /// Number of items that were moved to an earlier place.
    pub moved: u64,
}

impl<T> TimeWindow<T> {
    pub fn new(mut empty: impl FnMut() -> T) -> Self {
        TimeWindow {
            order: VecDeque::with_capacity(WINDOW),
            slots: (0..WINDOW).map(|_| empty()).collect(),
            free: (0..WINDOW as u32).rev().collect(),
            moved: 0,
        }
    }

    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Returns the slot into which the caller must write the next item before `push`. The window
    /// must not be full.
    #[inline]
    pub fn next_slot(&mut self) -> &mut T {
        let slot = *self.free.last().expect("the window is not full");
        &mut self.slots[slot as usize]
    }

    /// Adds the item that was written into the next slot.
    #[inline]
    pub fn push(&mut self, time: Time) {
        let slot = self.free.pop().expect("the window is not full");
        match self.order.back() {
            Some(&(latest, _)) if time < latest => self.insert(time, latest, slot),
            _ => self.order.push_back((time, slot)),
        }
    }

    /// Adds an item that is earlier than the last one, which has the time `latest`.
    #[cold]
    fn insert(&mut self, time: Time, latest: Time, slot: u32) {
        let is_much_later = |&(other, _): &(Time, u32)| other > time + MAX_DISORDER;
        if self.order.iter().nth_back(MAX_OUTLIERS).is_some_and(is_much_later) {
            self.order.push_back((latest, slot));
            return;
        }
        let index = self.order.partition_point(|&(other, _)| other <= time);
        self.order.insert(index, (time, slot));
        self.moved += 1;
    }

    /// Removes and returns the earliest item. The next `push` reuses its slot.
    #[inline]
    pub fn pop(&mut self) -> Option<&mut T> {
        let (_, slot) = self.order.pop_front()?;
        self.free.push(slot);
        Some(&mut self.slots[slot as usize])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the order in which items with these times come out, and the number of moved items.
    fn sorted(times: &[u64]) -> (Vec<u64>, u64) {
        let mut window = TimeWindow::new(|| 0);
        let mut out = Vec::new();
        for &time in times {
            if window.is_full() {
                out.extend(window.pop().copied());
            }
            *window.next_slot() = time;
            window.push(Time::from_nanos(time));
        }
        while let Some(time) = window.pop() {
            out.push(*time);
        }
        (out, window.moved)
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn single_wrong_future_time_does_not_disturb_sorting() {
        let mut times: Vec<u64> = (1..100).map(|number| number * MS).collect();
        times[40] = u64::MAX / 4;
        let (out, _) = sorted(&times);
        assert!(out.is_sorted());
    }

    #[test]
    fn file_order_is_kept_after_the_clock_is_set_back() {
        let times: Vec<u64> = (100_000..100_050).chain(10_000..10_050).map(|number| number * MS).collect();
        assert_eq!(sorted(&times), (times.clone(), 0));
    }

    #[test]
    fn packet_beyond_the_window_is_not_moved_farther() {
        let mut times: Vec<u64> = (1..=10_000).map(|number| number * 1_000).collect();
        times.push(500);
        let (out, _) = sorted(&times);
        assert_eq!(out.len(), times.len());
        assert_eq!(out.iter().position(|&time| time == 500), Some(10_000 - WINDOW + 1));
    }

    proptest! {
        #[test]
        fn window_sorts_all_packets_that_fit(times in proptest::collection::vec(0..9_000 * MS, 0..300)) {
            let (out, _) = sorted(&times);
            let mut expected = times.clone();
            expected.sort_unstable();
            prop_assert_eq!(out, expected);
        }
    }
}
