//! Explicit congestion notification (RFC 3168): a router marks in place of dropping, the receiver tells the sender, and the
//! sender reduces its window once for a window of data.
//!
//! ```text
//!   sender ── data, ECT ──► router with a queue ── data, CE ──► receiver
//!     ▲  └─ data, CWR ─────────────────────────────────────►  │ stops
//!     └──────────────────── ACK, ECE … ACK, ECE ◄─────────────┘
//! ```

use umts_kernel::TraceSink;

use super::connection::Connection;
use crate::context::Context;
use crate::packet::{Ecn, Flags, Segment};
use crate::trace::{SendCause, TraceEvent};

/// What an end knows of congestion that was marked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// Both ends do ECN.
    agreed: bool,
    /// Our acknowledgments say that a mark came, until the other end says that it has reduced its window.
    echoes: bool,
    /// Nothing is reduced again before more than this is acknowledged.
    reduced_to: u64,
    /// The next new data says that the window was reduced.
    tells: bool,
}

impl Connection {
    /// The bits of our SYN, or of the answer to one (§6.1.1).
    pub(super) fn set_ecn_of_syn(&self, flags: &mut Flags) {
        let asks = self.config.ecn && !self.config.one_way && !self.receiver.is_synchronised();
        (flags.ece, flags.cwr) = (asks || self.marks.agreed, asks);
    }

    /// The other end's SYN, or its answer to ours.
    pub(super) fn agree_on_ecn(&mut self, syn: &Segment) {
        let offered = syn.flags.ece && syn.flags.cwr != syn.flags.ack;
        self.marks.agreed = self.config.ecn && !self.config.one_way && offered;
    }

    /// A segment with or without a mark came (§6.1.3).
    #[inline]
    pub(super) fn note_mark(&mut self, segment: &Segment) {
        if !self.marks.agreed || segment.flags.syn {
            return;
        }
        self.marks.echoes &= !segment.flags.cwr;
        self.marks.echoes |= segment.ecn == Ecn::Experienced;
    }

    /// Sets the bits of a segment that leaves and is no SYN: only data that was never sent may be marked (§6.1.5).
    #[inline]
    pub(super) fn set_ecn(&mut self, segment: &mut Segment, cause: SendCause) {
        if !self.marks.agreed || matches!(cause, SendCause::WindowProbe | SendCause::KeepAlive) {
            return;
        }
        segment.flags.ece = self.marks.echoes;
        if segment.transmission == 0 && segment.payload > 0 {
            segment.ecn = Ecn::Capable;
            segment.flags.cwr = std::mem::take(&mut self.marks.tells);
        }
    }

    /// An acknowledgment that has been dealt with tells of a mark (§6.1.2); `cwnd` is from before it.
    pub(super) fn handle_echo<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, cwnd: f64) {
        if !self.marks.agreed {
            return;
        }
        let flight = self.flight();
        let window = &mut self.sender.window;
        window.cwnd = window.cwnd.min(cwnd);
        if flight.una <= self.marks.reduced_to {
            return;
        }
        self.marks.tells = true;
        // A loss in the same window of data has reduced it already.
        let by_loss = flight.una < window.recover;
        self.marks.reduced_to = if by_loss { window.recover } else { flight.max_sent };
        if !by_loss && window.reduce_without_recovery(&flight) {
            let (connection, end) = (self.id, self.end);
            cx.record(|| TraceEvent::EcnReduction { connection, end });
        }
    }
}
