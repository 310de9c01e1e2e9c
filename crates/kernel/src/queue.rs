//! The event queue: order by (time, phase, insertion).
//!
//! The order is part of the model: of two events at one instant the earlier phase goes first, and inside a phase the
//! one that was scheduled first.
//!
//! ```text
//!   calendar:  | now … |   |   | … |   |   256 days of a millisecond each, of which the first in use is kept in order
//!   far:       a heap of what comes later than that
//! ```
//!
//! Most events are due soon, and in the calendar they cost the same however many wait. What is far away stays in the heap
//! until it is due: it does not move into the calendar.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

const PHASE_SHIFT: u32 = 60;

/// An event with its place in the order. Two halves of 64 bits and an event of 8 octets make 24 octets.
#[derive(Debug)]
struct Entry<E> {
    at: u64,
    /// Phase and insertion.
    order: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Both halves as one number, so that a comparison has no branch.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at) << 64 | u128::from(self.order)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
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
        self.key().cmp(&other.key())
    }
}

/// Days of the calendar, and nanoseconds of one as a power of two: the calendar spans a quarter of a second, more than
/// a TTI, a link or a poll takes.
const DAYS: usize = 256;
const DAY_SHIFT: u32 = 20;

/// Events still to come, in order of (time, phase, insertion).
#[derive(Debug)]
pub struct EventQueue<E> {
    /// Events of day `at >> DAY_SHIFT`, modulo the number of days; none is so far ahead that two days could meet here.
    days: Vec<Vec<Entry<E>>>,
    /// A bit for each day that has events.
    used: [u64; DAYS / 64],
    /// The day whose events are in order, the next one last.
    in_order: usize,
    far: BinaryHeap<Reverse<Entry<E>>>,
    now: Time,
    inserted: u64,
    len: usize,
    /// Where the next event is, if that was asked and nothing has changed since.
    head: Option<Head>,
}

/// Where an event is.
#[derive(Debug, Clone, Copy)]
enum Head {
    /// The last of this day.
    Day(usize),
    /// The top of the heap.
    Far,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            days: std::iter::repeat_with(Vec::new).take(DAYS).collect(),
            used: [0; DAYS / 64],
            in_order: 0,
            far: BinaryHeap::new(),
            now: Time::ZERO,
            inserted: 0,
            len: 0,
            head: None,
        }
    }
}

