//! Classifies segments by the sequence numbers seen before: new, late, or retransmitted.

use umts_units::{Duration, Time};

use super::{HalfConnection, Path};
use crate::cause::Cause;
use crate::holes::{FilledHole, Hole, REORDERING};
use crate::packet::Segment;

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

    /// Classifies a segment by the numbers seen before. Returns why it was sent.
    pub(super) fn classify(
        &mut self,
        now: Time,
        start: u64,
        end: u64,
        segment: &Segment,
        path: Path,
    ) -> Cause {
        let highest = self.highest.unwrap_or(start);
        if start > highest {
            self.holes.open(highest, start, now, timestamp_of(segment));
        }
        let arrival = self.arrival(now, (start, end), highest, segment, path.shortest);
        self.highest = Some(highest.max(end));
        let payload_end = end - u64::from(segment.flags.fin());
        if arrival == Arrival::Retransmitted {
            self.counters.sent_once += payload_end.saturating_sub(self.data_end.max(start));
            self.data_end = self.data_end.max(payload_end);
            return self.record_retransmission(now, start, end, highest, segment, path.sender_delay);
        }
        self.record_new(now, start, end, segment, path.sender_delay);
        self.counters.out_of_order += u64::from(arrival == Arrival::Late);
        self.counters.data_segments += u64::from(segment.payload > 0);
        self.counters.sent_once += u64::from(segment.payload);
        self.data_end = self.data_end.max(payload_end);
        let una = self.una.unwrap_or(start);
        if end > una {
            self.flight.sent(now, start, end, arrival == Arrival::Late, self.window.is_some());
        } else if segment.flags.fin() && !self.fin_acked {
            self.fin_was_acknowledged(end);
        }
        Cause::New
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

    /// Returns how a segment arrived.
    fn arrival(
        &mut self,
        now: Time,
        (start, end): (u64, u64),
        highest: u64,
        segment: &Segment,
        shortest: Option<Duration>,
    ) -> Arrival {
        if start >= highest {
            return Arrival::InOrder;
        }
        let timestamp = timestamp_of(segment);
        let Some(FilledHole { hole, acknowledged_octets }) = self.holes.fill(start, end.min(highest), now)
        else {
            let is_late = self.retransmissions.is_earlier_copy(start, end, timestamp);
            return if is_late { Arrival::Late } else { Arrival::Retransmitted };
        };
        self.counters.unseen = self.counters.unseen.saturating_sub(acknowledged_octets);
        match (hole.is_filled_late(now, timestamp, shortest), hole.is_shown_by_ack()) {
            (true, true) => Arrival::AfterAck,
            (true, false) => Arrival::Late,
            (false, _) => {
                self.counters.ambiguous += u64::from(timestamp.is_none() && segment.payload > 0);
                Arrival::Retransmitted
            }
        }
    }

    /// Counts a retransmission. Returns its cause.
    #[cold]
    fn record_retransmission(
        &mut self,
        now: Time,
        start: u64,
        end: u64,
        highest: u64,
        segment: &Segment,
        sender_delay: Duration,
    ) -> Cause {
        let una = self.una.unwrap_or(start);
        let cause = self.cause_of_retransmission(now, (start, end), highest, segment, sender_delay);
        let has_arrived = end <= una || self.sacked.covers(start, end);
        let timestamp = timestamp_of(segment);
        self.retransmissions.record_retransmission(now, start, end, timestamp, has_arrived);
        self.flight.record_retransmission(now, start, end, timestamp.unwrap_or(0));
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
            counters.probes -= 1;
            counters.by_rto += 1;
            counters.expiries += 1;
        }
        if cause == Cause::Rto || cause.begins_fast_recovery() {
            self.flight.stop_timing();
        }
        cause
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
        match self.timestamp.zip(timestamp).map(|(shown, value)| value.wrapping_sub(shown) as i32) {
            Some(..0) => true,
            Some(0) => waited <= REORDERING.max(shortest.unwrap_or_default()),
            Some(_) => false,
            None => waited <= REORDERING,
        }
    }
}

/// Returns the value of the segment's timestamp option.
fn timestamp_of(segment: &Segment) -> Option<u32> {
    segment.options.timestamps.map(|(value, _)| value)
}
