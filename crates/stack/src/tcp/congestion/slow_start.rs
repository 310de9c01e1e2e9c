//! Rules that end slow start before it overflows the queue of the path, because the round-trip time
//! rises: HyStart++ (RFC 9406), and HyStart (Ha and Rhee 2011) as in Linux's CUBIC. To end slow
//! start, the caller sets the threshold to the current window. Windows are in segments.
//!
//! ```text
//!   HyStart++   minimum RTT of this round ≥ minimum RTT of the last round + threshold
//!               ─► conservative slow start with a quarter of the growth
//!               ─► after five rounds: ssthresh = cwnd; if the RTT falls again: slow start
//!   HyStart     minimum RTT of this round > minimum RTT of the connection + threshold, from a
//!               window of 16 segments on; or a train of ACKs longer than half of the minimum RTT
//!               ─► ssthresh = cwnd
//! ```
//!
//! A round lasts until the data sent at its beginning is acknowledged. Both need a round-trip
//! sample for each acknowledgment.

use umts_units::{Duration, Time};

use crate::tcp::config::{SlowStart, Variant};

/// N_RTT_SAMPLE of RFC 9406 §4.3, HYSTART_MIN_SAMPLES of Linux.
const MIN_SAMPLES: u32 = 8;
/// Minimum of the tolerated rise (MIN_RTT_THRESH; HYSTART_DELAY_MIN).
const MIN_RTT_RISE: Duration = Duration::from_millis(4);
/// Maximum of the tolerated rise (MAX_RTT_THRESH; HYSTART_DELAY_MAX).
const MAX_RTT_RISE: Duration = Duration::from_millis(16);
/// Between these limits the tolerated rise is the minimum RTT divided by this (MIN_RTT_DIVISOR).
const RTT_DIVISOR: u64 = 8;
/// Divisor of the growth in conservative slow start (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Number of rounds of conservative slow start (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;
/// HyStart acts from this window on, in segments (hystart_low_window).
const LOW_WINDOW: f64 = 16.0;
/// Maximum time between two ACKs of a train (hystart_ack_delta_us).
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Value of hystart_ack_delay at the rates of UMTS.
const ACK_DELAY: Duration = Duration::from_millis(1);

/// A round-trip sample.
#[derive(Debug, Clone, Copy)]
pub struct RoundTrip {
    pub now: Time,
    /// The round-trip time.
    pub rtt: Duration,
    /// SND.UNA.
    pub una: u64,
    /// The sequence number after the highest ever sent (SND.NXT).
    pub max_sent: u64,
}

/// The rule by which slow start ends early.
#[derive(Debug, Clone)]
pub enum Exit {
    /// RFC 9406.
    PlusPlus(PlusPlus),
    /// Linux.
    HyStart(HyStart),
}

/// HyStart++'s state.
#[derive(Debug, Clone, Default)]
pub struct PlusPlus {
    round: Round,
    /// Conservative slow start, if in progress.
    css: Option<ConservativeSlowStart>,
    /// The slow-start threshold at the first sample.
    initial_ssthresh: Option<f64>,
    /// Whether the first slow start is over. The algorithm applies to this one only (§4.3).
    is_over: bool,
}

/// The state of conservative slow start.
#[derive(Debug, Clone, Copy)]
struct ConservativeSlowStart {
    /// The minimum round-trip time of the round in which it began (cssBaselineMinRtt).
    baseline_min_rtt: Duration,
    /// Number of rounds since it began.
    rounds: u32,
}

/// HyStart's state.
#[derive(Debug, Clone, Default)]
pub struct HyStart {
    round: Round,
    /// Start of the round.
    began: Time,
    /// Time of the last ACK that belongs to the train of ACKs of this round.
    last_ack: Time,
    /// The minimum round-trip time of the connection (delay_min).
    min_rtt: Option<Duration>,
    /// Whether HyStart has ended slow start. A timeout resets this.
    has_ended: bool,
}

impl Exit {
    /// The configured rule. HyStart is a part of CUBIC, in Linux and in its paper.
    pub fn new(config: SlowStart, variant: Variant) -> Option<Box<Self>> {
        match config {
            SlowStart::Standard => None,
            SlowStart::Hystart if variant != Variant::Cubic => None,
            SlowStart::Hystart => Some(Box::new(Exit::HyStart(HyStart::default()))),
            SlowStart::HystartPlusPlus => Some(Box::new(Exit::PlusPlus(PlusPlus::default()))),
        }
    }

