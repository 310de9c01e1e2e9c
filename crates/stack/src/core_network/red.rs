//! Random early detection (Floyd and Jacobson 1993), with the gentle form of Floyd (2000), in packets or in octets.
//!
//! A queue that only drops when it is full drops from many flows at once and is full most of the time. RED looks at a moving
//! average of its length and tells a few flows before:
//!
//! ```text
//!  probability
//!  1 ┤                               ╭─── gentle: linearly up to 2 max_thresh; else at once
//!    │                           ╭───╯
//!    │                       ╭───╯
//!  max_p ┤ ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄╭─╯
//!    │             ╭───────╯
//!  0 ┼─────────────╯────────┬───────────┬─► average length
//!              min_thresh  max_thresh  2 max_thresh
//! ```
//!
//! Names and steps are those of the paper's figure 2. Between two packets that are chosen the probability rises with each
//! that is not (`count`), so the choices are spread evenly and not in clusters (section 7). It does not depend on the
//! packet's size (RFC 7141). What is chosen is dropped, or marked where that is asked for and its sender allows; where the
//! probability is 1 even such packets are dropped (RFC 3168 §7).

use umts_kernel::random::AddressedStream;
use umts_units::{BitRate, Bytes, Time};

/// What RED is told. The thresholds are packets or octets, as `in_octets` says; the packet in transmission counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedConfig {
    /// Below this average no packet is chosen.
    pub min_thresh: f64,
    /// At this average the probability is `max_p`.
    pub max_thresh: f64,
    /// The thresholds, and with them the average, are in octets.
    pub in_octets: bool,
    /// The probability at `max_thresh`, for packets evenly spread.
    pub max_p: f64,
    /// Weight of a new length in the average.
    pub w_q: f64,
    /// Above `max_thresh` the probability rises on to 1 at twice that; if not, it is 1 at once.
    pub gentle: bool,
    /// Mark in place of drop what may be marked.
    pub ecn: bool,
    /// A typical packet: while the queue is empty the average falls as if so many of these had found it so.
    pub mean_packet: Bytes,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Pass,
    /// It is to be marked, or dropped if it may not be.
    Mark,
    /// It is dropped.
    Drop,
}

/// The state of a queue.
#[derive(Debug, Clone)]
pub struct Red {
    config: RedConfig,
    draws: AddressedStream,
    /// Packets that have come: the addresses of the draws.
    arrivals: u64,
    avg: f64,
    /// Packets since the last that was chosen; none while the average is below `min_thresh`.
    count: Option<u32>,
}

impl Red {
    /// An empty queue. Packet number `n` is decided by draw number `n`, whatever became of those before it.
    pub fn new(config: RedConfig, draws: AddressedStream) -> Self {
        Red { config, draws, arrivals: 0, avg: 0.0, count: None }
    }

