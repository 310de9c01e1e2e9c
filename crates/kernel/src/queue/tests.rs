//! Tests of the event queue: the order of events, also against a sorted list.

use proptest::prelude::*;
use umts_units::Duration;

use super::*;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn events_are_ordered_by_time_phase_and_insertion() {
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
fn event_in_the_past_panics() {
    let mut queue = EventQueue::new();
    queue.push(at(2), Phase::Receive, ());
    queue.pop();
    queue.push(at(1), Phase::Receive, ());
}

#[test]
fn event_before_a_peeked_one_is_delivered_first() {
    let mut queue = EventQueue::new();
    queue.push(at(5_000), Phase::Receive, "last");
    assert_eq!(queue.next_time(), Some(at(5_000)));
    queue.push(at(300), Phase::Receive, "third");
    queue.push(at(1), Phase::Timers, "second");
    queue.push(at(1), Phase::Receive, "first");
    assert_eq!(queue.next_time(), Some(at(1)));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
    assert_eq!(order, ["first", "second", "third", "last"]);
}

const PHASES: [Phase; 5] = [Phase::Receive, Phase::Timers, Phase::Rrc, Phase::Schedule, Phase::Transmit];

/// Delays of events that a popped event schedules, in ns: none, within a day, within the calendar,
/// at its end (268 ms) and after it.
const DELAYS_NS: [u64; 7] = [0, 1, 300_000, 10_000_000, 255_000_000, 269_000_000, 3_000_000_000];

/// A pending event of the reference: sorted by time, phase and number, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PendingEvent {
    at_ns: u64,
    phase: usize,
    /// Number of events scheduled before, which is also the event in the queue.
    number: usize,
}

/// A queue, and a list of the same events that is sorted before each use.
#[derive(Default)]
struct QueueAndReference {
    queue: EventQueue<usize>,
    reference: Vec<PendingEvent>,
}

impl QueueAndReference {
    fn schedule(&mut self, at_ns: u64, phase: usize) {
        let number = self.queue.scheduled() as usize;
        self.queue.push(Time::from_nanos(at_ns), PHASES[phase], number);
        self.reference.push(PendingEvent { at_ns, phase, number });
        self.reference.sort_unstable();
    }

    /// The time of the reference's first event before `end` with a number that is divisible by 3,
    /// or `end`.
    fn first_third_before(&self, end: Time) -> Time {
        let matching = self.reference.iter().filter(|event| event.number % 3 == 0);
        let first = matching.map(|event| Time::from_nanos(event.at_ns)).next();
        first.map_or(end, |at| at.min(end))
    }
}

proptest! {
    /// Compares with a sorted list. Popped events schedule others, as long as `following` has
    /// elements: index of a delay, factor on it, and phase.
    #[test]
    fn equals_a_stable_sort(
        events in proptest::collection::vec((0u64..20, 0usize..5), 0..100),
        following in proptest::collection::vec((0usize..7, 0u64..3, 0usize..5), 0..200),
    ) {
        let mut both = QueueAndReference::default();
        for (step, phase) in events {
            // Steps of about 14 ms, longer than a day of the calendar (8.4 ms).
            both.schedule(step * 100_000_000 / 7, phase);
        }
        let mut following = following.into_iter();
        loop {
            prop_assert_eq!(both.queue.len(), both.reference.len());
            let next_time = both.queue.next_time();
            if let Some(next_time) = next_time {
                let end = next_time + Duration::from_millis(10);
                let first_third = both.queue.first_before(end, |number| number % 3 == 0);
                prop_assert_eq!(first_third, both.first_third_before(end));
                prop_assert_eq!(both.queue.next(), both.reference.first().map(|event| &event.number));
            }
            let Some((now, number)) = both.queue.pop() else { break };
            prop_assert_eq!(next_time, Some(now));
            let expected = both.reference.remove(0);
            prop_assert_eq!(now.as_nanos(), expected.at_ns);
            prop_assert_eq!(number, expected.number);
            if let Some((delay, factor, phase)) = following.next() {
                both.schedule(expected.at_ns + DELAYS_NS[delay] * factor, phase);
            }
        }
        prop_assert!(both.reference.is_empty() && both.queue.is_empty());
    }
}
