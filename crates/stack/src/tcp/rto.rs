//! The retransmission timeout (RTO) of a sender, computed from round-trip time samples. Three rules
//! are available: RFC 6298, Linux, and ns-2 (BSD with whole clock ticks). Each rule keeps the
//! smoothed round-trip time (SRTT) and the deviation (RTTVAR), and RTO = SRTT + 4 RTTVAR within a
//! minimum and a maximum, times the back-off factor. Registers of Linux and ns-2 hold 8 SRTT and 4
//! RTTVAR as integers (`srtt8`, `rttvar4`), so that shifts by 3 and by 2 are divisions by 8 and 4.
//!
//! The back-off factor is kept until a segment that was sent once has been timed (Karn's rule, RFC
//! 6298 §3 and §5). An ACK of a retransmission gives no valid sample. Clearing the factor on it
//! would cause repeated spurious timeouts.

use umts_units::{Duration, Time};

use super::config::{RtoRule, TcpConfig};

/// The timeout with which data transmission begins after a lost SYN (RFC 6298 §5.7).
const TIMEOUT_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// ns-2: the back-off factor from which it is no longer doubled beyond the maximum timeout.
const NS2_MAX_BACKOFF: u32 = 64;
/// ns-2: the largest back-off factor with which the SRTT is trusted.
const NS2_TRUSTED_BACKOFF: u32 = 8;
/// ns-2: the deviation before the first sample, 4 RTTVAR.
const NS2_INITIAL_RTTVAR4: Duration = Duration::from_secs(48);

/// Smoothed round-trip time, its deviation, and the resulting timeout.
#[derive(Debug, Clone)]
pub struct RttEstimator {
    rule: Rule,
    /// The timeout before bounds and back-off.
    base: Duration,
    /// Minimum of `base`. 0 with Linux's rule, where the minimum is a bound on the deviation.
    min: Duration,
    /// The back-off factor. Each expiry of the timer doubles it.
    backoff: u32,
    /// Maximum of the timeout with back-off.
    max: Duration,
}

/// The rule for the timeout, with its state.
#[derive(Debug, Clone)]
enum Rule {
    Rfc6298(Rfc6298),
    Ns2(Ns2),
    Linux(Linux),
}

/// The smoothed round-trip time and its deviation at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RttRegisters {
    pub srtt: Duration,
    pub rttvar: Duration,
}

impl RttEstimator {
    /// An estimator without samples.
    pub fn new(config: &TcpConfig) -> Self {
        let rule = match config.rto_rule {
            RtoRule::Rfc6298 => Rule::Rfc6298(Rfc6298::new(config)),
            RtoRule::Ns2 => Rule::Ns2(Ns2::new(config)),
            RtoRule::Linux => Rule::Linux(Linux::new(config)),
        };
        let min = if config.rto_rule == RtoRule::Linux { Duration::ZERO } else { config.rto_min };
        RttEstimator { rule, base: config.rto_initial, min, backoff: 1, max: config.rto_max }
    }

    /// Takes a sample from a segment sent once at `sent` and acknowledged at `now`. Ends the
    /// back-off.
    pub fn sample(&mut self, sent: Time, now: Time) {
        self.backoff = 1;
        self.sample_echo(sent, now);
    }

    /// Takes a sample from an echoed timestamp (RFC 7323 §4 and appendix G). A round trip has about
    /// `samples_per_round_trip` of them, and each has a smaller weight accordingly. Ends the
    /// back-off.
    pub fn sample_often(&mut self, rtt: Duration, samples_per_round_trip: u32) {
        self.backoff = 1;
        self.base = match &mut self.rule {
            Rule::Rfc6298(rule) => rule.sample(rtt, u64::from(samples_per_round_trip)),
            Rule::Ns2(rule) => rule.sample(Time::ZERO, Time::ZERO + rtt),
            Rule::Linux(rule) => rule.sample(rtt),
        };
    }

    /// Takes a sample from the echo at `now` of a segment sent at `sent`. Keeps the back-off.
    pub fn sample_echo(&mut self, sent: Time, now: Time) {
        self.base = match &mut self.rule {
            Rule::Rfc6298(rule) => rule.sample(now - sent, 1),
            Rule::Ns2(rule) => rule.sample(sent, now),
            Rule::Linux(rule) => rule.sample(now - sent),
        };
    }

