//! Collects the facts about a sent segment from which `recovery.rs` infers its cause.

use umts_units::Time;

use super::HalfConnection;
use super::arrival::SentSegment;
use crate::cause::Cause;
use crate::probe::MAX_RTT;
use crate::recovery::{NewData, Retransmission};

impl HalfConnection {
    /// Processes new data. After silence they may be a probe, unless more data follow before an
    /// acknowledgment.
    #[inline]
    pub(super) fn record_new(&mut self, sent: &SentSegment) {
        let is_last = self.highest == Some(sent.end);
        let is_outstanding = self.una.is_some_and(|una| una < sent.start) && is_last;
        if let Some(last_sent) = self.recoveries.record_new_data(sent.now, is_outstanding)
            && self.is_new_probe(sent, last_sent)
        {
            self.recoveries.probes.sent_new_data(sent.end);
        }
    }

    /// Returns whether new data are a tail loss probe. A probe with new data is a full segment.
    /// `last_sent`: when the sender sent the packet before.
    #[cold]
    fn is_new_probe(&self, sent: &SentSegment, last_sent: Time) -> bool {
        let payload = sent.segment.payload;
        let is_full = payload > 0 && payload >= self.counters.largest_segment;
        if !is_full || !self.sacked.is_empty() || !self.has_sack() {
            return false;
        }
        let Some(oldest) = self.una.and_then(|una| self.flight.oldest(una)) else { return false };
        self.recoveries.is_new_probe(&NewData {
            now: sent.now,
            last_sent,
            oldest: oldest.at,
            is_single: self.flight.is_single(),
            sender_delay: sent.path.sender_delay.min(MAX_RTT),
            estimate: self.flight.estimate,
        })
    }

    /// Returns why a segment was retransmitted. `highest` is the end of the data sent before.
    pub(super) fn cause_of_retransmission(&mut self, sent: &SentSegment, highest: u64) -> Cause {
        let is_syn = sent.segment.flags.syn();
        if !self.is_acknowledged() && !is_syn {
            return Cause::Unknown;
        }
        let una = self.una.unwrap_or(sent.start);
        let previous = self.flight.last_copy(sent.start.max(una));
        self.recoveries.record_retransmission(&Retransmission {
            now: sent.now,
            start: sent.start,
            end: sent.end,
            is_syn,
            timestamp: sent.timestamp(),
            previous,
            una,
            highest,
            sacked_above: self.sacked.count_above(sent.end),
            full_segment: u64::from(self.counters.largest_segment),
            has_sack: self.has_sack(),
            lost_at: previous.and_then(|previous| self.lost_at(previous.copy)),
            sender_delay: sent.path.sender_delay.min(MAX_RTT),
            estimate: self.flight.estimate,
        })
    }
}
