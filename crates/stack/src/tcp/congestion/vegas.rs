//! TCP Vegas (Brakmo and Peterson 1995), as in ns-2.
//!
//! Once per round trip Vegas compares the throughput expected on an empty path (data in flight over
//! the minimum round-trip time) with the actual one. The difference, in segments, is the amount in
//! queues. Below `alpha` the window grows by one segment per round, above `beta` it shrinks by one.
//! Slow start doubles only in every other round and ends above `gamma`. Losses are detected early:
//! a segment older than a fine-grained timeout is sent again at the first duplicate ACK, and at the
//! two ACKs after a retransmission.
//!
//! Specific to ns-2: the difference is rounded, and a fast retransmit doubles the back-off.
//! Specific to one-way connections: after a timeout, and before the first reduction, the window to
//! return to is unknown. More than three duplicate ACKs (caused by spurious retransmissions of
//! go-back-N) followed by a new ACK then close the window completely until the next timeout. Full
//! duplex connections return to the window before the duplicates instead. The clock of a one-way
//! connection restarts whenever the first segment is sent. If that segment was lost, the time of
//! the reduction at its timeout appears to lie in the future, and no further reduction occurs
//! before that time.

use umts_units::Time;

use super::{
    Backoff, CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction,
    Resend, Rules, Selection, Window,
};
use crate::tcp::config::TcpConfig;
use crate::tcp::outstanding::{Acknowledged, Sent};

/// Number of ACKs after a retransmission that check the age of the next segment.
const AGE_CHECKS: u32 = 2;

/// The fast retransmit of Vegas.
const RETRANSMIT: Reaction = Reaction { backoff: Backoff::Double, ..Reaction::RETRANSMIT };

/// Minimum window in congestion avoidance, threshold after slow start, and window after a timeout,
/// in segments.
const MIN_WINDOW: f64 = 2.0;
/// The increment per ACK in slow start, in segments.
const SLOW_START_INCREMENT: f64 = 1.0;
/// Number of unused segments of the window up to which the window grows.
const MAX_UNUSED: f64 = 2.0;
/// Factors on the fine-grained timeout at a fast retransmit: of a segment that was sent once, and
/// of one that was retransmitted before.
const TIMEOUT_FACTOR: f64 = 9.0 / 8.0;
const TIMEOUT_FACTOR_REPEATED: f64 = 2.0;

/// Vegas's state. Times of type `f64` are in seconds, and segments are numbered from the SYN, which
/// is 0.
#[derive(Debug, Clone)]
pub struct Vegas {
    // Configuration.
    /// Number of segments in queues below which the window grows.
    alpha: u32,
    /// Number of segments in queues above which the window shrinks.
    beta: u32,
    /// Number of segments in queues that ends slow start.
    gamma: u32,
    /// Added to the number of segments in queues before it is truncated.
    rounding: f64,
    /// Whether the ACK of the first data segment sets the window to its initial value, as in ns-2,
    /// which sends data without a SYN before it.
    ns2_no_header: bool,
    /// Whether the connection is one of ns-2's one-way connections.
    one_way: bool,
    /// Initial window, in segments.
    initial_window: u32,

    // Round trips.
    /// The minimum round-trip time.
    base_rtt: f64,
    /// Sum of the round-trip samples of this round.
    sum_rtt: f64,
    /// Number of these samples.
    samples: u32,
    /// Number of the next segment when the round began. The ACK of this segment ends the round.
    round_end: u64,
    /// Start of the round.
    round_began_at: Time,
    /// Last transmissions of the segments of a receive window, indexed by number modulo that
    /// window.
    slots: Vec<Transmissions>,
    /// One-way only: the last transmission time of the first segment.
    clock_start: Option<Time>,

    // Growth of the window.
    /// The amount by which each ACK of this round raises the window.
    increment: f64,
    /// Whether slow start grows in this round.
    growing_round: bool,

    // Losses.
    fine: FineTimeout,
    /// Number of further ACKs of new data that check the age of the oldest segment.
    age_checks: u32,
    /// The window to return to after the duplicates: the window after the last reduction. In ns-2
    /// it is 0 after a timeout.
    target: f64,
    /// Time of the last reduction of the window.
    cut_at: Option<Time>,
    /// Whether the timer has expired, and no loss was detected by duplicates since.
    timed_out: bool,
    /// Whether the timer has just expired: the next transmission sets the time of that reduction
    /// (`cut_at`).
    dates_reduction_at_next_send: bool,
}

