//! Long-term sampling of Linux' BBR (`net/ipv4/tcp_bbr.c`, "LT"): finds out that a policer limits the rate.
//!
//! A policer lets bursts pass at the full rate of the path until its bucket has no tokens left, and then drops what exceeds
//! its own rate. The largest rate of the last rounds is that of the bursts, so BBR alone would go on with it and lose a good
//! part of what it sends. A policer gives itself away when two stretches in a row, each from loss to loss, of 4 to 16 round
//! trips and with a fifth lost, deliver at the same rate. That rate is then used, with a gain of 1, for 48 round trips.
//!
//! ```text
//!   waiting ──loss──► a stretch ──loss, 4 to 16 rounds, a fifth lost──► the next ──same rate──► policed, 48 rounds
//!      ▲                 │ longer, or limited by the application          │ another rate: once more
//!      └─────────────────┘◄───────────────────────────────────────────────┘
//! ```

use umts_units::Time;

/// Rounds that a stretch lasts at least (lt_intvl_min_rtts), and at most.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// What must be lost of what is delivered (lt_loss_thresh).
const LOSS: f64 = 50.0 / 256.0;
/// Two rates are the same if they differ by such a part (lt_bw_ratio), or by so little in bytes per second (lt_bw_diff).
const SAME_PART: f64 = 0.125;
const SAME_RATE: f64 = 500.0;
/// Rounds that the rate of a policer is used for (lt_bw_max_rtts).
const USED_ROUNDS: u32 = 48;

/// What happened since the last acknowledgment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// When something was delivered last.
    pub delivered_at: Time,
    /// Payload delivered since the beginning, in bytes.
    pub delivered: u64,
    /// Payload lost since the beginning, in bytes.
    pub lost: u64,
    /// A round trip began.
    pub round_began: bool,
    /// The application limits what is sent.
    pub app_limited: bool,
    /// The gains of ProbeBW are in use.
    pub probes: bool,
}

/// The sampler.
#[derive(Debug, Clone, Default)]
pub struct Policer {
    /// Where the present stretch began; none before a loss.
    from: Option<Progress>,
    rounds: u32,
    /// Rate of the last stretch, in bytes per second.
    rate: Option<f64>,
    policed: bool,
    /// What was lost when the last acknowledgment came, in bytes.
    lost: u64,
}

impl Policer {
    /// The rate of the policer, in bytes per second, if there is one.
    pub fn rate(&self) -> Option<f64> {
        self.rate.filter(|_| self.policed)
    }

    /// Forgets everything: the losses were none.
    pub fn reset(&mut self) {
        *self = Policer { lost: self.lost, ..Policer::default() };
    }

    /// An acknowledgment came. Whether the rate of a policer has been used long enough: gains begin anew.
    pub fn on_ack(&mut self, progress: &Progress) -> bool {
        let losses = progress.lost > std::mem::replace(&mut self.lost, progress.lost);
        let round = u32::from(progress.round_began);
        if self.policed {
            self.rounds += round * u32::from(progress.probes);
            let over = self.rounds >= USED_ROUNDS;
            if over {
                self.reset();
            }
            return over;
        }
        let Some(from) = self.from else {
            // The first loss shows that the bucket is empty.
            if losses {
                self.begin(progress);
            }
            return false;
        };
        if progress.app_limited {
            self.reset();
            return false;
        }
        self.rounds += round;
        if self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= LEAST_ROUNDS && losses {
            self.end_stretch(&from, progress);
        }
        false
    }

    fn begin(&mut self, progress: &Progress) {
        self.from = Some(*progress);
        self.rounds = 0;
    }

    /// A loss ends the stretch, if a policer can have caused as many.
    fn end_stretch(&mut self, from: &Progress, progress: &Progress) {
        let delivered = (progress.delivered - from.delivered) as f64;
        let time = progress.delivered_at.saturating_since(from.delivered_at).as_secs();
        if delivered <= 0.0 || time < 0.001 || ((progress.lost - from.lost) as f64) < LOSS * delivered {
            return;
        }
        let rate = delivered / time;
        if let Some(before) = self.rate {
            let difference = (rate - before).abs();
            if difference <= SAME_PART * before || difference <= SAME_RATE {
                self.rate = Some((rate + before) / 2.0);
                self.policed = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = Some(rate);
        self.begin(progress);
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Duration;

    use super::*;

    /// Rounds of 100 ms in each of which so many bytes are delivered and lost.
    struct Path {
        policer: Policer,
        progress: Progress,
    }

    impl Path {
        fn new() -> Self {
            Path { policer: Policer::default(), progress: Progress { probes: true, ..Progress::default() } }
        }

        fn rounds(&mut self, count: u32, delivered: u64, lost: u64) {
            for _ in 0..count {
                self.progress.delivered_at += Duration::from_millis(100);
                self.progress.delivered += delivered;
                self.progress.lost += lost;
                self.policer.on_ack(&Progress { round_began: true, ..self.progress });
            }
        }
    }

    #[test]
    fn two_stretches_of_the_same_rate_with_a_fifth_lost_are_a_policer() {
        let mut path = Path::new();
        path.rounds(5, 10_000, 2_500);
        assert_eq!(path.policer.rate(), None, "one stretch is not enough");
        path.rounds(4, 11_000, 2_500);
        assert_eq!(path.policer.rate(), Some(105_000.0));
        // It is used for 48 rounds.
        path.rounds(47, 10_000, 0);
        assert!(path.policer.rate().is_some());
        path.rounds(1, 10_000, 0);
        assert_eq!(path.policer.rate(), None);
    }

    #[test]
    fn few_losses_changing_rates_and_pauses_are_none() {
        let mut few = Path::new();
        few.rounds(200, 10_000, 1_000);
        let mut changing = Path::new();
        for stretch in 0..20 {
            changing.rounds(4, if stretch % 2 == 0 { 10_000 } else { 20_000 }, 5_000);
        }
        let mut paused = Path::new();
        for _ in 0..20 {
            paused.rounds(5, 10_000, 2_500);
            paused.progress.app_limited = true;
            paused.rounds(1, 10_000, 2_500);
            paused.progress.app_limited = false;
        }
        let rates = [few, changing, paused].map(|path| path.policer.rate());
        assert_eq!(rates, [None; 3]);
    }

    #[test]
    fn an_undone_loss_ends_the_search() {
        let mut path = Path::new();
        path.rounds(5, 10_000, 2_500);
        path.policer.reset();
        path.rounds(5, 10_000, 2_500);
        assert_eq!(path.policer.rate(), None, "the stretch before does not count");
    }
}
