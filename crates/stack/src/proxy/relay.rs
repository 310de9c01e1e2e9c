//! One transfer through a proxy that splits connections: data that one of the proxy's TCP ends has
//! received is written to the other end, as far as the buffer of the proxy has room. The relay also
//! passes on the opening, the close and the failure of a connection. `hosts/relaying.rs` calls it.

use umts_kernel::TraceSink;

use super::{ProxyEnds, Setup};
use crate::context::Context;
use crate::ids::{ConnectionId, Direction, ProxyLeg};
use crate::packet::Packet;
use crate::tcp::{Connection, State, TcpEvent};
use crate::trace::TraceEvent;

/// The side of the proxy on which one of its ends is: towards the server or towards the UE.
pub type Side = ProxyLeg;

/// The relay of one transfer.
///
/// 1. Pass each segment through [`admit`](Self::admit) before its end handles it.
/// 2. After each `handle_*` call of an end, pass its events to
///    [`handle_event`](Self::handle_event).
/// 3. Call [`poll_held`](Self::poll_held) and [`advance`](Self::advance) until neither changes
///    anything, and let both ends send.
#[derive(Debug)]
pub struct Relay {
    /// Number of the transfer in the trace.
    transfer: ConnectionId,
    setup: Setup,
    /// Buffer per direction in octets.
    buffer: u64,
    /// Indexed by [`Direction`].
    streams: [RelayedStream; 2],
    /// The SYN that the proxy has received but not passed to its end yet.
    held_syn: Option<HeldSyn>,
    /// The side that the proxy opened.
    opened: Option<Side>,
    /// A side has failed, or the proxy has no memory.
    failed: bool,
    /// The proxy has crashed and forgotten the transfer.
    is_lost: bool,
}

/// A SYN that waits in the proxy.
#[derive(Debug)]
struct HeldSyn {
    /// The side on which it arrived.
    side: Side,
    packet: Packet,
}

/// Octets in one direction.
#[derive(Debug, Default)]
struct RelayedStream {
    /// Octets read from one connection and written to the other.
    relayed: u64,
    /// The sender has closed.
    sender_closed: bool,
    /// The close was relayed to the receiver.
    close_relayed: bool,
    /// The loss of the octets in the proxy was recorded.
    loss_recorded: bool,
    /// The level that was recorded last.
    recorded: BufferLevel,
}

/// Level of the proxy's buffer in one direction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct BufferLevel {
    octets: u64,
    /// Whether octets wait for room in the buffer.
    is_full: bool,
}

impl Relay {
    /// `transfer` is the connection on the server's side.
    pub fn new(transfer: ConnectionId, setup: Setup, buffer: Option<u64>) -> Self {
        Relay {
            transfer,
            setup,
            buffer: buffer.unwrap_or(u64::MAX),
            streams: Default::default(),
            held_syn: None,
            opened: None,
            failed: false,
            is_lost: false,
        }
    }

    /// A relay without memory: answers its SYN with a RST.
    #[must_use]
    pub fn refusing(self) -> Self {
        Relay { failed: true, ..self }
    }

    /// Whether the proxy has lost its state of the transfer.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns the packet if the end on `side` must handle it now. With [`Setup::ServerFirst`] a
    /// SYN is kept until the other side is established. If the transfer has failed, its SYN is kept
    /// to be refused.
    pub fn admit(&mut self, side: Side, packet: Packet, ends: &ProxyEnds<'_>) -> Option<Packet> {
        let is_syn = packet.segment().is_some_and(|segment| segment.flags.syn && !segment.flags.ack);
        let is_answer_to_proxy = self.opened == Some(side);
        let waits_for_other_side =
            self.setup == Setup::ServerFirst && !ends.is_established(opposite(side)) && !is_answer_to_proxy;
        if is_syn && (waits_for_other_side || self.failed) {
            self.held_syn = Some(HeldSyn { side, packet });
            return None;
        }
        Some(packet)
    }

    /// Returns the kept SYN and its side once the other side is established.
    pub fn poll_held(&mut self, ends: &ProxyEnds<'_>) -> Option<(Side, Packet)> {
        let held = self.held_syn.take_if(|held| ends.is_established(opposite(held.side)))?;
        Some((held.side, held.packet))
    }

    /// Returns the kept SYN if the transfer has failed. The caller must answer with a RST.
    pub fn poll_refused(&mut self) -> Option<Packet> {
        let held = self.held_syn.take_if(|_| self.failed)?;
        Some(held.packet)
    }

    /// Handles an event of the proxy's end on `side`.
    pub fn handle_event(&mut self, side: Side, event: TcpEvent) {
        match event {
            TcpEvent::PeerClosed => self.streams[arriving_on(side).index()].sender_closed = true,
            TcpEvent::Failed(_) => self.failed = true,
            TcpEvent::Established | TcpEvent::Delivered(_) | TcpEvent::AllAcked | TcpEvent::Closed => {}
        }
    }

