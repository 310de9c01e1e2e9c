//! The acceptance tests of RFC 9293 §3.10.7, RFC 5961 and RFC 7323: whether an end accepts a
//! segment, and its answer to a rejected one. One-way connections have no such tests, as in ns-2.

use std::sync::Arc;

use umts_kernel::TraceSink;

use super::connection::Connection;
use super::failure::Rst;
use super::timers::Timer;
use crate::context::Context;
use crate::packet::{Flags, Segment};
use crate::trace::TraceEvent;

/// The result of the acceptance tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Accept this many bytes of the payload. A FIN counts only if the whole payload is accepted.
    Accept(u32),
    /// Reject the segment, and answer with an acknowledgment. `ack_counts`: the acknowledgment in
    /// the segment is processed nevertheless.
    Reject { ack_counts: bool },
    /// Reject the segment without an answer.
    Ignore,
    /// No further processing: the segment belongs to no connection, or was a RST.
    Done,
}

const REJECT: Verdict = Verdict::Reject { ack_counts: false };

/// Length of a FIN in sequence numbers. The FIN may lie just beyond a full window, because the
/// senders of this model do not count a FIN against the window.
const FIN_LENGTH: u64 = 1;

impl Connection {
    /// Tests a segment before it is processed. The common case, the next expected segment of an
    /// open connection, is decided here.
    #[inline]
    pub(super) fn examine<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
    ) -> Verdict {
        if self.config.is_one_way() {
            return if segment.flags.rst { Verdict::Done } else { Verdict::Accept(segment.payload) };
        }
        let is_open_for_data = self.established && self.failure.is_none();
        if self.is_expected(segment) && is_open_for_data && !self.is_old(segment) {
            return Verdict::Accept(segment.payload);
        }
        self.examine_closely(cx, segment)
    }

    /// Whether the segment has the next expected data, all of it within the window, and a valid
    /// acknowledgment, and is neither a SYN nor a RST.
    #[inline]
    fn is_expected(&self, segment: &Segment) -> bool {
        let Flags { syn, rst, ack, .. } = segment.flags;
        let outstanding = &self.sender.outstanding;
        let end_of_data = segment.seq + u64::from(segment.payload);
        let valid_acks = outstanding.una().max(1)..=outstanding.max_sent();
        segment.seq == self.receiver.next()
            && end_of_data <= self.receiver.edge()
            && valid_acks.contains(&segment.ack)
            && ack
            && !syn
            && !rst
    }

    /// The tests of all other cases, in the order of RFC 9293 §3.10.7.
    #[inline(never)]
    fn examine_closely<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
    ) -> Verdict {
        if segment.flags.rst {
            self.handle_rst(cx, segment);
            return Verdict::Done;
        }
        if self.failure.is_some() || self.deleted {
            return self.reset(segment);
        }
        if !self.receiver.is_synchronised() {
            return self.examine_before_syn(cx, segment);
        }
        if self.is_old(segment) {
            return REJECT;
        }
        if segment.flags.syn && self.sender.outstanding.una() == 0 {
            return self.examine_second_syn(segment);
        }
        let verdict = self.examine_window(segment);
        if !matches!(verdict, Verdict::Accept(_)) {
            return verdict;
        }
        // The answer to a SYN in the window is a challenge ACK (RFC 5961 §4.2).
        if segment.flags.syn {
            return REJECT;
        }
        if !segment.flags.ack {
            return Verdict::Ignore;
        }
        self.examine_acknowledgment(segment).unwrap_or(verdict)
    }

    /// Rejects a segment and answers with a RST.
    fn reset(&mut self, segment: &Segment) -> Verdict {
        self.rst_due = Some(Rst::answering(segment));
        Verdict::Done
    }

    /// In LISTEN (§3.10.7.2) and SYN-SENT (§3.10.7.3). An end that does not listen is CLOSED
    /// (§3.10.7.1).
    fn examine_before_syn<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
    ) -> Verdict {
        let Flags { syn, ack, .. } = segment.flags;
        let has_sent_syn = self.sender.opened;
        if has_sent_syn {
            let acknowledges_other = ack && segment.ack != self.sender.outstanding.max_sent();
            if acknowledges_other {
                self.repeat_syn_soon(cx);
                return self.reset(segment);
            }
        } else if ack || !self.config.listens {
            return self.reset(segment);
        }
        if syn { Verdict::Accept(segment.payload) } else { Verdict::Done }
    }

    /// Linux retransmits a SYN early after a segment that does not answer it, unless the SYN was
    /// retransmitted before (`tcp_rcv_synsent_state_process`). Such a segment belongs to an older
    /// connection, which the RST ends.
    pub(super) fn repeat_syn_soon<T: TraceSink<TraceEvent>>(&mut self, cx: &Context<'_, T>) {
        if self.config.is_recent_linux() && self.sender.expiries == 0 {
            self.timers.set(Timer::Rto, cx.now + self.timer_slack());
        }
    }

    /// A SYN in SYN-RECEIVED. The SYN of a simultaneous open has an acknowledgment (§3.5, figure
    /// 7). If a SYN is repeated, the timer repeats the SYN+ACK. Linux repeats it at once
    /// (`tcp_check_req`).
    fn examine_second_syn(&mut self, segment: &Segment) -> Verdict {
        let is_same = segment.seq == 0;
        let acknowledges = segment.flags.ack && segment.ack == self.sender.outstanding.max_sent();
        if is_same && acknowledges {
            return Verdict::Reject { ack_counts: true };
        }
        if is_same && !segment.flags.ack {
            self.sender.resend_first |= self.config.is_recent_linux();
            return Verdict::Ignore;
        }
        REJECT
    }

    /// Whether the segment lies in the window (§3.10.7.4, first check), and how much of it.
    ///
    /// Linux also accepts an old segment that ends exactly at the number of the last
    /// acknowledgment, so that the acknowledgment in the segment counts (`tcp_sequence`).
    fn examine_window(&self, segment: &Segment) -> Verdict {
        let (next, edge) = (self.receiver.next(), self.receiver.edge());
        let is_old = if self.config.is_recent_linux() {
            segment.end() < self.receiver.acknowledged()
        } else if segment.sequence_length() == 0 {
            segment.seq < next
        } else {
            segment.end() <= next
        };
        let is_beyond_window = segment.seq > edge + FIN_LENGTH;
        if is_old || is_beyond_window {
            return REJECT;
        }
        let room = edge.saturating_sub(segment.seq);
        let fitting = u64::from(segment.payload).min(room) as u32;
        if fitting == segment.payload {
            return Verdict::Accept(fitting);
        }
        // The acknowledgment in the next expected segment counts even if the window is closed.
        let reject = Verdict::Reject { ack_counts: segment.seq == next };
        if self.config.is_recent_linux() {
            // Linux does not cut a segment that exceeds the window (`tcp_data_queue`): it accepts
            // the whole segment if the application has read everything, and otherwise drops it.
            return if self.unread() == 0 { Verdict::Accept(segment.payload) } else { reject };
        }
        if fitting == 0 { reject } else { Verdict::Accept(fitting) }
    }

    /// §3.10.7.4, fifth check: the verdict if the acknowledgment does not belong to this
    /// connection.
    fn examine_acknowledgment(&mut self, segment: &Segment) -> Option<Verdict> {
        let (una, max_sent) = (self.sender.outstanding.una(), self.sender.outstanding.max_sent());
        if una == 0 && !(1..=max_sent).contains(&segment.ack) {
            return Some(self.reset(segment));
        }
        // RFC 5961 §5.2: not older than the largest window allows to be in flight.
        let oldest = una.saturating_sub(u64::from(self.sender.largest_window));
        let is_valid = (oldest..=max_sent).contains(&segment.ack);
        (!is_valid).then_some(REJECT)
    }

    /// A RST in SYN-RECEIVED ends the other end's attempt. A passive open returns to LISTEN
    /// (§3.10.7.4, second check).
    pub(super) fn return_to_listen(&mut self) {
        let config = Arc::clone(&self.config);
        let mut listening = Connection::new(self.id, self.flow, self.ue, self.end, config);
        listening.set_leg(self.leg);
        listening.sender.written = self.sender.written;
        listening.sender.close_requested = self.sender.close_requested;
        listening.events = self.events;
        std::mem::swap(&mut listening.sender.window.law, &mut self.sender.window.law);
        if self.reading.is_some() && self.config.read_rate.is_none() {
            listening.read_manually();
        }
        *self = listening;
    }
}
