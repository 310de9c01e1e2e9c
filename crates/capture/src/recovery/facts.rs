//! The facts about a packet from which its cause is inferred. `half_connection/causes.rs` collects
//! them. Sequence numbers are unwrapped to 64 bits.

use umts_units::{Duration, Time};

use super::{DUPLICATE_THRESHOLD, MIN_TIMEOUT};
use crate::probe::Estimate;
use crate::unacked_segments::LastCopy;

/// Time in which a sender answers an acknowledgment, with a margin for slow machines and pacing.
pub(super) const REACTION: Duration = Duration::from_millis(10);
/// Delay of timers: two ticks of a clock of 100 Hz.
const TIMER_DELAY: Duration = Duration::from_millis(20);

/// The facts about a retransmission from which its cause is inferred.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retransmission {
    /// When the retransmission was captured.
    pub now: Time,

    /// First octet of the segment.
    pub start: u64,
    /// End of the segment: the number after its last octet.
    pub end: u64,
    pub is_syn: bool,
    /// Value of the segment's timestamp.
    pub timestamp: Option<u32>,
    /// The previous copy of the segment. `None` if no copy was captured.
    pub previous: Option<LastCopy>,

    /// The oldest number that is not acknowledged.
    pub una: u64,
    /// End of the highest number sent.
    pub highest: u64,
    /// Selectively acknowledged octets above the segment.
    pub sacked_above: u64,
    /// Octets of a full segment.
    pub full_segment: u64,
    /// Whether selective acknowledgments are in use.
    pub has_sack: bool,

    /// When RACK declares the segment lost: at the end of the reordering window. `None` if no
    /// segment that left later has arrived.
    pub lost_at: Option<Time>,
    /// How long the sender takes to answer, as seen at the capture point.
    pub sender_delay: Duration,
    /// The sender's smoothed round-trip time.
    pub estimate: Estimate,
}

impl Retransmission {
    /// Whether the segment has the oldest octet that is not acknowledged.
    pub(super) fn is_oldest(&self) -> bool {
        self.start <= self.una && self.una < self.end
    }

    /// RFC 6675 §4, IsLost: more than two full segments above it are selectively acknowledged.
    pub(super) fn is_lost_by_sack(&self) -> bool {
        self.sacked_above > u64::from(DUPLICATE_THRESHOLD - 1) * self.full_segment
    }

    /// Returns the longest time until a sender's answer is seen at the capture point.
    pub(super) fn reaction(&self) -> Duration {
        longest_reaction(self.sender_delay)
    }

    /// Returns whether the segment left no later than a sender with RACK would send it, including
    /// the delay of its timer.
    pub(super) fn is_due_by_rack(&self) -> bool {
        self.lost_at.is_some_and(|lost_at| self.now <= lost_at + TIMER_DELAY + self.reaction())
    }

    /// Returns whether RACK would have sent the segment much earlier: by more than a round trip or
    /// the minimum timeout.
    pub(super) fn is_overdue_by_rack(&self) -> bool {
        let tolerance = self.estimate.srtt().unwrap_or_default().max(MIN_TIMEOUT) + self.reaction();
        self.lost_at.is_some_and(|lost_at| self.now > lost_at + tolerance)
    }

    /// Returns whether the retransmission timer may have expired, because nothing shows that the
    /// previous copy is lost. Then no acknowledgment causes the retransmission, even if one comes
    /// at the same time.
    pub(super) fn may_be_by_timer(&self) -> bool {
        let is_lost = self.lost_at.is_some();
        let is_old = |previous: LastCopy| self.now.saturating_since(previous.copy.at) >= MIN_TIMEOUT;
        !is_lost && self.previous.is_some_and(is_old)
    }
}

/// The facts about new data that leave while other data are outstanding and none is selectively
/// acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewData {
    pub now: Time,
    /// When the sender last sent a packet.
    pub last_sent: Time,
    /// When the oldest outstanding segment left.
    pub oldest: Time,
    /// Whether the oldest outstanding segment is the only one.
    pub is_single: bool,
    /// How long the sender takes to answer, as seen at the capture point.
    pub sender_delay: Duration,
    /// The sender's smoothed round-trip time.
    pub estimate: Estimate,
}

impl NewData {
    /// Returns the longest time until a sender's answer is seen at the capture point.
    pub(super) fn reaction(&self) -> Duration {
        longest_reaction(self.sender_delay)
    }
}

/// Twice the sender's delay, because the delay varies, but at least [`REACTION`].
fn longest_reaction(sender_delay: Duration) -> Duration {
    REACTION.max(sender_delay + sender_delay)
}

/// An acknowledgment that the sender processes. "It" in the comments is the acknowledgment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckInfo {
    pub now: Time,
    pub ack: u64,
    /// It selectively acknowledges data that were not acknowledged before.
    pub sacks_new_data: bool,
    /// It repeats the previous acknowledgment.
    pub repeats_last: bool,
    /// It repeats the previous acknowledgment while data are outstanding (a duplicate, RFC 5681
    /// §2).
    pub is_duplicate: bool,
    /// It reports that the segment before this number arrived twice.
    pub duplicate_end: Option<u64>,
    /// Echo of its timestamp option.
    pub echo: Option<u32>,
    /// It acknowledges, cumulatively or selectively, a segment that was never retransmitted and
    /// ends here.
    pub original_end: Option<u64>,
}