    /// Opens connections, relays octets, and closes or aborts connections as far as possible.
    /// Returns whether anything changed.
    pub fn advance<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ends: &mut ProxyEnds<'_>,
    ) -> bool {
        if self.failed {
            return self.give_up(cx, ends);
        }
        let has_opened = self.open(cx, ends);
        let has_relayed_down = self.relay_direction(cx, Direction::Downlink, ends.server, ends.radio);
        let has_relayed_up = self.relay_direction(cx, Direction::Uplink, ends.radio, ends.server);
        has_opened || has_relayed_down || has_relayed_up
    }

    /// Opens the second connection when the first one has the state that `setup` requires. Returns
    /// whether it opened one.
    fn open<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, ends: &mut ProxyEnds<'_>) -> bool {
        if self.opened.is_some() {
            return false;
        }
        let is_opened_by_peer = |end: &Connection| match self.setup {
            Setup::Early => end.state() != State::Listen,
            Setup::Accepted => end.is_established(),
            Setup::ServerFirst => false,
        };
        let opened_by_peer = if let Some(held) = &self.held_syn {
            held.side
        } else if is_opened_by_peer(ends.server) {
            Side::Server
        } else if is_opened_by_peer(ends.radio) {
            Side::Radio
        } else {
            return false;
        };
        let side = opposite(opened_by_peer);
        self.opened = Some(side);
        ends.on(side).handle_open(cx);
        true
    }

    /// Relays the data that `from` has received to `to`, as far as the buffer has room, and the
    /// close after the last octet. Records the level of the buffer if it changed. Returns whether
    /// it relayed anything.
    fn relay_direction<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        from: &mut Connection,
        to: &mut Connection,
    ) -> bool {
        let stream = &mut self.streams[direction.index()];
        let buffered_before = stream.relayed - to.acknowledged();
        let room = self.buffer.saturating_sub(buffered_before);
        let octets = from.unread().min(room);
        if octets > 0 {
            from.handle_read(cx.now, octets);
            to.handle_write(cx, octets);
            stream.relayed += octets;
        }
        // A close in SYN-SENT would delete the connection (RFC 9293 §3.10.4).
        let may_close = to.state() != State::SynSent;
        let close_is_due = stream.sender_closed && !stream.close_relayed && from.unread() == 0;
        let relays_close = close_is_due && may_close;
        if relays_close {
            stream.close_relayed = true;
            to.handle_close(cx);
        }
        let buffered = stream.relayed - to.acknowledged();
        let level = BufferLevel { octets: buffered, is_full: from.unread() > 0 };
        if level != stream.recorded {
            stream.recorded = level;
            let (transfer, BufferLevel { octets, is_full }) = (self.transfer, level);
            cx.record(|| TraceEvent::ProxyBuffer { transfer, direction, octets, is_full });
        }
        octets > 0 || relays_close
    }

    /// Aborts both connections because one side has failed. The octets in the proxy are lost.
    /// Returns whether a connection was still open.
    fn give_up<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ends: &mut ProxyEnds<'_>,
    ) -> bool {
        self.record_loss(cx, ends);
        let server_was_open = ends.server.handle_abort(cx);
        let radio_was_open = ends.radio.handle_abort(cx);
        server_was_open || radio_was_open
    }

    /// Loses the state of the transfer at the start of an outage.
    pub fn crash<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, ends: &ProxyEnds<'_>) {
        self.is_lost = true;
        self.held_syn = None;
        self.record_loss(cx, ends);
    }

    /// Records once the octets that are lost: acknowledged to their sender but not by their
    /// receiver.
    fn record_loss<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, ends: &ProxyEnds<'_>) {
        self.record_loss_in(cx, Direction::Downlink, ends.server, ends.radio);
        self.record_loss_in(cx, Direction::Uplink, ends.radio, ends.server);
    }

    fn record_loss_in<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        from: &Connection,
        to: &Connection,
    ) {
        let transfer = self.transfer;
        let stream = &mut self.streams[direction.index()];
        let was_recorded = std::mem::replace(&mut stream.loss_recorded, true);
        if !was_recorded {
            let buffered = stream.relayed - to.acknowledged();
            let octets = buffered + from.unread();
            cx.record(|| TraceEvent::ProxyLost { transfer, direction, octets });
        }
    }
}

/// Direction of octets that arrive on `side`.
fn arriving_on(side: Side) -> Direction {
    if side == Side::Server { Direction::Downlink } else { Direction::Uplink }
}

fn opposite(side: Side) -> Side {
    if side == Side::Server { Side::Radio } else { Side::Server }
}
