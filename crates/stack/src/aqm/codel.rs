//! Controlled delay (CoDel, RFC 8289): queue management that drops or marks packets as they leave
//! the queue. Names and steps are as in the pseudo-code of section 5.
//!
//! CoDel drops packets as they leave the queue, if the sojourn time has stayed above `target` for
//! an `interval`. The time between drops falls with the square root of their number:
//!
//! ```text
//!  sojourn ≥ target          drops, as long as the sojourn time stays at target or above
//!  │← interval →│ drop 1 │← interval/√1 →│ drop 2 │← interval/√2 →│ drop 3 │← interval/√3 →│ …
//! ```
//!
//! A packet is never dropped if at most one packet of the largest size remains behind it.

use umts_units::{Bytes, Duration, Time};

use super::{ManagedQueue, PacketQueue};
use crate::options::options;

options! {
    /// Controlled delay (CoDel). Drops packets that leave the queue if the time in the queue has
    /// been too long during an interval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CodelConfig as "Codel" {
        /// Time in the queue that is acceptable for long. On a slow link it should exceed the
        /// transmission time of a packet.
        [label = "CoDel target", min = "1 us", max = "1 h", source = "RFC 8289 §4.3: 5 ms"]
        pub target: Duration = Duration::from_millis(5),
        /// Time for which packets must stay longer than `target` in the queue before the first
        /// drop; about the largest usual round-trip time.
        [label = "CoDel interval", min = "1 us", max = "1 h", source = "RFC 8289 §4.3: 100 ms"]
        pub interval: Duration = Duration::from_millis(100),
        /// Mark a packet instead of dropping it if its TCP has `ecn`.
        [label = "CoDel marks", source = "RFC 8289 §3.1"]
        pub ecn: bool = false,
    }
}

/// Number of intervals for which the rate of drops is remembered after dropping has ended (§5.5).
const RECENT_INTERVALS: u64 = 16;

/// The state of CoDel for one queue.
#[derive(Debug, Clone)]
pub struct Codel {
    config: CodelConfig,
    /// Octets of the largest packet so far.
    max_packet: Bytes,
    /// End of the interval that began when the sojourn time reached `target`. `None` while it is
    /// below.
    first_above_time: Option<Time>,
    /// Time of the next drop while dropping.
    drop_next: Time,
    /// Drops since dropping began.
    count: u32,
    /// `count` when dropping began.
    last_count: u32,
    /// The sojourn time has exceeded `target` for an interval, and packets are dropped.
    dropping: bool,
}