    /// Processes a sample of the RTT estimator. Returns whether slow start ends at the current
    /// window.
    pub fn sample_round_trip(&mut self, trip: &RoundTrip, cwnd: f64, ssthresh: f64) -> bool {
        match self {
            Exit::PlusPlus(rule) => rule.process_sample(trip, cwnd, ssthresh),
            Exit::HyStart(_) => false,
        }
    }

    /// Processes a sample of the last segment that an acknowledgment covers, before the window
    /// grows. Returns whether slow start ends. The last segment is the one that triggered the
    /// acknowledgment, while the segment whose timestamp is echoed may have waited for a delayed
    /// acknowledgment. The SYN is not sampled, because CUBIC starts after it.
    pub fn sample_last_segment(&mut self, trip: &RoundTrip, cwnd: f64, ssthresh: f64) -> bool {
        match self {
            Exit::PlusPlus(_) => false,
            Exit::HyStart(rule) => rule.process_sample(trip, cwnd, ssthresh),
        }
    }

    /// Handles a timeout: Linux resets HyStart. RFC 9406 applies to the first slow start only.
    pub fn on_timeout(&mut self) {
        if let Exit::HyStart(rule) = self {
            *rule = HyStart::default();
        }
    }

    /// The divisor of the growth in slow start.
    pub fn divisor(&self) -> f64 {
        match self {
            Exit::PlusPlus(PlusPlus { css: Some(_), is_over: false, .. }) => CSS_GROWTH_DIVISOR,
            _ => 1.0,
        }
    }
}

impl PlusPlus {
    /// Processes a sample (§4.2). Returns whether slow start ends.
    fn process_sample(&mut self, trip: &RoundTrip, cwnd: f64, ssthresh: f64) -> bool {
        let initial_ssthresh = *self.initial_ssthresh.get_or_insert(ssthresh);
        let has_reached_threshold = cwnd >= ssthresh;
        let has_lost = ssthresh < initial_ssthresh;
        self.is_over |= has_reached_threshold || has_lost;
        if self.is_over {
            return false;
        }
        let is_new_round = self.round.begin_if_over(trip);
        self.round.count(trip.rtt);
        if is_new_round && let Some(css) = &mut self.css {
            css.rounds += 1;
            self.is_over = css.rounds >= CSS_ROUNDS;
        }
        if !self.is_over {
            self.begin_or_end_css();
        }
        self.is_over
    }

    /// Begins conservative slow start if the minimum of this round has risen, and ends it if the
    /// minimum has fallen again, once the round has enough samples.
    fn begin_or_end_css(&mut self) {
        let Round { min_rtt: Some(min_rtt), previous_min_rtt: Some(previous), samples, .. } = self.round
        else {
            return;
        };
        if samples < MIN_SAMPLES {
            return;
        }
        match self.css {
            None if min_rtt >= previous + tolerated_rise(previous) => {
                self.css = Some(ConservativeSlowStart { baseline_min_rtt: min_rtt, rounds: 0 });
            }
            Some(css) if min_rtt < css.baseline_min_rtt => self.css = None,
            _ => {}
        }
    }
}

