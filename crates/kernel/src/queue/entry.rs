//! An event in the queue, with the key by which events are sorted: instant and phase in one number.

use std::cmp::Ordering;

use umts_units::Time;

use super::{DAY_SHIFT, Phase};

/// Number of low bits of a key that contain the phase. The other bits contain the instant.
const PHASE_BITS: u32 = 3;

/// The last instant that a key can contain, in nanoseconds (73 years). Events that are scheduled
/// for later are due at this instant.
const MAX_INSTANT: u64 = u64::MAX >> PHASE_BITS;

/// An event with its key: instant and phase in one number. Events of one day with equal keys are
/// stored in the order in which they were scheduled.
#[derive(Debug)]
pub(super) struct Entry<E> {
    pub key: u64,
    pub event: E,
}

impl<E> Entry<E> {
    #[inline]
    pub fn new(at: Time, phase: Phase, event: E) -> Self {
        let instant = at.as_nanos().min(MAX_INSTANT);
        Entry { key: (instant << PHASE_BITS) | phase as u64, event }
    }

    /// The instant of the event.
    #[inline]
    pub fn at(&self) -> Time {
        Time::from_nanos(self.key >> PHASE_BITS)
    }

    /// The day of the event.
    #[inline]
    pub fn day(&self) -> u64 {
        self.key >> (DAY_SHIFT + PHASE_BITS)
    }
}

/// An event in the heap, and the number of events scheduled up to and including it.
#[derive(Debug)]
pub(super) struct HeapEntry<E> {
    pub entry: Entry<E>,
    pub inserted: u64,
}

impl<E> HeapEntry<E> {
    /// The sort key: time and phase, then insertion.
    fn order(&self) -> (u64, u64) {
        (self.entry.key, self.inserted)
    }
}

impl<E> PartialEq for HeapEntry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}
impl<E> Eq for HeapEntry<E> {}
impl<E> PartialOrd for HeapEntry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for HeapEntry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}