    /// A packet comes at `now` and finds so many `packets` with `octets` in all. If there are none, the queue has been
    /// empty since `idle_since`.
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
        let RedConfig { w_q, in_octets, .. } = self.config;
        if packets == 0 {
            let packet = rate.time_to_send(self.config.mean_packet).as_secs();
            let passed = now.saturating_since(idle_since).as_secs() / packet;
            self.avg *= libm::pow(1.0 - w_q, passed);
        } else {
            let length = if in_octets { octets.0 as f64 } else { packets as f64 };
            self.avg += w_q * (length - self.avg);
        }
        let probability = self.probability();
        if probability <= 0.0 {
            self.count = None;
            return Choice::Pass;
        }
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        let left = 1.0 - f64::from(count) * probability;
        if probability < 1.0 && left > 0.0 && draw >= probability / left {
            return Choice::Pass;
        }
        self.count = Some(0);
        if self.config.ecn && probability < 1.0 { Choice::Mark } else { Choice::Drop }
    }

    /// The moving average of the length, in packets or octets.
    pub fn average(&self) -> f64 {
        self.avg
    }

    /// p_b: before `count` spreads it.
    fn probability(&self) -> f64 {
        let RedConfig { min_thresh, max_thresh, max_p, gentle, .. } = self.config;
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
    use umts_units::Duration;

    use super::*;

    const CONFIG: RedConfig = RedConfig {
        min_thresh: 5.0,
        max_thresh: 15.0,
        in_octets: false,
        max_p: 0.1,
        w_q: 0.002,
        gentle: true,
        ecn: false,
        mean_packet: Bytes(500),
    };

    fn red(config: RedConfig, seed: u64) -> Red {
        Red::new(config, Streams::new(seed, 0).addressed("red"))
    }

    fn mbps() -> BitRate {
        BitRate::from_bps(1_000_000).expect("not zero")
    }

    /// Packets that each find `length` before them, without a pause.
    fn arrive(red: &mut Red, length: usize, count: usize) -> Vec<Choice> {
        let octets = Bytes(1000 * length as u64);
        (0..count).map(|_| red.choose(Time::ZERO, length, octets, Time::ZERO, mbps())).collect()
    }

    /// A queue whose average has long been `length`.
    fn settled(config: RedConfig, seed: u64, length: usize) -> Red {
        Red { avg: length as f64, ..red(config, seed) }
    }

    #[test]
    fn the_average_follows_the_length_by_its_weight() {
        let mut queue = red(CONFIG, 1);
        arrive(&mut queue, 10, 100);
        let expected = 10.0 * (1.0 - 0.998_f64.powi(100));
        assert!((queue.average() - expected).abs() < 1e-9, "{}", queue.average());
    }

    #[test]
    fn an_empty_queue_forgets_as_if_small_packets_had_passed() {
        let mut queue = settled(CONFIG, 1, 10);
        // 500 octets take 4 ms at 1 Mbit/s: 100 packets in 400 ms.
        let now = Time::ZERO + Duration::from_millis(1400);
        queue.choose(now, 0, Bytes::ZERO, Time::ZERO + Duration::from_secs(1), mbps());
        assert!((queue.average() - 10.0 * 0.998_f64.powi(100)).abs() < 1e-9, "{}", queue.average());
    }

    #[test]
    fn choices_are_spread_evenly() {
        // At an average of 10 p_b is 1/20. The count begins at 1 behind a choice: gaps are uniform from 1 to 19.
        let choices = arrive(&mut settled(CONFIG, 7, 10), 10, 20_000);
        let chosen: Vec<usize> = (0..choices.len()).filter(|&n| choices[n] == Choice::Drop).collect();
        let gaps: Vec<usize> = chosen.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().max(), Some(&19));
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        // The deviation of one gap is 5.5, that of the mean of 2,000 is 0.12.
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
        let tenth = gaps.iter().filter(|&&gap| gap <= 2).count() as f64 / gaps.len() as f64;
        assert!((tenth - 0.1).abs() < 0.03, "{tenth}");
    }

    #[test]
    fn above_max_thresh_gentle_rises_and_else_everything_is_dropped() {
        let dropped = |config, length| {
            let choices = arrive(&mut settled(config, 3, length), length, 1000);
            choices.iter().filter(|&&choice| choice == Choice::Drop).count()
        };
        let abrupt = RedConfig { gentle: false, ..CONFIG };
        assert_eq!([dropped(abrupt, 4), dropped(abrupt, 15)], [0, 1000]);
        // p_b is 0.1, 0.28, 0.4 and 1; from 1/2 on `count` lets none pass behind a choice.
        let gentle = [15, 18, 20, 30].map(|length| dropped(CONFIG, length));
        assert!(gentle.is_sorted() && gentle[0] < 250 && gentle[2] < 900 && gentle[3] == 1000, "{gentle:?}");
    }

    #[test]
    fn with_ecn_packets_are_marked_until_all_are_dropped() {
        let ecn = RedConfig { ecn: true, ..CONFIG };
        let choices = arrive(&mut settled(ecn, 3, 20), 20, 1000);
        assert!(choices.contains(&Choice::Mark) && !choices.contains(&Choice::Drop));
        assert_eq!(arrive(&mut settled(ecn, 3, 30), 30, 10), [Choice::Drop; 10]);
    }

    proptest! {
        /// The average stays within the lengths seen; below `min_thresh` nothing is chosen; a choice comes after 1/p_b
        /// packets at the latest; and what becomes of a packet depends on its own draw, not on how many were needed before.
        #[test]
        fn red_keeps_its_bounds(
            lengths in proptest::collection::vec(0usize..40, 1..300),
            w_q in 0.001f64..1.0,
            max_p in 0.01f64..1.0,
            gentle: bool,
            seed in 0u64..1000,
        ) {
            let mut queue = red(RedConfig { w_q, max_p, gentle, ..CONFIG }, seed);
            let longest = lengths.iter().max().copied().unwrap_or(0) as f64;
            let mut since = 0;
            for (n, &length) in lengths.iter().enumerate() {
                let now = Time::ZERO + Duration::from_millis(n as u64);
                let choice = queue.choose(now, length, Bytes(length as u64 * 1000), now, mbps());
                prop_assert!((0.0..=longest).contains(&queue.average()));
                let probability = queue.probability();
                since = if choice == Choice::Pass && probability > 0.0 { since + 1 } else { 0 };
                prop_assert!(choice == Choice::Pass || probability > 0.0);
                prop_assert!(choice == Choice::Drop || probability < 1.0);
                prop_assert!(f64::from(since) < 1.0 / max_p.min(probability.max(1e-9)) + 1.0);
            }
        }
    }
}
