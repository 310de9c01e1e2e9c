//! Proportional integral controller enhanced (RFC 8033). Names and steps are as in section 4 and
//! appendix A.
//!
//! PIE drops packets that arrive, with a probability that it updates at regular instants from the
//! delay of the queue:
//!
//! ```text
//!   p ← p + (alpha · (delay − target) + beta · (delay − delay at the last update)) / scale(p)
//! ```
//!
//! The divisor keeps the change small while p is small ([`scale`]). After a time without delay,
//! packets pass for `max_burst` whatever the probability. The probabilities of packets since the
//! last drop are summed up, so that drops are spread evenly (section 5.4). The delay is the age of
//! the first packet: the sojourn time of the next packet to leave, measured with timestamps as
//! section 5.2 allows.
//!
//! There is no timer. Updates that are due are made when a packet arrives or leaves: the first
//! packet, and thus the delay at each instant in between, is known then.

use umts_kernel::random::AddressedStream;
use umts_units::{Bytes, Duration, Probability, Time};

use super::{Choice, PacketQueue};
use crate::options::options;

options! {
    /// Proportional integral controller enhanced (PIE). Drops packets that arrive, with a
    /// probability that depends on the delay of the queue.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PieConfig as "Pie" {
        /// Delay of the queue that PIE aims at. On a slow link it should exceed the transmission
        /// time of a packet.
        [label = "PIE target", min = "1 us", max = "1 h", source = "RFC 8033 §4.2, QDELAY_REF: 15 ms"]
        pub target: Duration = Duration::from_millis(15),
        /// Interval of the updates of the drop probability.
        [label = "PIE T_UPDATE", min = "1 ms", max = "1 h", source = "RFC 8033 §4.2: 15 ms"]
        pub t_update: Duration = Duration::from_millis(15),
        /// Change of the probability per update, for each second above `target`.
        [label = "PIE alpha", min = 0.0, max = 100.0, source = "RFC 8033 §4.2: 1/8"]
        pub alpha: f64 = 0.125,
        /// Change of the probability per update, for each second by which the delay has grown.
        [label = "PIE beta", min = 0.0, max = 100.0, source = "RFC 8033 §4.2: 1 1/4"]
        pub beta: f64 = 1.25,
        /// Time for which no packet is dropped after the delay was low.
        [label = "PIE MAX_BURST", max = "1 h", source = "RFC 8033 §4.4: 150 ms"]
        pub max_burst: Duration = Duration::from_millis(150),
        /// Size of a typical packet. No packet is dropped if the queue holds at most two of them.
        [label = "PIE mean packet", min = "1 B", max = "65535 B", source = "RFC 8033 §4.1, MEAN_PKTSIZE"]
        pub mean_packet: Bytes = Bytes(1000),
        /// Mark a packet instead of dropping it if its TCP has `ecn` and the drop probability is
        /// below `ecn_threshold`.
        [label = "PIE marks", source = "RFC 8033 §5.1"]
        pub ecn: bool = false,
        /// Drop probability from which packets are dropped instead of marked.
        [label = "PIE MARK_ECNTH", source = "RFC 8033 §5.1: 0.1"]
        pub ecn_threshold: Probability = Probability::new(0.1).expect("below one"),
    }
}

/// The state of PIE for one queue.
#[derive(Debug, Clone)]
pub struct Pie {
    config: PieConfig,
    draws: AddressedStream,
    /// Number of arrivals, the address of the next draw.
    arrivals: u64,
    /// Drop probability of a packet.
    drop_prob: f64,
    /// Sum of the probabilities since the last drop.
    accu_prob: f64,
    /// Delay of the queue at the last update.
    qdelay_old: Duration,
    /// Time for which packets still pass after a time without delay.
    burst_allowance: Duration,
    next_update: Time,
}

impl Pie {
    /// Starts with an empty queue. Packet n uses draw n, whatever happened to earlier packets.
    pub fn new(config: PieConfig, draws: AddressedStream) -> Self {
        Pie {
            config,
            draws,
            arrivals: 0,
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: Duration::ZERO,
            burst_allowance: Duration::ZERO,
            next_update: Time::ZERO + config.t_update,
        }
    }

    /// Drop probability of a packet, in [0, 1].
    pub fn probability(&self) -> f64 {
        self.drop_prob
    }

    /// Decides about a packet that arrives at `now`, before it enters `queue`.
    pub fn choose(&mut self, now: Time, queue: &impl PacketQueue) -> Choice {
        self.update_until(now, queue);
        let draw = self.draws.tti(self.arrivals).uniform(0);
        self.arrivals += 1;
        if self.burst_allowance.is_zero() && self.drops_early(queue, draw) {
            let marks = self.config.ecn && self.drop_prob < self.config.ecn_threshold.value();
            return if marks { Choice::Mark } else { Choice::Drop };
        }
        let half_target = Duration::from_nanos(self.config.target.as_nanos() / 2);
        if self.drop_prob == 0.0 && delay(now, queue) < half_target && self.qdelay_old < half_target {
            self.burst_allowance = self.config.max_burst;
        }
        Choice::Pass
    }

