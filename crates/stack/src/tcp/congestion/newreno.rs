//! TCP NewReno (RFC 6582): fast recovery that lasts until all data outstanding at its start is
//! acknowledged.
//!
//! A partial acknowledgment identifies the next hole, which is retransmitted at once. The window
//! shrinks by the acknowledged amount and grows by the segment sent. Only the first partial ACK
//! restarts the timer ("impatient"), so that a burst of many losses ends in a timeout instead of
//! lasting one round trip for each loss. The "slow but steady" variant of RFC 3782 §4 restarts the
//! timer with each partial ACK.
//!
//! After a timeout, three duplicates may be answers to spurious retransmissions. They count if they
//! acknowledge more than all that had been sent before the timeout ("careful"). The "less careful"
//! variant of RFC 2582 §5 also accepts duplicates that acknowledge exactly that. It repairs a loss
//! of the first new segment without a timeout, but reduces the window needlessly if no segment was
//! lost.

use super::{
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction, Resend, Window,
};
use crate::tcp::config::TcpConfig;

/// NewReno's state.
#[derive(Debug, Clone)]
pub struct NewReno {
    /// After a timeout, duplicates count only if they acknowledge more than all that had been sent
    /// before.
    careful: bool,
    /// Only the first partial ACK of a recovery restarts the timer.
    impatient: bool,
    in_recovery: bool,
    /// A partial ACK has arrived in this recovery.
    partial_seen: bool,
}

impl NewReno {
    pub fn new(config: &TcpConfig) -> Self {
        NewReno {
            careful: config.newreno_careful,
            impatient: config.newreno_impatient,
            in_recovery: false,
            partial_seen: false,
        }
    }

    /// §3.2 step 1: whether three duplicates indicate a loss to which no earlier reduction
    /// responded.
    fn indicates_new_loss(&self, window: &Window, flight: &Flight) -> bool {
        window.is_past_recover(flight) || (!self.careful && flight.una == window.recover)
    }

    /// §3.2 step 3, partial acknowledgment: deflate by the covered segments, then add back one
    /// segment if it covers at least one.
    fn deflate(window: &mut Window, covered: u32) {
        if window.inflation > covered {
            window.inflation -= covered.saturating_sub(1);
            return;
        }
        // The inflation is used up, and cwnd is lowered by the rest.
        let rest = covered - window.inflation;
        window.cwnd = (window.cwnd - f64::from(rest)).max(1.0);
        window.inflation = 1;
    }
}

impl CongestionControl for NewReno {
    fn on_new_ack(&mut self, window: &mut Window, _sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        let is_partial = self.in_recovery && ack.flight.una < window.recover;
        if is_partial {
            Self::deflate(window, ack.segments);
            let is_first_partial_ack = !std::mem::replace(&mut self.partial_seen, true);
            let restart_timer = is_first_partial_ack || !self.impatient;
            return Reaction { resend: Resend::First, restart_timer, ..Reaction::NEW_ACK };
        }
        window.duplicates = 0;
        if std::mem::take(&mut self.in_recovery) {
            window.inflation = 0;
            window.rules.leave_newreno_recovery(window, &ack.flight);
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
        // Each duplicate shows that a segment has left the network.
        if self.in_recovery {
            window.inflation += 1;
            return Reaction::NOTHING;
        }
        let is_third = window.duplicates == DUPLICATE_THRESHOLD;
        if !is_third || !self.indicates_new_loss(window, &ack.flight) {
            return Reaction::NOTHING;
        }
        self.in_recovery = true;
        self.partial_seen = false;
        window.enter_fast_recovery(&ack.flight);
        Reaction::RETRANSMIT
    }

    fn on_undo(&mut self, _sent: &mut Outstanding) {
        self.in_recovery = false;
        self.partial_seen = false;
    }

    fn on_timeout(&mut self, window: &mut Window, _sent: &mut Outstanding, flight: &Flight) {
        window.duplicates = 0;
        self.in_recovery = false;
        window.collapse_after_timeout(flight);
    }

    fn burst(&self, window: &Window) -> u32 {
        window.rules.newreno_burst(window.duplicates)
    }
}