impl Vegas {
    pub fn new(config: &TcpConfig) -> Self {
        let segments = (config.receive_window() / config.mss()).max(1) as usize;
        Vegas {
            alpha: config.vegas_alpha,
            beta: config.vegas_beta,
            gamma: config.vegas_gamma,
            ns2_no_header: config.ns2_vegas_no_header,
            rounding: config.vegas_rounding,
            one_way: config.is_one_way(),
            initial_window: config.initial_segments(),
            slots: vec![Transmissions::default(); segments],
            base_rtt: f64::INFINITY,
            sum_rtt: 0.0,
            samples: 0,
            round_end: 0,
            round_began_at: Time::ZERO,
            increment: 0.0,
            growing_round: true,
            fine: FineTimeout::default(),
            target: 0.0,
            cut_at: None,
            age_checks: 0,
            timed_out: false,
            dates_reduction_at_next_send: false,
            clock_start: None,
        }
    }
}

impl CongestionControl for Vegas {
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck<'_>,
        initial: u32,
    ) -> Reaction {
        window.cwnd = f64::from(initial);
        self.on_new_ack(window, sent, ack)
    }

    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        self.end_duplicates(window);
        let last_acked = self.take_last(window, sent, ack);
        let is_first_sample = self.base_rtt.is_infinite();
        if is_first_sample {
            self.take_first_sample(ack);
        }
        let oldest_before_ack = sent.first_number() - u64::from(ack.segments);
        if oldest_before_ack == 1 && self.ns2_no_header {
            window.cwnd = f64::from(self.initial_window);
        }
        if sent.first_number() > self.round_end {
            self.end_round(window, sent, ack.now);
        }
        self.grow(window, sent);
        // ns-2 treats a segment sent when its clock started as not sent: the time 0 means no time.
        let has_sent_time = window.rules == Rules::Rfc5681 || last_acked.last != self.clock_start;
        if !is_first_sample && has_sent_time {
            self.measure(last_acked, ack.now);
        }
        if self.age_check_fails(window, sent, ack.now) {
            window.duplicates = DUPLICATE_THRESHOLD;
            return Reaction { resend: Resend::First, ..Reaction::NEW_ACK };
        }
        Reaction::NEW_ACK
    }

    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        // The window to return to if no loss is detected.
        if window.duplicates == 1 && window.rules == Rules::Rfc5681 {
            self.target = window.cwnd;
        }
        let Some(first) = self.first(window, sent) else { return Reaction::NOTHING };
        let is_lost = window.duplicates == DUPLICATE_THRESHOLD || self.is_overdue(first, ack.now);
        if !is_lost {
            let is_in_recovery = window.duplicates > DUPLICATE_THRESHOLD;
            if is_in_recovery {
                window.cwnd += 1.0;
            }
            return Reaction::NOTHING;
        }
        let was_caused_before_timeout = self.timed_out && ack.flight.una <= window.recover;
        if was_caused_before_timeout {
            return Reaction::NOTHING;
        }
        self.timed_out = false;
        self.fast_retransmit(window, ack, first);
        RETRANSMIT
    }

    fn on_timeout(&mut self, window: &mut Window, _sent: &mut Outstanding, flight: &Flight) {
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
        window.cwnd = MIN_WINDOW;
        self.target = if window.rules == Rules::Ns2 { 0.0 } else { window.cwnd };
        self.timed_out = true;
        self.dates_reduction_at_next_send = true;
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Selection {
        let may_be_lost = (1..DUPLICATE_THRESHOLD).contains(&window.duplicates);
        let is_window_full = sent.next() as u32 >= window.usable(advertised);
        if may_be_lost || is_window_full { Selection::Wait } else { Selection::InOrder }
    }

    #[inline]
    fn on_sent(&mut self, _selection: Selection, number: u64, now: Time) {
        if std::mem::take(&mut self.dates_reduction_at_next_send) {
            self.cut_at = Some(now);
        }
        if number == 0 && self.one_way {
            self.restart_clock(now);
        }
        let slot = self.slot(number);
        let record = &mut self.slots[slot];
        *record = Transmissions { count: record.count + 1, last: Some(now) };
    }

    /// A window below one segment is closed until the next timeout, as in ns-2.
    #[inline]
    fn needs_timer_when_empty(&self, window: &Window) -> bool {
        window.cwnd < 1.0
    }
}

/// The steps of the trait's methods, in their order, and helpers.
impl Vegas {
    /// Ends a run of duplicate ACKs: the window returns to the target.
    fn end_duplicates(&mut self, window: &mut Window) {
        if window.duplicates > DUPLICATE_THRESHOLD && window.cwnd > self.target {
            window.cwnd = self.target;
            window.ssthresh = MIN_WINDOW;
        }
        window.duplicates = 0;
    }

