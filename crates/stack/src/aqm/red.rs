//! Random early detection (Floyd and Jacobson 1993), with the gentle variant (Floyd 2000), in
//! packets or in octets.
//!
//! A drop-tail queue drops packets of many flows at once and is full most of the time. RED drops or
//! marks packets of a few flows before the queue is full, according to a moving average of its
//! length:
//!
//! ```text
//!  probability
//!  1 ┤                               ╭─── gentle: linear up to 2 max_thresh; otherwise 1 at once
//!    │                           ╭───╯
//!    │                       ╭───╯
//!  max_p ┤ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄╭─╯
//!    │             ╭───────╯
//!  0 ┼─────────────╯────────┬───────────┬─► average length
//!              min_thresh  max_thresh  2 max_thresh
//! ```
//!
//! Names and steps are as in figure 2 of the paper. `count` packets since the last choice raise the
//! probability, so that choices are spread evenly instead of in clusters (section 7). The
//! probability does not depend on the packet size (RFC 7141). A chosen packet is dropped, or marked
//! if `ecn` is set and the packet is ECN-capable. Where the probability is 1, such packets are
//! dropped, too (RFC 3168 §7).

use umts_kernel::random::AddressedStream;
use umts_units::{BitRate, Bytes, Duration, Probability, Time};

use super::{Choice, QueueLimit};
use crate::options::options;

options! {
    /// Random early detection (RED). Drops depend on a moving average of the queue length, not on
    /// the current length.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RedConfig as "Red" {
        /// Average queue length below which no packet is dropped, in packets or octets.
        /// `max_thresh` must have the same unit.
        [label = "RED min_thresh", min = "1 packets", source = "Floyd (1997): 5 packets"]
        pub min_thresh: QueueLimit = QueueLimit::Packets(5),
        /// Average queue length at which a packet is dropped with probability `max_p`.
        [label = "RED max_thresh", min = "1 packets", source = "Floyd (1997): three times min_thresh"]
        pub max_thresh: QueueLimit = QueueLimit::Packets(15),
        /// Probability of a drop at `max_thresh`.
        [label = "RED max_p", source = "Floyd (1997): 0.1; Floyd and Jacobson (1993): 0.02"]
        pub max_p: Probability = Probability::new(0.1).expect("below one"),
        /// Queue weight: weight of the current queue length in the moving average.
        [label = "RED w_q", min = 0.000001, max = 1.0, source = "Floyd and Jacobson (1993), section 6: 0.002"]
        pub w_q: f64 = 0.002,
        /// Whether the drop probability rises further above `max_thresh`, to 1 at twice that
        /// length. If not, every packet is dropped above `max_thresh`.
        [label = "Gentle RED", source = "Floyd (2000): Recommendation on using the gentle variant of RED"]
        pub gentle: bool = true,
        /// Mark a packet instead of dropping it if its TCP has `ecn`. Where RED drops every packet,
        /// these packets are dropped, too.
        [label = "RED marks", source = "RFC 3168 §5, §7"]
        pub ecn: bool = false,
        /// Size of a typical packet. While the queue is empty, the average falls as if packets of
        /// this size had arrived at the rate of the link and found the queue empty.
        [label = "RED mean packet", min = "1 B", max = "65535 B",
            source = "Floyd and Jacobson (1993), figure 2: s; ns-2: 500 B"]
        pub mean_packet: Bytes = Bytes(500),
    }
}

/// The state of RED for one queue.
#[derive(Debug, Clone)]
pub struct Red {
    config: RedConfig,
    draws: AddressedStream,
    /// Number of arrivals, the address of the next draw.
    arrivals: u64,
    /// The average queue length, in the unit of the thresholds.
    avg: f64,
    /// Packets since the last chosen one. `None` while the probability is 0.
    count: Option<u32>,
}

impl Red {
    /// Starts with an empty queue. Packet n uses draw n, whatever happened to earlier packets.
    pub fn new(config: RedConfig, draws: AddressedStream) -> Self {
        Red { config, draws, arrivals: 0, avg: 0.0, count: None }
    }

