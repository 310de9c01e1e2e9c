//! TCP with forward acknowledgment (FACK) for full duplex connections, according to its paper
//! (Mathis and Mahdavi 1996), with two refinements that Dubois (2005) describes in section 3.2.6.
//!
//! The data in flight is known: all between the forward-most SACKed segment and the next one to
//! send, and all retransmissions (`awnd`, which equals `pipe` of [`Selective`](super::Selective) if
//! every hole counts as lost). A recovery begins when the forward-most segment is more than three
//! segments ahead of the oldest one, or with the third duplicate ACK.
//! [`SackRecovery`](super::SackRecovery) implements the rest and the first refinement:
//!
//! - **Data smoothing** ("rampdown"): cwnd falls by half a segment with each ACK of the recovery,
//!   so that one segment is sent for every two ACKs. If cwnd fell to ssthresh at once, the sender
//!   would be silent for half a round trip.
//! - **Over-damping**: a loss is detected one round trip after it occurred. If the lost segment was
//!   sent in slow start, the window has almost doubled since. It is halved first to restore the
//!   window at the loss, and then a second time in response to the loss.

use super::{Outstanding, Window};

/// Marks the segments sent in slow start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OverDamping {
    /// The number after the last segment sent in slow start.
    slow_start_to: u64,
}

impl OverDamping {
    /// Processes an ACK of new data outside of recoveries.
    pub fn on_new_ack(&mut self, window: &Window, sent: &Outstanding) {
        if window.cwnd < window.ssthresh {
            self.slow_start_to = sent.next_number();
        }
    }

    /// Halves the window again, after a recovery has reduced it for the loss of the oldest segment.
    pub fn apply(self, window: &mut Window, sent: &Outstanding) {
        if sent.first_number() < self.slow_start_to {
            window.ssthresh = (window.ssthresh / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        }
    }
}
