//! One transfer through the proxy: two ends of TCP, and what goes from one to the other.

use umts_kernel::TraceSink;

use super::Setup;
use crate::context::Context;
use crate::ids::{ConnectionId, Direction, ProxyLeg};
use crate::packet::Packet;
use crate::tcp::{Connection, State, TcpEvent};
use crate::trace::TraceEvent;

/// The side of the proxy on which one of its ends is.
pub type Side = ProxyLeg;

/// A transfer: the proxy's ends of its two connections are handed to every call, the server's side first.
///
/// After each `handle_*` call of either end, drain its events into [`handle_event`](Self::handle_event), then call
/// [`carry`](Self::carry) until nothing moves, then let both ends send.
#[derive(Debug)]
pub struct Relay {
    transfer: ConnectionId,
    setup: Setup,
    /// Room each way, in octets.
    buffer: u64,
    /// Downlink and uplink.
    ways: [RelayedStream; 2],
    /// A SYN that is answered when the other side is established.
    held: Option<(Side, Packet)>,
    /// Which side was opened by the proxy.
    opened: Option<Side>,
    /// One side has failed, or there was no room.
    failed: bool,
    is_lost: bool,
}

/// Octets that go one way.
#[derive(Debug, Default)]
struct RelayedStream {
    /// Taken from the one connection and written to the other.
    carried: u64,
    /// The sender has no more.
    ends: bool,
    /// That was handed on.
    closed: bool,
    /// What was under way here is lost, and that was told.
    lost: bool,
    /// What was last told of its buffer, in octets, and whether it keeps octets waiting.
    told: (u64, bool),
}

impl Relay {
    /// A transfer with this number, that of the connection on the server's side.
    pub fn new(transfer: ConnectionId, setup: Setup, buffer: Option<u64>) -> Self {
        Relay {
            transfer,
            setup,
            buffer: buffer.unwrap_or(u64::MAX),
            ways: Default::default(),
            held: None,
            opened: None,
            failed: false,
            is_lost: false,
        }
    }

    /// The same for which there is no room: a RST answers its SYN.
    #[must_use]
    pub fn refusing(self) -> Self {
        Relay { failed: true, ..self }
    }

    /// Whether the proxy knows nothing of it any more.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// A packet comes on `side`. Returned if that end is to have it now; a SYN waits until the other side is established,
    /// if the set-up wants it so.
    pub fn admit(&mut self, side: Side, packet: Packet, other_is_established: bool) -> Option<Packet> {
        let is_syn = packet.segment().is_some_and(|segment| segment.flags.syn && !segment.flags.ack);
        let waits = self.setup == Setup::ServerFirst && !other_is_established && self.opened != Some(side);
        if is_syn && (waits || self.failed) {
            self.held = Some((side, packet));
            return None;
        }
        Some(packet)
    }

    /// The SYN that waited, once the other side is established.
    pub fn poll_held(&mut self, ends: &[&mut Connection; 2]) -> Option<(Side, Packet)> {
        let (side, _) = self.held.as_ref()?;
        let other = &ends[usize::from(*side == Side::Server)];
        if other.is_established() { self.held.take() } else { None }
    }

    /// The other side of a SYN that waits has failed: it is answered by nobody but a RST.
    pub fn poll_refused(&mut self) -> Option<Packet> {
        if self.failed { self.held.take().map(|(_, packet)| packet) } else { None }
    }

    /// What the end on `side` heard.
    pub fn handle_event(&mut self, side: Side, event: TcpEvent) {
        match event {
            TcpEvent::PeerClosed => self.ways[from(side).index()].ends = true,
            TcpEvent::Failed(_) => self.failed = true,
            TcpEvent::Established | TcpEvent::Delivered(_) | TcpEvent::AllAcked | TcpEvent::Closed => {}
        }
    }

    /// Does what can be done now: opens, carries octets, closes, gives up. Tells whether anything was.
    pub fn carry<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        ends: [&mut Connection; 2],
    ) -> bool {
        let [server, radio] = ends;
        if self.failed {
            return self.give_up(cx, server, radio);
        }
        let mut moved = self.open(cx, server, radio);
        for direction in Direction::BOTH {
            moved |= match direction {
                Direction::Downlink => self.carry_way(cx, direction, server, radio),
                Direction::Uplink => self.carry_way(cx, direction, radio, server),
            };
        }
        moved
    }

    /// Opens the second connection when the first is where the set-up wants it.
    fn open<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &mut Connection,
        radio: &mut Connection,
    ) -> bool {
        if self.opened.is_some() {
            return false;
        }
        let called = |end: &Connection| match self.setup {
            Setup::Early => end.state() != State::Listen,
            Setup::Accepted => end.is_established(),
            Setup::ServerFirst => false,
        };
        let waits = self.held.as_ref().map(|(side, _)| *side);
        let side = match waits {
            Some(side) => opposite(side),
            None if called(server) => Side::Radio,
            None if called(radio) => Side::Server,
            None => return false,
        };
        self.opened = Some(side);
        let opened = if side == Side::Server { server } else { radio };
        opened.handle_open(cx);
        true
    }

    fn carry_way<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        direction: Direction,
        from: &mut Connection,
        to: &mut Connection,
    ) -> bool {
        let way = &mut self.ways[direction.index()];
        let room = self.buffer.saturating_sub(way.carried - to.acknowledged());
        let octets = from.unread().min(room);
        if octets > 0 {
            from.handle_read(cx.now, octets);
            to.handle_write(cx, octets);
            way.carried += octets;
        }
        // A close in SYN-SENT would delete the connection (RFC 9293 §3.10.4).
        let is_answered = to.state() != State::SynSent;
        let closes = way.ends && !way.closed && from.unread() == 0 && is_answered;
        if closes {
            way.closed = true;
            to.handle_close(cx);
        }
        let told = (way.carried - to.acknowledged(), from.unread() > 0);
        if told != way.told {
            way.told = told;
            let (transfer, (octets, is_full)) = (self.transfer, told);
            cx.record(|| TraceEvent::ProxyBuffer { transfer, direction, octets, is_full });
        }
        octets > 0 || closes
    }

    /// One side has failed: the other hears of it at once, and what was under way between them is lost.
    fn give_up<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &mut Connection,
        radio: &mut Connection,
    ) -> bool {
        self.lose(cx, server, radio);
        let told = [server.handle_abort(cx), radio.handle_abort(cx)];
        told.contains(&true)
    }

    /// The proxy is out of order: what it knew is lost, and its ends are nobody's.
    pub fn crash<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &Connection,
        radio: &Connection,
    ) {
        self.is_lost = true;
        self.held = None;
        self.lose(cx, server, radio);
    }

    /// Tells what is lost, once: acknowledged to its sender, and not by its receiver.
    fn lose<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        server: &Connection,
        radio: &Connection,
    ) {
        let transfer = self.transfer;
        for (direction, from, to) in
            [(Direction::Downlink, server, radio), (Direction::Uplink, radio, server)]
        {
            let way = &mut self.ways[direction.index()];
            if !std::mem::replace(&mut way.lost, true) {
                let octets = way.carried - to.acknowledged() + from.unread();
                cx.record(|| TraceEvent::ProxyLost { transfer, direction, octets });
            }
        }
    }
}

/// The direction of octets that come in on `side`.
fn from(side: Side) -> Direction {
    if side == Side::Server { Direction::Downlink } else { Direction::Uplink }
}

fn opposite(side: Side) -> Side {
    if side == Side::Server { Side::Radio } else { Side::Server }
}