    /// Random decision with `draw`, uniform in [0, 1) (RFC 8033, appendix A.2, `drop_early`).
    fn drops_early(&mut self, queue: &impl PacketQueue, draw: f64) -> bool {
        let half_target = Duration::from_nanos(self.config.target.as_nanos() / 2);
        let is_short = queue.octets().0 <= 2 * self.config.mean_packet.0;
        if is_short || (self.qdelay_old < half_target && self.drop_prob < 0.2) {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        // The limits spread drops evenly: none soon after a drop, and one at the latest when 8.5
        // drops would be expected (section 5.4).
        let drops = self.accu_prob >= 8.5 || (self.accu_prob >= 0.85 && draw < self.drop_prob);
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }

    /// Makes the updates that are due at `now`, for a `queue` with the same first packet since the
    /// last call.
    pub fn update_until(&mut self, now: Time, queue: &impl PacketQueue) {
        while self.next_update <= now {
            if queue.head_entered().is_none() && self.is_at_rest() {
                // Further updates change nothing.
                let updates = now.saturating_since(self.next_update) / self.config.t_update + 1;
                self.next_update += self.config.t_update * updates;
                return;
            }
            self.calculate_drop_prob(delay(self.next_update, queue));
            self.next_update += self.config.t_update;
        }
    }

    /// Whether an update at an empty queue changes nothing.
    fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0 && self.qdelay_old.is_zero() && self.burst_allowance.is_zero()
    }

    /// Updates the probability at a queue with this delay.
    fn calculate_drop_prob(&mut self, qdelay: Duration) {
        let PieConfig { target, alpha, beta, t_update, .. } = self.config;
        let (delay_s, old_s) = (qdelay.as_secs(), self.qdelay_old.as_secs());
        let mut change = alpha * (delay_s - target.as_secs()) + beta * (delay_s - old_s);
        change /= scale(self.drop_prob);
        // From a probability of 0.1 on, it rises by at most 0.02 per update.
        if self.drop_prob >= 0.1 {
            change = change.min(0.02);
        }
        self.drop_prob += change;
        // Without delay the probability decays by 2 % per update.
        if qdelay.is_zero() && self.qdelay_old.is_zero() {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = qdelay;
        let allowance_ns = self.burst_allowance.as_nanos().saturating_sub(t_update.as_nanos());
        self.burst_allowance = Duration::from_nanos(allowance_ns);
    }
}

/// Delay of the queue at `at`: the age of its first packet.
fn delay(at: Time, queue: &impl PacketQueue) -> Duration {
    queue.head_entered().map_or(Duration::ZERO, |entered| at.saturating_since(entered))
}

/// Divisor of a change of the probability, which is large while the probability is small.
fn scale(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_kernel::random::Streams;

    use super::*;
    use crate::aqm::testing::{TestQueue, ms};

    /// A draw below every probability except 0.
    const LOWEST_DRAW: f64 = 0.0;
    /// The largest draw, at or above every probability except 1.
    const HIGHEST_DRAW: f64 = 1.0 - f64::EPSILON;

    fn pie(config: PieConfig) -> Pie {
        Pie::new(config, Streams::new(1, 0).addressed("pie"))
    }

    /// Makes an update at this delay of the queue. Returns the probability after it.
    fn update(pie: &mut Pie, qdelay_ms: u64) -> f64 {
        pie.calculate_drop_prob(Duration::from_millis(qdelay_ms));
        pie.probability()
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12 + 1e-9 * expected, "{value}, expected {expected}");
    }

    #[test]
    fn probability_follows_the_delay_with_the_scale_of_the_rfc() {
        let mut pie = pie(PieConfig::default());
        // 1/8 (0.025 - 0.015) + 5/4 (0.025 - 0) = 0.0325, divided by 2048 below 1e-6.
        assert_near(update(&mut pie, 25), 0.0325 / 2048.0);
        // The delay stays: 1/8 x 0.01 = 0.00125, divided by 128 from 1e-5 to 1e-4.
        assert_near(update(&mut pie, 25), 0.0325 / 2048.0 + 0.00125 / 128.0);
        for (drop_prob, divisor) in
            [(0.0, 2048.0), (2e-6, 512.0), (2e-5, 128.0), (2e-4, 32.0), (2e-3, 8.0), (0.02, 2.0), (0.2, 1.0)]
        {
            pie.drop_prob = drop_prob;
            assert_near(update(&mut pie, 25), drop_prob + 0.00125 / divisor);
        }
    }

    #[test]
    fn probability_rises_by_two_percent_at_most_and_decays_without_delay() {
        let mut pie = pie(PieConfig::default());
        pie.drop_prob = 0.5;
        // 1/8 x 0.985 + 5/4 x 1 = 1.373125, of which 0.02 are taken.
        assert_near(update(&mut pie, 1000), 0.52);
        // 1/8 (0 - 0.015) + 5/4 (0 - 1) = -1.251875: bounded by 0.
        assert_near(update(&mut pie, 0), 0.0);
        // Two samples without delay: (0.5 - 0.015/8) x 0.98.
        pie.drop_prob = 0.5;
        assert_near(update(&mut pie, 0), (0.5 - 0.001_875) * 0.98);
    }