    /// Doubles the next timeout after an expiry, up to the maximum (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        // ns-2 doubles the factor even if the timeout has reached its maximum.
        let may_exceed_max = matches!(self.rule, Rule::Ns2(_)) && self.backoff < NS2_MAX_BACKOFF;
        if may_exceed_max || self.timeout() < self.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if let Rule::Ns2(rule) = &mut self.rule
            && self.backoff > NS2_TRUSTED_BACKOFF
        {
            rule.discard_srtt();
        }
    }

    /// Resets the back-off factor to 1.
    pub fn end_back_off(&mut self) {
        self.backoff = 1;
    }

    /// Ends the back-off after a handshake in which a SYN was lost, and sets the timeout to at
    /// least 3 s, as RFC 6298 §5.7 requires when data transmission begins. Has no effect if a round
    /// trip was measured, and with ns-2's rule, which keeps the back-off.
    pub fn restart_after_lost_syn(&mut self) {
        let is_unmeasured = match &self.rule {
            Rule::Rfc6298(rule) => rule.srtt.is_zero(),
            Rule::Linux(rule) => rule.srtt8 == 0,
            Rule::Ns2(_) => false,
        };
        if is_unmeasured {
            self.backoff = 1;
            self.base = self.base.max(TIMEOUT_AFTER_LOST_SYN);
        }
    }

    /// The retransmission timeout with bounds and back-off.
    #[inline]
    pub fn timeout(&self) -> Duration {
        let backed_off_ns = self.base.max(self.min).as_nanos().saturating_mul(u64::from(self.backoff));
        let timeout = Duration::from_nanos(backed_off_ns.min(self.max.as_nanos()));
        match &self.rule {
            Rule::Rfc6298(_) | Rule::Linux(_) => timeout,
            Rule::Ns2(rule) => timeout.max(rule.tick * 2),
        }
    }

    /// The smoothed round-trip time. Zero before the first sample.
    pub fn srtt(&self) -> Duration {
        match &self.rule {
            Rule::Rfc6298(rule) => rule.srtt,
            Rule::Ns2(rule) => rule.smoothed,
            Rule::Linux(rule) => Duration::from_nanos((rule.srtt8 / 8) as u64),
        }
    }

    /// ns-2's registers `(8 SRTT, 4 RTTVAR)` in clock ticks. `None` for other rules.
    pub fn ns2_registers(&self) -> Option<(i64, i64)> {
        match &self.rule {
            Rule::Ns2(rule) => Some((rule.srtt8, rule.rttvar4)),
            _ => None,
        }
    }

    /// Sets SND.UNA and SND.NXT. Call it before each sample. Linux's rule needs them to recognise
    /// the end of a window of data, because its deviation falls once per window.
    #[inline]
    pub fn set_progress(&mut self, una: u64, max_sent: u64) {
        if let Rule::Linux(rule) = &mut self.rule {
            (rule.una, rule.max_sent) = (una, max_sent);
        }
    }

    /// SRTT and RTTVAR to store at a timeout (RFC 4015 §3.2, step 0). With the rule of RFC 6298,
    /// SRTT is increased by twice the granularity. `None` without a sample, and for ns-2's rule.
    pub fn registers(&self) -> Option<RttRegisters> {
        match &self.rule {
            Rule::Rfc6298(rule) if !rule.srtt.is_zero() => {
                Some(RttRegisters { srtt: rule.srtt + rule.granularity * 2, rttvar: rule.rttvar })
            }
            Rule::Linux(rule) if rule.srtt8 > 0 => Some(RttRegisters {
                srtt: self.srtt(),
                rttvar: Duration::from_nanos((rule.rttvar4 / 4) as u64),
            }),
            _ => None,
        }
    }

    /// Takes the first round trip after a spurious timeout. SRTT becomes the larger of `before` and
    /// `rtt`, RTTVAR the larger of `before` and `rtt / 2` (RFC 4015 §3.2, step 6).
    pub fn adapt_after_spurious_timeout(&mut self, before: RttRegisters, rtt: Duration) {
        let srtt = before.srtt.max(rtt);
        let rttvar = before.rttvar.max(Duration::from_nanos(rtt.as_nanos() / 2));
        self.base = match &mut self.rule {
            Rule::Rfc6298(rule) => {
                (rule.srtt, rule.rttvar) = (srtt, rttvar);
                rule.timeout()
            }
            Rule::Linux(rule) => {
                rule.srtt8 = 8 * srtt.as_nanos() as i64;
                rule.rttvar4 = (4 * rttvar.as_nanos() as i64).max(rule.min);
                rule.timeout()
            }
            Rule::Ns2(_) => return,
        };
    }

    /// The factor on the timeout: 1, or a power of 2 after expiries.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

