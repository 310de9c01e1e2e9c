//! TCP with forward acknowledgment over full duplex, as its paper has it (Mathis and Mahdavi 1996), with the two
//! refinements that Dubois (2005), section 3.2.6, describes.
//!
//! What is on the way is known: all between the forward-most SACKed segment and the next one to send, and what was sent
//! again (`awnd`, which is `pipe` of [`Selective`](super::Selective) when every hole counts as lost). A recovery begins
//! when the forward-most one is more than three segments ahead of the oldest, or with the third duplicate ACK. The rest of
//! it is [`SackRecovery`](super::SackRecovery)'s, and so is the first refinement:
//!
//! - **Data smoothing** ("rampdown"): cwnd does not fall to ssthresh at once, which would silence the sender for half a
//!   round trip, but by half a segment with each ACK of the recovery, so that one segment leaves for every two ACKs.
//! - **Over-damping**: a loss is seen one round trip after it happened. If the lost segment left in slow start, the
//!   window has almost doubled since: it is halved once to find the window of the loss, and then once more.

use super::{Outstanding, Window};

/// Remembers what left in slow start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OverDamping {
    /// The number after the last segment that left in slow start.
    slow_start_to: u64,
}

impl OverDamping {
    /// An ACK of something new outside of recoveries.
    pub fn on_new_ack(&mut self, window: &Window, sent: &Outstanding) {
        if window.cwnd < window.ssthresh {
            self.slow_start_to = sent.next_number();
        }
    }

    /// A recovery has cut the window for the loss of the oldest segment.
    pub fn apply(self, window: &mut Window, sent: &Outstanding) {
        if sent.first_number() < self.slow_start_to {
            window.ssthresh = (window.ssthresh / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        }
    }
}
