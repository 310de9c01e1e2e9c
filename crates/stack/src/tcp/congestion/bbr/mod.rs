//! BBR version 1 (Cardwell, Cheng, Yeganeh and Jacobson:
//! draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! The sender keeps a model of the path: the maximum delivery rate of the last ten round trips
//! (BtlBw) and the minimum round-trip time of the last ten seconds (RTprop). It paces at a multiple
//! of BtlBw and keeps a multiple of their product in flight. Losses do not change the model.
//!
//! ```text
//!   Startup ──rate stopped growing──► Drain ──queue is gone──► ProbeBW ──────┐
//!    2.89 · BtlBw     for 3 rounds     /2.89                   1.25, 0.75, 1 … │ RTprop 10 s old
//!      ▲                                                          ▲        ▼
//!      └──────────── if the pipe was never full ─────────────── ProbeRTT: 4 segments for 200 ms
//! ```
//!
//! [`WindowLaw::after_ack`] is the main function: each acknowledgment updates the model and the
//! state machine, and then sets the pacing rate and cwnd.
//!
//! Loss detection and retransmission are as in the other variants. A retransmitted segment counts
//! as lost. The model of policers is not part of the draft but of Linux ([`policer`]). Left out:
//! the reduction of cwnd by each loss in recovery (§4.2.3.4), because the first round of a recovery
//! sends no more than arrives anyway. The initial phase of ProbeBW is derived from the number of
//! the connection instead of a random number, so that runs are reproducible.

mod filters;
mod policer;

use umts_units::{Duration, Time};

use super::law::{LawAck, Loss, SenderState, Transmission, WindowLaw};
use super::rate::{RateSample, RateSampler};
use filters::{MaxRate, Rounds};
use policer::{Policer, Progress};

/// 2/ln 2: the smallest gain that doubles the rate in each round.
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Gain of the window in ProbeBW.
const CWND_GAIN: f64 = 2.0;
/// Pacing gains of a ProbeBW cycle.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Time after which the minimum round-trip time expires.
const RTPROP_AGE: Duration = Duration::from_secs(10);
/// Minimum time for which ProbeRTT keeps the window small.
const PROBE_RTT: Duration = Duration::from_millis(200);
/// The window of ProbeRTT and the minimum window, in segments.
const MIN_WINDOW: f64 = 4.0;
/// Factor by which the rate must grow in a round of Startup. Otherwise the round counts as flat.
const MIN_GROWTH: f64 = 1.25;
/// Number of flat rounds that end Startup.
const FLAT_ROUNDS: u32 = 3;
/// The round-trip time assumed before the handshake has been timed, in s.
const NOMINAL_RTT_S: f64 = 0.001;
/// Linear congruential generator of the initial phases: any multiplier of the form 4 n + 1 and odd
/// increment have the full period of 2³² (Hull and Dobell).
const LCG_MULTIPLIER: u32 = 0x9e37_79b1;
const LCG_INCREMENT: u32 = 0x7f4a_7c15;
/// Bursts for which the data in flight has room beyond the bandwidth-delay product, because the two
/// hosts send and acknowledge whole bursts (§4.2.3.2).
const BURSTS_IN_FLIGHT: f64 = 3.0;

/// The state of BBR's state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Doubles the rate in each round.
    Startup,
    /// Drains the queue that Startup has built.
    Drain,
    /// Cycles through gains around 1.
    ProbeBw,
    /// Drains all queues to measure the minimum round-trip time.
    ProbeRtt,
}

/// BBR's state. Rates are in bytes per second, windows in segments.
#[derive(Debug, Clone)]
pub struct Bbr {
    // Constants of the connection.
    /// Payload of a full segment, in bytes.
    mss: f64,
    initial_window: f64,

    // Model of the path.
    sampler: RateSampler,
    rates: MaxRate,
    policer: Policer,
    /// The minimum round-trip time.
    rtprop: Option<Duration>,
    /// Time at which `rtprop` was measured.
    rtprop_at: Time,
    rounds: Rounds,
    /// Segments in flight before the current ACK.
    prior_flight: f64,

    // State machine.
    mode: Mode,
    /// Startup: the rate at the last round with sufficient growth (§4.3.2.2).
    full_rate: f64,
    /// Startup: number of rounds without sufficient growth since `full_rate` was set.
    full_rounds: u32,
    /// Whether the rate has stopped growing, which ends Startup.
    filled_pipe: bool,
    /// ProbeBW: the phase, an index into [`CYCLE`].
    cycle_index: usize,
    /// ProbeBW: start of this phase.
    cycle_at: Time,
    /// State of the pseudorandom sequence that selects the initial phases of ProbeBW.
    phase_seed: u32,
    /// ProbeRTT: its earliest end, set once the data in flight has fallen to the small window.
    probe_rtt_until: Option<Time>,
    /// ProbeRTT: whether a round has passed since `probe_rtt_until` was set.
    probe_rtt_round_done: bool,
    /// Sending has restarted after a pause, and no ACK has arrived since.
    idle_restart: bool,

