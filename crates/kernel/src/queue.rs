//! The event queue: order by (time, phase, insertion), and events that can be cancelled.
//!
//! The order is part of the model: of two events at one instant the earlier phase goes first, and inside a phase the
//! one that was scheduled first. The three make one 128-bit key, so a comparison is one instruction pair.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use umts_units::Time;

/// The phases of one instant, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// What was on the way arrives.
    Receive = 0,
    /// Timers expire.
    Timers = 1,
    /// Radio resource control and handover decide.
    Rrc = 2,
    /// Schedulers choose who may send.
    Schedule = 3,
    /// Blocks and packets leave.
    Transmit = 4,
}

/// Names a scheduled event, to cancel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventHandle(u128);

impl EventHandle {
    /// When the event is due.
    pub fn time(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }
}

#[derive(Debug)]
struct Entry<E> {
    key: u128,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Events still to come, in order of (time, phase, insertion).
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    /// Keys of cancelled events that are still in the heap: few, so that a pop mostly looks at an empty set.
    cancelled: BTreeSet<u128>,
    now: Time,
    inserted: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), cancelled: BTreeSet::new(), now: Time::ZERO, inserted: 0 }
    }
}

const PHASE_SHIFT: u32 = 60;

impl<E: std::fmt::Debug> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The instant of the event popped last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// If `at` lies in the past: a model that does so is wrong, and its results would be.
    #[inline]
    pub fn push(&mut self, at: Time, phase: Phase, event: E) -> EventHandle {
        assert!(at >= self.now, "{event:?} scheduled for {at}, but it is already {}", self.now);
        let order = (phase as u64) << PHASE_SHIFT | self.inserted;
        self.inserted += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(order);
        self.heap.push(Reverse(Entry { key, event }));
        EventHandle(key)
    }

    /// Takes back an event that has not been popped yet; cancelling it twice is a caller's bug that is not noticed.
    pub fn cancel(&mut self, handle: EventHandle) {
        self.cancelled.insert(handle.0);
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.drop_cancelled();
        self.heap.peek().map(|Reverse(entry)| Time::from_nanos((entry.key >> 64) as u64))
    }

    /// The next event and its instant.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.drop_cancelled();
        let Reverse(entry) = self.heap.pop()?;
        self.now = Time::from_nanos((entry.key >> 64) as u64);
        Some((self.now, entry.event))
    }

    /// How many events have been scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.inserted
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.heap.len() - self.cancelled.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn drop_cancelled(&mut self) {
        while !self.cancelled.is_empty() {
            match self.heap.peek() {
                Some(Reverse(entry)) if self.cancelled.remove(&entry.key) => {
                    self.heap.pop();
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn an_instant_has_phases_and_a_phase_has_an_order() {
        let mut queue = EventQueue::new();
        queue.push(at(2), Phase::Receive, "later");
        queue.push(at(1), Phase::Transmit, "send");
        queue.push(at(1), Phase::Receive, "first arrival");
        queue.push(at(1), Phase::Receive, "second arrival");
        queue.push(at(1), Phase::Timers, "timer");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, ["first arrival", "second arrival", "timer", "send", "later"]);
    }

    #[test]
    fn a_cancelled_event_never_happens() {
        let mut queue = EventQueue::new();
        let gone = queue.push(at(1), Phase::Timers, "gone");
        queue.push(at(2), Phase::Timers, "stays");
        queue.cancel(gone);
        assert_eq!((queue.len(), queue.next_time()), (1, Some(at(2))));
        assert_eq!(queue.pop(), Some((at(2), "stays")));
        assert!(queue.is_empty());
    }

    #[test]
    #[should_panic(expected = "already")]
    fn the_past_cannot_be_changed() {
        let mut queue = EventQueue::new();
        queue.push(at(2), Phase::Receive, ());
        queue.pop();
        queue.push(at(1), Phase::Receive, ());
    }

    proptest! {
        #[test]
        fn equals_a_stable_sort(events in proptest::collection::vec((0u64..20, 0usize..5, any::<bool>()), 0..200)) {
            const PHASES: [Phase; 5] =
                [Phase::Receive, Phase::Timers, Phase::Rrc, Phase::Schedule, Phase::Transmit];
            let mut queue = EventQueue::new();
            let mut expected = Vec::new();
            for (index, &(ms, phase, cancel)) in events.iter().enumerate() {
                let handle = queue.push(at(ms), PHASES[phase], index);
                if cancel {
                    queue.cancel(handle);
                } else {
                    expected.push((ms, phase, index));
                }
            }
            expected.sort();
            let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, index)| index).collect();
            prop_assert_eq!(order, expected.into_iter().map(|(_, _, index)| index).collect::<Vec<_>>());
        }
    }
}
