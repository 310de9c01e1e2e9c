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
    Selection, Window,
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
    /// Number of segments retransmitted out of order and not yet acknowledged.
    resent: u32,
    /// One of these retransmissions was lost: nothing is sent before the timer expires.
    is_stopped: bool,
    /// Nothing is sent before the next ACK or timeout: either the recovery has just begun, or the
    /// last ACK outside of a recovery reported a gap.
    is_paused: bool,
}

impl Fack {
    /// Processes an ACK outside of a recovery that reports a gap.
    fn process_gap(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) -> Reaction {
        // The gap counts like duplicates: number of segments from the oldest hole to the
        // forward-most SACKed segment.
        let gap = sent.count_up_to_sacked() as u32;
        window.duplicates = gap.saturating_sub(1);
        self.is_paused = gap != 1;
        if window.duplicates < DUPLICATE_THRESHOLD {
            return TIMED_BY_ECHO;
        }
        window.cut_to_one(flight);
        self.recover = sent.next_seq();
        self.in_recovery = true;
        Reaction { resend: Resend::First, sample: Sample::EchoAndCancel, ..TIMED_BY_ECHO }
    }

    /// Processes an ACK in a recovery.
    fn continue_recovery(&mut self, window: &mut Window, sent: &Outstanding) -> Reaction {
        window.increase();
        self.is_stopped |= sent.has_lost_retransmission();
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
        self.is_paused = false;
        let newly_sacked = sent.mark_sacked(ack.flight.una, ack.sack);
        sent.skip_sacked();
        self.resent = self.resent.saturating_sub(newly_sacked.resent + ack.removed.resent);
        let has_blocks = !ack.sack.is_empty();
        if self.in_recovery && (has_blocks || ack.flight.una <= self.recover) {
            return self.continue_recovery(window, sent);
        }
        if has_blocks {
            return self.process_gap(window, sent, &ack.flight);
        }
        let reaction = if self.in_recovery { TIMED_BY_ECHO } else { Reaction::NEW_ACK };
        *self = Fack::default();
        sent.clear_sack_marks();
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
        self.is_paused = false;
        let newly_sacked = sent.mark_sacked(ack, sack);
        sent.skip_sacked();
        self.resent = self.resent.saturating_sub(newly_sacked.resent);
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
        self.is_stopped = false;
        self.is_paused = false;
        sent.clear_sack_marks();
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Selection {
        let limit = sent.count_up_to_sacked() as u32 + (window.cwnd as u32).min(advertised);
        if self.is_paused || self.is_stopped || sent.next() as u32 + self.resent >= limit {
            return Selection::Wait;
        }
        match sent.first_hole() {
            Some(hole) => Selection::Hole(hole),
            None if (sent.next() as u32) < advertised => Selection::InOrder,
            None => Selection::Wait,
        }
    }

    #[inline]
    fn on_sent(&mut self, selection: Selection, _number: u64, _now: Time) {
        self.resent += u32::from(matches!(selection, Selection::Hole(_) | Selection::First));
    }

    /// All outstanding segments may be acknowledged while the loss of a retransmission blocks
    /// transmission.
    #[inline]
    fn needs_timer_when_empty(&self, _window: &Window) -> bool {
        self.is_paused || self.is_stopped || self.resent > 0
    }
}
