//! CUBIC (RFC 9438): between losses the window is a cubic function of the time since the last one.
//!
//! ```text
//!  cwnd      W_max ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄╭──────╯ convex: probing  W_cubic(t) = C (t - K)³ + W_max
//!                        ╭─────────────╯  │
//!   0.7 W_max ───╭───────╯ concave        K = ∛((W_max - cwnd_epoch) / C)
//!                t = 0
//! ```
//!
//! The growth depends on time and not on the number of round trips, so that flows with long round
//! trips are not at a disadvantage. If Reno would grow faster, W_est follows Reno (§4.3). As in the
//! RFC, windows are in segments and times in seconds.
//!
//! HyStart++, which §4.10 recommends, is in `slow_start.rs`. Left out: ECN's own lower bound of one
//! segment (§4.6). One departure: the Reno-friendly window never lowers cwnd, which may already
//! exceed it because of W_cubic(t + RTT).

use umts_units::Time;

use super::law::{LawAck, Loss, WindowLaw};
use crate::tcp::config::TcpConfig;

/// C, in segments per second cubed (§4.1.1 and §5.1).
const C: f64 = 0.4;
/// The fraction of the window that remains after a loss (§4.6).
const BETA: f64 = 0.7;
/// Growth of W_est in segments per round trip while it lies below the window of the last loss
/// (§4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Maximum factor on the window per round trip (§4.2).
const MAX_GROWTH: f64 = 1.5;

/// CUBIC's state, and the state to which an undo returns.
#[derive(Debug, Clone)]
pub struct Cubic {
    /// A window that has shrunk since the last loss gives way to new flows (§4.7).
    fast_convergence: bool,
    /// The window is at least W_est (§4.3).
    reno_friendly: bool,
    curve: Curve,
    /// The curve before the last reduction (§4.9).
    before: Curve,
    /// The ACK that is being processed.
    ack: LawAck,
    /// Time of the previous ACK.
    previous_ack_at: Time,
    /// Whether the window limited the sender when it last could grow.
    was_limited: bool,
}

/// The variables of §4.1.2.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Curve {
    /// The window at the last loss, lowered by fast convergence. 0 before any loss.
    w_max: f64,
    /// The window just before the last reduction.
    cwnd_prior: f64,
    /// The time from `epoch` until W_cubic reaches `w_max`, in seconds (K).
    k: f64,
    /// The window that Reno would have.
    w_est: f64,
    /// Beginning of this stage of congestion avoidance. `None` before its first ACK.
    epoch: Option<Time>,
    /// The last reduction was a timeout.
    timed_out: bool,
}

impl Curve {
    /// Begins congestion avoidance with a window of `cwnd`.
    fn begin(&mut self, now: Time, cwnd: f64) {
        // After a timeout (§4.8) and after a slow start without loss (§4.10) the plateau is the
        // current window.
        if self.timed_out || self.w_max <= cwnd {
            self.w_max = cwnd;
            self.k = 0.0;
        } else {
            self.k = libm::cbrt((self.w_max - cwnd) / C);
        }
        self.timed_out = false;
        self.w_est = cwnd;
        self.epoch = Some(now);
    }

    /// W_cubic(t), figure 1.
    fn at(&self, t: f64) -> f64 {
        let from_plateau = t - self.k;
        C * from_plateau * from_plateau * from_plateau + self.w_max
    }
}

impl Cubic {
    pub fn new(config: &TcpConfig) -> Self {
        let curve = Curve::default();
        Cubic {
            fast_convergence: config.cubic_fast_convergence,
            reno_friendly: config.cubic_reno_friendly,
            curve,
            before: curve,
            ack: LawAck::default(),
            previous_ack_at: Time::ZERO,
            was_limited: true,
        }
    }

    /// The window at the last loss, lowered by fast convergence, in segments.
    pub fn w_max(&self) -> f64 {
        self.curve.w_max
    }

