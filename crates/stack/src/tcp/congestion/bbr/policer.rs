//! Detection of a policer that limits the rate, as in Linux's BBR ("long-term sampling", `lt_` in
//! `net/ipv4/tcp_bbr.c`).
//!
//! A policer passes bursts at the full rate of the path until its token bucket is empty, and then
//! drops all that exceeds its own rate. The maximum rate of recent rounds is the rate of the
//! bursts, so that BBR alone would continue with it and lose a large part of its data. A policer is
//! detected if two consecutive sampling intervals deliver at the same rate. An interval begins and
//! ends with a loss and lasts 4 to 16 round trips, and at least a fifth as much data as it delivers
//! is lost. The measured rate is then used with a gain of 1 for 48 round trips.
//!
//! ```text
//!   waiting ─loss─► interval ─loss, 4 to 16 rounds, a fifth lost─► next ─equal rate─► policed,
//!      ▲             │    ▲                                          │                48 rounds
//!      │             │    └────────────── other rate ────────────────┘
//!      └─────────────┘ longer, or limited by the application
//! ```

use umts_units::Time;

/// Minimum number of rounds in an interval (lt_intvl_min_rtts).
const MIN_ROUNDS: u32 = 4;
/// Maximum number of rounds in an interval (Linux: four times the minimum).
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Intervals shorter than this give no rate (Linux: less than a millisecond).
const MIN_SECONDS: f64 = 0.001;
/// Minimum ratio of lost to delivered data (lt_loss_thresh).
const MIN_LOSS_RATIO: f64 = 50.0 / 256.0;
/// Two rates are equal if they differ by at most this fraction (lt_bw_ratio) or by at most this
/// many bytes per second (lt_bw_diff).
const MAX_RELATIVE_DIFFERENCE: f64 = 0.125;
const MAX_DIFFERENCE: f64 = 500.0;
/// Number of rounds for which the rate of a policer is used (lt_bw_max_rtts).
const USED_ROUNDS: u32 = 48;

/// The state of the connection at an acknowledgment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Time of the last delivery.
    pub delivered_at: Time,
    /// Payload delivered since the start, in bytes.
    pub delivered: u64,
    /// Payload lost since the start, in bytes.
    pub lost: u64,
    /// A round trip began with this acknowledgment.
    pub round_began: bool,
    /// The application limits the rate.
    pub app_limited: bool,
    /// The gains of ProbeBW are in use.
    pub probes: bool,
}

/// The detection of a policer, and its rate once detected.
#[derive(Debug, Clone, Default)]
pub struct Policer {
    /// The state at the beginning of the current interval. `None` before a loss.
    interval_start: Option<Progress>,
    /// Rounds in the current interval, or for which the rate of a detected policer was used.
    rounds: u32,
    /// Rate of the last interval, in bytes per second.
    rate: Option<f64>,
    /// A policer was detected.
    policed: bool,
    /// Payload lost at the last acknowledgment, in bytes.
    lost: u64,
}

impl Policer {
    /// The rate of the policer, in bytes per second, if there is one.
    pub fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.policed)
    }

    /// Discards the state because the losses were spurious.
    pub fn reset(&mut self) {
        *self = Policer { lost: self.lost, ..Policer::default() };
    }

    /// Processes an acknowledgment. Returns whether the rate of a policer has been used for
    /// [`USED_ROUNDS`] rounds. The gains of ProbeBW then apply again.
    pub fn on_ack(&mut self, progress: &Progress) -> bool {
        let lost_before = std::mem::replace(&mut self.lost, progress.lost);
        let has_losses = progress.lost > lost_before;
        if self.policed {
            return self.use_rate(progress);
        }
        match self.interval_start {
            Some(start) => self.continue_interval(&start, progress, has_losses),
            // The first loss shows that the token bucket is empty.
            None if has_losses => self.begin(progress),
            None => {}
        }
        false
    }

    /// Counts the rounds for which the rate of a policer is used. Returns whether they are over.
    fn use_rate(&mut self, progress: &Progress) -> bool {
        self.rounds += u32::from(progress.round_began && progress.probes);
        let is_over = self.rounds >= USED_ROUNDS;
        if is_over {
            self.reset();
        }
        is_over
    }

    /// Continues an interval, until a loss ends it, or until it is too long or limited by the
    /// application.
    fn continue_interval(&mut self, start: &Progress, progress: &Progress, has_losses: bool) {
        if progress.app_limited {
            return self.reset();
        }
        self.rounds += u32::from(progress.round_began);
        if self.rounds > MAX_ROUNDS {
            self.reset();
        } else if self.rounds >= MIN_ROUNDS && has_losses {
            self.end_interval(start, progress);
        }
    }

    /// Begins an interval.
    fn begin(&mut self, progress: &Progress) {
        self.interval_start = Some(*progress);
        self.rounds = 0;
    }

    /// Ends the interval at a loss, if the loss ratio is high enough for a policer.
    fn end_interval(&mut self, start: &Progress, progress: &Progress) {
        let delivered = (progress.delivered - start.delivered) as f64;
        let lost = (progress.lost - start.lost) as f64;
        let seconds = progress.delivered_at.saturating_since(start.delivered_at).as_secs();
        let has_rate = delivered > 0.0 && seconds >= MIN_SECONDS;
        let loses_enough = lost >= MIN_LOSS_RATIO * delivered;
        if !has_rate || !loses_enough {
            return;
        }
        let rate = delivered / seconds;
        match self.rate {
            Some(last_rate) if are_equal(rate, last_rate) => {
                self.rate = Some((rate + last_rate) / 2.0);
                self.policed = true;
                self.rounds = 0;
            }
            _ => {
                self.rate = Some(rate);
                self.begin(progress);
            }
        }
    }
}