impl Codel {
    pub fn new(config: CodelConfig) -> Self {
        Codel {
            config,
            max_packet: Bytes::ZERO,
            first_above_time: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// A packet of `size` arrives.
    pub fn arrives(&mut self, size: Bytes) {
        self.max_packet = self.max_packet.max(size);
    }

    /// Drops or marks first packets of `queue`, until one may leave or the queue is empty.
    pub fn dequeue(&mut self, now: Time, queue: &mut impl ManagedQueue) {
        let ok_to_drop = self.ok_to_drop(now, queue);
        if self.dropping {
            self.dropping = ok_to_drop;
            self.drop_due(now, queue);
        } else if ok_to_drop {
            self.begin_dropping(now, queue);
        }
    }

    /// Makes the drops that are due while dropping. A mark ends them, because a marked packet
    /// leaves.
    fn drop_due(&mut self, now: Time, queue: &mut impl ManagedQueue) {
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if self.marks_head(queue) {
                self.drop_next = self.control_law(self.drop_next);
                return;
            }
            queue.drop_head();
            self.dropping = self.ok_to_drop(now, queue);
            if self.dropping {
                self.drop_next = self.control_law(self.drop_next);
            }
        }
    }

    /// Begins dropping with the first packet.
    fn begin_dropping(&mut self, now: Time, queue: &mut impl ManagedQueue) {
        if !self.marks_head(queue) {
            queue.drop_head();
            // Updates `first_above_time` for the packet that follows.
            self.ok_to_drop(now, queue);
        }
        self.dropping = true;
        // If dropping ended a short time ago, its rate at that time is a good start.
        let drops_last_time = self.count - self.last_count;
        let is_recent = now.saturating_since(self.drop_next) < self.config.interval * RECENT_INTERVALS;
        self.count = if drops_last_time > 1 && is_recent { drops_last_time } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
    }

    /// Whether the sojourn time of the first packet has been at `target` or above for an interval.
    fn ok_to_drop(&mut self, now: Time, queue: &impl PacketQueue) -> bool {
        let Some(entered) = queue.head_entered() else {
            self.first_above_time = None;
            return false;
        };
        let sojourn = now.saturating_since(entered);
        let octets_behind = queue.octets() - queue.head_octets();
        let is_good_queue = sojourn < self.config.target || octets_behind <= self.max_packet;
        if is_good_queue {
            self.first_above_time = None;
            return false;
        }
        let first_above_time = *self.first_above_time.get_or_insert(now + self.config.interval);
        now >= first_above_time
    }

    /// Marks the first packet if marks are allowed and it is ECN-capable. A marked packet leaves.
    fn marks_head(&self, queue: &mut impl ManagedQueue) -> bool {
        self.config.ecn && queue.mark_head()
    }

    /// Time of the next drop after one at `at`: the interval divided by the root of `count` later.
    fn control_law(&self, at: Time) -> Time {
        let wait_s = self.config.interval.as_secs() / libm::sqrt(f64::from(self.count));
        at + Duration::from_secs_f64(wait_s)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::aqm::testing::{TestQueue, ms};

    const ECN: bool = true;
    const NO_ECN: bool = false;

    /// CoDel with the default options, and a queue of `packets` packets that entered 1 ms apart.
    fn backlogged(packets: u64, ecn: bool) -> (Codel, TestQueue) {
        let mut codel = Codel::new(CodelConfig { ecn, ..CodelConfig::default() });
        let mut queue = TestQueue { ecn, ..TestQueue::default() };
        for number in 0..packets {
            codel.arrives(Bytes(1000));
            queue.push(number, ms(number));
        }
        (codel, queue)
    }

    /// Dequeues one packet every 10 ms from `from_ms` to before `to_ms`. Returns the times in ms at
    /// which packets were dropped or marked.
    fn serve(codel: &mut Codel, queue: &mut TestQueue, from_ms: u64, to_ms: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for now in (from_ms..to_ms).step_by(10) {
            let count_before = queue.dropped.len() + queue.marked.len();
            codel.dequeue(ms(now), queue);
            let new_count = queue.dropped.len() + queue.marked.len() - count_before;
            times.extend(std::iter::repeat_n(now, new_count));
            queue.pop();
        }
        times
    }

    // The sojourn time is above the target from the first packet at 10 ms on, so the first drop is
    // at 110 ms. `drop_next` is then 210, + 100/√2 = 280.71, + 100/√3 = 338.45, + 100/√4 = 388.45,
    // + 100/√5 = 433.17, + 100/√6 = 473.99 and + 100/√7 = 511.79 ms. Each drop is made with the
    // next packet that leaves.
    const DROPS: [u64; 8] = [110, 210, 290, 340, 390, 440, 480, 520];

    #[test]
    fn drops_follow_the_control_law() {
        let (mut codel, mut queue) = backlogged(1000, NO_ECN);
        assert_eq!(serve(&mut codel, &mut queue, 10, 530), DROPS);
        // Packets 0 to 9 leave from 10 to 100 ms, so 110 ms is the turn of packet 10.
        assert_eq!(queue.dropped[..2], [10, 21]);
        assert_eq!(codel.count, 8);
    }

    #[test]
    fn marks_follow_the_same_law_and_drop_nothing() {
        let (mut codel, mut queue) = backlogged(1000, ECN);
        assert_eq!(serve(&mut codel, &mut queue, 10, 530), DROPS);
        assert!(queue.dropped.is_empty());
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped() {
        let (mut codel, mut queue) = backlogged(1000, ECN);
        queue.ecn = false;
        assert_eq!(serve(&mut codel, &mut queue, 10, 530), DROPS);
        assert_eq!(queue.dropped.len(), DROPS.len());
    }

    #[test]
    fn dropping_resumes_at_the_rate_of_a_short_time_ago() {
        let (mut codel, mut queue) = backlogged(1000, NO_ECN);
        serve(&mut codel, &mut queue, 10, 530);
        // An empty queue ends dropping. The next packets are late again.
        queue.packets.clear();
        codel.dequeue(ms(530), &mut queue);
        assert!(!codel.dropping);
        (2000..3000).for_each(|number| queue.push(number, ms(530)));
        // First above at 540 ms, drop at 640 ms. `count` starts at 8 - 1 = 7, so the next drop is
        // due after 100/√7 = 37.8 ms, at 677.8 ms.
        assert_eq!(serve(&mut codel, &mut queue, 540, 690), [640, 680]);
        assert_eq!(codel.count, 8);
    }

    #[test]
    fn count_starts_at_one_after_sixteen_intervals() {
        let (mut codel, mut queue) = backlogged(1000, NO_ECN);
        serve(&mut codel, &mut queue, 10, 530);
        queue.packets.clear();
        codel.dequeue(ms(530), &mut queue);
        (2000..3000).for_each(|number| queue.push(number, ms(3000)));
        assert_eq!(serve(&mut codel, &mut queue, 3010, 3120), [3110]);
        assert_eq!(codel.count, 1);
    }

    #[test]
    fn one_packet_behind_the_first_is_no_standing_queue() {
        let (mut codel, mut queue) = backlogged(2, NO_ECN);
        for now in (100..1000).step_by(10) {
            codel.dequeue(ms(now), &mut queue);
        }
        assert!(queue.dropped.is_empty());
    }

    proptest! {
        /// Nothing is dropped while packets leave before `target`, and not before an interval has
        /// passed above it.
        #[test]
        fn drops_need_an_interval_above_target(
            gaps_ms in proptest::collection::vec((0u64..20, 0u64..20), 1..400),
        ) {
            let mut codel = Codel::new(CodelConfig::default());
            let mut queue = TestQueue::default();
            let (mut arrives_at, mut now, mut number, mut above_since) = (0, 0, 0, None);
            for (arrival_gap, service_gap) in gaps_ms {
                now += service_gap;
                while arrives_at <= now {
                    codel.arrives(Bytes(1000));
                    queue.push(number, ms(arrives_at));
                    number += 1;
                    arrives_at += arrival_gap.max(1);
                }
                let sojourn = queue.head_entered().map(|entered| ms(now).saturating_since(entered));
                let is_above = sojourn.is_some_and(|sojourn| sojourn >= codel.config.target);
                above_since = if is_above { Some(above_since.unwrap_or(now)) } else { None };
                let dropped_before = queue.dropped.len();
                codel.dequeue(ms(now), &mut queue);
                let drops = queue.dropped.len() - dropped_before;
                prop_assert!(drops == 0 || above_since.is_some_and(|since| now - since >= 100));
                queue.pop();
            }
        }
    }
}