/// RFC 6298 §2, alpha 1/8, beta 1/4, K 4.
#[derive(Debug, Clone)]
struct Rfc6298 {
    /// Zero before the first sample.
    srtt: Duration,
    rttvar: Duration,
    /// Granularity of the clock (G), the minimum of 4 RTTVAR in the timeout.
    granularity: Duration,
}

impl Rfc6298 {
    fn new(config: &TcpConfig) -> Self {
        Rfc6298 { srtt: Duration::ZERO, rttvar: Duration::ZERO, granularity: config.rto_granularity }
    }

    /// Takes a sample and returns the timeout. The gains alpha and beta are divided by the number
    /// of samples per round trip.
    fn sample(&mut self, rtt: Duration, samples_per_round_trip: u64) -> Duration {
        if self.srtt.is_zero() {
            // §2.2
            self.srtt = rtt.max(Duration::from_nanos(1));
            self.rttvar = Duration::from_nanos(rtt.as_nanos() / 2);
        } else {
            self.average(rtt, samples_per_round_trip);
        }
        self.timeout()
    }

    /// §2.3: RTTVAR = (1 - beta) RTTVAR + beta |SRTT - RTT|, with the old SRTT, and then SRTT = (1
    /// - alpha) SRTT + alpha RTT.
    fn average(&mut self, rtt: Duration, samples_per_round_trip: u64) {
        let (srtt, rttvar, rtt) = (self.srtt.as_nanos(), self.rttvar.as_nanos(), rtt.as_nanos());
        // 1 / beta and 1 / alpha.
        let per_beta = 4 * samples_per_round_trip;
        let per_alpha = 8 * samples_per_round_trip;
        self.rttvar = Duration::from_nanos(((per_beta - 1) * rttvar + srtt.abs_diff(rtt)) / per_beta);
        self.srtt = Duration::from_nanos((((per_alpha - 1) * srtt + rtt) / per_alpha).max(1));
    }

    fn timeout(&self) -> Duration {
        self.srtt + (self.rttvar * 4).max(self.granularity)
    }
}

/// ns-2's estimator, which follows BSD: whole clock ticks and integer shifts.
#[derive(Debug, Clone)]
struct Ns2 {
    /// 8 SRTT in ticks. 0: the next sample is handled as the first one.
    srtt8: i64,
    /// 4 RTTVAR in ticks.
    rttvar4: i64,
    /// Tick of the clock.
    tick: Duration,
    /// Time since the last tick at the start of the run.
    phase: Duration,
    /// SRTT at the last sample, for reports.
    smoothed: Duration,
}

impl Ns2 {
    fn new(config: &TcpConfig) -> Self {
        let tick = config.rto_granularity.max(Duration::from_nanos(1));
        Ns2 {
            srtt8: 0,
            rttvar4: (NS2_INITIAL_RTTVAR4 / tick) as i64,
            tick,
            phase: config.rto_clock_phase,
            smoothed: Duration::ZERO,
        }
    }

    /// Number of tick boundaries between `sent` and `now`, at least 1.
    fn ticks(&self, sent: Time, now: Time) -> i64 {
        let into_tick = (sent + self.phase) % self.tick;
        (((now - sent) + into_tick) / self.tick).max(1) as i64
    }

