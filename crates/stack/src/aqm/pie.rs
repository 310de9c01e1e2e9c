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

/// Drop probability up to which a low delay at the last update protects from drops (§4.1).
const SAFE_PROBABILITY: f64 = 0.2;
/// Packets of mean size up to which no packet is dropped (§4.1).
const SHORT_QUEUE_PACKETS: u64 = 2;
/// Accumulated probability below which no packet is dropped (§5.4).
const MIN_ACCUMULATED: f64 = 0.85;
/// Accumulated probability from which a packet is dropped in any case (§5.4).
const MAX_ACCUMULATED: f64 = 8.5;
/// Drop probability from which one update raises it by at most [`MAX_RISE`] (§5.5).
const LIMITED_FROM: f64 = 0.1;
const MAX_RISE: f64 = 0.02;
/// Factor on the probability at an update without delay (§4.2).
const DECAY: f64 = 0.98;

/// The state of PIE for one queue.
#[derive(Debug, Clone)]
pub struct Pie {
    config: PieConfig,
    draws: AddressedStream,
    /// Number of arrivals, the address of the next draw.
    arrivals: u64,
    /// Sum of the drop probabilities of the packets since the last drop.
    accu_prob: f64,

    // State that updates change.
    /// Drop probability of a packet.
    drop_prob: f64,
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
            accu_prob: 0.0,
            drop_prob: 0.0,
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
        let is_burst_over = self.burst_allowance.is_zero();
        if is_burst_over && self.drops_early(queue, draw) {
            let marks = self.config.ecn && self.drop_prob < self.config.ecn_threshold.value();
            return if marks { Choice::Mark } else { Choice::Drop };
        }
        let delay_is_low = delay(now, queue) < self.half_target() && self.qdelay_old < self.half_target();
        if self.drop_prob == 0.0 && delay_is_low {
            self.burst_allowance = self.config.max_burst;
        }
        Choice::Pass
    }

    /// Random decision with `draw`, uniform in [0, 1) (RFC 8033, appendix A.2, `drop_early`).
    fn drops_early(&mut self, queue: &impl PacketQueue, draw: f64) -> bool {
        let is_short = queue.octets().0 <= SHORT_QUEUE_PACKETS * self.config.mean_packet.0;
        let is_safe = self.qdelay_old < self.half_target() && self.drop_prob < SAFE_PROBABILITY;
        if is_short || is_safe {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        // The limits spread drops evenly: none soon after a drop, and one at the latest when 8.5
        // drops would be expected.
        let must_drop = self.accu_prob >= MAX_ACCUMULATED;
        let may_drop = self.accu_prob >= MIN_ACCUMULATED;
        let drops = must_drop || (may_drop && draw < self.drop_prob);
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }

    /// Half of the target delay. A delay below it is low.
    fn half_target(&self) -> Duration {
        Duration::from_nanos(self.config.target.as_nanos() / 2)
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
        let above_target_s = qdelay.as_secs() - target.as_secs();
        let growth_s = qdelay.as_secs() - self.qdelay_old.as_secs();
        let mut change = alpha * above_target_s + beta * growth_s;
        change /= scale(self.drop_prob);
        if self.drop_prob >= LIMITED_FROM {
            change = change.min(MAX_RISE);
        }
        self.drop_prob += change;
        let is_without_delay = qdelay.is_zero() && self.qdelay_old.is_zero();
        if is_without_delay {
            self.drop_prob *= DECAY;
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

/// Divisor of a change of the probability, which is large while the probability is small (§4.2).
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
    fn high_probability_rises_by_two_percent_at_most() {
        let mut pie = Pie { drop_prob: 0.5, ..pie(PieConfig::default()) };
        // 1/8 x 0.985 + 5/4 x 1 = 1.373125, of which 0.02 are taken.
        assert_near(update(&mut pie, 1000), 0.52);
    }

    #[test]
    fn probability_falls_to_zero_at_least() {
        let qdelay_old = Duration::from_secs(1);
        let mut pie = Pie { drop_prob: 0.5, qdelay_old, ..pie(PieConfig::default()) };
        // 1/8 (0 - 0.015) + 5/4 (0 - 1) = -1.251875, more than 0.5.
        assert_near(update(&mut pie, 0), 0.0);
    }

    #[test]
    fn probability_decays_without_delay() {
        let mut pie = Pie { drop_prob: 0.5, ..pie(PieConfig::default()) };
        // The delay was 0 and stays 0: 1/8 (0 - 0.015) = -0.001875, then a factor of 0.98.
        assert_near(update(&mut pie, 0), (0.5 - 0.001_875) * 0.98);
    }

    #[test]
    fn bursts_pass_for_max_burst_after_a_time_without_delay() {
        let mut pie = pie(PieConfig::default());
        let mut queue = TestQueue::default();
        assert_eq!(pie.choose(ms(1), &queue), Choice::Pass);
        assert_eq!(pie.burst_allowance, Duration::from_millis(150));
        // The queue jumps to 100 packets, and its first packet never leaves. The allowance of 150
        // ms lasts for ten updates, the last of them at 150 ms.
        (0..100).for_each(|number| queue.push(number, ms(1)));
        assert!((2..150).map(|now| pie.choose(ms(now), &queue)).all(|choice| choice == Choice::Pass));
        assert!(!pie.burst_allowance.is_zero());
        pie.choose(ms(150), &queue);
        assert!(pie.burst_allowance.is_zero() && pie.probability() > 0.0);
    }

    /// A queue of `packets` packets of 1,000 octets that entered at time 0.
    fn queue_of(packets: u64) -> TestQueue {
        let mut queue = TestQueue::default();
        (0..packets).for_each(|number| queue.push(number, ms(0)));
        queue
    }

    /// PIE with this drop probability, and a high delay at the last update.
    fn at_probability(drop_prob: f64) -> Pie {
        Pie { drop_prob, qdelay_old: Duration::from_millis(20), ..pie(PieConfig::default()) }
    }

    /// At a probability of 0.2, packets 1 to 4 after a drop pass for certain (4 x 0.2 < 0.85). A
    /// geometric number of packets with mean 5 and standard deviation 4.5 follows.
    #[test]
    fn drops_are_spread_by_the_accumulated_probability() {
        let mut pie = at_probability(0.2);
        let queue = queue_of(10);
        let drops: Vec<u64> =
            (0..20_000).filter(|&n| pie.drops_early(&queue, pie.draws.tti(n).uniform(0))).collect();
        let gaps: Vec<u64> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().min(), Some(&5));
        assert!(gaps.iter().all(|&gap| gap <= 43));
        // Of 2,200 gaps the mean has a standard deviation of 0.1.
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean - (4.0 + 5.0)).abs() < 0.5, "{mean}");
    }

    #[test]
    fn packet_is_dropped_at_the_latest_at_the_maximum_sum() {
        let mut pie = at_probability(0.2);
        let queue = queue_of(10);
        // The largest draw passes until the sum reaches 8.5: 43 x 0.2 = 8.6.
        let first_dropped = (1..).find(|_| pie.drops_early(&queue, HIGHEST_DRAW));
        assert_eq!(first_dropped, Some(43));
    }

    #[test]
    fn short_queue_drops_no_packet() {
        let mut pie = at_probability(1.0);
        assert!(!pie.drops_early(&queue_of(2), LOWEST_DRAW));
        assert!(pie.drops_early(&queue_of(3), LOWEST_DRAW));
    }

    #[test]
    fn low_delay_protects_below_a_probability_of_one_fifth() {
        // 7 ms are below half of the target, 7.5 ms.
        let low_delay = Duration::from_millis(7);
        let drops = |drop_prob| {
            let mut pie = Pie { qdelay_old: low_delay, accu_prob: 8.0, ..at_probability(drop_prob) };
            pie.drops_early(&queue_of(10), LOWEST_DRAW)
        };
        assert!(!drops(0.19));
        assert!(drops(0.2));
    }

    #[test]
    fn marks_end_at_the_ecn_threshold() {
        let config = PieConfig { ecn: true, ..PieConfig::default() };
        // The accumulated probability chooses the packet for certain.
        let choice_at = |drop_prob| {
            let mut pie = Pie { config, accu_prob: 8.5, ..at_probability(drop_prob) };
            pie.choose(ms(1), &queue_of(10))
        };
        assert_eq!(choice_at(0.09), Choice::Mark);
        assert_eq!(choice_at(0.11), Choice::Drop);
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
