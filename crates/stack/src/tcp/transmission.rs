//! Transmission of one end of a connection: which kind of segment is sent next, and how its header
//! is filled in. The caller polls `poll_transmit` until it returns `None`. The sending half
//! (`sending.rs`) selects data, and `options.rs` and `ecn.rs` give options and ECN bits. Sequence
//! numbers and windows are in bytes.

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::context::Context;
use crate::packet::{Options, Segment};
use crate::trace::{SendCause, TraceEvent};

use super::connection::Connection;
use super::outstanding::Sent;
use super::receiver::AckDue;
use super::timers::Timer;

/// The shift of the window in a SYN, which is never scaled (RFC 7323 §2.2).
const NO_SHIFT: u8 = 0;

/// The part of a segment that the sending half decides. The rest of the header follows from the
/// state of the connection.
#[derive(Debug, Clone, Copy)]
struct OutgoingSegment {
    /// First sequence number.
    seq: u64,
    /// Payload, in bytes.
    payload: u32,
    /// Number of earlier transmissions.
    transmission: u16,
    syn: bool,
    fin: bool,
    psh: bool,
    cause: SendCause,
}

impl OutgoingSegment {
    fn empty(seq: u64, cause: SendCause) -> Self {
        OutgoingSegment { seq, payload: 0, transmission: 0, syn: false, fin: false, psh: false, cause }
    }
}

impl Connection {
    /// Writes the next segment to send into `segment`. The old content is ignored. Returns why the
    /// segment is sent, or `None` if there is no segment.
    #[inline]
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &mut Segment,
    ) -> Option<SendCause> {
        if self.is_silent() { None } else { self.poll_segment(cx, segment) }
    }

    /// Whether there is nothing to send and no law other than the standard one to notify. This is
    /// the case for a receiver that has acknowledged everything.
    #[inline]
    fn is_silent(&self) -> bool {
        self.ack_due < AckDue::Now
            && self.only_receives()
            && !self.has_due_probe()
            && self.rst_due.is_none()
            && self.sender.window.law.is_standard()
    }

    #[inline]
    fn poll_segment<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &mut Segment,
    ) -> Option<SendCause> {
        if let Some(rst) = self.rst_due.take() {
            *segment = self.rst_segment(rst);
            return Some(SendCause::Reset);
        }
        let outgoing = self.poll_outgoing(cx)?;
        self.fill_segment(segment, cx.now, &outgoing);
        Some(outgoing.cause)
    }

    /// Selects the next segment: an acknowledgment that must not wait for data, data, a probe, or
    /// an acknowledgment without data.
    #[inline]
    fn poll_outgoing<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
    ) -> Option<OutgoingSegment> {
        if self.failure.is_some() || self.deleted {
            return None;
        }
        let acknowledgment = OutgoingSegment::empty(self.sender.outstanding.max_sent(), SendCause::Ack);
        if self.ack_due == AckDue::Alone {
            return Some(acknowledgment);
        }
        if let Some((sent, cause)) = self.poll_data(cx) {
            return Some(self.outgoing_data(&sent, cause));
        }
        // No data can be sent now.
        self.update_usage();
        self.watch_window(cx.now);
        // A probe has a sequence number just below the window, which the other end must answer.
        if let Some(cause) = self.take_due_probe() {
            return Some(OutgoingSegment::empty(self.sender.outstanding.una() - 1, cause));
        }
        (self.ack_due == AckDue::Now).then_some(acknowledgment)
    }

    /// A segment with data, a SYN or a FIN. `sent`: the segment as it was before this transmission.
    #[inline]
    fn outgoing_data(&mut self, sent: &Sent, cause: SendCause) -> OutgoingSegment {
        let Sent { seq, payload, transmissions, syn, fin, .. } = *sent;
        let is_first_fin = fin && transmissions == 0;
        if is_first_fin {
            self.fin_answers = self.receiver.is_finished();
        }
        let ends_written_data = seq + u64::from(payload) == self.sender.written;
        // The second SYN of a simultaneous open acknowledges the other SYN. It is not a
        // retransmission.
        let acknowledges_peer_syn = syn && cause == SendCause::DupAck;
        OutgoingSegment {
            seq,
            payload,
            transmission: transmissions,
            syn,
            fin,
            psh: payload > 0 && ends_written_data,
            cause: if acknowledges_peer_syn { SendCause::Ack } else { cause },
        }
    }

    /// Fills in the segment: data and flags, acknowledgment, SACK blocks, sizes and window. A SYN
    /// replaces some of them. No acknowledgment is due afterwards, because the segment acknowledges
    /// all that has arrived.
    #[inline]
    fn fill_segment(&mut self, segment: &mut Segment, now: Time, outgoing: &OutgoingSegment) {
        *segment = Segment { leg: self.leg, ..Segment::new(self.id, self.end.sends()) };
        segment.seq = outgoing.seq;
        segment.payload = outgoing.payload;
        segment.transmission = outgoing.transmission;
        segment.flags.fin = outgoing.fin;
        segment.flags.psh = outgoing.psh;
        segment.options = self.negotiated.options();
        segment.timestamp = self.timestamp(now, segment.options.timestamps);
        self.acknowledge_in(segment);
        segment.sack = self.receiver.report(self.max_blocks_for(segment.payload));
        segment.header = self.header_without_options(segment.payload)
            + self.charged_options(&segment.options, &segment.sack);
        let window = self.window_now(now);
        segment.window = self.representable_window(window, self.negotiated.shift);
        self.receiver.advertise(segment.window);
        if outgoing.syn {
            self.turn_into_syn(segment, now, window);
        } else {
            self.set_ecn(segment, outgoing.cause);
        }
    }

    /// Sets the acknowledgment of a segment. Before the other end's SYN there is nothing to
    /// acknowledge.
    #[inline]
    fn acknowledge_in(&mut self, segment: &mut Segment) {
        segment.ack = self.receiver.next();
        if !self.receiver.is_synchronised() {
            return;
        }
        segment.flags.ack = true;
        segment.echo = self.echo(&segment.options);
        self.ack_due = AckDue::No;
        self.unacknowledged = 0;
        self.timers.stop(Timer::DelayedAck);
    }

    /// The timestamp that a segment with these options echoes.
    #[inline]
    fn echo(&self, options: &Options) -> Time {
        if self.config.is_one_way() || options.timestamps { self.receiver.echo() } else { Time::ZERO }
    }

    /// Octets of the header of a segment without options. ns-2's Vegas counts none for data.
    #[inline]
    fn header_without_options(&self, payload: u32) -> u16 {
        let has_no_header = payload > 0 && self.config.vegas_without_header();
        if has_no_header { 0 } else { self.config.header.0 }
    }

    /// Turns a segment into a SYN, which has different options and an unscaled window. `window`:
    /// the window to advertise, in bytes.
    #[cold]
    fn turn_into_syn(&mut self, segment: &mut Segment, now: Time, window: u32) {
        segment.flags.syn = true;
        segment.mss = self.config.segment_payload.0;
        segment.options = self.syn_options();
        segment.timestamp = self.timestamp(now, segment.options.timestamps);
        if self.receiver.is_synchronised() {
            segment.echo = self.echo(&segment.options);
        }
        segment.header = self.config.header.0 + self.charged_options_of_syn(&segment.options, &segment.sack);
        segment.window = self.representable_window(window, NO_SHIFT);
        self.receiver.advertise(segment.window);
        self.set_ecn_of_syn(&mut segment.flags);
    }
}
