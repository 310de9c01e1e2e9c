//! Tail loss probes (RFC 8985 §7): when one may have been sent, and what came of it.

use umts_units::{Duration, Time};

/// RFC 8985 §7.2: what a probe waits where no round trip is known, and what it waits longer for a delayed acknowledgment.
const UNKNOWN: Duration = Duration::from_secs(1);
const DELAYED_ACK: Duration = Duration::from_millis(200);
/// The least variance that Linux has in its timeout, and what timers are late by on slow clocks.
const LEAST_VARIANCE: Duration = Duration::from_millis(200);
const LATE: Duration = Duration::from_millis(20);
/// No round trip is longer: what a capture shows beyond it is another thing.
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// The sender's estimate of the round trip (RFC 6298 §2) as Linux computes it, from the packets at the capture point. The
/// variance of the timeout follows the largest deviation of a round trip: at once upwards, and by a quarter per round trip
/// downwards.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Estimate {
    srtt: Option<Duration>,
    /// Four times RTTVAR, smoothed over samples; its largest value in this round trip; and the value in the timeout. All in
    /// nanoseconds.
    deviation: u64,
    largest: u64,
    variance: u64,
    /// The round trip ends when more than this number is acknowledged.
    round: u64,
}

impl Estimate {
    /// Adds a sample. All below `una` is acknowledged then, and all below `highest` was sent.
    #[inline]
    pub fn sample(&mut self, rtt: Duration, una: u64, highest: u64) {
        let rtt = rtt.min(LONGEST).as_nanos();
        let least = LEAST_VARIANCE.as_nanos();
        let Some(srtt) = self.srtt.map(Duration::as_nanos) else {
            self.srtt = Some(Duration::from_nanos(rtt));
            self.deviation = 2 * rtt;
            self.variance = self.deviation.max(least);
            (self.largest, self.round) = (self.variance, highest);
            return;
        };
        let error = srtt.abs_diff(rtt);
        let surplus = error as i64 - (self.deviation / 4) as i64;
        // A round trip that is shorter than expected widens the deviation less: the queue may only have emptied.
        let step = if rtt < srtt && surplus > 0 { surplus / 8 } else { surplus };
        self.deviation = self.deviation.saturating_add_signed(step);
        self.srtt = Some(Duration::from_nanos((7 * srtt + rtt) / 8));
        self.largest = self.largest.max(self.deviation);
        self.variance = self.variance.max(self.largest);
        if una > self.round {
            self.variance -= (self.variance - self.largest) / 4;
            (self.round, self.largest) = (highest, least);
        }
    }

    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// RFC 8985 §7.2: what a probe waits after the last segment, without the delay of `path` before the capture point.
    fn probe_timeout(&self, is_single: bool, path: Duration) -> Duration {
        let Some(srtt) = self.srtt else { return UNKNOWN };
        let whole = srtt + path;
        whole + whole + if is_single { DELAYED_ACK } else { Duration::ZERO }
    }

    /// RFC 6298 §2, with a least variance instead of a least timeout, as Linux has it.
    fn timeout(&self, path: Duration) -> Duration {
        let Some(srtt) = self.srtt else { return UNKNOWN };
        srtt + path + Duration::from_nanos(self.variance)
    }

    /// The longest that a probe may have waited, for who measures otherwise, has slow timers or is busy.
    pub fn longest_probe_timeout(&self, is_single: bool, path: Duration) -> Duration {
        let pto = self.probe_timeout(is_single, path);
        pto + Duration::from_nanos(pto.as_nanos() / 4) + LATE
    }

    /// Whether `now` is so near to when a probe is due that chance is hardly the reason: a while after what was `sent`
    /// last, and no later than the timeout of the `oldest` segment.
    pub fn is_probe_due(&self, now: Time, sent: Time, oldest: Time, is_single: bool, path: Duration) -> bool {
        let since_sent = (sent, self.probe_timeout(is_single, path));
        let since_oldest = (oldest, self.timeout(path));
        let (begin, wait) = std::cmp::min_by_key(since_sent, since_oldest, |&(at, wait)| at + wait);
        let (waited, wait) = (now.saturating_since(begin).as_nanos(), wait.as_nanos());
        (wait - wait / 8..=wait + wait / 8 + LATE.as_nanos()).contains(&waited)
    }
}

/// A probe on its way (RFC 8985 §7.1: TLP.end_seq, TLP.is_retrans).
#[derive(Debug, Clone, Copy)]
struct Probe {
    end_seq: u64,
    is_retrans: bool,
}

/// What an acknowledgment says of a probe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub ack: u64,
    /// It reports that the segment before this number came twice.
    pub twice: Option<u64>,
    /// It acknowledges nothing new, cumulatively or selectively, and announces the same window.
    pub is_pure_duplicate: bool,
}

/// A sender's probes: one at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probes {
    current: Option<Probe>,
    /// The timer expired where a probe would have come before.
    pub are_absent: bool,
    /// New data that may be a probe left last.
    is_doubtful: bool,
    /// Probes with new data.
    pub of_new_data: u64,
    /// Losses that a probe repaired.
    pub repairs: u64,
}

impl Probes {
    /// Whether one is not answered yet: there is no second one then.
    pub fn is_waiting(&self) -> bool {
        self.current.is_some()
    }

    /// One left that repeats data; `end_seq` is after the highest number sent.
    pub fn sent(&mut self, end_seq: u64) {
        self.current = Some(Probe { end_seq, is_retrans: true });
    }

    /// New data left that may be one.
    pub fn sent_new_data(&mut self, end_seq: u64) {
        self.current = Some(Probe { end_seq, is_retrans: false });
        self.is_doubtful = true;
    }

    /// More new data leave: a probe is one segment.
    #[inline]
    pub fn more_data(&mut self) {
        if std::mem::take(&mut self.is_doubtful) {
            self.current = None;
        }
    }

    /// Something else comes than more data.
    pub fn settle(&mut self) {
        self.of_new_data += u64::from(std::mem::take(&mut self.is_doubtful));
    }

    /// An expiry, or a recovery, ends what a probe was for.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// RFC 8985 §7.4.2.
    #[inline]
    pub fn answered(&mut self, answer: Answer) {
        let Some(probe) = self.current.filter(|probe| answer.ack >= probe.end_seq) else { return };
        // New data arrived; or both copies did, as the receiver says or a duplicate shows.
        let is_over = !probe.is_retrans || answer.twice == Some(probe.end_seq) || answer.is_pure_duplicate;
        let is_repair = !is_over && answer.ack > probe.end_seq;
        if is_over || is_repair {
            self.current = None;
            self.repairs += u64::from(is_repair);
        }
    }
}