impl HyStart {
    /// `hystart_update` of tcp_cubic.c, with both ways of detection. Returns whether slow start
    /// ends. Samples count only from a window of [`LOW_WINDOW`] on, even within a round.
    fn process_sample(&mut self, trip: &RoundTrip, cwnd: f64, ssthresh: f64) -> bool {
        let min_rtt = self.min_rtt.map_or(trip.rtt, |min_rtt| min_rtt.min(trip.rtt));
        self.min_rtt = Some(min_rtt);
        if self.has_ended || cwnd >= ssthresh {
            return false;
        }
        if self.round.begin_if_over(trip) {
            self.began = trip.now;
            self.last_ack = trip.now;
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        self.round.count(trip.rtt);
        // Both are evaluated: the train must follow each ACK.
        let train_is_long = self.follow_train(trip.now, min_rtt);
        let rtt_has_risen = self.has_risen(min_rtt);
        self.has_ended = train_is_long || rtt_has_risen;
        self.has_ended
    }

    /// Whether the ACKs of this round form a train that lasts longer than half of the minimum
    /// round-trip time: the data in flight then fills the path in one direction.
    fn follow_train(&mut self, now: Time, min_rtt: Duration) -> bool {
        let belongs_to_train = now.saturating_since(self.last_ack) <= ACK_DELTA;
        if !belongs_to_train {
            return false;
        }
        self.last_ack = now;
        let half_rtt = Duration::from_nanos((min_rtt + ACK_DELAY).as_nanos() / 2);
        now.saturating_since(self.began) > half_rtt
    }

    /// Whether the minimum round-trip time of this round is above the minimum of the connection.
    fn has_risen(&self, min_rtt: Duration) -> bool {
        let has_enough_samples = self.round.samples > MIN_SAMPLES;
        let limit = min_rtt + tolerated_rise(min_rtt);
        has_enough_samples && self.round.min_rtt.is_some_and(|of_round| of_round > limit)
    }
}

/// The current round of a slow start.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    /// The round ends when more than this is acknowledged (windowEnd).
    end: u64,
    /// The minimum of this round (currentRoundMinRTT).
    min_rtt: Option<Duration>,
    /// Number of samples of this round.
    samples: u32,
    /// The minimum of the previous round (lastRoundMinRTT).
    previous_min_rtt: Option<Duration>,
}

impl Round {
    /// Begins a new round if the previous one has ended before this sample. Returns whether it
    /// does.
    fn begin_if_over(&mut self, trip: &RoundTrip) -> bool {
        let is_over = trip.una > self.end;
        if is_over {
            *self = Round { end: trip.max_sent, previous_min_rtt: self.min_rtt, min_rtt: None, samples: 0 };
        }
        is_over
    }

    /// Counts a round-trip sample.
    fn count(&mut self, rtt: Duration) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt)));
        self.samples += 1;
    }
}