    /// Returns the transmissions of the segment acknowledged last, and clears the slots of all
    /// segments that the ACK covers. ns-2 clears none if the slots wrap around, so that their
    /// successors appear to have one transmission too many.
    fn take_last(&mut self, window: &Window, sent: &Outstanding, ack: &NewAck<'_>) -> Transmissions {
        if window.rules == Rules::Rfc5681 {
            return Transmissions::of_last(ack.removed);
        }
        if ack.segments == 0 {
            return Transmissions::default();
        }
        let end = sent.first_number();
        let (first, last) = (self.slot(end - u64::from(ack.segments)), self.slot(end - 1));
        let record = self.slots[last];
        if first <= last {
            self.slots[first..=last].fill(Transmissions::default());
        }
        record
    }

    /// Takes the first round-trip sample, from the last segment that the ACK covers.
    fn take_first_sample(&mut self, ack: &NewAck<'_>) {
        let sent_at = Transmissions::of_last(ack.removed).last.unwrap_or(ack.now);
        let rtt = (ack.now - sent_at).as_secs();
        self.round_began_at = sent_at;
        self.cut_at = self.cut_at.max(Some(ack.now));
        self.base_rtt = rtt;
        self.fine = FineTimeout::first(rtt);
    }

    /// Ends the round: computes the expected and the actual throughput, and adjusts the window.
    fn end_round(&mut self, window: &mut Window, sent: &Outstanding, now: Time) {
        let rtt = match self.samples {
            0 => (now - self.round_began_at).as_secs(),
            samples => self.sum_rtt / f64::from(samples),
        };
        self.sum_rtt = 0.0;
        self.samples = 0;
        let next = sent.next_number();
        let last_acked = sent.first_number() - 1;
        if rtt > 0.0 {
            let sent_in_round = next.saturating_sub(self.round_end) as f64;
            if rtt < self.base_rtt || sent_in_round <= 1.0 {
                self.base_rtt = rtt;
            }
            let actual = sent_in_round / rtt;
            let expected = next.saturating_sub(last_acked) as f64 / self.base_rtt;
            // Throughputs are in segments per second. Their difference times the minimum round-trip
            // time is the number of segments in queues.
            let queued = ((expected - actual) * self.base_rtt + self.rounding).trunc();
            self.adjust(window, queued);
        }
        self.round_end = next;
        self.round_began_at = now;
    }

    /// Adjusts the window once per round trip, or sets the increment by which each ACK of the new
    /// round raises it. `queued`: number of segments in queues.
    fn adjust(&mut self, window: &mut Window, queued: f64) {
        let Vegas { alpha, beta, gamma, .. } = *self;
        self.increment = 0.0;
        if window.cwnd < window.ssthresh {
            self.growing_round = !self.growing_round;
            if !self.growing_round {
                return;
            }
            // Slow start ends with a reduction by an eighth.
            if queued > f64::from(gamma) {
                window.ssthresh = MIN_WINDOW;
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(MIN_WINDOW);
            } else {
                self.increment = SLOW_START_INCREMENT;
            }
        } else if queued > f64::from(beta) {
            window.cwnd = (window.cwnd - 1.0).max(MIN_WINDOW);
        } else if queued < f64::from(alpha) {
            self.increment = 1.0 / window.cwnd;
        }
    }

    /// Raises the window by this round's increment, unless it is far from full: more than two
    /// segments larger than the data in flight.
    fn grow(&mut self, window: &mut Window, sent: &Outstanding) {
        let in_flight_and_next = (sent.next_number() + 1 - sent.first_number()) as f64;
        if window.cwnd - in_flight_and_next > MAX_UNUSED {
            return;
        }
        // Slow start also ends at the threshold within a round.
        if self.increment == SLOW_START_INCREMENT && window.cwnd >= window.ssthresh {
            self.increment = 0.0;
        }
        window.cwnd += self.increment;
    }

    /// Takes a round-trip sample if the segment was sent once.
    fn measure(&mut self, last: Transmissions, now: Time) {
        let Transmissions { count: 1, last: Some(sent_at) } = last else { return };
        let rtt = (now - sent_at).as_secs();
        self.sum_rtt += rtt;
        self.samples += 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.fine.sample(rtt);
    }

    /// After a retransmission, checks the age of the oldest segment at the next [`AGE_CHECKS`] ACKs
    /// of new data. Returns whether the segment is overdue. A segment that is not ends the checks.
    fn age_check_fails(&mut self, window: &Window, sent: &Outstanding, now: Time) -> bool {
        if self.age_checks == 0 {
            return false;
        }
        self.age_checks -= 1;
        let is_overdue = self.first(window, sent).is_some_and(|first| self.is_overdue(first, now));
        if !is_overdue {
            self.age_checks = 0;
        }
        is_overdue
    }