    #[test]
    fn bursts_pass_for_max_burst_after_a_time_without_delay() {
        let mut pie = pie(PieConfig::default());
        let mut queue = TestQueue::default();
        assert_eq!(pie.choose(ms(1), &queue), Choice::Pass);
        assert_eq!(pie.burst_allowance, Duration::from_millis(150));
        // The queue jumps to 100 packets, and its first packet never leaves. The allowance of
        // 150 ms lasts for ten updates, the last of them at 150 ms.
        (0..100).for_each(|number| queue.push(number, ms(1)));
        assert!((2..150).map(|now| pie.choose(ms(now), &queue)).all(|choice| choice == Choice::Pass));
        assert!(!pie.burst_allowance.is_zero());
        pie.choose(ms(150), &queue);
        assert!(pie.burst_allowance.is_zero() && pie.probability() > 0.0);
    }

    #[test]
    fn drops_are_spread_by_the_accumulated_probability() {
        // At a probability of 0.2, packets 1 to 4 after a drop pass for certain (0.8 < 0.85), and
        // packet 43 is dropped for certain (8.6 >= 8.5).
        let mut pie = pie(PieConfig::default());
        (pie.drop_prob, pie.qdelay_old) = (0.2, Duration::from_millis(20));
        let mut queue = TestQueue::default();
        (0..10).for_each(|number| queue.push(number, ms(0)));
        let drops: Vec<usize> = (0..20_000)
            .filter(|&n| pie.drops_early(&queue, pie.draws.tti(n).uniform(0)))
            .map(|n| n as usize)
            .collect();
        let gaps: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (5..=43).contains(gap)) && gaps.contains(&5));
        // Four packets, then a geometric number with mean 5 and standard deviation 4.5: of 2,200
        // gaps the mean has a standard deviation of 0.1.
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 9.0).abs() < 0.5, "{mean}");
        // In between, the largest draw passes, and packet 43 is dropped all the same.
        pie.accu_prob = 0.0;
        let first_dropped = (1..).find(|_| pie.drops_early(&queue, HIGHEST_DRAW));
        assert_eq!(first_dropped, Some(43));
    }

    #[test]
    fn short_queues_and_low_delays_are_not_dropped() {
        let mut pie = pie(PieConfig::default());
        (pie.drop_prob, pie.qdelay_old) = (1.0, Duration::from_secs(1));
        let mut queue = TestQueue::default();
        (0..2).for_each(|number| queue.push(number, ms(0)));
        assert!(!pie.drops_early(&queue, LOWEST_DRAW), "two packets are a short queue");
        queue.push(2, ms(0));
        assert!(pie.drops_early(&queue, LOWEST_DRAW));
        // The delay of 7 ms is below half of the target, 7.5 ms, and the probability is below 0.2.
        (pie.drop_prob, pie.qdelay_old) = (0.19, Duration::from_millis(7));
        pie.accu_prob = 8.0;
        assert!(!pie.drops_early(&queue, LOWEST_DRAW));
    }

    #[test]
    fn marks_end_at_the_ecn_threshold() {
        let mut pie = pie(PieConfig { ecn: true, ..PieConfig::default() });
        let mut queue = TestQueue::default();
        (0..10).for_each(|number| queue.push(number, ms(0)));
        let choice_at = |pie: &mut Pie, drop_prob| {
            (pie.drop_prob, pie.accu_prob, pie.qdelay_old) = (drop_prob, 8.5, Duration::from_millis(20));
            pie.choose(ms(1), &queue)
        };
        assert_eq!(choice_at(&mut pie, 0.09), Choice::Mark);
        assert_eq!(choice_at(&mut pie, 0.11), Choice::Drop);
    }

    #[test]
    fn updates_during_idle_time_are_skipped_without_a_difference() {
        let mut skipping = pie(PieConfig::default());
        let mut stepping = skipping.clone();
        let queue = TestQueue::default();
        skipping.update_until(ms(100_000), &queue);
        (0..=100_000).for_each(|now| stepping.update_until(ms(now), &queue));
        assert_eq!(skipping.next_update, stepping.next_update);
        assert_eq!(skipping.next_update, ms(100_005));
    }

    proptest! {
        /// The probability stays in [0, 1] for all delays and options.
        #[test]
        fn probability_stays_a_probability(
            delays_ms in proptest::collection::vec(0u64..10_000, 1..300),
            alpha in 0.0f64..100.0,
            beta in 0.0f64..100.0,
        ) {
            let mut pie = pie(PieConfig { alpha, beta, ..PieConfig::default() });
            for delay_ms in delays_ms {
                prop_assert!((0.0..=1.0).contains(&update(&mut pie, delay_ms)));
            }
        }
    }
}
