//! One end of a TCP connection: its state, and the calls that drive it. The caller passes in
//! packets and the application's writes, and polls for segments to send, events for the
//! application, and the time of the next timeout. Sequence numbers and windows are in bytes, the
//! congestion window is in segments.
//!
//! Each received packet passes through these files, in this order:
//!
//! ```text
//!   acceptance ─► receiver ─► lifecycle (SYN) ─► ack_timing ─► acks ─► lifecycle (established, closed)
//! ```
//!
//! Segments to send come from `transmission`, which takes data from `sender`.

use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::context::Context;
use crate::ids::{ConnectionId, End, FlowId, PacketId, ProxyLeg, UeId};
use crate::packet::{Content, Packet, Segment};
use crate::trace::{Failure, TraceEvent};

use super::acceptance::Verdict;
use super::config::{TcpConfig, Variant};
use super::ecn::EcnState;
use super::events::Events;
use super::failure::Rst;
use super::keepalive::KeepAlive;
use super::options::NegotiatedOptions;
use super::reading::Reader;
use super::receiver::{AckDue, Arrival, Receiver};
use super::sender::Sender;
use super::state::State;
use super::timers::{Timer, Timers};

/// One end of a connection.
///
/// After any `handle_*` call, call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until they return `None`. Then wait until
/// [`poll_timeout`](Self::poll_timeout) and call [`handle_timeout`](Self::handle_timeout).
///
/// A connection consists of two of these, one for each end. The active end calls
/// [`handle_open`](Self::handle_open), and the passive end answers its SYN. Both ends may be active
/// (simultaneous open). There is no TIME-WAIT: a closed end still acknowledges a repeated FIN. The
/// caller must keep both ends until both have reported
/// [`TcpEvent::Closed`](super::TcpEvent::Closed).
#[derive(Debug)]
pub struct Connection {
    // Identity and configuration.
    pub(super) id: ConnectionId,
    pub(super) flow: FlowId,
    pub(super) ue: UeId,
    pub(super) end: End,
    /// The part of the path between server and UE that the connection takes.
    pub(super) leg: ProxyLeg,
    /// Shared by both ends and by all connections of flows with equal configuration, which saves
    /// cache lines.
    pub(super) config: Arc<TcpConfig>,

    // The two halves, and their timers.
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// The receive buffer of an application that reads at a limited rate. `None` if it reads at
    /// once.
    pub(super) reading: Option<Box<Reader>>,
    pub(super) timers: Timers,

    // Acknowledgments that this end sends.
    /// How soon an acknowledgment must be sent.
    pub(super) ack_due: AckDue,
    /// Payload received in order since the last acknowledgment, in bytes.
    pub(super) unacknowledged: u64,
    /// Number of further segments that are acknowledged without delay ([`TcpConfig::quick_acks`]).
    pub(super) quick_acks: u32,

    // Agreed with the other end.
    pub(super) negotiated: NegotiatedOptions,
    /// The other end's SYN had a window scale option.
    pub(super) peer_scales: bool,
    pub(super) ecn: EcnState,

    // Opening and closing.
    /// This end called `handle_open`, and did not only answer a SYN.
    pub(super) opened_actively: bool,
    /// The handshake is complete.
    pub(super) established: bool,
    /// This end's FIN was sent after the other end's FIN had arrived, so the FINs did not cross.
    pub(super) fin_answers: bool,
    /// Nothing remains to be sent or received, or the connection failed.
    pub(super) closed: bool,
    /// Closed before the other end answered the SYN: the connection does not exist (RFC 9293
    /// §3.10.4).
    pub(super) deleted: bool,
    /// Why the connection failed, if it did.
    pub(super) failure: Option<Failure>,
    /// A RST that must be sent.
    pub(super) rst_due: Option<Rst>,
    pub(super) keepalive: KeepAlive,

    /// Events that the application has not polled yet.
    pub(super) events: Events,
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
            reading: Reader::new(&config).map(Box::new),
            timers: Timers::new(),
            ack_due: AckDue::No,
            unacknowledged: 0,
            quick_acks: config.quick_acks,
            negotiated: NegotiatedOptions::before_syn(&config),
            peer_scales: false,
            ecn: EcnState::default(),
            opened_actively: false,
            established: false,
            fin_answers: false,
            closed: false,
            deleted: false,
            failure: None,
            rst_due: None,
            keepalive: KeepAlive::default(),
            events: Events::default(),
            config,
        }
    }

    /// Sets the part of the path that the connection takes.
    pub fn set_leg(&mut self, leg: ProxyLeg) {
        self.leg = leg;
    }

    /// The application writes `bytes` more. `u64::MAX`: an unlimited amount.
    pub fn handle_write<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, bytes: u64) {
        debug_assert!(!self.sender.close_requested, "nothing is written after the close");
        self.sender.written = self.sender.written.saturating_add(bytes);
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::AppWrote { connection, end, bytes });
    }

    /// Processes a packet from the other end. Ignores a packet without a TCP segment.
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
        let was_finished = self.receiver.is_finished();

        let arrival = self.pass_to_receiver(segment, verdict);
        let Arrival { delivered, duplicate, rejected, .. } = arrival;
        cx.record(|| TraceEvent::SegmentReceived {
            packet: packet.id,
            segment: *segment,
            delivered,
            duplicate,
        });
        let is_accepted_syn = segment.flags.syn && matches!(verdict, Verdict::Accept(_));
        if is_accepted_syn {
            self.handle_syn(segment, state_before);
        }
        if !rejected {
            self.process_ecn(segment);
        }
        self.decide_ack(cx.now, segment, &arrival);

        self.events.report_delivered(delivered);
        if delivered > 0 && self.reading.is_some() {
            self.buffer_arrival(cx.now, delivered);
        }
        if !was_finished && self.receiver.is_finished() {
            self.events.report_peer_closed();
        }

        if segment.flags.ack && !rejected {
            self.handle_ack(cx, segment);
        }
        self.check_established(cx);
        self.check_closed(cx, state_before);
        self.restart_keepalive_timer(cx.now);
    }

    /// Passes a segment to the receiving half as the acceptance test has decided. Payload beyond
    /// the advertised window is cut off.
    #[inline]
    fn pass_to_receiver(&mut self, segment: &Segment, verdict: Verdict) -> Arrival {
        match verdict {
            Verdict::Accept(payload) => {
                // `receive` has only this call site, so that the compiler inlines it.
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
        }
    }

    /// Handles all timers that are due, such as retransmission, delayed acknowledgment and pacing.
    /// The segments that they cause are sent by the following `poll_transmit` calls.
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
}
