//! Classifies segments by the sequence numbers seen before: new, late, or retransmitted.

use umts_units::{Duration, Time};

use super::{HalfConnection, Path};
use crate::cause::Cause;
use crate::holes::{FilledHole, Hole, REORDERING};
use crate::packet::Segment;

/// A segment of this end that takes sequence numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct SentSegment<'a> {
    pub now: Time,
    pub segment: &'a Segment,
    /// Number of the first octet, or of the SYN or FIN.
    pub start: u64,
    /// The number after the last octet, or after the FIN.
    pub end: u64,
    pub path: Path,
}

impl SentSegment<'_> {
    /// Returns the value of the segment's timestamp option.
    pub fn timestamp(&self) -> Option<u32> {
        timestamp_of(self.segment)
    }

    /// Returns the end of the payload, without the FIN.
    fn payload_end(&self) -> u64 {
        self.end - u64::from(self.segment.flags.fin())
    }
}

/// How a segment arrived at the capture point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    InOrder,
    /// The first copy, after segments that left later.
    Late,
    /// The first copy, after its acknowledgment.
    AfterAck,
    Retransmitted,
}

impl HalfConnection {
    /// Processes a segment without data. Its number shows that all octets below it have left.
    #[inline]
    pub(super) fn record_empty(&mut self, now: Time, start: u64, segment: &Segment) {
        if let Some(highest) = self.highest.filter(|&highest| highest < start)
            && start <= self.limit(highest)
        {
            self.holes.open(highest, start, now, timestamp_of(segment));
            self.highest = Some(start);
            self.data_end = self.data_end.max(start);
        }
    }

    /// Classifies a segment by the numbers seen before, and counts it. Returns why it was sent.
    pub(super) fn classify(&mut self, sent: &SentSegment) -> Cause {
        let highest = self.highest.unwrap_or(sent.start);
        if sent.start > highest {
            self.holes.open(highest, sent.start, sent.now, sent.timestamp());
        }
        let arrival = self.arrival(sent, highest);
        self.highest = Some(highest.max(sent.end));
        if arrival == Arrival::Retransmitted {
            // A retransmission may end with data that were not sent before.
            self.counters.sent_once += sent.payload_end().saturating_sub(self.data_end.max(sent.start));
            self.data_end = self.data_end.max(sent.payload_end());
            return self.record_retransmission(sent, highest);
        }
        self.record_new(sent);
        self.count_new(sent, arrival);
        Cause::New
    }

    /// Counts the first copy of a segment.
    fn count_new(&mut self, sent: &SentSegment, arrival: Arrival) {
        let payload = sent.segment.payload;
        let is_late = arrival == Arrival::Late;
        self.counters.out_of_order += u64::from(is_late);
        self.counters.data_segments += u64::from(payload > 0);
        self.counters.sent_once += u64::from(payload);
        self.data_end = self.data_end.max(sent.payload_end());
        let una = self.una.unwrap_or(sent.start);
        if sent.end > una {
            self.flight.sent(sent.now, sent.start, sent.end, is_late, self.window.is_some());
        } else if sent.segment.flags.fin() && !self.fin_acked {
            self.fin_was_acknowledged(sent.end);
        }
    }

    /// Corrects the counts for a FIN that came after its acknowledgment: the FIN was counted as
    /// payload.
    #[cold]
    fn fin_was_acknowledged(&mut self, end: u64) {
        self.fin_acked = true;
        self.counters.acknowledged = self.counters.acknowledged.saturating_sub(1);
        if self.data_end == end {
            self.data_end = end - 1;
        }
    }

