//! When one end acknowledges a received segment (RFC 5681 §4.2): at once, or together with the next
//! segment or at the delayed acknowledgment timer. The receiving half (`receiver.rs`) classifies
//! each segment; this file applies the delay, and `transmission.rs` sends the acknowledgment.

use umts_units::Time;

use crate::packet::Segment;

use super::connection::Connection;
use super::receiver::{AckDue, Arrival};
use super::timers::Timer;

/// Full segments of payload that are acknowledged at once (RFC 5681 §4.2: at least every second
/// full segment).
const SEGMENTS_PER_ACK: u64 = 2;

impl Connection {
    /// Decides when a segment is acknowledged: every second full segment and each segment out of
    /// order at once, a single segment in order after a delay.
    #[inline]
    pub(super) fn decide_ack(&mut self, now: Time, segment: &Segment, arrival: &Arrival) {
        // ns-2's receiver treats a repetition of the last segment in order as a segment in order.
        let repeats_last_in_order = || self.config.is_one_way() && self.receiver.ends_with(segment);
        let due = match arrival.ack {
            AckDue::Alone if repeats_last_in_order() => self.delay_ack(now, segment),
            // The first segment of a connection without SYN is acknowledged at once, as a SYN is.
            AckDue::Delayed if segment.seq == 1 && self.config.vegas_without_header() => AckDue::Now,
            AckDue::Delayed => self.delay_ack(now, segment),
            due => due,
        };
        // An acknowledgment that is already due sooner stays due.
        self.ack_due = self.ack_due.max(due);
    }

    /// Counts the payload of a segment in order. Returns whether the acknowledgment is due at once
    /// or may wait, and starts the timer if it waits.
    #[inline]
    fn delay_ack(&mut self, now: Time, segment: &Segment) -> AckDue {
        self.unacknowledged += u64::from(segment.payload);
        if self.quick_acks > 0 {
            self.quick_acks -= 1;
            return AckDue::Now;
        }
        let Some(max_delay) = self.config.ack_delay() else { return AckDue::Now };
        if self.unacknowledged >= SEGMENTS_PER_ACK * u64::from(self.sender.mss) {
            return AckDue::Now;
        }
        if !self.timers.is_running(Timer::DelayedAck) {
            self.timers.set(Timer::DelayedAck, now + max_delay);
        }
        AckDue::Delayed
    }
}
