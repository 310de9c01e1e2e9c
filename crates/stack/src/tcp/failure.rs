//! Connections that fail: refused, reset, or given up (RFC 9293 §3.5.2, §3.8.3, §3.10.7; RFC 5961
//! §3.2).

use umts_kernel::TraceSink;

use super::connection::Connection;
use super::receiver::AckDue;
use super::state::State;
use super::timers::Timers;
use crate::context::Context;
use crate::packet::{Flags, Segment};
use crate::trace::{Failure, TraceEvent};

/// A RST to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rst {
    seq: u64,
    /// Its acknowledgment number, if the segment that it answers has none.
    ack: Option<u64>,
}

impl Rst {
    /// A RST that answers a segment without a connection (RFC 9293 §3.10.7.1).
    pub(super) fn answering(segment: &Segment) -> Self {
        if segment.flags.ack {
            Rst { seq: segment.ack, ack: None }
        } else {
            Rst { seq: 0, ack: Some(segment.end()) }
        }
    }

    /// The RST as a segment. `empty` gives the connection, direction, leg and header.
    fn segment(self, empty: Segment) -> Segment {
        let flags = Flags { rst: true, ack: self.ack.is_some(), ..Flags::default() };
        Segment { flags, seq: self.seq, ack: self.ack.unwrap_or_default(), ..empty }
    }
}

/// The RST, with `header` octets, that answers a segment of a connection that does not exist or no
/// longer exists.
pub fn reset_for(segment: &Segment, header: u16) -> Segment {
    let empty = Segment::new(segment.connection, segment.direction.reversed());
    Rst::answering(segment).segment(Segment { leg: segment.leg, header, ..empty })
}

impl Connection {
    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// RFC 9293 §3.10.7.3 and §3.10.7.4, second check, with RFC 5961 §3.2.
    #[cold]
    pub(super) fn handle_rst<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
    ) {
        if self.failure.is_some() || self.deleted {
            return;
        }
        let next = self.receiver.next();
        if !self.receiver.is_synchronised() {
            if !self.sender.opened {
                return;
            }
            // In SYN-SENT a RST is valid if it acknowledges the SYN.
            if segment.flags.ack && segment.ack == self.sender.outstanding.max_sent() {
                self.fail(cx, Failure::Refused);
            } else if segment.flags.ack {
                // The RFC drops this RST. Linux also retransmits the SYN early.
                self.repeat_syn_soon(cx);
            }
        } else if segment.seq == next {
            if self.is_passive() && self.sender.outstanding.una() == 0 {
                self.return_to_listen();
            } else {
                self.fail(cx, Failure::Reset);
            }
        } else if (next..self.receiver.edge()).contains(&segment.seq) {
            // A RST with another number in the window may be forged. The answer is a challenge ACK
            // (RFC 5961 §3.2): an end that has really reset the connection answers it with a RST
            // that has the expected number.
            self.ack_due = AckDue::Now;
        }
    }

    /// Counts an expiry of the retransmission timer. Returns whether the end gives up.
    pub(super) fn give_up_after_retries<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
    ) -> bool {
        let sender = &mut self.sender;
        sender.expiries = sender.expiries.saturating_add(1);
        // As in ns-2, a one-way connection never gives up.
        if self.config.is_one_way() {
            return false;
        }
        let is_syn_unacknowledged = sender.outstanding.una() == 0;
        let max_retries = if !is_syn_unacknowledged {
            self.config.data_retries
        } else if self.receiver.is_synchronised() {
            self.config.syn_ack_retries
        } else {
            self.config.syn_retries
        };
        if max_retries.is_none_or(|max_retries| sender.expiries <= max_retries) {
            return false;
        }
        if self.config.is_recent_linux() {
            // Linux sends no RST then (`tcp_write_err`).
            self.fail(cx, Failure::TimedOut);
        } else {
            self.give_up(cx);
        }
        true
    }

    /// Gives up because the other end does not answer.
    pub(super) fn give_up<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.abort(cx, Failure::TimedOut);
    }

    /// Aborts the connection for the application. Unsent data is discarded. Returns whether the
    /// connection was open.
    pub fn handle_abort<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) -> bool {
        let was_open = !self.closed && self.state() != State::Listen;
        if was_open {
            self.abort(cx, Failure::Aborted);
        }
        was_open
    }

    /// RFC 9293 §3.10.5: sends a RST if the other end's SYN has arrived.
    fn abort<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, failure: Failure) {
        if self.receiver.is_synchronised() {
            self.rst_due = Some(Rst { seq: self.sender.outstanding.max_sent(), ack: None });
        }
        self.fail(cx, failure);
    }

    fn fail<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, failure: Failure) {
        let already_closed = self.mark_failed(failure);
        self.timers = Timers::new();
        if !already_closed {
            let (connection, end) = (self.id, self.end);
            cx.record(|| TraceEvent::ConnectionFailed { connection, end, failure });
        }
    }

    /// Makes the RST that is sent now.
    #[cold]
    pub(super) fn rst_segment(&self, rst: Rst) -> Segment {
        let empty = Segment::new(self.id, self.end.sends());
        rst.segment(Segment { leg: self.leg, header: self.config.header.0, ..empty })
    }
}
