//! One end of a TCP connection: the public calls, opening and closing, and the assembly of
//! segments. The caller passes in packets and the application's writes, and polls for segments to
//! send, events for the application, and the time of the next timeout. The sending half, which
//! selects the data, is in `sender.rs`, and the receiving half in `receiver.rs`. Sequence numbers
//! and windows are in bytes, the congestion window is in segments.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::context::Context;
use crate::ids::{ConnectionId, End, FlowId, PacketId, ProxyLeg, UeId};
use crate::packet::{Content, Options, Packet, Segment};
use crate::trace::{SendCause, TraceEvent};

use super::acceptance::Verdict;
use super::config::{TcpConfig, Variant};
use super::ecn::EcnState;
use super::failure::Rst;
use super::keepalive::KeepAlive;
use super::options::NegotiatedOptions;
use super::outstanding::Sent;
use super::reading::Reader;
use super::receiver::{AckDue, Arrival, Receiver};
use super::sender::Sender;
use super::state::State;
use super::timers::{Timer, Timers};
use crate::trace::Failure;

/// One end of a connection.
///
/// After any `handle_*` call, call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until they return `None`. Then wait until
/// [`poll_timeout`](Self::poll_timeout) and call [`handle_timeout`](Self::handle_timeout).
///
/// A connection consists of two of these, one for each end. The active end calls
/// [`handle_open`](Self::handle_open), and the passive end answers its SYN. Both ends may be
/// active (simultaneous open). There is no TIME-WAIT: a closed end still acknowledges a repeated
/// FIN. The caller must keep both ends until both have reported [`TcpEvent::Closed`].
#[derive(Debug)]
pub struct Connection {
    pub(super) id: ConnectionId,
    pub(super) flow: FlowId,
    pub(super) ue: UeId,
    pub(super) end: End,
    pub(super) leg: ProxyLeg,
    /// Shared by both ends and by all connections of flows with equal configuration, which saves
    /// cache lines.
    pub(super) config: Arc<TcpConfig>,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) timers: Timers,
    pub(super) ack_due: AckDue,
    pub(super) negotiated: NegotiatedOptions,
    /// The other end's SYN had a window scale option.
    pub(super) peer_scales: bool,
    /// Payload received in order since the last acknowledgment, in bytes.
    unacknowledged: u64,
    /// Number of further segments that are acknowledged without delay ([`TcpConfig::quick_acks`]).
    quick_acks: u32,
    pub(super) events: Events,
    /// This end called `handle_open`, and did not only answer a SYN.
    opened_actively: bool,
    /// Closed before the other end answered the SYN: the connection does not exist (RFC 9293
    /// §3.10.4).
    pub(super) deleted: bool,
    pub(super) established: bool,
    pub(super) closed: bool,
    /// This end's FIN was sent after the other end's FIN had arrived, so the FINs did not cross.
    pub(super) fin_answers: bool,
    /// The receive buffer of an application that reads at a limited rate. `None` if it reads at
    /// once.
    pub(super) reading: Option<Box<Reader>>,
    pub(super) ecn: EcnState,
    pub(super) keepalive: KeepAlive,
    pub(super) failure: Option<Failure>,
    pub(super) rst_due: Option<Rst>,
}

/// Events for the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpEvent {
    /// The handshake is complete.
    Established,
    /// The number of further bytes that can be read, in order.
    Delivered(u64),
    /// The other end has sent all its data. Call [`Connection::handle_close`] when this end has,
    /// too.
    PeerClosed,
    /// Everything written so far is acknowledged.
    AllAcked,
    /// The connection was refused, reset or given up. [`TcpEvent::Closed`] follows.
    Failed(Failure),
    /// This end is closed. A one-way connection has no FIN: its sender is closed when everything
    /// is acknowledged and the application writes no more.
    Closed,
}

/// Events not yet polled. `Delivered` adds up. No other event can occur twice before it is polled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Events {
    delivered: u64,
    /// Whether any of the fields below is set.
    others: bool,
    established: bool,
    peer_closed: bool,
    all_acked: bool,
    failed: Option<Failure>,
    closed: bool,
}

impl Events {
    fn report_established(&mut self) {
        self.established = true;
        self.others = true;
    }

    fn report_peer_closed(&mut self) {
        self.peer_closed = true;
        self.others = true;
    }

    fn report_all_acked(&mut self) {
        self.all_acked = true;
        self.others = true;
    }