/// Whether the rates of two successive intervals differ so little that a policer must limit both.
fn are_equal(rate: f64, last_rate: f64) -> bool {
    let difference = (rate - last_rate).abs();
    difference <= MAX_RELATIVE_DIFFERENCE * last_rate || difference <= MAX_DIFFERENCE
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    /// A path with round trips of 100 ms.
    struct Path {
        policer: Policer,
        progress: Progress,
    }

    /// The data that a round delivers and loses, in bytes.
    #[derive(Clone, Copy)]
    struct Round {
        delivered: u64,
        lost: u64,
    }

    /// A quarter as much is lost as delivered: more than a fifth, which is enough for a policer.
    const LOSSY: Round = Round { delivered: 10_000, lost: 2_500 };
    const LOSSLESS: Round = Round { delivered: 10_000, lost: 0 };

    impl Path {
        fn new() -> Self {
            Path { policer: Policer::default(), progress: Progress { probes: true, ..Progress::default() } }
        }

        /// Simulates `count` equal rounds.
        fn rounds(&mut self, count: u32, round: Round) {
            for _ in 0..count {
                self.progress.delivered_at += Duration::from_millis(100);
                self.progress.delivered += round.delivered;
                self.progress.lost += round.lost;
                self.policer.on_ack(&Progress { round_began: true, ..self.progress });
            }
        }
    }

    #[test]
    fn two_equal_rates_with_a_fifth_lost_indicate_a_policer() {
        let mut path = Path::new();
        // The first interval begins at the loss of the first round and lasts four rounds of 100 ms
        // at 100,000 bytes/s. The second one delivers 110,000 bytes/s. The policer's rate is the
        // mean of both.
        path.rounds(5, LOSSY);
        assert_eq!(path.policer.rate(), None, "one interval is not enough");
        path.rounds(4, Round { delivered: 11_000, ..LOSSY });
        assert_eq!(path.policer.rate(), Some(105_000.0));
        // The rate is used for 48 rounds.
        path.rounds(47, LOSSLESS);
        assert!(path.policer.rate().is_some());
        path.rounds(1, LOSSLESS);
        assert_eq!(path.policer.rate(), None);
    }

    #[test]
    fn few_losses_varying_rates_and_pauses_indicate_no_policer() {
        let mut few_losses = Path::new();
        few_losses.rounds(200, Round { delivered: 10_000, lost: 1_000 });
        let mut changing = Path::new();
        for interval in 0..20 {
            let delivered = if interval % 2 == 0 { 10_000 } else { 20_000 };
            changing.rounds(4, Round { delivered, lost: 5_000 });
        }
        let mut paused = Path::new();
        for _ in 0..20 {
            paused.rounds(5, LOSSY);
            paused.progress.app_limited = true;
            paused.rounds(1, LOSSY);
            paused.progress.app_limited = false;
        }
        let rates = [few_losses, changing, paused].map(|path| path.policer.rate());
        assert_eq!(rates, [None; 3]);
    }

    #[test]
    fn undone_loss_resets_the_detection() {
        let mut path = Path::new();
        path.rounds(5, LOSSY);
        path.policer.reset();
        path.rounds(5, LOSSY);
        assert_eq!(path.policer.rate(), None, "the interval before the reset does not count");
    }
}
