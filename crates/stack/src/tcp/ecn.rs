//! Explicit congestion notification (RFC 3168): a router marks packets instead of dropping them,
//! the receiver echoes the mark, and the sender reduces its window once per window of data.
//!
//! ```text
//!   sender ── data, ECT ──► router with a queue ── data, CE ──► receiver
//!     ▲  └─ data, CWR ─────────────────────────────────────►  │ stops
//!     └──────────────────── ACK, ECE … ACK, ECE ◄─────────────┘
//! ```

use umts_kernel::TraceSink;

use super::congestion::{Flight, VariantState};
use super::connection::Connection;
use super::sender::Sender;
use crate::context::Context;
use crate::packet::{Ecn, Flags, Segment};
use crate::trace::{SendCause, TraceEvent};

/// ECN state of an end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EcnState {
    /// Both ends support ECN.
    negotiated: bool,
    /// Our acknowledgments echo a mark until the other end signals that it has reduced its window.
    echoes: bool,
    /// The end (a sequence number) of the window of data for which the congestion window was
    /// reduced last. There is no further reduction until an acknowledgment exceeds it.
    reduced_to: u64,
    /// The next new data segment signals that the window was reduced.
    cwr_due: bool,
}

impl Connection {
    /// Sets the ECN flags of our SYN or SYN+ACK (§6.1.1).
    pub(super) fn set_ecn_of_syn(&self, flags: &mut Flags) {
        let offers = self.config.ecn && !self.config.is_one_way() && !self.receiver.is_synchronised();
        (flags.ece, flags.cwr) = (offers || self.ecn.negotiated, offers);
    }

    /// Processes the ECN flags of the other end's SYN or SYN+ACK.
    pub(super) fn negotiate_ecn(&mut self, syn: &Segment) {
        // A SYN requests ECN with ECE and CWR. A SYN+ACK accepts it with ECE alone.
        let offered = syn.flags.ece && syn.flags.cwr != syn.flags.ack;
        self.ecn.negotiated = self.config.ecn && !self.config.is_one_way() && offered;
    }

    /// Processes the ECN bits of a received segment (§6.1.3).
    #[inline]
    pub(super) fn process_ecn(&mut self, segment: &Segment) {
        if !self.ecn.negotiated || segment.flags.syn {
            return;
        }
        self.ecn.echoes &= !segment.flags.cwr;
        self.ecn.echoes |= segment.ecn == Ecn::Experienced;
    }

    /// Sets the ECN bits of a segment other than a SYN. Only data sent for the first time is sent
    /// as ECN-capable, so that routers may mark it (§6.1.5).
    #[inline]
    pub(super) fn set_ecn(&mut self, segment: &mut Segment, cause: SendCause) {
        if !self.ecn.negotiated || matches!(cause, SendCause::WindowProbe | SendCause::KeepAlive) {
            return;
        }
        segment.flags.ece = self.ecn.echoes;
        if segment.transmission == 0 && segment.payload > 0 {
            segment.ecn = Ecn::Capable;
            segment.flags.cwr = std::mem::take(&mut self.ecn.cwr_due);
        }
    }

    /// Processes the echo of a mark after the acknowledgment that carries it (§6.1.2). `cwnd` is
    /// the window before that acknowledgment.
    pub(super) fn handle_echo<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, cwnd: f64) {
        if !self.ecn.negotiated {
            return;
        }
        let flight = self.flight();
        if self.rack().is_some_and(|rack| rack.reduces_after_echo()) {
            return self.reduce_proportionally(cx, &flight);
        }
        let window = &mut self.sender.window;
        window.cwnd = window.cwnd.min(cwnd);
        if flight.una <= self.ecn.reduced_to {
            return;
        }
        self.ecn.cwr_due = true;
        // A loss in the same window of data has already reduced the congestion window.
        let already_reduced = flight.una < window.recover;
        self.ecn.reduced_to = if already_reduced { window.recover } else { flight.max_sent };
        if !already_reduced && window.reduce_without_recovery(&flight) {
            let (connection, end) = (self.id, self.end);
            cx.record(|| TraceEvent::EcnReduction { connection, end });
        }
    }

    /// Linux spreads the reduction over a round trip, as in a recovery (`tcp_enter_cwr`). An echo in a
    /// reduction or a recovery has no further effect, except that the last reduction is not undone.
    fn reduce_proportionally<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, flight: &Flight) {
        if let Some(episode) = &mut self.sender.episode {
            episode.keep_reduction();
        }
        let Sender { variant: VariantState::Rack(rack), window, .. } = &mut self.sender else { return };
        if rack.begin_reduction(window, flight) {
            self.sender.episode = None;
            self.ecn.cwr_due = true;
            let (connection, end) = (self.id, self.end);
            cx.record(|| TraceEvent::EcnReduction { connection, end });
        }
    }

    /// The next new data segment reports that the window was reduced for any reason (RFC 3168 §6.1.2).
    pub(super) fn report_reduction(&mut self) {
        self.ecn.cwr_due |= self.ecn.negotiated;
    }
}
