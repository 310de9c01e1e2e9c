//! The event queue of a run, ordered by (time, phase, insertion). A *phase* orders the events of
//! one instant by their kind, see [`Phase`].
//!
//! The order is part of the model: of two events at one instant, the one with the earlier phase is
//! the first to be handled, and of two events of one phase the one that was scheduled first.
//!
//! ```text
//!   calendar:  today, also called the open day: sorted, the next event last
//!              and the 31 days after it, of about eight milliseconds each: in the order of insertion
//!   far:       a heap of the events after these days
//! ```
//!
//! A "day" is an interval of 2^23 ns. Most events are due soon, and the cost of an event in the
//! calendar does not depend on the number of events. When the open day has no more events, the next
//! day with events is opened: it is sorted, and the heap's events of the days that the calendar now
//! covers move to the calendar. There are 32 days, so that a word of 32 bits shows which days have
//! events, and the calendar uses only a part of the first-level cache.

mod entry;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use umts_units::Time;

use self::entry::{Entry, HeapEntry};

/// The phases of one instant, in the order in which they are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Data arrive from a link or the radio interface.
    Receive = 0,
    /// Timers expire.
    Timers = 1,
    /// Radio resource control and handover decide.
    Rrc = 2,
    /// Schedulers allocate transmissions.
    Schedule = 3,
    /// Blocks and packets leave.
    Transmit = 4,
}

/// Number of days in the calendar, one for each bit of a word. The calendar spans 268 ms, more than
/// a TTI, a link delay or a poll timer.
const DAYS: usize = u32::BITS as usize;
/// Base 2 logarithm of the length of a day in nanoseconds.
const DAY_SHIFT: u32 = 23;

/// Number of events up to which a day is sorted by insertion. Most days have no more.
const MAX_INSERTION_SORT: usize = 4;

/// Later than every day.
const NO_DAY: u64 = u64::MAX;

/// Pending events, in order of (time, phase, insertion).
#[derive(Debug)]
pub struct EventQueue<E> {
    /// The current day, also called the open day. Its events are sorted, the next one last. Events
    /// that are scheduled for an earlier day are stored with them.
    today: u64,
    /// Events by day modulo the number of days; the calendar never contains two days with the same
    /// index. Except for the open day, events are in the order in which they were scheduled: those
    /// in the heap move here as soon as the calendar covers their day, before others can be added.
    days: [Vec<Entry<E>>; DAYS],
    /// A bit for each day after `today` that has events.
    used: u32,
    /// The heap: events of days after the calendar.
    far: BinaryHeap<Reverse<HeapEntry<E>>>,
    /// The first day of `far`, or `NO_DAY`.
    first_far: u64,
    /// Instant of the event that was popped last.
    now: Time,
    /// Number of events that have been scheduled.
    inserted: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            today: 0,
            days: std::array::from_fn(|_| Vec::new()),
            used: 0,
            far: BinaryHeap::new(),
            first_far: NO_DAY,
            now: Time::ZERO,
            inserted: 0,
        }
    }
}

impl<E: std::fmt::Debug> EventQueue<E> {
    /// Returns an empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// If `at` is in the past, which is an error in the model.
    #[inline]
    pub fn push(&mut self, at: Time, phase: Phase, event: E) {
        let entry = Entry::new(at, phase, event);
        // Only the most frequent case is inlined: a later day of the calendar with spare capacity.
        // Such a day is never in the past.
        let days_ahead = entry.day().wrapping_sub(self.today);
        let is_later_day = (1..DAYS as u64).contains(&days_ahead);
        let index = entry.day() as usize % DAYS;
        let day = &mut self.days[index];
        let has_spare_capacity = day.len() < day.capacity();
        if !is_later_day || !has_spare_capacity {
            return self.push_elsewhere(entry);
        }
        self.inserted += 1;
        self.used |= 1 << index;
        day.push(entry);
    }

    /// Schedules `entry` in the open day, in a later day of the calendar or in the heap.
    #[inline(never)]
    fn push_elsewhere(&mut self, entry: Entry<E>) {
        let (at, now) = (entry.at(), self.now);
        assert!(at >= now, "{:?} scheduled for {at}, but it is already {now}", entry.event);
        self.inserted += 1;
        let day = entry.day();
        if day <= self.today {
            let open = self.open_mut();
            let index = open.partition_point(|other| other.key > entry.key);
            open.insert(index, entry);
        } else if day - self.today < DAYS as u64 {
            let index = day as usize % DAYS;
            self.used |= 1 << index;
            self.days[index].push(entry);
        } else {
            self.first_far = self.first_far.min(day);
            self.far.push(Reverse(HeapEntry { entry, inserted: self.inserted }));
        }
    }