    /// Returns the window after an ACK in congestion avoidance (§4.2 to §4.5).
    fn avoid_congestion(&mut self, cwnd: f64) -> f64 {
        let LawAck { now, segments, srtt, acks, .. } = self.ack;
        let curve = &mut self.curve;
        if curve.epoch.is_none() {
            curve.begin(now, cwnd);
        }
        let t = curve.epoch.map_or(0.0, |epoch| now.saturating_since(epoch).as_secs());
        if self.reno_friendly {
            // Reno's rate of one segment per round trip, once W_est has reached the old window.
            let alpha = if curve.w_est >= curve.cwnd_prior { 1.0 } else { ALPHA };
            curve.w_est += alpha * f64::from(segments) / cwnd;
            let reno_is_faster = curve.at(t) < curve.w_est;
            if reno_is_faster {
                return cwnd.max(curve.w_est);
            }
        }
        let after_next_round_trip = curve.at(t + srtt.as_secs());
        let target = after_next_round_trip.clamp(cwnd, MAX_GROWTH * cwnd);
        cwnd + acks * (target - cwnd) / cwnd
    }
}

impl WindowLaw for Cubic {
    fn on_ack(&mut self, ack: &LawAck) {
        self.previous_ack_at = self.ack.now;
        self.ack = *ack;
    }

    fn grow(&mut self, cwnd: f64, ssthresh: f64) -> f64 {
        let is_limited = self.ack.was_limited(cwnd, ssthresh);
        let was_limited = std::mem::replace(&mut self.was_limited, is_limited);
        // §5.8: while the application or the receiver limits the sender, neither the curve nor the
        // window advances.
        let has_limited_throughout = is_limited && was_limited;
        if !has_limited_throughout {
            let pause = self.ack.now.saturating_since(self.previous_ack_at);
            self.curve.epoch = self.curve.epoch.map(|epoch| epoch + pause);
        }
        if !is_limited {
            return cwnd;
        }
        if cwnd >= ssthresh {
            return self.avoid_congestion(cwnd);
        }
        let grown = cwnd + self.ack.acks_in_slow_start;
        // In Linux slow start ends at the threshold.
        if self.ack.is_limited { grown.min(ssthresh) } else { grown }
    }