    /// Takes a sample and returns the timeout.
    fn sample(&mut self, sent: Time, now: Time) -> Duration {
        let ticks = self.ticks(sent, now);
        if self.srtt8 == 0 {
            // SRTT = RTT, RTTVAR = RTT / 2.
            self.srtt8 = ticks << 3;
            self.rttvar4 = ticks << 1;
        } else {
            // SRTT += error / 8, RTTVAR += (|error| - RTTVAR) / 4.
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.rttvar4 = (self.rttvar4 + error.abs() - (self.rttvar4 >> 2)).max(1);
        }
        self.smoothed = Duration::from_nanos(self.srtt8 as u64 * self.tick.as_nanos() / 8);
        // SRTT + 4 RTTVAR, rounded down to whole ticks.
        self.tick * (((self.rttvar4 << 3) + self.srtt8) >> 3) as u64
    }

    /// Discards the SRTT and adds it to `rttvar4`, which leaves the timeout unchanged, because a
    /// back-off factor above 8 casts doubt on it. The next sample is processed like the first one.
    fn discard_srtt(&mut self) {
        self.rttvar4 += self.srtt8 >> 3;
        self.srtt8 = 0;
    }
}

/// Linux (2.4 and later, `tcp_rtt_estimator`), in nanoseconds instead of jiffies or microseconds.
///
/// Besides the mean deviation it keeps the largest deviation within a window of data, which is at
/// least the minimum timeout. The deviation in use rises at once, but falls once per window, by a
/// quarter of the difference. If a round trip is shorter than expected, an increase of the
/// deviation counts an eighth, so that the timeout does not grow because the path became faster.
#[derive(Debug, Clone)]
struct Linux {
    /// 8 times SRTT, in ns. 0: no sample yet.
    srtt8: i64,
    /// 4 times the mean deviation, in ns.
    mdev4: i64,
    /// Maximum of `mdev4` in this window, at least `min`.
    mdev4_max: i64,
    /// 4 times the deviation in use, in ns.
    rttvar4: i64,
    /// Minimum of `rttvar4`: the configured minimum timeout, in ns.
    min: i64,
    /// The window ends when this sequence number is acknowledged.
    round_end: u64,
    /// The oldest unacknowledged sequence number.
    una: u64,
    /// The sequence number after the highest one sent.
    max_sent: u64,
}

impl Linux {
    fn new(config: &TcpConfig) -> Self {
        let min = config.rto_min.as_nanos() as i64;
        Linux { srtt8: 0, mdev4: 0, mdev4_max: 0, rttvar4: 0, min, round_end: 0, una: 0, max_sent: 0 }
    }

    /// Takes a sample and returns the timeout.
    fn sample(&mut self, rtt: Duration) -> Duration {
        let rtt = (rtt.as_nanos() as i64).max(1);
        if self.srtt8 == 0 {
            self.take_first_sample(rtt);
        } else {
            let error = rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(8);
            self.update_deviation(error);
            let window_is_over = self.una > self.round_end;
            if window_is_over {
                self.end_window();
            }
        }
        self.timeout()
    }

    /// SRTT = RTT, deviation = RTT / 2.
    fn take_first_sample(&mut self, rtt: i64) {
        self.srtt8 = rtt << 3;
        self.mdev4 = rtt << 1;
        self.rttvar4 = self.mdev4.max(self.min);
        self.mdev4_max = self.rttvar4;
        self.round_end = self.max_sent;
    }

    /// Updates the mean deviation by the difference of a sample from SRTT. The deviation in use
    /// follows at once if the mean deviation exceeds its maximum of this window.
    fn update_deviation(&mut self, error: i64) {
        let change = error.abs() - (self.mdev4 >> 2);
        let is_shorter_than_expected = error < 0 && change > 0;
        self.mdev4 += if is_shorter_than_expected { change >> 3 } else { change };
        if self.mdev4 > self.mdev4_max {
            self.mdev4_max = self.mdev4;
            self.rttvar4 = self.rttvar4.max(self.mdev4_max);
        }
    }

    /// Lowers the deviation in use by a quarter of its distance from the maximum of this window,
    /// and begins the next window.
    fn end_window(&mut self) {
        self.rttvar4 -= (self.rttvar4 - self.mdev4_max).max(0) >> 2;
        self.round_end = self.max_sent;
        self.mdev4_max = self.min;
    }