    fn report_closed(&mut self) {
        self.closed = true;
        self.others = true;
    }
}

/// A segment about to be sent.
#[derive(Debug, Clone, Copy)]
struct OutgoingSegment {
    seq: u64,
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
    /// An end that waits for the other end's SYN, or for [`handle_open`](Self::handle_open).
    pub fn new(
        id: ConnectionId,
        flow: FlowId,
        ue: UeId,
        end: End,
        config: impl Into<Arc<TcpConfig>>,
    ) -> Self {
        let config = config.into();
        Connection {
            id,
            flow,
            ue,
            end,
            leg: ProxyLeg::Whole,
            sender: Sender::new(&config, id),
            receiver: Receiver::new(&config),
            timers: Timers::new(),
            ack_due: AckDue::No,
            negotiated: NegotiatedOptions::before_syn(&config),
            peer_scales: false,
            unacknowledged: 0,
            quick_acks: config.quick_acks,
            events: Events::default(),
            opened_actively: false,
            deleted: false,
            established: false,
            closed: false,
            fin_answers: false,
            reading: Reader::new(&config).map(Box::new),
            ecn: EcnState::default(),
            keepalive: KeepAlive::default(),
            failure: None,
            rst_due: None,
            config,
        }
    }

    /// Sets the part of the path that the connection takes.
    pub fn set_leg(&mut self, leg: ProxyLeg) {
        self.leg = leg;
    }

