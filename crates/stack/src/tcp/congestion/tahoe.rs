//! TCP Tahoe: slow start, congestion avoidance and fast retransmit, without fast recovery (Jacobson
//! 1988; Fall and Floyd 1996).
//!
//! Each loss leads to slow start from one segment. The sender goes back to the oldest segment and
//! sends all segments again as the window opens, including those that had arrived. Their duplicate
//! ACKs do not count as a new loss, because they do not cover more than `recover`.

use super::{
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction, Window,
};

/// Tahoe has no state beyond the window.
#[derive(Debug, Clone)]
pub struct Tahoe;

impl CongestionControl for Tahoe {
    fn on_new_ack(&mut self, window: &mut Window, _sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        window.duplicates = 0;
        if ack.segments > 0 {
            window.increase();
        }
        Reaction::NEW_ACK
    }

    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        _sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        if window.duplicates != DUPLICATE_THRESHOLD || !window.is_past_recover(&ack.flight) {
            return Reaction::NOTHING;
        }
        window.collapse_after_duplicates(&ack.flight);
        Reaction::GO_BACK
    }

    fn on_timeout(&mut self, window: &mut Window, _sent: &mut Outstanding, flight: &Flight) {
        if !window.rules.tahoe_keeps_duplicates() {
            window.duplicates = 0;
        }
        window.collapse_after_timeout(flight);
    }
}
