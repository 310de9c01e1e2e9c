//! TCP with selective acknowledgments over full duplex: the recovery of RFC 6675 with the window of RFC 5681.
//!
//! A duplicate ACK is one that SACKs something new. The third, or one that shows the oldest segment to be lost, begins a
//! recovery, in which [`Selective`] says what leaves. It ends when all that was outstanding at its beginning is
//! acknowledged. What was lost before a timeout begins no recovery after it.
//!
//! A retransmission that is lost again waits for the timer, as in the RFC.

use umts_units::Time;

use super::{
    CongestionControl, Duplicate, Flight, LossRule, NewAck, Outstanding, Reaction, Selective, Turn, Window,
};
use crate::packet::SackBlocks;

/// RFC 6675's state.
#[derive(Debug, Clone)]
pub struct Rfc6675 {
    recovery: Selective,
}

impl Default for Rfc6675 {
    fn default() -> Self {
        Rfc6675 { recovery: Selective::new(LossRule::Rfc6675) }
    }
}

impl CongestionControl for Rfc6675 {
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck) -> Reaction {
        sent.note_sack(ack.flight.una, &ack.sack);
        if self.recovery.in_recovery() {
            if ack.flight.una < window.recover {
                self.recovery.update(window, sent);
                return Reaction::NEW_ACK;
            }
            self.recovery.end();
            window.duplicates = 0;
            return Reaction::NEW_ACK;
        }
        window.duplicates = 0;
        if ack.segments > 0 {
            window.increase();
        }
        Reaction::NEW_ACK
    }

    fn count_duplicate(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        let news = sent.note_sack(ack, sack).segments > 0;
        window.duplicates += u32::from(news);
        news
    }

    fn on_duplicate_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &Duplicate) -> Reaction {
        if self.recovery.in_recovery() {
            self.recovery.update(window, sent);
            return Reaction::NOTHING;
        }
        // §5: not before all that was outstanding at the last timeout or recovery is acknowledged.
        let may_begin = ack.counted && ack.flight.una >= window.recover;
        if !may_begin || !self.recovery.sees_loss(window, sent) {
            return Reaction::NOTHING;
        }
        window.enter_fast_recovery(&ack.flight);
        // `pipe` takes the place of the inflation.
        window.inflation = 0;
        self.recovery.begin(window, sent);
        Reaction::RETRANSMIT
    }

    fn on_undo(&mut self) {
        self.recovery.end();
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        self.recovery.time_out(sent);
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn turn(&self, window: &Window, sent: &Outstanding, _advertised: u32) -> Turn {
        self.recovery.turn(window, sent)
    }

    #[inline]
    fn on_sent(&mut self, turn: Turn, number: u64, _now: Time) {
        self.recovery.on_sent(turn, number);
    }
}