    /// Handles the loss of the oldest segment, which was sent as `first` says: lengthens the
    /// fine-grained timeout, and reduces the window.
    fn fast_retransmit(&mut self, window: &mut Window, ack: &Duplicate<'_>, first: Transmissions) {
        let is_retransmitted = first.count > 1;
        window.recover = ack.flight.max_sent;
        self.fine.timeout *= if is_retransmitted { TIMEOUT_FACTOR_REPEATED } else { TIMEOUT_FACTOR };
        self.cut(window, ack, first.last, is_retransmitted);
        if !is_retransmitted {
            window.duplicates = DUPLICATE_THRESHOLD;
        }
        self.age_checks = AGE_CHECKS;
    }

    /// Reduces the window at a fast retransmit of a segment that was last sent at `sent_at`, unless
    /// the window was already reduced after that time.
    fn cut(
        &mut self,
        window: &mut Window,
        ack: &Duplicate<'_>,
        sent_at: Option<Time>,
        is_retransmitted: bool,
    ) {
        let already_cut = self.cut_at.is_some_and(|cut_at| sent_at.is_none_or(|sent_at| cut_at >= sent_at));
        if already_cut {
            return;
        }
        // The window falls to three quarters, or to one half if the segment was retransmitted
        // before.
        let usable = window.usable(ack.flight.advertised);
        self.target = f64::from(match usable {
            ..=3 => 2,
            usable if is_retransmitted => usable / 2,
            usable => usable - usable / 4,
        });
        window.cwnd = self.target + f64::from(window.duplicates);
        self.cut_at = Some(ack.now);
    }

    /// Restarts ns-2's clock at zero, because the first segment is sent or sent again. The time of
    /// the last reduction keeps its value on this clock.
    fn restart_clock(&mut self, now: Time) {
        if let (Some(before), Some(cut_at)) = (self.clock_start, self.cut_at) {
            self.cut_at = Some(now + (cut_at - before));
        }
        self.slots.fill(Transmissions::default());
        self.clock_start = Some(now);
    }

    /// The transmissions of the oldest outstanding segment. `None` if it was never sent.
    fn first(&self, window: &Window, sent: &Outstanding) -> Option<Transmissions> {
        match window.rules {
            Rules::Ns2 => Some(self.slots[self.slot(sent.first_number())]),
            Rules::Rfc5681 => sent.first().copied().map(Transmissions::of),
        }
    }

    /// Whether the oldest outstanding segment is older than the fine-grained timeout.
    fn is_overdue(&self, first: Transmissions, now: Time) -> bool {
        first.last.is_none_or(|sent_at| (now - sent_at).as_secs() >= self.fine.timeout)
    }

    /// The index in `slots` of the segment with this number.
    fn slot(&self, number: u64) -> usize {
        (number % self.slots.len() as u64) as usize
    }
}

/// Number of transmissions of a segment, and the time of the last one.
#[derive(Debug, Clone, Copy, Default)]
struct Transmissions {
    count: u32,
    last: Option<Time>,
}

impl Transmissions {
    fn of(sent: Sent) -> Self {
        Transmissions { count: u32::from(sent.transmissions), last: Some(sent.sent_at) }
    }

    /// The transmissions of the last segment that an ACK covers. Without a time if it covers none.
    fn of_last(removed: &Acknowledged) -> Self {
        let last = (removed.segments > 0).then_some(removed.last_sent_at);
        Transmissions { count: u32::from(removed.last_transmissions), last }
    }
}

/// The fine-grained timeout from exact round-trip samples, in seconds: the mean plus twice the mean
/// deviation, and a sixteenth more from the second sample on.
#[derive(Debug, Clone, Copy, Default)]
struct FineTimeout {
    /// 8 times the mean round-trip time.
    mean8: f64,
    /// 4 times the mean deviation.
    deviation4: f64,
    timeout: f64,
}

impl FineTimeout {
    /// The state after the first round-trip sample: the deviation is a quarter of it.
    fn first(rtt: f64) -> Self {
        let mean8 = 8.0 * rtt;
        let deviation4 = rtt;
        FineTimeout { mean8, deviation4, timeout: mean_and_two_deviations(mean8, deviation4) }
    }

    /// Takes a further round-trip sample. The gains are 1/8 for the mean and 1/4 for the deviation.
    fn sample(&mut self, rtt: f64) {
        let difference = rtt - self.mean8 / 8.0;
        self.mean8 += difference;
        self.deviation4 += difference.abs() - self.deviation4 / 4.0;
        let timeout = mean_and_two_deviations(self.mean8, self.deviation4);
        self.timeout = timeout + timeout / 16.0;
    }
}

/// (2 mean + 4 deviation) / 2, in the order of ns-2's floating-point operations.
fn mean_and_two_deviations(mean8: f64, deviation4: f64) -> f64 {
    (mean8 / 4.0 + deviation4) / 2.0
}
