//! Retransmissions that were not needed, because the receiver got an earlier copy. The evidence
//! comes from acknowledgments:
//!
//! - **DSACK** (RFC 2883): the receiver reports duplicates.
//! - **Timestamps** (the Eifel detection, RFC 3522): the acknowledgment echoes a time before the
//!   retransmission.
//! - **Early acknowledgment**: it came before the retransmission, or after it in less than the
//!   shortest round trip.
//!
//! A retransmission without evidence counts as needed, so the count is a lower bound.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

/// Maximum number of retransmissions that are recorded: more than one window. For older
/// retransmissions, no further evidence is expected.
const MAX_RECENT: usize = 256;

/// Evidence that a retransmission was not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    Dsack,
    Timestamps,
    EarlyAck,
}

/// Counts of needless retransmissions, by the evidence. Each retransmission counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unneeded {
    pub by_dsack: u64,
    pub by_timestamps: u64,
    pub by_early_ack: u64,
}

impl Unneeded {
    pub fn total(&self) -> u64 {
        self.by_dsack + self.by_timestamps + self.by_early_ack
    }

    fn counter(&mut self, evidence: Evidence) -> &mut u64 {
        match evidence {
            Evidence::Dsack => &mut self.by_dsack,
            Evidence::Timestamps => &mut self.by_timestamps,
            Evidence::EarlyAck => &mut self.by_early_ack,
        }
    }
}

/// A retransmitted segment.
#[derive(Debug, Clone, Copy)]
struct RecentRetransmission {
    /// First octet and end, as unwrapped sequence numbers.
    start: u64,
    end: u64,
    /// When it was sent.
    at: Time,
    /// Its own timestamp (TSval, RFC 7323).
    timestamp: Option<u32>,
    is_acknowledged: bool,
    evidence: Option<Evidence>,
}

/// Recent retransmissions of one sender.
#[derive(Debug, Clone, Default)]
pub(crate) struct Retransmissions {
    recent: VecDeque<RecentRetransmission>,
    /// Number of `recent` that are not acknowledged.
    unacknowledged: usize,
    pub unneeded: Unneeded,
}

impl Retransmissions {
    /// Records that `start..end` was retransmitted with this timestamp. `has_arrived`: the octets
    /// were acknowledged before, cumulatively or selectively.
    pub fn record_retransmission(
        &mut self,
        at: Time,
        start: u64,
        end: u64,
        timestamp: Option<u32>,
        has_arrived: bool,
    ) {
        if self.recent.len() == MAX_RECENT
            && let Some(oldest) = self.recent.pop_front()
        {
            self.unacknowledged -= usize::from(!oldest.is_acknowledged);
        }
        let evidence = has_arrived.then_some(Evidence::EarlyAck);
        if let Some(evidence) = evidence {
            *self.unneeded.counter(evidence) += 1;
        }
        self.unacknowledged += usize::from(!has_arrived);
        self.recent.push_back(RecentRetransmission {
            start,
            end,
            at,
            timestamp,
            is_acknowledged: has_arrived,
            evidence,
        });
    }

    /// Returns whether a segment with this timestamp left before a retransmission of the same
    /// octets. Then the segment is the first copy, and came late.
    pub fn is_earlier_copy(&self, start: u64, end: u64, timestamp: Option<u32>) -> bool {
        let is_of_later = |resent: &RecentRetransmission| {
            timestamp.zip(resent.timestamp).is_some_and(|(own, sent)| is_before(own, sent))
        };
        self.recent.iter().any(|resent| resent.start < end && start < resent.end && is_of_later(resent))
    }

    /// Returns whether a retransmission is not acknowledged yet.
    pub fn has_unacknowledged(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Processes an acknowledgment of all octets below `una`. `echo` is the timestamp that it echoes
    /// (TSecr), and `shortest` the shortest round-trip time of the connection.
    pub fn acknowledged(&mut self, now: Time, una: u64, echo: Option<u32>, shortest: Option<Duration>) {
        for resent in self.recent.iter_mut() {
            if resent.is_acknowledged || resent.end > una {
                continue;
            }
            resent.is_acknowledged = true;
            self.unacknowledged -= 1;
            let is_older = echo.zip(resent.timestamp).is_some_and(|(echo, sent)| is_before(echo, sent));
            let is_early = shortest.is_some_and(|shortest| now.saturating_since(resent.at) < shortest);
            resent.evidence = match (is_older, is_early) {
                (true, _) => Some(Evidence::Timestamps),
                (false, true) => Some(Evidence::EarlyAck),
                (false, false) => None,
            };
            if let Some(evidence) = resent.evidence {
                *self.unneeded.counter(evidence) += 1;
            }
        }
    }

    /// Processes a DSACK, which reports that `start..end` arrived twice. The latest retransmission of
    /// these octets counts as needless. If it did so before for another reason, it is counted by
    /// DSACK instead.
    pub fn duplicated(&mut self, start: u64, end: u64) {
        let is_reported = |resent: &&mut RecentRetransmission| {
            resent.start < end && start < resent.end && resent.evidence != Some(Evidence::Dsack)
        };
        let Some(resent) = self.recent.iter_mut().rev().find(is_reported) else { return };
        if let Some(before) = resent.evidence.replace(Evidence::Dsack) {
            *self.unneeded.counter(before) -= 1;
        }
        self.unneeded.by_dsack += 1;
    }
}

/// Returns whether timestamp `a` is earlier than `b`. Timestamps wrap around (RFC 7323 §5.2).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