    // Losses.
    recovery: Option<Recovery>,
    /// A loss was detected since the last ACK.
    loss_seen: bool,

    // Output.
    pacing_gain: f64,
    pacing_rate: f64,
    cwnd_gain: f64,
    cwnd: f64,
    /// The window before a loss or ProbeRTT.
    prior_cwnd: f64,
}

/// A recovery of lost segments. It does not affect the model.
#[derive(Debug, Clone, Copy)]
struct Recovery {
    /// Number of the segment after the last one sent when the recovery began. `None` until the ACK
    /// that detected the loss is processed.
    until: Option<u64>,
    /// Packet conservation, in the first round: no more is sent than has arrived.
    conserves: bool,
}

impl Bbr {
    /// The state at the start of a connection with segments of `mss` bytes. `phase_seed` seeds the
    /// initial phases of ProbeBW and should differ between connections.
    pub fn new(mss: u32, initial_window: u32, phase_seed: u32) -> Self {
        let (mss, initial_window) = (f64::from(mss), f64::from(initial_window));
        Bbr {
            mss,
            initial_window,
            sampler: RateSampler::default(),
            rates: MaxRate::default(),
            policer: Policer::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            rounds: Rounds::default(),
            prior_flight: 0.0,
            mode: Mode::Startup,
            full_rate: 0.0,
            full_rounds: 0,
            filled_pipe: false,
            cycle_index: 0,
            cycle_at: Time::ZERO,
            phase_seed,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            recovery: None,
            loss_seen: false,
            pacing_gain: HIGH_GAIN,
            pacing_rate: HIGH_GAIN * initial_window * mss / NOMINAL_RTT_S,
            cwnd_gain: HIGH_GAIN,
            cwnd: initial_window,
            prior_cwnd: 0.0,
        }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// BtlBw, or the rate of a policer, in bytes per second. 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.rates.get())
    }

    /// The rate of a policer, in bytes per second, if one was detected.
    pub fn policed_rate(&self) -> Option<f64> {
        self.policer.rate()
    }
}

impl WindowLaw for Bbr {
    fn on_ack(&mut self, _ack: &LawAck) {}

    fn on_round_trip(&mut self, rtt: Duration) {
        // §4.2.1: the first rate is the initial window over the round trip of the handshake.
        if self.rtprop.is_none() && !rtt.is_zero() {
            self.pacing_rate = HIGH_GAIN * self.initial_window * self.mss / rtt.as_secs();
        }
    }

    fn grow(&mut self, cwnd: f64, _ssthresh: f64) -> f64 {
        cwnd
    }

    fn reduce(&mut self, _cwnd: f64, load: f64, loss: Loss) -> f64 {
        self.save_cwnd();
        self.loss_seen = true;
        self.recovery = Some(Recovery { until: None, conserves: loss == Loss::Acks });
        if loss == Loss::Timeout {
            self.cwnd = 1.0;
        }
        load
    }

    fn undo(&mut self) {
        self.recovery = None;
        self.policer.reset();
        self.restore_cwnd();
    }

    fn on_sent(&mut self, transmission: &Transmission) {
        let Transmission { now, number, payload, idle } = *transmission;
        if idle && self.sampler.is_app_limited() {
            // §4.3.4.5: after a pause the queue is empty, so no gain is needed.
            self.idle_restart = true;
            if self.mode == Mode::ProbeBw {
                self.set_pacing_rate(1.0);
            }
        }
        self.sampler.on_sent(number, payload, idle, now);
    }

    fn on_nothing_to_send(&mut self, flight: u64) {
        self.sampler.limit_by_application(flight);
    }

    /// Updates the model (bandwidth and minimum round trip) and the state machine, then sets the
    /// pacing rate and cwnd.
    fn after_ack(&mut self, state: &SenderState<'_>) -> Option<f64> {
        let now = state.now;
        let sample = self.sampler.sample(state.sent, self.rtprop, now);
        let flight = state.sent.in_flight().saturating_sub(state.inflation as usize) as f64;
        let delivered = sample.newly_delivered as f64 / self.mss;
        self.prior_flight = flight + delivered;
        self.rounds.update(&sample, self.sampler.delivered());
        self.detect_policer(&sample, now);
        self.update_rate(&sample);
        self.check_cycle(now);
        self.check_full_pipe(&sample);
        self.check_drain(flight, now);
        let rtprop_has_expired = self.update_rtprop(&sample, now);
        self.check_probe_rtt(rtprop_has_expired, flight, now);
        self.check_recovery(state, flight);
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(delivered, flight);
        self.loss_seen = false;
        Some(self.cwnd)
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }
}