    fn reduce(&mut self, cwnd: f64, load: f64, loss: Loss) -> f64 {
        self.before = self.curve;
        let curve = &mut self.curve;
        // Fast convergence (§4.7).
        let has_shrunk = self.fast_convergence && cwnd < curve.w_max;
        curve.w_max = if has_shrunk { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        curve.cwnd_prior = cwnd;
        curve.epoch = None;
        curve.timed_out = loss == Loss::Timeout;
        load * BETA
    }

    fn undo(&mut self) {
        self.curve = self.before;
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    const RTT_MS: u64 = 100;

    /// A greedy sender in congestion avoidance. Each segment is acknowledged once per round trip.
    struct Greedy {
        law: Cubic,
        cwnd: f64,
        now_ms: u64,
    }

    impl Greedy {
        fn new(config: &TcpConfig, cwnd: f64) -> Self {
            Greedy { law: Cubic::new(config), cwnd, now_ms: 1000 }
        }

        fn lose(&mut self, loss: Loss) {
            self.cwnd = self.law.reduce(self.cwnd, self.cwnd, loss);
        }

        fn acknowledge(&mut self, segments: u32, flight: u32) {
            let (now, srtt) = (Time::from_nanos(self.now_ms * 1_000_000), Duration::from_millis(RTT_MS));
            self.law.on_ack(&LawAck { now, segments, flight, srtt, ..LawAck::default() });
            self.cwnd = self.law.grow(self.cwnd, 2.0);
        }

        fn round_trips(&mut self, count: u64) {
            for _ in 0..count {
                let window = self.cwnd as u32;
                (0..window).for_each(|_| self.acknowledge(1, self.cwnd as u32));
                self.now_ms += RTT_MS;
            }
        }
    }

    /// CUBIC without the Reno-friendly region.
    fn pure() -> TcpConfig {
        TcpConfig { cubic_reno_friendly: false, ..TcpConfig::default() }
    }

    #[test]
    fn window_returns_to_w_max_after_k() {
        let mut flow = Greedy::new(&pure(), 100.0);
        flow.lose(Loss::Acks);
        assert_eq!(flow.cwnd, 70.0);
        assert_eq!(flow.law.w_max(), 100.0);
        // K = ∛((W_max - cwnd_epoch) / C) = ∛((100 - 70) / 0.4) = 4.217 s.
        flow.round_trips(1);
        assert!((flow.law.curve.k - 4.217_163).abs() < 1e-6);
        flow.round_trips(21);
        // After 22 round trips, 2.2 s: W_cubic = 100 - 0.4 · (K - 2.2)³ = 96.7.
        assert!((flow.cwnd - 96.7).abs() < 0.5, "{}", flow.cwnd);
        // After 4.2 s, almost K.
        flow.round_trips(20);
        assert!((flow.cwnd - 100.0).abs() < 0.1, "{}", flow.cwnd);
        // After 8.4 s, almost 2 K, where W_cubic = 100 + 0.4 · 4.217³ = 130. It grows by 2.1 in the
        // last round trip.
        flow.round_trips(42);
        assert!((127.9..130.0).contains(&flow.cwnd), "{}", flow.cwnd);
    }

    #[test]
    fn fast_convergence_lowers_w_max_if_the_window_did_not_recover() {
        let mut flow = Greedy::new(&TcpConfig::default(), 100.0);
        flow.lose(Loss::Acks);
        flow.lose(Loss::Acks);
        // The second loss occurs at 0.7 · 100 segments: W_max = 70 · (1 + 0.7) / 2.
        assert_eq!(flow.law.w_max(), 70.0 * 0.85);
        let mut without_convergence =
            Greedy::new(&TcpConfig { cubic_fast_convergence: false, ..pure() }, 100.0);
        without_convergence.lose(Loss::Acks);
        without_convergence.lose(Loss::Acks);
        assert_eq!(without_convergence.law.w_max(), 70.0);
    }

    #[test]
    fn small_window_grows_like_reno() {
        // With 10 segments and 100 ms the cubic curve is far slower than Reno.
        let mut flow = Greedy::new(&TcpConfig::default(), 10.0);
        flow.lose(Loss::Acks);
        flow.round_trips(5);
        // W_est starts at 7 segments and grows by ALPHA = 3 · 0.3 / 1.7 = 9/17 segments per round
        // trip while it is below 10, the window before the loss.
        let reno = |from: f64, alpha: f64, rounds: u32| {
            (0..rounds).fold(from, |cwnd, _| (0..cwnd as u32).fold(cwnd, |cwnd, _| cwnd + alpha / cwnd))
        };
        assert!((flow.cwnd - reno(7.0, 9.0 / 17.0, 5)).abs() < 1e-9, "{}", flow.cwnd);
        // Above 10 segments it grows as fast as Reno.
        flow.round_trips(3);
        let above_prior = flow.cwnd;
        assert!(above_prior > 10.0);
        flow.round_trips(5);
        assert!((flow.cwnd - reno(above_prior, 1.0, 5)).abs() < 1e-9, "{} from {above_prior}", flow.cwnd);
    }

    #[test]
    fn plateau_follows_slow_start_after_a_timeout() {
        let mut flow = Greedy::new(&pure(), 100.0);
        flow.lose(Loss::Timeout);
        assert_eq!(flow.cwnd, 70.0);
        flow.round_trips(1);
        assert_eq!(flow.law.curve.k, 0.0);
        assert_eq!(flow.law.w_max(), 70.0);
        // K = 0, so after 2 s: W_cubic = 70 + 0.4 · 2³ = 73.2.
        flow.round_trips(19);
        assert!((flow.cwnd - 73.2).abs() < 0.5, "{}", flow.cwnd);
    }

    #[test]
    fn application_limited_time_does_not_count() {
        let mut busy = Greedy::new(&pure(), 100.0);
        busy.lose(Loss::Acks);
        busy.round_trips(10);
        let mut paused = Greedy::new(&pure(), 100.0);
        paused.lose(Loss::Acks);
        paused.round_trips(5);
        for _ in 0..50 {
            paused.acknowledge(1, 3);
            paused.now_ms += 1000;
        }
        paused.round_trips(5);
        assert!((busy.cwnd - paused.cwnd).abs() < 1.5, "{} and {}", busy.cwnd, paused.cwnd);
    }

    #[test]
    fn undo_restores_the_previous_curve() {
        let mut flow = Greedy::new(&TcpConfig::default(), 100.0);
        flow.lose(Loss::Acks);
        flow.round_trips(10);
        let (before, cwnd) = (flow.law.curve, flow.cwnd);
        flow.lose(Loss::Timeout);
        flow.round_trips(3);
        assert_ne!(flow.law.curve, before);
        flow.law.undo();
        assert_eq!(flow.law.curve, before);
        flow.cwnd = cwnd;
        flow.round_trips(1);
        assert!(flow.cwnd > cwnd);
    }
}