    /// Decides about a packet that arrives at `now` at a queue of `packets` with `octets` in total.
    /// If the queue is empty, it has been empty since `idle_since`.
    ///
    /// `rate`: rate of the link.
    pub fn choose(
        &mut self,
        now: Time,
        packets: usize,
        octets: Bytes,
        idle_since: Time,
        rate: BitRate,
    ) -> Choice {
        let draw = self.draws.tti(self.arrivals).uniform(0);
        self.arrivals += 1;
        if packets == 0 {
            self.decay(now.saturating_since(idle_since), rate);
        } else {
            let length = self.config.max_thresh.measure(packets, octets);
            self.avg += self.config.w_q * (length - self.avg);
        }
        let probability = self.probability();
        if probability <= 0.0 {
            self.count = None;
            return Choice::Pass;
        }
        if !self.is_chosen(probability, draw) {
            return Choice::Pass;
        }
        if self.config.ecn && probability < 1.0 { Choice::Mark } else { Choice::Drop }
    }

    /// Lowers the average as if packets of mean size had arrived during `idle` at the rate of the
    /// link and found the queue empty.
    fn decay(&mut self, idle: Duration, rate: BitRate) {
        let packet_time_s = rate.time_to_send(self.config.mean_packet).as_secs();
        let idle_packets = idle.as_secs() / packet_time_s;
        self.avg *= libm::pow(1.0 - self.config.w_q, idle_packets);
    }

    /// Whether a packet is chosen with this probability, spread by the number of packets since the
    /// last choice: p_a = p_b / (1 - count p_b). `draw`: uniform in [0, 1).
    fn is_chosen(&mut self, probability: f64, draw: f64) -> bool {
        let count = self.count.map_or(0, |count| count + 1);
        let divisor = 1.0 - f64::from(count) * probability;
        let is_certain = probability >= 1.0 || divisor <= 0.0;
        let is_chosen = is_certain || draw < probability / divisor;
        self.count = Some(if is_chosen { 0 } else { count });
        is_chosen
    }

    /// Moving average of the length, in packets or octets.
    pub fn average(&self) -> f64 {
        self.avg
    }

