//! Opening and closing of one end of a connection: the application's open and close, the SYN of the
//! other end, and the checks after each packet whether the handshake is complete and whether the
//! end is closed (RFC 9293 §3.5, §3.6 and §3.10). Failures are in `failure.rs`.

use umts_kernel::TraceSink;

use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{Failure, TraceEvent};

use super::connection::Connection;
use super::receiver::AckDue;
use super::state::State;
use super::timers::Timers;

impl Connection {
    /// Active open: the next segment is a SYN.
    pub fn handle_open<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.opened = true;
        self.opened_actively = true;
        self.record_window(cx);
    }

    /// Processes an accepted SYN: the other end's window and options. Our own SYN may be sent
    /// afterwards.
    #[cold]
    pub(super) fn handle_syn(&mut self, segment: &Segment, state_before: State) {
        self.sender.update_peer_window(segment.window, &self.config);
        self.negotiate(segment);
        self.negotiate_ecn(segment);
        // The SYN of a one-way connection is answered with an ACK only.
        if self.config.is_one_way() {
            return;
        }
        // Simultaneous open: our SYN is sent again, with an acknowledgment (RFC 9293 §3.5, figure
        // 7).
        let opens_simultaneously = state_before == State::SynSent && !segment.flags.ack;
        if opens_simultaneously {
            self.sender.resend_first = true;
        }
        self.sender.opened = true;
    }

    /// Reports once that the handshake is complete.
    #[inline]
    pub(super) fn check_established<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.established {
            return;
        }
        let syn_is_acked = self.sender.outstanding.una() > 0;
        let has_peer_syn = self.receiver.is_synchronised();
        // Only one end of a one-way connection sends a SYN.
        let is_complete = if self.config.is_one_way() {
            syn_is_acked || has_peer_syn
        } else {
            syn_is_acked && has_peer_syn
        };
        if is_complete {
            self.established = true;
            self.events.report_established();
            let (connection, end) = (self.id, self.end);
            cx.record(|| TraceEvent::Established { connection, end });
        }
    }

    /// The application writes no more. A FIN follows the data (none if one way).
    pub fn handle_close<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        // Nothing was written: the SYN has number 0, so the first byte has number 1.
        if self.is_unanswered() && self.sender.written <= 1 {
            return self.delete(cx);
        }
        self.sender.close_requested = true;
        self.check_closed(cx, self.state());
    }

    /// Whether this end has opened and the other end has not answered the SYN.
    fn is_unanswered(&self) -> bool {
        !self.config.is_one_way() && self.sender.opened && self.state() == State::SynSent
    }

    /// RFC 9293 §3.10.4, SYN-SENT: the connection is deleted without notice to the other end. Data
    /// written before the close is sent first, because this model's applications write before the
    /// handshake is complete.
    fn delete<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.closed {
            return;
        }
        self.deleted = true;
        self.closed = true;
        self.timers = Timers::new();
        self.events.report_closed();
        let connection = self.id;
        cx.record(|| TraceEvent::ConnectionClosed { connection });
    }

    /// Whether the other end's SYN opened this end.
    pub(super) fn is_passive(&self) -> bool {
        !self.opened_actively
    }

    /// Closes this end if nothing remains to be sent or received. `state_before`: its state before
    /// the event that is being handled.
    #[inline]
    pub(super) fn check_closed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        state_before: State,
    ) {
        if self.sender.close_requested {
            self.check_closing(cx, state_before);
        }
    }

    /// Like `check_closed`, after the application has closed. The end that sent its FIN second
    /// records `ConnectionClosed`. If the FINs crossed, both ends record it.
    #[inline(never)]
    fn check_closing<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, state_before: State) {
        let one_way_done = self.config.is_one_way()
            && self.sender.opened
            && self.sender.outstanding.una() >= self.sender.written;
        let is_done = one_way_done || self.state() == State::Closed;
        if self.closed || !is_done {
            return;
        }
        self.closed = true;
        self.events.report_closed();
        let sent_fin_second = matches!(state_before, State::LastAck | State::Closing);
        if one_way_done || sent_fin_second {
            let connection = self.id;
            cx.record(|| TraceEvent::ConnectionClosed { connection });
        }
    }

    /// Closes the end because of a failure. Returns whether it was closed before.
    pub(super) fn mark_failed(&mut self, failure: Failure) -> bool {
        self.failure = Some(failure);
        self.ack_due = AckDue::No;
        let was_closed = std::mem::replace(&mut self.closed, true);
        if !was_closed {
            self.events.report_failed(failure);
        }
        was_closed
    }
}