    /// Active open: the next segment is a SYN.
    pub fn handle_open<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.opened = true;
        self.opened_actively = true;
        self.record_window(cx);
    }

    /// The application writes `bytes` more. `u64::MAX`: an unlimited amount.
    pub fn handle_write<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, bytes: u64) {
        debug_assert!(!self.sender.close_requested, "nothing is written after the close");
        self.sender.written = self.sender.written.saturating_add(bytes);
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::AppWrote { connection, end, bytes });
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

    /// Processes a packet from the other end: acceptance test, receiving half (data, SYN, ECN
    /// mark), acknowledgment due, application events, and then the sending half (the ACK). Ignores
    /// a packet without a TCP segment.
    pub fn handle_packet<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, packet: &Packet) {
        let Some(segment) = packet.segment() else { return };
        let verdict = self.examine(cx, segment);
        // A RST, or a segment that belongs to no connection and is answered with a RST.
        if verdict == Verdict::Done {
            return;
        }
        // The state before this packet is used only for a SYN and after a close request. In other
        // cases it is not computed, to save time.
        let needs_state = segment.flags.syn || self.sender.close_requested;
        let state_before = if needs_state { self.state() } else { State::Established };
        let finished_before = self.receiver.is_finished();
        let arrival = match verdict {
            // `receive` has only this call site, so that the compiler inlines it.
            Verdict::Accept(payload) => {
                // Payload beyond the advertised window is cut off.
                let shortened;
                let accepted = if payload == segment.payload {
                    segment
                } else {
                    shortened = segment.cut(payload);
                    &shortened
                };
                self.receiver.receive(accepted)
            }
            Verdict::Reject { ack_counts } => self.receiver.reject(segment, ack_counts),
            Verdict::Ignore | Verdict::Done => Arrival::IGNORED,
        };
        let Arrival { delivered, duplicate, .. } = arrival;
        cx.record(|| TraceEvent::SegmentReceived {
            packet: packet.id,
            segment: *segment,
            delivered,
            duplicate,
        });
        if segment.flags.syn && matches!(verdict, Verdict::Accept(_)) {
            self.handle_syn(segment, state_before);
        }
        if !arrival.rejected {
            self.process_ecn(segment);
        }
        self.decide_ack(cx.now, segment, &arrival);
        self.events.delivered += delivered;
        if delivered > 0 && self.reading.is_some() {
            self.buffer_arrival(cx.now, delivered);
        }
        if !finished_before && self.receiver.is_finished() {
            self.events.report_peer_closed();
        }
        if segment.flags.ack && !arrival.rejected {
            self.handle_ack(cx, segment);
        }
        self.check_established(cx);
        self.check_closed(cx, state_before);
        self.restart_keepalive_timer(cx.now);
    }

    /// Handles all timers that are due, such as retransmission, delayed acknowledgment and pacing.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.only_holes = false;
        if self.timers.take_due(Timer::DelayedAck, cx.now) {
            self.ack_due = self.ack_due.max(AckDue::Now);
        }
        // `poll_transmit` sends the paced segment.
        self.timers.take_due(Timer::Pacing, cx.now);
        if self.timers.take_due(Timer::Reading, cx.now) {
            self.check_window_update(cx.now);
        }
        if self.timers.take_due(Timer::Persist, cx.now) {
            self.handle_persist_timeout();
        }
        // Before the retransmission timer, which a probe due at the same instant restarts.
        if self.timers.take_due(Timer::Loss, cx.now) {
            self.handle_loss_timeout(cx);
        }
        if self.timers.take_due(Timer::KeepAlive, cx.now) {
            self.handle_keepalive_timeout(cx);
        }
        if self.timers.take_due(Timer::Rto, cx.now) {
            self.handle_retransmission_timeout(cx);
        }
    }

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
            let Sent { seq, payload, transmissions: transmission, syn, fin, .. } = sent;
            if fin && transmission == 0 {
                self.fin_answers = self.receiver.is_finished();
            }
            let psh = payload > 0 && seq + u64::from(payload) == self.sender.written;
            // The second SYN of a simultaneous open acknowledges the other SYN. It is not a
            // retransmission.
            let acknowledges_peer_syn = syn && cause == SendCause::DupAck;
            let cause = if acknowledges_peer_syn { SendCause::Ack } else { cause };
            return Some(OutgoingSegment { seq, payload, transmission, syn, fin, psh, cause });
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

    /// Returns the next event for the application.
    #[inline]
    pub fn poll_event(&mut self) -> Option<TcpEvent> {
        if self.events.others {
            return self.poll_other_event();
        }
        (self.events.delivered > 0).then(|| TcpEvent::Delivered(std::mem::take(&mut self.events.delivered)))
    }

    /// Like `poll_event`, if there are events other than delivered data.
    #[inline(never)]
    fn poll_other_event(&mut self) -> Option<TcpEvent> {
        let events = &mut self.events;
        if std::mem::take(&mut events.established) {
            Some(TcpEvent::Established)
        } else if events.delivered > 0 {
            Some(TcpEvent::Delivered(std::mem::take(&mut events.delivered)))
        } else if std::mem::take(&mut events.peer_closed) {
            Some(TcpEvent::PeerClosed)
        } else if std::mem::take(&mut events.all_acked) {
            Some(TcpEvent::AllAcked)
        } else if let Some(failure) = events.failed.take() {
            Some(TcpEvent::Failed(failure))
        } else if std::mem::take(&mut events.closed) {
            Some(TcpEvent::Closed)
        } else {
            events.others = false;
            None
        }
    }

    /// The time at which the caller must call [`handle_timeout`](Self::handle_timeout).
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Makes an IP packet of a `segment` of this connection.
    #[inline]
    pub fn packet(&self, id: PacketId, segment: Segment) -> Packet {
        Packet { id, flow: self.flow, ue: self.ue, content: Content::Segment(segment) }
    }

    pub fn id(&self) -> ConnectionId {
        self.id
    }

    pub fn variant(&self) -> Variant {
        self.config.variant
    }

    /// Payload that the other end has acknowledged, in bytes.
    pub fn acknowledged(&self) -> u64 {
        self.sender.outstanding.una().min(self.sender.written).saturating_sub(1)
    }

    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.established
    }

    pub fn end(&self) -> End {
        self.end
    }

    /// Processes a SYN, which has the other end's segment size and window.
    #[cold]
    fn handle_syn(&mut self, segment: &Segment, state_before: State) {
        self.sender.update_peer_window(segment.window, &self.config);
        self.negotiate(segment);
        self.negotiate_ecn(segment);
        // Simultaneous open: our SYN is sent again, with an acknowledgment (RFC 9293 §3.5, figure
        // 7).
        if state_before == State::SynSent && !segment.flags.ack && !self.config.is_one_way() {
            self.sender.resend_first = true;
        }
        self.sender.opened |= !self.config.is_one_way();
    }

    /// Decides when a segment is acknowledged (RFC 5681 §4.2): every second full segment and each
    /// segment out of order at once, a single segment in order after a delay.
    #[inline]
    fn decide_ack(&mut self, now: Time, segment: &Segment, arrival: &Arrival) {
        // ns-2's receiver treats a repetition of the last segment in order as a segment in order.
        let repeats_last_in_order = || self.config.is_one_way() && self.receiver.ends_with(segment);
        let due = match arrival.ack {
            AckDue::Alone if repeats_last_in_order() => self.delay_ack(now, segment),
            // The first segment of a connection without SYN is acknowledged at once, as a SYN is.
            AckDue::Delayed if segment.seq == 1 && self.config.vegas_without_header() => AckDue::Now,
            AckDue::Delayed => self.delay_ack(now, segment),
            due => due,
        };
        self.ack_due = self.ack_due.max(due);
    }

    /// Whether the acknowledgment of this segment is due at once or may wait. Starts the timer of
    /// delayed acknowledgments.
    #[inline]
    fn delay_ack(&mut self, now: Time, segment: &Segment) -> AckDue {
        self.unacknowledged += u64::from(segment.payload);
        if self.quick_acks > 0 {
            self.quick_acks -= 1;
            return AckDue::Now;
        }
        match self.config.ack_delay() {
            Some(wait) if self.unacknowledged < 2 * u64::from(self.sender.mss) => {
                if !self.timers.is_running(Timer::DelayedAck) {
                    self.timers.set(Timer::DelayedAck, now + wait);
                }
                AckDue::Delayed
            }
            _ => AckDue::Now,
        }
    }

    #[inline]
    fn check_established<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
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

    /// Closes this end if nothing remains to be sent or received. `state_before`: its state before
    /// the event that is being handled. The end that sent its FIN second records
    /// `ConnectionClosed`. If the FINs crossed, both ends record it.
    #[inline]
    fn check_closed<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, state_before: State) {
        if self.sender.close_requested {
            self.check_closing(cx, state_before);
        }
    }

    #[inline(never)]
    fn check_closing<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, state_before: State) {
        let one_way_done = self.config.is_one_way()
            && self.sender.opened
            && self.sender.outstanding.una() >= self.sender.written;
        if self.closed || !(one_way_done || self.state() == State::Closed) {
            return;
        }
        self.closed = true;
        self.events.report_closed();
        if one_way_done || matches!(state_before, State::LastAck | State::Closing) {
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
            self.events.failed = Some(failure);
            self.events.report_closed();
        }
        was_closed
    }

    pub(super) fn report_all_acked(&mut self) {
        self.events.report_all_acked();
    }

    /// Fills in the segment. It acknowledges all that has arrived, so that no acknowledgment is due
    /// afterwards.
    #[inline]
    fn fill_segment(&mut self, segment: &mut Segment, now: Time, outgoing: &OutgoingSegment) {
        *segment = Segment { leg: self.leg, ..Segment::new(self.id, self.end.sends()) };
        (segment.seq, segment.payload) = (outgoing.seq, outgoing.payload);
        segment.transmission = outgoing.transmission;
        (segment.flags.fin, segment.flags.psh) = (outgoing.fin, outgoing.psh);
        segment.ack = self.receiver.next();
        segment.options = self.negotiated.options();
        segment.timestamp = self.timestamp(now, segment.options.timestamps);
        if self.receiver.is_synchronised() {
            segment.flags.ack = true;
            segment.echo = self.echo(&segment.options);
            self.ack_due = AckDue::No;
            self.unacknowledged = 0;
            self.timers.stop(Timer::DelayedAck);
        }
        segment.sack = self.receiver.report(self.max_blocks_for(segment.payload));
        let has_no_header = segment.payload > 0 && self.config.vegas_without_header();
        let header = if has_no_header { 0 } else { self.config.header.0 };
        segment.header = header + self.charged_options(&segment.options, &segment.sack);
        let window = self.window_now(now);
        segment.window = self.representable_window(window, self.negotiated.shift);
        self.receiver.advertise(segment.window);
        if outgoing.syn {
            self.turn_into_syn(segment, now, window);
        } else {
            self.set_ecn(segment, outgoing.cause);
        }
    }

    /// The timestamp that a segment with these options echoes.
    #[inline]
    fn echo(&self, options: &Options) -> Time {
        if self.config.is_one_way() || options.timestamps { self.receiver.echo() } else { Time::ZERO }
    }

    /// Turns a segment into a SYN, which has different options and an unscaled window.
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
        segment.window = self.representable_window(window, 0);
        self.receiver.advertise(segment.window);
        self.set_ecn_of_syn(&mut segment.flags);
    }
}
