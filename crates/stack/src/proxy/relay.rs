//! One transfer through a proxy that splits connections: data that one of the proxy's TCP ends has
//! received is written to the other end, as far as the buffer of the proxy has room. The relay also
//! passes on the opening, the close and the failure of a connection. `hosts/relaying.rs` calls it.

use umts_kernel::TraceSink;

use super::Setup;
use crate::context::Context;
use crate::ids::{ConnectionId, Direction, ProxyLeg};
use crate::packet::Packet;
use crate::tcp::{Connection, State, TcpEvent};
use crate::trace::TraceEvent;

/// The side of the proxy on which one of its ends is: towards the server or towards the UE.
pub type Side = ProxyLeg;

/// A transfer. Every call receives the proxy's ends of the two connections, the end on the server's
/// side first.
///
/// After each `handle_*` call of an end, pass its events to [`handle_event`](Self::handle_event).
/// Then call [`advance`](Self::advance) until it returns false, and let both ends send.
#[derive(Debug)]
pub struct Relay {
    transfer: ConnectionId,
    setup: Setup,
    /// Buffer per direction in octets.
    buffer: u64,
    streams: [RelayedStream; 2],
    /// The SYN that the proxy has received but not passed to its end yet, and its side.
    held_syn: Option<(Side, Packet)>,
    /// The side that the proxy opened.
    opened: Option<Side>,
    /// A side has failed, or the proxy has no memory.
    failed: bool,
    /// The proxy has crashed and forgotten the transfer.
    is_lost: bool,
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
    lost: bool,
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
    /// SYN is kept until the other side is established.
    pub fn admit(&mut self, side: Side, packet: Packet, other_is_established: bool) -> Option<Packet> {
        let is_syn = packet.segment().is_some_and(|segment| segment.flags.syn && !segment.flags.ack);
        let waits = self.setup == Setup::ServerFirst && !other_is_established && self.opened != Some(side);
        if is_syn && (waits || self.failed) {
            self.held_syn = Some((side, packet));
            return None;
        }
        Some(packet)
    }

    /// Returns the kept SYN and its side once the other side is established.
    pub fn poll_held(&mut self, ends: &[&mut Connection; 2]) -> Option<(Side, Packet)> {
        let (side, _) = self.held_syn.as_ref()?;
        let other_end = &ends[usize::from(*side == Side::Server)];
        if other_end.is_established() { self.held_syn.take() } else { None }
    }

    /// Returns the kept SYN if the transfer has failed. The caller must answer with a RST.
    pub fn poll_refused(&mut self) -> Option<Packet> {
        if self.failed { self.held_syn.take().map(|(_, packet)| packet) } else { None }
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
        ends: [&mut Connection; 2],
    ) -> bool {
        let [server, radio] = ends;
        if self.failed {
            return self.give_up(cx, server, radio);
        }
        let mut has_changed = self.open(cx, server, radio);
        for direction in Direction::BOTH {
            has_changed |= match direction {
                Direction::Downlink => self.relay_direction(cx, direction, server, radio),
                Direction::Uplink => self.relay_direction(cx, direction, radio, server),
            };
        }
        has_changed
    }

    /// Opens the second connection when the first one has the state that `setup` requires.
    fn open<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &mut Connection,
        radio: &mut Connection,
    ) -> bool {
        if self.opened.is_some() {
            return false;
        }
        let is_opened_by_peer = |end: &Connection| match self.setup {
            Setup::Early => end.state() != State::Listen,
            Setup::Accepted => end.is_established(),
            Setup::ServerFirst => false,
        };
        let side_of_held_syn = self.held_syn.as_ref().map(|(side, _)| *side);
        let side = match side_of_held_syn {
            Some(side) => opposite(side),
            None if is_opened_by_peer(server) => Side::Radio,
            None if is_opened_by_peer(radio) => Side::Server,
            None => return false,
        };
        self.opened = Some(side);
        let opened = if side == Side::Server { server } else { radio };
        opened.handle_open(cx);
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
        let room = self.buffer.saturating_sub(stream.relayed - to.acknowledged());
        let octets = from.unread().min(room);
        if octets > 0 {
            from.handle_read(cx.now, octets);
            to.handle_write(cx, octets);
            stream.relayed += octets;
        }
        // A close in SYN-SENT would delete the connection (RFC 9293 §3.10.4).
        let may_close = to.state() != State::SynSent;
        let relays_close = stream.sender_closed && !stream.close_relayed && from.unread() == 0 && may_close;
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
    fn give_up<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &mut Connection,
        radio: &mut Connection,
    ) -> bool {
        self.record_loss(cx, server, radio);
        let aborted = [server.handle_abort(cx), radio.handle_abort(cx)];
        aborted.contains(&true)
    }

    /// Loses the state of the transfer at the start of an outage.
    pub fn crash<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &Connection,
        radio: &Connection,
    ) {
        self.is_lost = true;
        self.held_syn = None;
        self.record_loss(cx, server, radio);
    }

    /// Records once the octets that are lost: acknowledged to their sender but not by their
    /// receiver.
    fn record_loss<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &Connection,
        radio: &Connection,
    ) {
        let transfer = self.transfer;
        for (direction, from, to) in
            [(Direction::Downlink, server, radio), (Direction::Uplink, radio, server)]
        {
            let stream = &mut self.streams[direction.index()];
            if !std::mem::replace(&mut stream.lost, true) {
                let octets = stream.relayed - to.acknowledged() + from.unread();
                cx.record(|| TraceEvent::ProxyLost { transfer, direction, octets });
            }
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