impl<E: std::fmt::Debug> EventQueue<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The instant of the event popped last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// If `at` lies in the past: a model that does so is wrong, and its results would be.
    #[inline]
    pub fn push(&mut self, at: Time, phase: Phase, event: E) {
        assert!(at >= self.now, "{event:?} scheduled for {at}, but it is already {}", self.now);
        let order = (phase as u64) << PHASE_SHIFT | self.inserted;
        self.inserted += 1;
        self.len += 1;
        self.head = None;
        let entry = Entry { at: at.as_nanos(), order, event };
        if (entry.at >> DAY_SHIFT) - (self.now.as_nanos() >> DAY_SHIFT) >= DAYS as u64 {
            self.far.push(Reverse(entry));
            return;
        }
        let day = day_of(entry.at);
        self.used[day / 64] |= 1 << (day % 64);
        let events = &mut self.days[day];
        if day == self.in_order {
            let place = events.partition_point(|other| other.key() > entry.key());
            events.insert(place, entry);
        } else {
            events.push(entry);
        }
    }

    /// When the next event is due.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        let entry = match self.head()? {
            Head::Day(day) => self.days[day].last()?,
            Head::Far => &self.far.peek()?.0,
        };
        Some(Time::from_nanos(entry.at))
    }

    /// The next event and its instant.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let entry = match self.head()? {
            Head::Day(day) => self.take_last(day),
            Head::Far => self.far.pop()?.0,
        };
        self.head = None;
        self.len -= 1;
        self.now = Time::from_nanos(entry.at);
        Some((self.now, entry.event))
    }

    /// How many events have been scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.inserted
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn head(&mut self) -> Option<Head> {
        if self.head.is_none() {
            self.head = match self.first_day() {
                Some(day) if !self.far_comes_before(day) => Some(Head::Day(day)),
                _ if self.far.is_empty() => None,
                _ => Some(Head::Far),
            };
        }
        self.head
    }

    /// Whether the heap has something that comes before the last event of `day`.
    #[inline]
    fn far_comes_before(&self, day: usize) -> bool {
        match (self.far.peek(), self.days[day].last()) {
            (Some(Reverse(far)), Some(near)) => far.key() < near.key(),
            _ => false,
        }
    }

    #[inline]
    fn take_last(&mut self, day: usize) -> Entry<E> {
        let events = &mut self.days[day];
        let entry = events.pop().expect("a used day has events");
        if events.is_empty() {
            self.used[day / 64] &= !(1 << (day % 64));
        }
        entry
    }

    /// The first day that has events, in order from now on.
    #[inline]
    fn first_day(&mut self) -> Option<usize> {
        let day = self.first_used()?;
        if day != self.in_order {
            self.in_order = day;
            if self.days[day].len() > 1 {
                self.days[day].sort_unstable_by_key(|entry| Reverse(entry.key()));
            }
        }
        Some(day)
    }

    /// The first used day from today on, around the end of the calendar.
    #[inline]
    fn first_used(&self) -> Option<usize> {
        let today = day_of(self.now.as_nanos());
        let (word, bit) = (today / 64, today % 64);
        let rest = self.used[word] >> bit << bit;
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        // The last of these is the first word again, with the days before today.
        (1..=DAYS / 64)
            .map(|step| (word + step) % (DAYS / 64))
            .find(|&word| self.used[word] != 0)
            .map(|word| word * 64 + self.used[word].trailing_zeros() as usize)
    }
}

#[inline]
fn day_of(at: u64) -> usize {
    (at >> DAY_SHIFT) as usize % DAYS
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
    #[should_panic(expected = "already")]
    fn the_past_cannot_be_changed() {
        let mut queue = EventQueue::new();
        queue.push(at(2), Phase::Receive, ());
        queue.pop();
        queue.push(at(1), Phase::Receive, ());
    }

    proptest! {
        /// Against a stable sort, with events that schedule others as they happen: at once, soon, and far away.
        #[test]
        fn equals_a_stable_sort(events in proptest::collection::vec((0u64..20, 0usize..5), 0..100),
                                following in proptest::collection::vec((0usize..7, 0u64..3, 0usize..5), 0..200)) {
            const PHASES: [Phase; 5] =
                [Phase::Receive, Phase::Timers, Phase::Rrc, Phase::Schedule, Phase::Transmit];
            const LATER: [u64; 7] = [0, 1, 300_000, 10_000_000, 255_000_000, 269_000_000, 3_000_000_000];
            let mut queue = EventQueue::new();
            let mut expected = Vec::new();
            let schedule = |queue: &mut EventQueue<usize>, expected: &mut Vec<_>, at: u64, phase: usize| {
                let index = queue.scheduled() as usize;
                queue.push(Time::from_nanos(at), PHASES[phase], index);
                expected.push((at, phase, index));
            };
            for (ms, phase) in events {
                schedule(&mut queue, &mut expected, ms * 100_000_000 / 7, phase);
            }
            let mut following = following.into_iter();
            loop {
                prop_assert_eq!(queue.len(), expected.len());
                expected.sort_unstable();
                let next = queue.next_time();
                let Some((now, index)) = queue.pop() else { break };
                prop_assert_eq!(next, Some(now));
                let (at, _, first) = expected.remove(0);
                prop_assert_eq!((now.as_nanos(), index), (at, first));
                if let Some((later, times, phase)) = following.next() {
                    let at = at + LATER[later] * times;
                    schedule(&mut queue, &mut expected, at, phase);
                }
            }
            prop_assert!(expected.is_empty() && queue.is_empty());
        }
    }
}
