//! TCP with selective acknowledgments as in ns-2 ("Sack1"), after Fall and Floyd's extension of
//! Reno (1996).
//!
//! Fast recovery begins at the third duplicate ACK as in Reno. From then on `pipe` estimates the
//! number of segments in flight: minus one for each ACK (minus two for a partial one, which also
//! shows that a retransmission has arrived), plus one for each segment sent. While `pipe` is below
//! cwnd, the lowest hole that was not retransmitted is sent, or otherwise new data. If a
//! retransmission is lost, the sender waits for the timer. A timeout clears all SACK marks, because
//! receivers may discard SACKed data (RFC 2018 §8).

use umts_units::Time;

use crate::packet::SackBlocks;
use crate::tcp::congestion::{
    Backoff, CongestionControl, DUPLICATE_THRESHOLD, Duplicate, Flight, NewAck, Outstanding, Reaction,
    Selection, Window,
};

/// The state of SACK recovery.
#[derive(Debug, Clone, Default)]
pub struct Sack {
    in_recovery: bool,
    /// Estimated number of segments in flight. May be negative.
    pipe: i64,
    /// The recovery has just begun: after the retransmission nothing is sent before the next ACK.
    has_just_begun: bool,
    /// No new data was acknowledged since the last timeout: duplicates result from spurious
    /// retransmissions.
    timed_out: bool,
}

impl Sack {
    fn enter_recovery(&mut self, window: &mut Window, sent: &Outstanding, flight: &Flight) {
        window.enter_fast_recovery(flight);
        // `pipe` replaces the inflation.
        window.inflation = 0;
        self.in_recovery = true;
        self.has_just_begun = true;
        self.pipe = sent.len() as i64 - i64::from(DUPLICATE_THRESHOLD);
    }
}

impl CongestionControl for Sack {
    fn on_new_ack(&mut self, window: &mut Window, sent: &mut Outstanding, ack: &NewAck<'_>) -> Reaction {
        self.has_just_begun = false;
        // A partial ACK: the retransmission and the original have left the network.
        if self.in_recovery && ack.flight.una < window.recover {
            self.pipe -= 2;
            sent.mark_sacked(ack.flight.una, ack.sack);
            return Reaction { backoff: Backoff::Clear, restart_timer: true, ..Reaction::NOTHING };
        }
        self.timed_out = false;
        window.duplicates = 0;
        sent.clear_sack_marks();
        if std::mem::take(&mut self.in_recovery) {
            window.recover = 0;
        } else if ack.segments > 0 {
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
        let newly_sacked = !self.timed_out && sent.mark_sacked(ack, sack).segments > 0;
        window.duplicates += u32::from(newly_sacked);
        newly_sacked
    }

    fn on_duplicate_ack(
        &mut self,
        window: &mut Window,
        sent: &mut Outstanding,
        ack: &Duplicate<'_>,
    ) -> Reaction {
        self.has_just_begun = false;
        if self.in_recovery {
            self.pipe -= 1;
            return Reaction::NOTHING;
        }
        if ack.counted && window.duplicates == DUPLICATE_THRESHOLD && window.is_past_recover(&ack.flight) {
            self.enter_recovery(window, sent, &ack.flight);
            return Reaction::RETRANSMIT;
        }
        Reaction::NOTHING
    }

    fn on_timeout(&mut self, window: &mut Window, sent: &mut Outstanding, flight: &Flight) {
        *self = Sack { timed_out: true, ..Sack::default() };
        sent.clear_sack_marks();
        window.duplicates = 0;
        window.collapse_after_timeout(flight);
    }

    #[inline]
    fn select(&self, window: &Window, sent: &Outstanding, advertised: u32) -> Selection {
        if !self.in_recovery {
            return Selection::ByWindow;
        }
        if self.has_just_begun || self.pipe >= i64::from(window.cwnd as u32) {
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
        self.pipe += i64::from(self.in_recovery && selection != Selection::First);
    }
}