    /// p_b of the paper: the probability before `count` spreads the choices.
    fn probability(&self) -> f64 {
        let RedConfig { min_thresh, max_thresh, max_p, gentle, .. } = self.config;
        let (min_thresh, max_thresh, max_p) = (min_thresh.amount(), max_thresh.amount(), max_p.value());
        if self.avg < min_thresh {
            0.0
        } else if self.avg < max_thresh {
            max_p * (self.avg - min_thresh) / (max_thresh - min_thresh)
        } else if gentle {
            (max_p + (1.0 - max_p) * (self.avg - max_thresh) / max_thresh).min(1.0)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_kernel::random::Streams;

    use super::*;

    fn red(config: RedConfig, seed: u64) -> Red {
        Red::new(config, Streams::new(seed, 0).addressed("red"))
    }

    /// The rate of the link: 1 Mbit/s.
    fn rate() -> BitRate {
        BitRate::from_bps(1_000_000).expect("not zero")
    }

    /// Decisions about `count` packets that arrive at time 0 and each find `length` packets of
    /// 1,000 octets in the queue.
    fn arrive(red: &mut Red, length: usize, count: usize) -> Vec<Choice> {
        let octets = Bytes(1000 * length as u64);
        (0..count).map(|_| red.choose(Time::ZERO, length, octets, Time::ZERO, rate())).collect()
    }

    /// A queue with an average that has settled at `length`.
    fn settled(config: RedConfig, seed: u64, length: usize) -> Red {
        Red { avg: length as f64, ..red(config, seed) }
    }

    #[test]
    fn average_follows_the_queue_length_with_weight_w_q() {
        let mut queue = red(RedConfig::default(), 1);
        arrive(&mut queue, 10, 100);
        let expected = 10.0 * (1.0 - 0.998_f64.powi(100));
        assert!((queue.average() - expected).abs() < 1e-9, "{}", queue.average());
    }

    #[test]
    fn average_decays_while_the_queue_is_empty() {
        let mut queue = settled(RedConfig::default(), 1, 10);
        // 500 octets take 4 ms at 1 Mbit/s: 100 packets in 400 ms.
        let now = Time::ZERO + Duration::from_millis(1400);
        queue.choose(now, 0, Bytes::ZERO, Time::ZERO + Duration::from_secs(1), rate());
        assert!((queue.average() - 10.0 * 0.998_f64.powi(100)).abs() < 1e-9, "{}", queue.average());
    }

    #[test]
    fn choices_are_spread_evenly() {
        // At an average of 10, p_b is 1/20. `count` is 1 for the first packet after a choice, so
        // gaps are uniform from 1 to 19.
        let choices = arrive(&mut settled(RedConfig::default(), 7, 10), 10, 20_000);
        let chosen: Vec<usize> = (0..choices.len()).filter(|&n| choices[n] == Choice::Drop).collect();
        let gaps: Vec<usize> = chosen.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().max(), Some(&19));
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        // The standard deviation is 5.5 for one gap and 0.12 for the mean of 2,000 gaps.
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
        // Gaps of 1 and 2 are two of 19 equally likely gaps.
        let short_gaps = gaps.iter().filter(|&&gap| gap <= 2).count() as f64 / gaps.len() as f64;
        assert!((short_gaps - 0.1).abs() < 0.03, "{short_gaps}");
    }

    #[test]
    fn gentle_raises_the_drop_rate_above_max_thresh_gradually() {
        let dropped = |config, length| {
            let choices = arrive(&mut settled(config, 3, length), length, 1000);
            choices.iter().filter(|&&choice| choice == Choice::Drop).count()
        };
        let abrupt = RedConfig { gentle: false, ..RedConfig::default() };
        assert_eq!([dropped(abrupt, 4), dropped(abrupt, 15)], [0, 1000]);
        // p_b is 0.1, 0.28, 0.4 and 1. From 1/2 on, every packet is chosen because of `count`.
        let gentle = [15, 18, 20, 30].map(|length| dropped(RedConfig::default(), length));
        assert!(gentle.is_sorted(), "{gentle:?}");
        assert!(gentle[0] < 250 && gentle[2] < 900 && gentle[3] == 1000, "{gentle:?}");
    }

    #[test]
    fn ecn_marks_packets_until_the_probability_is_one() {
        let ecn = RedConfig { ecn: true, ..RedConfig::default() };
        let choices = arrive(&mut settled(ecn, 3, 20), 20, 1000);
        assert!(choices.contains(&Choice::Mark) && !choices.contains(&Choice::Drop));
        assert_eq!(arrive(&mut settled(ecn, 3, 30), 30, 10), [Choice::Drop; 10]);
    }

    proptest! {
        /// The average stays within the range of lengths. Below `min_thresh` no packet is chosen. A
        /// choice follows after at most 1/p_b packets. Each packet has its own draw.
        #[test]
        fn red_keeps_its_bounds(
            lengths in proptest::collection::vec(0usize..40, 1..300),
            w_q in 0.001f64..1.0,
            max_p in 0.01f64..1.0,
            gentle: bool,
            seed in 0u64..1000,
        ) {
            let mut queue = red(RedConfig { w_q, max_p: Probability::new(max_p).expect("a probability"), gentle, ..RedConfig::default() }, seed);
            let longest = lengths.iter().max().copied().unwrap_or(0) as f64;
            let mut passed_in_sequence = 0;
            for (n, &length) in lengths.iter().enumerate() {
                let now = Time::ZERO + Duration::from_millis(n as u64);
                let choice = queue.choose(now, length, Bytes(length as u64 * 1000), now, rate());
                prop_assert!((0.0..=longest).contains(&queue.average()));
                let probability = queue.probability();
                let has_passed = choice == Choice::Pass && probability > 0.0;
                passed_in_sequence = if has_passed { passed_in_sequence + 1 } else { 0 };
                prop_assert!(choice == Choice::Pass || probability > 0.0);
                prop_assert!(choice == Choice::Drop || probability < 1.0);
                prop_assert!(f64::from(passed_in_sequence) < 1.0 / max_p.min(probability.max(1e-9)) + 1.0);
            }
        }
    }
}
