//! TCP Reno: fast retransmit and fast recovery (RFC 5681 §3.2).
//!
//! The third duplicate ACK halves the window. This and each further duplicate inflate it by the
//! segment that left the network. The first ACK of new data ends the recovery, even if it covers
//! only a part of the outstanding data. With several losses in a window Reno halves the window for
//! each of them, and mostly has to wait for the timer.

use super::{
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction, Window,
};

/// Reno's state.
#[derive(Debug, Clone, Default)]
pub struct Reno {
    /// The last reduction of the window was a fast retransmit, not a timeout. In ns-2 also: no new
    /// data was acknowledged since.
    cut_by_duplicates: bool,
}

impl CongestionControl for Reno {
    fn on_new_ack(&mut self, window: &mut Window, _sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        window.duplicates = 0;
        self.cut_by_duplicates &= window.rules.reno_repeats_fast_retransmit();
        if window.inflation > 0 {
            // Step 6: the recovery ends.
            window.inflation = 0;
            window.rules.leave_reno_recovery(window);
        } else if ack.segments > 0 {
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
        let duplicates = window.duplicates;
        if duplicates > DUPLICATE_THRESHOLD && self.cut_by_duplicates {
            // Step 4: each further duplicate.
            window.inflation += 1;
            return Reaction::NOTHING;
        }
        // After a fast retransmit, the next hole counts at once. After a timeout only data sent
        // since counts, because go-back-N causes duplicates.
        let is_new_loss = self.cut_by_duplicates || window.is_past_recover(&ack.flight);
        if duplicates != DUPLICATE_THRESHOLD || !is_new_loss {
            return Reaction::NOTHING;
        }
        // Steps 2 and 3.
        self.cut_by_duplicates = true;
        window.enter_fast_recovery(&ack.flight);
        Reaction::RETRANSMIT
    }

    fn on_timeout(&mut self, window: &mut Window, _sent: &mut Outstanding, flight: &Flight) {
        window.duplicates = 0;
        self.cut_by_duplicates = false;
        window.collapse_after_timeout(flight);
    }
}
