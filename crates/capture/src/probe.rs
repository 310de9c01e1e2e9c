//! Tail loss probes (RFC 8985 §7): when a probe may have been sent, and its result.

use umts_units::{Duration, Time};

/// RFC 8985 §7.2, RFC 6298 §2: timeout if no round trip is known.
const INITIAL_TIMEOUT: Duration = Duration::from_secs(1);
/// RFC 8985 §7.2: addition to the timeout for a delayed acknowledgment.
const DELAYED_ACK: Duration = Duration::from_millis(200);
/// Minimum variance in the timeout of Linux.
const MIN_VARIANCE: Duration = Duration::from_millis(200);
/// Delay of timers on slow clocks.
const TIMER_DELAY: Duration = Duration::from_millis(20);
/// Upper limit for round trips: longer times in a capture have other causes.
pub(crate) const MAX_RTT: Duration = Duration::from_secs(3600);

/// The sender's estimate of the round trip (RFC 6298 §2) as Linux computes it, from the packets at
/// the capture point. The variance in the timeout follows the largest deviation of a round trip:
/// upwards at once, downwards by a quarter of the difference per round trip.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Estimate {
    srtt: Option<Duration>,
    /// Four times RTTVAR, smoothed over samples, in nanoseconds.
    deviation: u64,
    /// Largest `deviation` in the current round trip, in nanoseconds.
    largest: u64,
    /// The variance that the timeout uses, in nanoseconds.
    variance: u64,
    /// The round trip ends when more than this number is acknowledged.
    round_end: u64,
}

impl Estimate {
    /// Adds a sample. All data below `una` are acknowledged then, and all data below `highest` have
    /// been sent.
    #[inline]
    pub fn sample(&mut self, rtt: Duration, una: u64, highest: u64) {
        let rtt = rtt.min(MAX_RTT).as_nanos();
        let min_variance = MIN_VARIANCE.as_nanos();
        let Some(srtt) = self.srtt.map(Duration::as_nanos) else {
            self.srtt = Some(Duration::from_nanos(rtt));
            self.deviation = 2 * rtt;
            self.variance = self.deviation.max(min_variance);
            (self.largest, self.round_end) = (self.variance, highest);
            return;
        };
        let error = srtt.abs_diff(rtt);
        let surplus = error as i64 - (self.deviation / 4) as i64;
        // A round trip that is shorter than expected widens the deviation less: the queue may have
        // emptied.
        let step = if rtt < srtt && surplus > 0 { surplus / 8 } else { surplus };
        self.deviation = self.deviation.saturating_add_signed(step);
        self.srtt = Some(Duration::from_nanos((7 * srtt + rtt) / 8));
        self.largest = self.largest.max(self.deviation);
        self.variance = self.variance.max(self.largest);
        if una > self.round_end {
            self.variance -= (self.variance - self.largest) / 4;
            (self.round_end, self.largest) = (highest, min_variance);
        }
    }

    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Returns the time from the last segment to a probe (RFC 8985 §7.2). `path` is the delay
    /// between sender and capture point.
    fn probe_timeout(&self, is_single: bool, path: Duration) -> Duration {
        let Some(srtt) = self.srtt else { return INITIAL_TIMEOUT };
        let full_rtt = srtt + path;
        full_rtt + full_rtt + if is_single { DELAYED_ACK } else { Duration::ZERO }
    }

    /// Returns the retransmission timeout (RFC 6298 §2), with a minimum variance instead of a
    /// minimum timeout, as in Linux.
    fn timeout(&self, path: Duration) -> Duration {
        let Some(srtt) = self.srtt else { return INITIAL_TIMEOUT };
        srtt + path + Duration::from_nanos(self.variance)
    }

    /// Returns the longest wait before a probe, with a margin for other estimates, slow timers and
    /// busy machines.
    pub fn longest_probe_timeout(&self, is_single: bool, path: Duration) -> Duration {
        let pto = self.probe_timeout(is_single, path);
        pto + Duration::from_nanos(pto.as_nanos() / 4) + TIMER_DELAY
    }