/// The steps of [`WindowLaw::after_ack`], in their order.
impl Bbr {
    /// Updates the detection of policers (see [`policer`]).
    fn detect_policer(&mut self, sample: &RateSample, now: Time) {
        let was_policed = self.policer.rate().is_some();
        let is_over = self.policer.on_ack(&Progress {
            delivered_at: self.sampler.delivered_at(),
            delivered: self.sampler.delivered(),
            lost: self.sampler.retransmitted(),
            round_began: self.rounds.just_began(),
            app_limited: sample.app_limited,
            probes: self.mode == Mode::ProbeBw,
        });
        if is_over {
            self.enter_probe_bw(now);
        } else if !was_policed && self.policer.rate().is_some() && self.mode == Mode::ProbeBw {
            self.pacing_gain = 1.0;
        }
    }

    /// §4.1.1: adds a rate to the maximum filter. A rate that the application limited counts only
    /// if it is a new maximum.
    fn update_rate(&mut self, sample: &RateSample) {
        let Some(rate) = sample.rate else { return };
        if !sample.app_limited || rate >= self.rates.get() {
            self.rates.add(self.rounds.count(), rate);
        }
    }

    /// §4.3.4.3: goes to the next phase of ProbeBW when the current one is over. A phase lasts
    /// RTprop. A phase with a gain above 1 continues until the data in flight has reached the gain
    /// times the bandwidth-delay product, or a loss occurs. A phase with a gain below 1 ends as
    /// soon as the queue of the previous phase is gone.
    fn check_cycle(&mut self, now: Time) {
        let has_lasted = self.rtprop.is_some_and(|rtprop| now.saturating_since(self.cycle_at) > rtprop);
        let is_over = if self.pacing_gain > 1.0 {
            let has_reached_gain = self.prior_flight >= self.inflight(self.pacing_gain);
            has_lasted && (self.loss_seen || has_reached_gain)
        } else if self.pacing_gain < 1.0 {
            let queue_is_gone = self.prior_flight <= self.inflight(1.0);
            has_lasted || queue_is_gone
        } else {
            has_lasted
        };
        if self.mode == Mode::ProbeBw && is_over {
            self.advance_cycle(now);
        }
    }

    /// Begins the next phase of the ProbeBW cycle.
    fn advance_cycle(&mut self, now: Time) {
        self.cycle_at = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        // Linux: a policer drops what exceeds its rate, so BBR does not probe.
        self.pacing_gain = if self.policer.rate().is_some() { 1.0 } else { CYCLE[self.cycle_index] };
    }

    /// §4.3.2.2: the pipe is full when the rate has stopped growing for three rounds.
    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.filled_pipe || !self.rounds.just_began() || sample.app_limited {
            return;
        }
        let rate = self.rates.get();
        if rate >= self.full_rate * MIN_GROWTH {
            self.full_rate = rate;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled_pipe = self.full_rounds >= FLAT_ROUNDS;
    }