    /// Returns how a segment arrived. `highest` is the end of the numbers sent before. A segment
    /// below it is late if it fills a hole and left before the hole was shown.
    fn arrival(&mut self, sent: &SentSegment, highest: u64) -> Arrival {
        let &SentSegment { now, start, end, .. } = sent;
        if start >= highest {
            return Arrival::InOrder;
        }
        let timestamp = sent.timestamp();
        let Some(FilledHole { hole, acknowledged_octets }) = self.holes.fill(start, end.min(highest), now)
        else {
            let is_late = self.retransmissions.is_earlier_copy(start, end, timestamp);
            return if is_late { Arrival::Late } else { Arrival::Retransmitted };
        };
        self.counters.unseen = self.counters.unseen.saturating_sub(acknowledged_octets);
        let is_late = hole.is_filled_late(now, timestamp, sent.path.shortest);
        match (is_late, hole.is_shown_by_ack()) {
            (true, true) => Arrival::AfterAck,
            (true, false) => Arrival::Late,
            (false, _) => {
                let has_no_timestamp = timestamp.is_none() && sent.segment.payload > 0;
                self.counters.ambiguous += u64::from(has_no_timestamp);
                Arrival::Retransmitted
            }
        }
    }

    /// Processes a retransmission. `highest` is the end of the numbers sent before. Returns the
    /// cause.
    #[cold]
    fn record_retransmission(&mut self, sent: &SentSegment, highest: u64) -> Cause {
        let &SentSegment { now, start, end, .. } = sent;
        let una = self.una.unwrap_or(start);
        let cause = self.cause_of_retransmission(sent, highest);
        let has_arrived = end <= una || self.sacked.covers(start, end);
        let timestamp = sent.timestamp();
        self.retransmissions.record_retransmission(now, start, end, timestamp, has_arrived);
        self.flight.record_retransmission(now, start, end, timestamp.unwrap_or(0));
        self.count_retransmission(sent.segment, cause);
        if cause == Cause::Rto || cause.begins_fast_recovery() {
            self.flight.stop_timing();
        }
        cause
    }

    /// Counts a retransmission, in all and by its cause.
    fn count_retransmission(&mut self, segment: &Segment, cause: Cause) {
        let counters = &mut self.counters;
        counters.retransmissions += 1;
        counters.retransmitted_segments += u64::from(segment.payload > 0);
        counters.retransmitted += u64::from(segment.payload);
        counters.syn_retransmissions += u64::from(segment.flags.syn());
        counters.by_rto += u64::from(cause.is_by_rto());
        counters.by_dupack += u64::from(cause.is_by_dupack());
        counters.expiries += u64::from(cause == Cause::Rto);
        counters.fast_by_dupacks += u64::from(cause == Cause::DupAcks);
        counters.fast_by_sack += u64::from(cause == Cause::Sack);
        counters.fast_by_rack += u64::from(cause == Cause::Rack);
        counters.probes += u64::from(cause == Cause::Probe);
        counters.unknown += u64::from(cause == Cause::Unknown);
        if self.recoveries.revokes_probe() {
            // The retransmission before was counted as a probe, and was an expiry.
            counters.probes -= 1;
            counters.by_rto += 1;
            counters.expiries += 1;
        }
    }
}

impl Hole {
    /// Returns whether an acknowledgment alone showed that these octets had left.
    fn is_shown_by_ack(&self) -> bool {
        self.acknowledged == Some(self.since)
    }

    /// Returns whether a segment with this timestamp that fills the hole left before the segment
    /// that showed the hole. Timestamps decide (RFC 7323 §3.2) unless they are equal or missing.
    /// Then the time since the hole was shown decides: a retransmission arrives at least a round
    /// trip after that.
    fn is_filled_late(&self, now: Time, timestamp: Option<u32>, shortest: Option<Duration>) -> bool {
        let waited = now.saturating_since(self.since);
        // Negative if the segment left first. Timestamps wrap around.
        let difference = self.timestamp.zip(timestamp).map(|(shown, value)| value.wrapping_sub(shown) as i32);
        match difference {
            Some(..0) => true,
            Some(0) => waited <= REORDERING.max(shortest.unwrap_or_default()),
            Some(1..) => false,
            None => waited <= REORDERING,
        }
    }
}

/// Returns the value of the segment's timestamp option.
fn timestamp_of(segment: &Segment) -> Option<u32> {
    segment.options.timestamps.map(|(value, _)| value)
}