/// The tolerated rise of the minimum round-trip time.
fn tolerated_rise(min_rtt: Duration) -> Duration {
    Duration::from_nanos(min_rtt.as_nanos() / RTT_DIVISOR).clamp(MIN_RTT_RISE, MAX_RTT_RISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No slow start threshold.
    const UNLIMITED: f64 = f64::INFINITY;

    /// The acknowledgments of a round, all with the same round-trip time.
    #[derive(Clone, Copy)]
    struct Acks {
        count: u64,
        rtt_ms: u64,
        /// Time between two acknowledgments.
        gap_ms: u64,
        /// The congestion window, in segments.
        cwnd: f64,
    }

    /// Eight acknowledgments are just enough for HyStart++.
    const EIGHT_ACKS: Acks = Acks { count: 8, rtt_ms: 100, gap_ms: 10, cwnd: 20.0 };

    /// Passes the acknowledgments of the round with this number to `exit`. Returns the index of the
    /// acknowledgment that ended slow start.
    fn pass(exit: &mut Exit, round: u64, acks: Acks) -> Option<u64> {
        (0..acks.count).find(|index| {
            let trip = RoundTrip {
                now: Time::ZERO + Duration::from_millis(1000 * round + acks.gap_ms * index),
                rtt: Duration::from_millis(acks.rtt_ms),
                // Each round acknowledges one further sequence number.
                una: round,
                max_sent: round,
            };
            exit.sample_round_trip(&trip, acks.cwnd, UNLIMITED)
                || exit.sample_last_segment(&trip, acks.cwnd, UNLIMITED)
        })
    }

    fn plus_plus() -> Box<Exit> {
        Exit::new(SlowStart::HystartPlusPlus, Variant::Reno).expect("it has one")
    }

    #[test]
    fn rtt_rise_makes_slow_start_conservative_for_five_rounds() {
        let mut exit = plus_plus();
        // An RTT of 100 ms may rise by an eighth, 12.5 ms. An RTT of 112 ms may rise by 14 ms.
        assert_eq!(pass(&mut exit, 1, EIGHT_ACKS), None);
        assert_eq!(pass(&mut exit, 2, Acks { rtt_ms: 112, ..EIGHT_ACKS }), None);
        assert_eq!(exit.divisor(), 1.0, "a rise of 12 ms is less than an eighth of 100 ms");
        assert_eq!(pass(&mut exit, 3, Acks { rtt_ms: 126, count: 7, ..EIGHT_ACKS }), None);
        assert_eq!(exit.divisor(), 1.0, "seven samples are too few");
        assert_eq!(pass(&mut exit, 3, Acks { rtt_ms: 126, count: 1, ..EIGHT_ACKS }), None);
        assert_eq!(exit.divisor(), 4.0, "the eighth sample: the growth is a quarter");
        for round in 4..8 {
            assert_eq!(pass(&mut exit, round, Acks { rtt_ms: 130, ..EIGHT_ACKS }), None);
        }
        let first_ack_of_round_8 = Some(0);
        assert_eq!(pass(&mut exit, 8, Acks { rtt_ms: 130, ..EIGHT_ACKS }), first_ack_of_round_8);
        assert_eq!(exit.divisor(), 1.0);
        let much_later = Acks { rtt_ms: 900, ..EIGHT_ACKS };
        assert_eq!(pass(&mut exit, 9, much_later), None, "only the first slow start ends early");
    }

    #[test]
    fn slow_start_resumes_when_the_rtt_falls_again() {
        let mut exit = plus_plus();
        let (normal_growth, quarter_growth) = (1.0, 4.0);
        for (round, rtt_ms, divisor) in [
            (1, 100, normal_growth),
            (2, 120, quarter_growth),
            (3, 101, normal_growth),
            (4, 101, normal_growth),
        ] {
            assert_eq!(pass(&mut exit, round, Acks { rtt_ms, ..EIGHT_ACKS }), None);
            assert_eq!(exit.divisor(), divisor, "round {round}");
        }
    }

    fn hystart() -> Box<Exit> {
        Exit::new(SlowStart::Hystart, Variant::Cubic).expect("CUBIC has HyStart")
    }

    /// ACKs 10 ms apart are no train.
    const LOW_RTT: Acks = Acks { count: 20, rtt_ms: 100, gap_ms: 10, cwnd: 20.0 };
    /// The rise of 13 ms is more than an eighth of 100 ms.
    const HIGH_RTT: Acks = Acks { rtt_ms: 113, ..LOW_RTT };
    /// The index of the ACK with the first sample beyond the eight that are not enough for HyStart.
    const NINTH_ACK: Option<u64> = Some(8);

    #[test]
    fn hystart_ends_at_the_ninth_sample_of_a_higher_rtt() {
        let mut exit = hystart();
        assert_eq!(pass(&mut exit, 1, LOW_RTT), None);
        assert_eq!(pass(&mut exit, 2, HIGH_RTT), NINTH_ACK);
    }

    /// Linux does not count samples while the window is below 16 segments: the eight samples with a
    /// window of 15 do not help to reach the required nine.
    #[test]
    fn hystart_counts_samples_from_sixteen_segments() {
        let small_window = Acks { cwnd: 15.0, ..HIGH_RTT };
        let mut exit = hystart();
        pass(&mut exit, 1, LOW_RTT);
        assert_eq!(pass(&mut exit, 2, small_window), None);
        assert_eq!(pass(&mut exit, 2, HIGH_RTT), NINTH_ACK);
    }

    #[test]
    fn hystart_acts_once_until_a_timeout() {
        let mut exit = hystart();
        pass(&mut exit, 1, LOW_RTT);
        assert_eq!(pass(&mut exit, 2, HIGH_RTT), NINTH_ACK);
        assert_eq!(pass(&mut exit, 3, Acks { rtt_ms: 150, ..LOW_RTT }), None);
        exit.on_timeout();
        assert_eq!(pass(&mut exit, 4, LOW_RTT), None);
        assert_eq!(pass(&mut exit, 5, HIGH_RTT), NINTH_ACK);
    }

    /// ACKs at most 2 ms apart are a train. It ends slow start when it is longer than half of the
    /// round trip plus 1 ms, 50.5 ms: at ACK 26, 52 ms after the first.
    #[test]
    fn hystart_ends_after_a_long_train_of_acks() {
        let train = Acks { count: 60, gap_ms: 2, ..LOW_RTT };
        assert_eq!(pass(&mut hystart(), 1, train), Some(26));
        let no_train = Acks { gap_ms: 3, ..train };
        assert_eq!(pass(&mut hystart(), 1, no_train), None);
    }
}