    /// §4.3.3: Startup is followed by Drain, and Drain by ProbeBW once the queue is gone.
    fn check_drain(&mut self, flight: f64, now: Time) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.enter(Mode::Drain);
        }
        let queue_is_gone = flight <= self.inflight(1.0);
        if self.mode == Mode::Drain && queue_is_gone {
            self.enter_probe_bw(now);
        }
    }

    /// §4.1.2.3: updates the minimum round-trip time. Returns whether it had expired.
    fn update_rtprop(&mut self, sample: &RateSample, now: Time) -> bool {
        let has_expired = now.saturating_since(self.rtprop_at) > RTPROP_AGE;
        if let Some(rtt) = sample.rtt {
            let is_minimum = self.rtprop.is_none_or(|rtprop| rtt <= rtprop);
            if has_expired || is_minimum {
                self.rtprop = Some(rtt);
                self.rtprop_at = now;
            }
        }
        has_expired
    }

    /// §4.3.5: enters ProbeRTT when RTprop has expired, and leaves it after 200 ms and a round trip
    /// at the minimum window.
    fn check_probe_rtt(&mut self, rtprop_has_expired: bool, flight: f64, now: Time) {
        if self.mode != Mode::ProbeRtt && rtprop_has_expired && !self.idle_restart {
            self.save_cwnd();
            self.enter(Mode::ProbeRtt);
            self.probe_rtt_until = None;
        }
        self.idle_restart = false;
        if self.mode == Mode::ProbeRtt {
            self.continue_probe_rtt(flight, now);
        }
    }

    /// Waits until the data in flight has fallen to the small window, and from then on for 200 ms
    /// and a round trip.
    fn continue_probe_rtt(&mut self, flight: f64, now: Time) {
        // The small window limits the rate, so that rates measured with it must not lower BtlBw.
        self.sampler.limit_by_application((flight * self.mss) as u64);
        let Some(until) = self.probe_rtt_until else {
            if flight <= MIN_WINDOW {
                self.probe_rtt_until = Some(now + PROBE_RTT);
                self.probe_rtt_round_done = false;
                self.rounds.restart(self.sampler.delivered());
            }
            return;
        };
        self.probe_rtt_round_done |= self.rounds.just_began();
        if self.probe_rtt_round_done && now > until {
            self.rtprop_at = now;
            self.restore_cwnd();
            if self.filled_pipe { self.enter_probe_bw(now) } else { self.enter(Mode::Startup) }
        }
    }

    /// §4.2.3.4: the first ACK of a recovery begins packet conservation, which lasts a round trip.
    /// The recovery ends when all that was sent at its beginning is acknowledged.
    fn check_recovery(&mut self, state: &SenderState<'_>, flight: f64) {
        let Some(recovery) = &mut self.recovery else { return };
        let first_outstanding = state.sent.first_number();
        match recovery.until {
            // The ACK that detected the loss.
            None => {
                recovery.until = Some(first_outstanding + state.sent.len() as u64);
                if recovery.conserves {
                    self.cwnd = flight + 1.0;
                    self.rounds.restart(self.sampler.delivered());
                }
            }
            Some(until) if first_outstanding >= until => {
                self.recovery = None;
                self.restore_cwnd();
            }
            Some(_) => recovery.conserves &= !self.rounds.just_began(),
        }
    }

    /// §4.2.1: the rate is never lowered before the pipe is full.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth();
        if rate > 0.0 && (self.filled_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// §4.2.3: the window after `delivered` segments have arrived, with `flight` segments in
    /// flight.
    fn set_cwnd(&mut self, delivered: f64, flight: f64) {
        let conserves_packets = self.recovery.is_some_and(|recovery| recovery.conserves);
        if conserves_packets {
            self.cwnd = self.cwnd.max(flight + delivered);
        } else {
            self.grow_cwnd(delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_WINDOW);
        }
    }

    /// §4.2.3.3: grows the window by the delivered segments up to its target. Before the pipe is
    /// full, the window is never lowered to the target, and it grows with each delivery until the
    /// initial window has arrived.
    fn grow_cwnd(&mut self, delivered: f64) {
        let target = self.inflight(self.cwnd_gain);
        let is_in_initial_window = || (self.sampler.delivered() as f64) < self.initial_window * self.mss;
        if self.filled_pipe {
            self.cwnd = (self.cwnd + delivered).min(target);
        } else if self.cwnd < target || is_in_initial_window() {
            self.cwnd += delivered;
        }
        self.cwnd = self.cwnd.max(MIN_WINDOW);
    }
}

/// Helpers of the steps.
impl Bbr {
    /// Enters a mode, and sets its gains.
    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        (self.pacing_gain, self.cwnd_gain) = match mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (1.0, CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    /// §4.3.4.4: starts in any phase except the one with a gain below 1.
    fn enter_probe_bw(&mut self, now: Time) {
        self.enter(Mode::ProbeBw);
        // A linear congruential generator of full period. Its upper 16 bits are used, because the
        // lower ones have short periods.
        self.phase_seed = self.phase_seed.wrapping_mul(LCG_MULTIPLIER).wrapping_add(LCG_INCREMENT);
        // The phase before the initial one is any except the first (gain 1.25), which precedes the
        // phase with a gain of 0.75.
        let random = (self.phase_seed >> 16) as usize;
        self.cycle_index = CYCLE.len() - 1 - random % (CYCLE.len() - 1);
        self.advance_cycle(now);
    }

    /// §4.2.3.2: `gain` times the bandwidth-delay product and room for three bursts, in segments.
    fn inflight(&self, gain: f64) -> f64 {
        let Some(rtprop) = self.rtprop else { return self.initial_window };
        let bdp_gained = gain * self.bandwidth() * rtprop.as_secs() / self.mss;
        bdp_gained + BURSTS_IN_FLIGHT * self.quantum()
    }

    /// §4.2.2: the largest burst, in segments: one below 1.2 Mbit/s, two below 24 Mbit/s, and
    /// otherwise the data of 1 ms up to 64 KiB.
    fn quantum(&self) -> f64 {
        let pacing_rate_bps = self.pacing_rate * 8.0;
        match pacing_rate_bps {
            ..1.2e6 => 1.0,
            ..24e6 => 2.0,
            _ => (self.pacing_rate * 0.001).min(65_536.0) / self.mss,
        }
    }

    /// Saves the window before a loss or ProbeRTT.
    fn save_cwnd(&mut self) {
        let is_undisturbed = self.recovery.is_none() && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// Restores the window from before a loss or ProbeRTT, unless it has become larger.
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
