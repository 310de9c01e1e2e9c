//! RACK: segments that a sender considers lost because segments that left later have arrived (RFC
//! 8985 §6).
//!
//! The sender's state is reconstructed from the acknowledgments that it receives: the segment that
//! left last of all that arrived, and its round-trip time. A segment that left earlier is lost when
//! that time and a reordering window have passed since it left. Whether a sender uses RACK at all
//! shows in its retransmissions (`recovery.rs`).

use umts_units::{Duration, Time};

use crate::probe::MAX_RTT;

/// RFC 8985 §6.2, step 4: number of recoveries for which a wider reordering window is kept.
const PERSISTENCE: u32 = 16;

/// A segment that was acknowledged, cumulatively or selectively.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveredSegment {
    /// When the copy that arrived left, as far as this is known.
    pub sent_at: Time,
    /// End of the segment, as an unwrapped sequence number.
    pub end: u64,
    pub was_retransmitted: bool,
    /// The acknowledgment echoes a timestamp from before the retransmission.
    pub was_earlier_copy: bool,
}

/// State of RACK. Names as in RFC 8985 §5.3, without the prefix `RACK.`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rack {
    /// Send time and end of the segment that left last of all that arrived.
    xmit_ts: Time,
    end_seq: u64,
    /// When `xmit_ts` and `end_seq` were last set.
    updated_at: Time,
    /// Round-trip time of the segment that arrived last.
    rtt: Duration,
    /// End of the highest segment that arrived.
    fack: u64,
    reordering_seen: bool,
    /// Multiplier of the reordering window, minus 1.
    reo_wnd_mult: u32,
    /// Recoveries for which a wider window is still kept.
    reo_wnd_persist: u32,
    /// End of the data in flight when a DSACK widened the window. No other DSACK does so before that
    /// is acknowledged.
    dsack_round: Option<u64>,
}

impl Rack {
    /// Processes the delivery of a segment (RFC 8985 §6.2, steps 2 and 3).
    #[inline]
    pub fn delivered(&mut self, now: Time, segment: DeliveredSegment, min_rtt: Option<Duration>) {
        if segment.end > self.fack {
            self.fack = segment.end;
        } else if segment.end < self.fack && !segment.was_retransmitted {
            self.reordering_seen = true;
        }
        let rtt = now.saturating_since(segment.sent_at).min(MAX_RTT);
        if segment.was_retransmitted
            && (segment.was_earlier_copy || min_rtt.is_some_and(|min_rtt| rtt < min_rtt))
        {
            return;
        }
        self.rtt = rtt;
        if self.is_after(segment.sent_at, segment.end) {
            (self.xmit_ts, self.end_seq, self.updated_at) = (segment.sent_at, segment.end, now);
        }
    }

    /// Processes the delivery of segments that arrived in order and were sent once. The arguments
    /// describe the last of them.
    #[inline]
    pub fn delivered_in_order(&mut self, now: Time, sent_at: Time, end: u64) {
        self.fack = self.fack.max(end);
        self.rtt = now.saturating_since(sent_at).min(MAX_RTT);
        if self.is_after(sent_at, end) {
            (self.xmit_ts, self.end_seq, self.updated_at) = (sent_at, end, now);
        }
    }

    /// Returns whether the last-sent of the delivered segments left after this one
    /// (RACK_sent_after).
    #[inline]
    pub fn has_passed(&self, sent_at: Time, end: u64) -> bool {
        (self.xmit_ts, self.end_seq) > (sent_at, end)
    }

    /// Returns whether a segment was sent after the last-sent of the delivered segments: later, or
    /// at the same time with a higher end (`RACK_sent_after`, RFC 8985 §6.2).
    fn is_after(&self, sent_at: Time, end: u64) -> bool {
        (sent_at, end) > (self.xmit_ts, self.end_seq)
    }

    /// Returns when the last-sent of the delivered segments left.
    pub fn xmit_ts(&self) -> Time {
        self.xmit_ts
    }

    /// Returns when that segment was delivered. No loss can have been detected by RACK earlier.
    pub fn updated_at(&self) -> Time {
        self.updated_at
    }

    /// Returns the time after which a passed segment is lost, without the reordering window.
    pub fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Returns the reordering window (step 4): zero in a recovery and after three duplicates,
    /// unless the path reorders.
    pub fn window(&self, is_urgent: bool, min_rtt: Option<Duration>, srtt: Option<Duration>) -> Duration {
        if is_urgent && !self.reordering_seen {
            return Duration::ZERO;
        }
        let quarter = min_rtt.unwrap_or_default().min(MAX_RTT).as_nanos() / 4;
        let wide = Duration::from_nanos(quarter.saturating_mul(u64::from(self.reo_wnd_mult) + 1));
        wide.min(srtt.unwrap_or(MAX_RTT))
    }

    /// Processes a report of a duplicate. The first report in a round trip widens the window.
    pub fn duplicated(&mut self, una: u64, highest: u64) {
        if self.dsack_round.is_none_or(|round| una >= round) {
            self.dsack_round = Some(highest);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSISTENCE;
        }
    }

    /// Processes the end of a recovery.
    pub fn recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 0;
        }
    }
}