    /// Returns when the next event is due.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        if self.open().is_empty() {
            self.open_next_day();
        }
        self.open().last().map(Entry::at)
    }

    /// Returns the next event. Correct only after a call of [`next_time`](Self::next_time), which
    /// opens the day of that event.
    pub fn next(&self) -> Option<&E> {
        self.open().last().map(|entry| &entry.event)
    }

    /// Removes and returns the next event and its instant.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.next_time()?;
        self.take()
    }

    /// Like [`pop`](Self::pop), but correct only after a call of [`next_time`](Self::next_time).
    #[inline]
    pub fn take(&mut self) -> Option<(Time, E)> {
        let entry = self.open_mut().pop()?;
        self.now = entry.at();
        Some((self.now, entry.event))
    }

    /// Returns when the first event is due for which `is_wanted` returns true, or `end` if there is
    /// none before `end`. The heap is not searched, so `end` must be in the calendar.
    pub fn first_before(&self, end: Time, is_wanted: impl Fn(&E) -> bool) -> Time {
        let first_of_day = |entries: &[Entry<E>]| {
            let matching = entries.iter().filter(|entry| is_wanted(&entry.event));
            matching.map(Entry::at).min()
        };
        let last_day = (end.as_nanos() >> DAY_SHIFT).min(self.today + DAYS as u64 - 1);
        let mut days = (self.today + 1..=last_day).map(|day| &self.days[day as usize % DAYS][..]);
        let first = first_of_day(self.open()).or_else(|| days.find_map(first_of_day));
        first.map_or(end, |at| at.min(end))
    }

    /// Returns the instant of the event that was popped last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of events that have been scheduled.
    pub fn scheduled(&self) -> u64 {
        self.inserted
    }

    /// Returns the number of pending events.
    pub fn len(&self) -> usize {
        self.days.iter().map(Vec::len).sum::<usize>() + self.far.len()
    }

    /// Returns whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Opens the next day with events. It calls other functions only as its last step, so that the
    /// compiler need not save registers.
    #[inline]
    fn open_next_day(&mut self) {
        let day = self.first_used().min(self.first_far);
        if day == NO_DAY {
            return;
        }
        self.today = day;
        self.used &= !(1 << (day as usize % DAYS));
        if self.first_far < day + DAYS as u64 {
            return self.open_with_far();
        }
        let open = self.open_mut();
        if open.len() > MAX_INSERTION_SORT {
            return sort_next_last(open);
        }
        sort_few_next_last(open);
    }

    /// Completes `open_next_day` if the calendar now covers days with events in the heap: moves
    /// these events to the calendar, and sorts the open day.
    #[inline(never)]
    fn open_with_far(&mut self) {
        let end = self.today + DAYS as u64;
        while self.far.peek().is_some_and(|Reverse(far)| far.entry.day() < end) {
            let Some(Reverse(HeapEntry { entry, .. })) = self.far.pop() else { break };
            let index = entry.day() as usize % DAYS;
            if entry.day() > self.today {
                self.used |= 1 << index;
            }
            self.days[index].push(entry);
        }
        self.first_far = self.far.peek().map_or(NO_DAY, |Reverse(far)| far.entry.day());
        sort_next_last(self.open_mut());
    }

    /// Returns the first day of the calendar after today that has events, or `NO_DAY`.
    #[inline]
    fn first_used(&self) -> u64 {
        match self.used.rotate_right(self.today as u32 % u32::BITS) {
            0 => NO_DAY,
            days => self.today + u64::from(days.trailing_zeros()),
        }
    }

    /// Returns the events of the open day.
    #[inline]
    fn open(&self) -> &Vec<Entry<E>> {
        &self.days[self.today as usize % DAYS]
    }

    /// Like [`open`](Self::open), to change them.
    #[inline]
    fn open_mut(&mut self) -> &mut Vec<Entry<E>> {
        &mut self.days[self.today as usize % DAYS]
    }
}

/// Sorts a few events so that the next one is last, by insertion: each event moves in front of
/// events that are due before it, and of events with the same key that were scheduled before it.
#[inline]
fn sort_few_next_last<E>(entries: &mut [Entry<E>]) {
    for next in 1..entries.len() {
        let mut index = next;
        while index > 0 && entries[index - 1].key <= entries[index].key {
            entries.swap(index - 1, index);
            index -= 1;
        }
    }
}

/// Sorts events so that the next one is last. Of events with equal keys, the one that was scheduled
/// first is the next.
#[inline(never)]
fn sort_next_last<E>(entries: &mut [Entry<E>]) {
    entries.reverse();
    entries.sort_by_key(|entry| Reverse(entry.key));
}
