//! TCP Westwood+ (Grieco and Mascolo 2004, section 2; Mascolo, Grieco et al. 2004).
//!
//! The sender estimates its bandwidth from the rate of ACKs once per round trip, and smooths it.
//! After a loss the threshold is this bandwidth times the minimum round-trip time, instead of half
//! of the window. Losses on the radio do not change the bandwidth and therefore cost little. All
//! else is as in NewReno.
//!
//! Two choices that the papers leave open: before the first estimate a loss halves the window, and
//! a reduction never raises it.

use umts_units::{Duration, Time};

use super::law::{LawAck, Loss, WindowLaw};

/// Weight of the previous value in the filter: bwe(k) = 0.9 bwe(k-1) + 0.1 b(k).
const OLD_WEIGHT: f64 = 0.9;

/// Westwood+'s state. Bandwidth is in segments per second, times are in seconds.
#[derive(Debug, Clone, Default)]
pub struct Westwood {
    /// Smoothed bandwidth. `None` before the first sample.
    bandwidth: Option<f64>,
    /// The minimum round-trip time.
    rtt_min: Option<f64>,
    /// The last round-trip time.
    rtt: f64,
    /// Segments acknowledged since `since`.
    acked: u32,
    /// Time of the last bandwidth sample, or of the first ACK.
    since: Option<Time>,
    /// Number of segments that duplicate ACKs have already counted.
    accounted: u32,
}

impl Westwood {
    /// The estimated bandwidth, in segments per second. `None` before the first sample.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    /// Number of newly arrived segments that no earlier ACK has counted ("AckedCount"): one for a
    /// duplicate. A cumulative ACK after duplicates counts the segments that they have not counted,
    /// at least one.
    fn count_arrivals(&mut self, ack: &LawAck) -> u32 {
        if ack.duplicate {
            self.accounted += 1;
            return 1;
        }
        match ack.segments {
            0 | 1 => ack.segments,
            covered if self.accounted >= covered => {
                self.accounted -= covered;
                1
            }
            covered => covered - std::mem::take(&mut self.accounted),
        }
    }
}

impl WindowLaw for Westwood {
    fn on_ack(&mut self, ack: &LawAck) {
        let counted = self.count_arrivals(ack);
        // The first ACK begins the first interval and does not count in it.
        let Some(since) = self.since else {
            self.since = Some(ack.now);
            return;
        };
        self.acked += counted;
        let elapsed = (ack.now - since).as_secs();
        if elapsed <= 0.0 || elapsed < self.rtt {
            return;
        }
        let sample = f64::from(std::mem::take(&mut self.acked)) / elapsed;
        self.since = Some(ack.now);
        self.bandwidth = Some(
            self.bandwidth.map_or(sample, |bandwidth| OLD_WEIGHT * bandwidth + (1.0 - OLD_WEIGHT) * sample),
        );
    }

    fn on_round_trip(&mut self, rtt: Duration) {
        self.rtt = rtt.as_secs();
        self.rtt_min = Some(self.rtt_min.map_or(self.rtt, |rtt_min| rtt_min.min(self.rtt)));
    }

    fn grow(&mut self, cwnd: f64, ssthresh: f64) -> f64 {
        cwnd + if cwnd < ssthresh { 1.0 } else { 1.0 / cwnd }
    }

    fn reduce(&mut self, cwnd: f64, load: f64, _loss: Loss) -> f64 {
        let bandwidth_delay = self.bandwidth.zip(self.rtt_min).map(|(bandwidth, rtt)| bandwidth * rtt);
        bandwidth_delay.map_or(load / 2.0, |segments| segments.min(cwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK that covers `segments` segments. 0: a duplicate.
    fn ack(at_ms: u64, segments: u32) -> LawAck {
        LawAck {
            now: Time::from_nanos(at_ms * 1_000_000),
            segments,
            duplicate: segments == 0,
            ..LawAck::default()
        }
    }

    #[test]
    fn threshold_is_bandwidth_times_minimum_rtt() {
        let mut law = Westwood::default();
        law.on_round_trip(Duration::from_millis(100));
        // ACKs arrive at 50 segments per second. Later round trips of 400 ms mean that the queue
        // has grown, so the minimum of 100 ms counts: the threshold is 50/s · 0.1 s = 5.
        (0..=25).for_each(|i| law.on_ack(&ack(20 * i, 1)));
        law.on_round_trip(Duration::from_millis(400));
        let bandwidth = law.bandwidth().expect("five samples");
        assert!((bandwidth - 50.0).abs() < 1e-9, "{bandwidth}");
        assert!((law.reduce(8.0, 8.0, Loss::Acks) - 5.0).abs() < 1e-9);
        assert_eq!(law.reduce(1.0, 8.0, Loss::Timeout), 1.0, "a reduction does not raise the window");
    }

    #[test]
    fn filter_weighs_a_new_sample_by_a_tenth() {
        let mut law = Westwood::default();
        law.on_round_trip(Duration::from_millis(100));
        law.on_ack(&ack(0, 0));
        law.on_ack(&ack(100, 9));
        // Nine arrived, one of them before the interval began: 8 in 100 ms.
        assert_eq!(law.bandwidth(), Some(80.0));
        law.on_ack(&ack(150, 3));
        assert_eq!(law.bandwidth(), Some(80.0), "the round trip is not over");
        law.on_ack(&ack(200, 3));
        assert!((law.bandwidth().expect("as before") - (0.9 * 80.0 + 0.1 * 60.0)).abs() < 1e-9);
    }

    #[test]
    fn segments_count_once_across_duplicates_and_their_ack() {
        let mut law = Westwood::default();
        let counts: Vec<u32> =
            [0, 0, 0, 5, 1, 0, 0, 0, 2, 4].map(|segments| law.count_arrivals(&ack(0, segments))).into();
        // Three duplicates, after which the ACK of 5 adds 2. Then three duplicates with a partial
        // first ACK: 2 of 3 are subtracted and the ACK counts one. The next ACK subtracts the
        // third.
        assert_eq!(counts, [1, 1, 1, 2, 1, 1, 1, 1, 1, 3]);
    }

    #[test]
    fn loss_before_any_estimate_halves_the_window() {
        assert_eq!(Westwood::default().reduce(10.0, 9.0, Loss::Acks), 4.5);
    }
}