    /// Returns whether `now` is so near to the time of a probe that coincidence is unlikely. A
    /// probe is due after a timeout since the last segment, `sent`, but no later than the timeout
    /// of the `oldest` segment.
    pub fn is_probe_due(&self, now: Time, sent: Time, oldest: Time, is_single: bool, path: Duration) -> bool {
        let probe = Timer { begin: sent, wait: self.probe_timeout(is_single, path) };
        let retransmission = Timer { begin: oldest, wait: self.timeout(path) };
        let earlier = std::cmp::min_by_key(probe, retransmission, |timer| timer.begin + timer.wait);
        let waited = now.saturating_since(earlier.begin).as_nanos();
        let wait = earlier.wait.as_nanos();
        let tolerance = wait / 8;
        (wait - tolerance..=wait + tolerance + TIMER_DELAY.as_nanos()).contains(&waited)
    }
}

/// A timer of the sender that expires `wait` after `begin`.
#[derive(Debug, Clone, Copy)]
struct Timer {
    begin: Time,
    wait: Duration,
}

/// A probe that is not acknowledged (RFC 8985 §7.1: TLP.end_seq, TLP.is_retrans).
#[derive(Debug, Clone, Copy)]
struct Probe {
    end_seq: u64,
    is_retrans: bool,
}

/// The fields of an acknowledgment that can end the wait for a probe's acknowledgment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AckOfProbe {
    pub ack: u64,
    /// It reports that the segment before this number arrived twice.
    pub duplicate_end: Option<u64>,
    /// It acknowledges nothing new, cumulatively or selectively, and announces the same window.
    pub is_pure_duplicate: bool,
}

/// A sender's probes, one at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probes {
    current: Option<Probe>,
    /// The sender does not use probes: its retransmission timer expired although a probe would have
    /// been due earlier.
    pub are_unused: bool,
    /// The last segment was new data that may be a probe.
    is_unconfirmed: bool,
    /// Probes with new data.
    pub of_new_data: u64,
    /// Number of losses that a probe repaired.
    pub repairs: u64,
}

impl Probes {
    /// Returns whether a probe is not acknowledged. The sender then sends no other probe.
    pub fn is_waiting(&self) -> bool {
        self.current.is_some()
    }

    /// Records a probe that repeats data. `end_seq` is the end of the data sent.
    pub fn sent(&mut self, end_seq: u64) {
        self.current = Some(Probe { end_seq, is_retrans: true });
    }

    /// Records new data that may be a probe.
    pub fn sent_new_data(&mut self, end_seq: u64) {
        self.current = Some(Probe { end_seq, is_retrans: false });
        self.is_unconfirmed = true;
    }

    /// Records further new data. They show that the data before were not a probe, because a probe
    /// is a single segment.
    #[inline]
    pub fn more_data(&mut self) {
        if std::mem::take(&mut self.is_unconfirmed) {
            self.current = None;
        }
    }

    /// Confirms the new data as a probe, because something other than new data follows.
    pub fn confirm_new_data(&mut self) {
        self.of_new_data += u64::from(std::mem::take(&mut self.is_unconfirmed));
    }

    /// Ends the wait for an acknowledgment of the probe, because of an expiry or a fast
    /// retransmission.
    pub fn stop_waiting(&mut self) {
        self.current = None;
    }

    /// Processes an acknowledgment (RFC 8985 §7.4.2).
    #[inline]
    pub fn answered(&mut self, ack: AckOfProbe) {
        let Some(probe) = self.current.filter(|probe| ack.ack >= probe.end_seq) else { return };
        // New data arrived, or both copies arrived, as a DSACK or a duplicate shows.
        let has_no_repair =
            !probe.is_retrans || ack.duplicate_end == Some(probe.end_seq) || ack.is_pure_duplicate;
        let is_repair = !has_no_repair && ack.ack > probe.end_seq;
        if has_no_repair || is_repair {
            self.current = None;
            self.repairs += u64::from(is_repair);
        }
    }
}