    fn timeout(&self) -> Duration {
        Duration::from_nanos(((self.srtt8 >> 3) + self.rttvar4) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn estimator(rule: RtoRule) -> RttEstimator {
        let config = TcpConfig {
            rto_initial: ms(3000),
            rto_min: ms(200),
            rto_max: ms(60_000),
            rto_granularity: ms(10),
            rto_rule: rule,
            ..TcpConfig::default()
        };
        RttEstimator::new(&config)
    }

    fn time(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn rfc6298_follows_its_equations() {
        let mut estimator = estimator(RtoRule::Rfc6298);
        assert_eq!(estimator.timeout(), ms(3000));
        estimator.sample(time(0), time(800));
        // SRTT = 800, RTTVAR = 800 / 2 = 400; timeout = SRTT + 4 RTTVAR = 2400.
        assert_eq!(estimator.srtt(), ms(800));
        assert_eq!(estimator.timeout(), ms(2400));
        estimator.sample(time(1000), time(1400));
        // RTTVAR = 3/4 · 400 + 1/4 · |800 - 400| = 400; SRTT = 7/8 · 800 + 1/8 · 400 = 750.
        assert_eq!(estimator.srtt(), ms(750));
        assert_eq!(estimator.timeout(), ms(2350));
    }

    /// After many equal samples RTTVAR has fallen to 0.
    #[test]
    fn constant_rtt_leaves_the_granularity() {
        let config = TcpConfig { rto_granularity: ms(100), rto_min: ms(1), ..TcpConfig::default() };
        let mut estimator = RttEstimator::new(&config);
        (0..100).for_each(|i| estimator.sample(time(1000 * i), time(1000 * i + 400)));
        // SRTT + G = 400 ms + 100 ms.
        assert_eq!(estimator.timeout(), ms(500));
    }

    #[test]
    fn timeout_is_at_least_the_minimum() {
        let mut estimator = RttEstimator::new(&TcpConfig { rto_min: ms(1000), ..TcpConfig::default() });
        // SRTT + 4 RTTVAR = 100 + 4 · 50 = 300 ms.
        estimator.sample(time(0), time(100));
        assert_eq!(estimator.timeout(), ms(1000));
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum_and_ends_with_a_sample() {
        for rule in [RtoRule::Rfc6298, RtoRule::Ns2] {
            let mut estimator = estimator(rule);
            let mut timeouts = Vec::new();
            for _ in 0..6 {
                timeouts.push(estimator.timeout());
                estimator.back_off();
            }
            assert_eq!(timeouts, [3000, 6000, 12_000, 24_000, 48_000, 60_000].map(ms));
            // SRTT 100 ms, RTTVAR 50 ms: the timeout is 100 ms + 4 · 50 ms.
            estimator.sample(time(0), time(100));
            assert_eq!(estimator.backoff(), 1);
            assert_eq!(estimator.timeout(), ms(300));
        }
    }

    /// Linux's estimator after a first round trip of 400 ms, in a window from 1 to 1001.
    fn linux_after_first_sample() -> RttEstimator {
        let mut estimator = estimator(RtoRule::Linux);
        estimator.set_progress(1, 1001);
        estimator.sample(time(0), time(400));
        estimator
    }

    /// Linux's estimator after many windows of data with round trips of 400 ms.
    fn linux_after_constant_round_trips() -> RttEstimator {
        let mut estimator = linux_after_first_sample();
        for window in 2..60 {
            estimator.set_progress(1000 * window + 3, 1000 * window + 1002);
            estimator.sample(time(0), time(400));
        }
        estimator
    }

    #[test]
    fn linux_begins_with_a_deviation_of_half_the_round_trip() {
        let estimator = linux_after_first_sample();
        assert_eq!(estimator.srtt(), ms(400));
        // SRTT + 4 · 400 / 2.
        assert_eq!(estimator.timeout(), ms(1200));
    }

    /// Equal round trips lower the mean deviation by a quarter each time, but the deviation in use
    /// waits for the end of the window. In the first window 4 mdev was at most 800 ms, its first
    /// value, so that the end of this window does not lower it either.
    #[test]
    fn linux_keeps_the_deviation_within_the_first_window() {
        let mut estimator = linux_after_first_sample();
        estimator.set_progress(501, 1501);
        estimator.sample(time(0), time(400));
        assert_eq!(estimator.timeout(), ms(1200), "within the window");
        estimator.set_progress(1002, 2002);
        estimator.sample(time(0), time(400));
        assert_eq!(estimator.timeout(), ms(1200), "at the end of the window");
    }

    /// Even with constant round trips the timeout is at least SRTT + `rto_min` = 400 + 200 ms. The
    /// rule of RFC 6298 would give SRTT + G = 400 + 10 ms.
    #[test]
    fn linux_bounds_the_deviation_by_the_minimum() {
        let estimator = linux_after_constant_round_trips();
        assert_eq!(estimator.timeout().as_nanos() / 1_000_000, 600);
    }

    #[test]
    fn linux_raises_the_timeout_only_for_longer_round_trips() {
        let mut estimator = linux_after_constant_round_trips();
        // A shorter round trip lowers only SRTT: to 400 - 200 / 8 = 375 ms.
        estimator.sample(time(0), time(200));
        assert!(estimator.timeout() < ms(600));
        // A longer one raises the timeout at once: SRTT = 375 + 425 / 8 = 428 ms and mdev = 111 ms
        // give 428 + 4 · 111 = 872 ms.
        estimator.sample(time(0), time(800));
        assert!(estimator.timeout() > ms(800), "{:?}", estimator.timeout());
    }

    #[test]
    fn spurious_timeout_makes_the_timer_conservative() {
        for rule in [RtoRule::Rfc6298, RtoRule::Linux] {
            let mut estimator = estimator(rule);
            estimator.sample(time(0), time(400));
            let before = estimator.registers().expect("a sample");
            estimator.adapt_after_spurious_timeout(before, ms(2000));
            // SRTT 2 s, RTTVAR 1 s: the timeout is 2 s + 4 · 1 s.
            assert_eq!(estimator.timeout(), ms(6000), "{rule:?}");
        }
    }

    #[test]
    fn lost_syn_sets_the_timeout_to_three_seconds() {
        let config = TcpConfig::default();
        let mut estimator = RttEstimator::new(&config);
        estimator.back_off();
        estimator.restart_after_lost_syn();
        assert_eq!(estimator.timeout(), ms(3000));
    }

    /// The first two rows of a run of ns 2.35 (`golden/f1_w20_d3__Reno.csv`), with ticks of 10 ms:
    /// 8 SRTT is 160 and then 161 ticks, 4 RTTVAR is 40 and then 31 ticks. The timeout is SRTT + 4
    /// RTTVAR, truncated to whole ticks: 20 + 40 = 60 and then 20.1 + 31 = 51 ticks.
    #[test]
    fn ns2_counts_crossed_clock_ticks() {
        let clock_phase = Duration::from_nanos(7_663_544);
        let config =
            TcpConfig { rto_granularity: ms(10), rto_clock_phase: clock_phase, ..TcpConfig::default() };
        let mut estimator = Ns2::new(&config);
        assert_eq!(estimator.sample(time(0), Time::from_nanos(200_800_000)), ms(600));
        assert_eq!(estimator.srtt8, 160);
        assert_eq!(estimator.rttvar4, 40);
        let base = estimator.sample(Time::from_nanos(200_800_000), Time::from_nanos(411_600_000));
        assert_eq!(estimator.srtt8, 161);
        assert_eq!(estimator.rttvar4, 31);
        assert_eq!(base, ms(510));
    }

    #[test]
    fn ns2_adds_srtt_to_the_deviation_after_much_back_off() {
        let mut estimator = estimator(RtoRule::Ns2);
        estimator.sample(time(0), time(400));
        (0..4).for_each(|_| estimator.back_off());
        // The sample of 40 ticks gives SRTT = 40 and 4 RTTVAR = 80. The fourth back-off (factor 16)
        // adds SRTT to 4 RTTVAR. The timeout is 16 times the 120 ticks of the sample.
        let Rule::Ns2(rule) = &estimator.rule else { unreachable!("the estimator has ns-2's rule") };
        assert_eq!(rule.srtt8, 0);
        assert_eq!(rule.rttvar4, 80 + 40);
        assert_eq!(estimator.timeout(), ms(1200 * 16));
        assert_eq!(estimator.srtt(), ms(400));
        // The next sample, of 10 ticks, counts as a first one: the timeout is 10 + 2 · 10 ticks.
        estimator.sample(time(0), time(100));
        assert_eq!(estimator.timeout(), ms(300));
    }
}
