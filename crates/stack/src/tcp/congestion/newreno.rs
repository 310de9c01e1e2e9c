//! TCP NewReno (RFC 6582): fast recovery that lasts until everything outstanding at its start is acknowledged.
//!
//! A partial acknowledgment points at the next hole, which is sent again at once; the window shrinks by what was
//! acknowledged and gains the segment sent. Only the first partial ACK restarts the timer ("impatient"), so a burst of
//! many losses ends in a timeout rather than in one round trip for each; the "slow but steady" variant of RFC 3782 §4
//! restarts it each time.
//!
//! After a timeout, three duplicates may only echo what it sent needlessly again. They count if they acknowledge more than
//! all that had left before it ("careful"); the "less careful" variant of RFC 2582 §5 takes those that acknowledge just
//! that, too: it repairs a loss of the first new segment without a timeout, and halves for nothing if the duplicates were
//! echoes.

use super::{
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction, Resend, Window,
};
use crate::tcp::config::NewRenoConfig;

/// NewReno's state.
#[derive(Debug, Clone)]
pub struct NewReno {
    config: NewRenoConfig,
    in_recovery: bool,
    /// A partial ACK has come in this recovery.
    partial_seen: bool,
}

impl NewReno {
    /// At the start of a connection.
    pub fn new(config: NewRenoConfig) -> Self {
        NewReno { config, in_recovery: false, partial_seen: false }
    }

    /// §3.2 step 1: whether three duplicates tell of a loss that no earlier cut has answered.
    fn believes(&self, window: &Window, flight: &Flight) -> bool {
        window.is_past_recover(flight) || (!self.config.careful && flight.una == window.recover)
    }

    /// §3.2 step 3, partial acknowledgment: deflate by what it covers, add back one segment if it covers one.
    fn deflate(window: &mut Window, covered: u32) {
        if window.inflation > covered {
            window.inflation -= covered.saturating_sub(1);
        } else {
            window.cwnd = (window.cwnd - f64::from(covered - window.inflation)).max(1.0);
            window.inflation = 1;
        }
    }
}

impl CongestionControl for NewReno {
    fn on_new_ack(&mut self, window: &mut Window, _sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        if self.in_recovery && ack.flight.una < window.recover {
            Self::deflate(window, ack.segments);
            let first = !std::mem::replace(&mut self.partial_seen, true);
            let restart_timer = first || !self.config.impatient;
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
        if self.in_recovery {
            window.inflation += 1;
            return Reaction::NOTHING;
        }
        if window.duplicates != DUPLICATE_THRESHOLD || !self.believes(window, &ack.flight) {
            return Reaction::NOTHING;
        }
        (self.in_recovery, self.partial_seen) = (true, false);
        window.enter_fast_recovery(&ack.flight);
        Reaction::RETRANSMIT
    }

    fn on_undo(&mut self, _sent: &mut Outstanding) {
        (self.in_recovery, self.partial_seen) = (false, false);
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
