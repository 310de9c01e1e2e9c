//! TCP with forward acknowledgment (Mathis and Mahdavi 1996) as in ns-2 ("Fack"), without rampdown
//! and overdamping.
//!
//! The data in flight is known and not estimated: all between the forward-most SACKed segment and
//! the next one to send, and all retransmissions that are not yet acknowledged. Recovery begins
//! when the forward-most segment is more than two segments ahead of the oldest hole, so gaps count
//! like duplicates.
//!
//! Specific to ns-2: The reduction sets cwnd to one segment, and each ACK in recovery, including
//! duplicates, raises it by the usual rule. Each ACK that is a duplicate, carries blocks or belongs
//! to a recovery is timed by its echo and restarts the timer. A timeout does not end the recovery.
//! If a retransmission is lost, nothing is sent before the timer expires.

use umts_units::Time;

use crate::packet::SackBlocks;
use crate::tcp::congestion::{
    CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction, Resend, Sample,
    Turn, Window,
};

/// For an ACK that is timed by its echo and restarts the timer.
const TIMED_BY_ECHO: Reaction = Reaction { restart_timer: true, sample: Sample::Echo, ..Reaction::NOTHING };

/// FACK's state.
#[derive(Debug, Clone, Default)]
pub struct Fack {
    in_recovery: bool,
    /// The next sequence number to send when the recovery began. The recovery lasts until it is
    /// acknowledged.
    recover: u64,
    /// Number of segments sent out of order and not yet acknowledged.
    resent: u32,
    /// One of them was lost again.
    stopped: bool,
    /// Nothing is sent before the next ACK or timeout. Either the recovery has just begun, or
    /// outside of a recovery the last ACK left the forward-most segment anywhere else than one
    /// beyond the oldest hole.
    held: bool,
}

impl Fack {
    /// Processes an ACK outside of a recovery that reports a gap.
    fn process_gap(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) -> Reaction {
        let reach = sent.sacked_reach() as u32;
        window.duplicates = reach.saturating_sub(1);
        self.held = reach != 1;
        if window.duplicates < DUPLICATE_THRESHOLD {
            return TIMED_BY_ECHO;
        }
        window.cut_to_one(flight);
        self.recover = sent.next_seq();
        self.in_recovery = true;
        Reaction { resend: Resend::First, sample: Sample::EchoAndCancel, ..TIMED_BY_ECHO }
    }

    fn continue_recovery(&mut self, window: &mut Window, sent: &Outstanding) -> Reaction {
        window.increase();
        self.stopped |= sent.has_lost_again();
        TIMED_BY_ECHO
    }
}

impl CongestionControl for Fack {
    fn on_syn_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &NewAck<'_>,
        _initial: u32,
    ) -> Reaction {
        self.on_new_ack(window, sent, ack)
    }

    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        self.held = false;
        let noted = sent.note_sack(ack.flight.una, ack.sack);
        sent.skip_sacked();
        self.resent = self.resent.saturating_sub(noted.resent + ack.done.resent);
        let has_blocks = !ack.sack.is_empty();
        if self.in_recovery && (has_blocks || ack.flight.una <= self.recover) {
            return self.continue_recovery(window, sent);
        }
        if has_blocks {
            return self.process_gap(window, sent, &ack.flight);
        }
        let reaction = if self.in_recovery { TIMED_BY_ECHO } else { Reaction::NEW_ACK };
        *self = Fack::default();
        sent.forget_sacks();
        window.duplicates = 0;
        window.increase();
        reaction
    }

    fn count_duplicate(
        &mut self,
        _window: &mut Window,
        sent: &mut Outstanding,
        ack: u64,
        sack: &SackBlocks,
    ) -> bool {
        self.held = false;
        let noted = sent.note_sack(ack, sack);
        sent.skip_sacked();
        self.resent = self.resent.saturating_sub(noted.resent);
        true
    }

    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        if self.in_recovery {
            return self.continue_recovery(window, sent);
        }
        self.process_gap(window, sent, &ack.flight)
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        self.resent = 0;
        self.stopped = false;
        self.held = false;
        sent.forget_sacks();
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn turn(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Turn {
        let room = sent.sacked_reach() as u32 + (window.cwnd as u32).min(advertised);
        if self.held || self.stopped || sent.next() as u32 + self.resent >= room {
            return Turn::Wait;
        }
        match sent.first_hole() {
            Some(hole) => Turn::Hole(hole),
            None if (sent.next() as u32) < advertised => Turn::InOrder,
            None => Turn::Wait,
        }
    }

    #[inline]
    fn on_sent(&mut self, turn: Turn, _number: u64, _now: Time) {
        self.resent += u32::from(matches!(turn, Turn::Hole(_) | Turn::First));
    }

    /// All outstanding segments may be acknowledged while the loss of a retransmission blocks
    /// transmission.
    #[inline]
    fn needs_timer_when_empty(&self, _window: &Window) -> bool {
        self.held || self.stopped || self.resent > 0
    }
}
