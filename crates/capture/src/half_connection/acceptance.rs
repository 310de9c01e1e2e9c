//! Acceptance tests for acknowledgments and resets by state and window (RFC 9293 §3.10.7, RFC
//! 5961). A capture may have missed packets, so an acknowledgment that a receiver would refuse is
//! accepted if another one confirms it.

use super::{AnnouncedWindow, HalfConnection, MAX_WINDOW, WINDOW_SLACK};
use crate::packet::Segment;

impl HalfConnection {
    /// Returns whether an acknowledgment can acknowledge data of this end.
    #[inline]
    pub fn may_be_acknowledged(&mut self, segment: &Segment) -> bool {
        let Some(highest) = self.highest else { return true };
        let ack = self.unwrap(segment.ack);
        match self.una {
            Some(una) if self.is_answered && una <= ack && ack <= highest => true,
            _ => self.may_be_unusual(ack, highest),
        }
    }

    /// Returns whether an acknowledgment can acknowledge data of this end, if it is below `una` or
    /// above `highest`, or if this end was not answered before.
    #[cold]
    fn may_be_unusual(&mut self, ack: u64, highest: u64) -> bool {
        // Only a SYN was sent, perhaps with data (RFC 7413), and it was not answered.
        if !self.is_answered
            && let Some(base) = self.base
        {
            return base <= ack && ack <= highest;
        }
        if ack <= highest {
            // RFC 5961 §5.2: an acknowledgment below `una` by more than the largest window is
            // invalid.
            let una = self.una.unwrap_or(ack);
            return una.saturating_sub(ack) <= self.max_window();
        }
        let is_confirmed = self.unconfirmed_ack.is_some_and(|unconfirmed_ack| {
            unconfirmed_ack < ack && ack - unconfirmed_ack <= self.max_window()
        });
        let is_accepted = ack <= self.limit(highest) || is_confirmed;
        self.unconfirmed_ack = if is_accepted { None } else { Some(ack) };
        is_accepted
    }

    /// Returns whether a reset by this end can belong to this connection.
    pub fn may_reset(&self, segment: &Segment) -> bool {
        let Some(known) = self.reference() else { return true };
        let seq = self.unwrap(segment.seq);
        let oldest = self.una.unwrap_or(known).min(known);
        oldest.saturating_sub(self.max_window()) <= seq && seq <= self.limit(known)
    }

    /// Returns the end of the numbers that this end may have used: the receiver's window plus
    /// `WINDOW_SLACK`.
    pub(super) fn limit(&self, highest: u64) -> u64 {
        self.window_edge.unwrap_or(highest).max(highest) + WINDOW_SLACK
    }

    /// Returns the largest window that the receiver may have had.
    fn max_window(&self) -> u64 {
        let una = self.una.unwrap_or_default();
        self.window_edge
            .map_or(0, |window_edge| window_edge.saturating_sub(una))
            .clamp(WINDOW_SLACK, MAX_WINDOW)
    }

    /// Records the end of the receiver's window.
    #[inline]
    pub(super) fn record_window_edge(&mut self, ack: u64, announced: AnnouncedWindow) {
        let room = if announced.is_scaled { u64::from(announced.octets) } else { MAX_WINDOW };
        self.window_edge = self.window_edge.max(Some(ack + room));
    }
}
