//! TCP segments of programs: their connections, recognised from the SYN on, and the data in order
//! in each direction. Packets have sequence numbers of 32 bits. The budget receives numbers that
//! count from the SYN, which is 0, without wrapping.

use umts_record::budget::Kind;
use umts_stack::ids::{ConnectionId, End, FlowId, PacketId, ProxyLeg, UeId};
use umts_stack::packet::{Flags, Packet, Segment};
use umts_stack::trace::{SendCause, TraceEvent};
use umts_units::Time;

use super::{Ends, Key, MAX_CONNECTIONS, MAX_SEGMENTS, ProgramsBudget};
use crate::packets::transport::{FIN, Message, RST, SYN, Transport, read};

/// Maximum number of out-of-order ranges of a direction. Beyond it, the range with the highest
/// sequence numbers is removed.
const MAX_OUT_OF_ORDER: usize = 4096;

/// Assumed payload of a full segment, in bytes. It has no effect because windows are unknown.
const MSS: u32 = 1460;

impl ProgramsBudget {
    /// Records a TCP segment that enters the network, as an event of its connection. A first SYN
    /// opens the connection. Returns `None` if the packet belongs to no known TCP connection.
    pub(super) fn record_segment(&mut self, now: Time, packet: Packet) -> Option<()> {
        let Transport { from, to, message } = self.packet_store.with(packet.id, read)??;
        let Message::Segment { seq, ack, flags, .. } = message else { return None };
        let direction = packet.direction();
        let key = Key { leg: packet.leg(), ends: Ends::of(direction, from, to) };
        let is_first_syn = flags & SYN != 0 && ack.is_none();
        if is_first_syn {
            self.begin(now, key, packet.ue, Syn { end: End::sending(direction), number: seq });
        }
        let segment = self.connections.get_mut(&key)?.send(&packet, message)?;
        if self.segments.len() >= MAX_SEGMENTS {
            self.segments.pop_first();
        }
        self.segments.insert(packet.id, (key, segment));
        self.columns[segment.connection.0 as usize].packets += 1;
        let takes_sequence_space = segment.payload > 0 || segment.flags.syn || segment.flags.fin;
        let cause = if takes_sequence_space { SendCause::New } else { SendCause::Ack };
        self.record_event(now, TraceEvent::SegmentSent { packet: packet.id, segment, cause });
        Some(())
    }

    /// Opens a connection for a SYN, unless it is a retransmission. The first SYN of a transfer
    /// through a proxy opens both connections, as in a simulation.
    fn begin(&mut self, now: Time, key: Key, ue: UeId, syn: Syn) {
        let Key { leg, ends } = key;
        if let Some(connection) = self.connections.get(&key) {
            let was_opened_by_other_leg = connection.is_unopened();
            if was_opened_by_other_leg || connection.has_seen(syn) {
                return;
            }
        }
        let legs: &[ProxyLeg] = match leg {
            ProxyLeg::Whole => &[ProxyLeg::Whole],
            ProxyLeg::Server | ProxyLeg::Radio => &[ProxyLeg::Server, ProxyLeg::Radio],
        };
        for &leg in legs {
            self.remove_connection(now, Key { leg, ends });
        }
        if self.connections.len() >= MAX_CONNECTIONS
            && let Some(first) = self.connections.keys().next().copied()
        {
            self.remove_connection(now, first);
        }
        if leg == ProxyLeg::Whole
            && let Some(id) = self.adopt_lookup(now, ue, ends, Kind::Tcp)
        {
            self.connections.insert(key, Connection::new(id, Some(syn)));
            return;
        }
        let transfer = ConnectionId(self.columns.len() as u32);
        for &new_leg in legs {
            let id = self.next_id(ends);
            let connection = Connection::new(id, Some(syn).filter(|_| new_leg == leg));
            self.connections.insert(Key { leg: new_leg, ends }, connection);
            self.record_event(
                now,
                TraceEvent::ConnectionOpened {
                    connection: id,
                    transfer,
                    leg: new_leg,
                    // Programs have no flow of the scenario.
                    flow: FlowId(u32::MAX),
                    ue,
                    sender: End::Server,
                    mss: MSS,
                },
            );
        }
    }

    /// Records that a segment has left the network: its payload, and its acknowledgment for the
    /// other end. Closes the connection after a RST or after both FINs are acknowledged.
    pub(super) fn record_segment_arrival(&mut self, now: Time, packet: PacketId, key: Key, segment: Segment) {
        let Some(connection) =
            self.connections.get_mut(&key).filter(|connection| connection.id == segment.connection)
        else {
            return;
        };
        let from = End::sending(segment.direction);
        let id = connection.id;
        let first = segment.seq + u64::from(segment.flags.syn);
        let stream = &mut connection.streams[from as usize];
        let delivered = match segment.payload {
            0 => 0,
            payload => stream.receive(first, first + u64::from(payload)),
        };
        let mut events = vec![TraceEvent::SegmentReceived { packet, segment, delivered, duplicate: false }];
        let (end, reverse) = (from.other(), &mut connection.streams[from.other() as usize]);
        if segment.flags.ack && segment.ack > reverse.una {
            reverse.una = segment.ack;
            events.push(TraceEvent::Acked { connection: id, end, una: segment.ack, payload: 0 });
            if !std::mem::replace(&mut reverse.is_established, true) {
                events.push(TraceEvent::Established { connection: id, end });
            }
            reverse.fin_acknowledged |= reverse.has_finished && reverse.una >= reverse.highest;
        }
        let is_closed = segment.flags.rst || connection.streams.iter().all(|stream| stream.fin_acknowledged);
        for event in events {
            self.record_event(now, event);
        }
        if is_closed {
            self.close(now, key);
        }
    }

    /// Closes a connection, and the proxy's other connection if it was never opened.
    fn close(&mut self, now: Time, key: Key) {
        self.remove_connection(now, key);
        for leg in [ProxyLeg::Server, ProxyLeg::Radio] {
            let other = Key { leg, ..key };
            if self.connections.get(&other).is_some_and(Connection::is_unopened) {
                self.remove_connection(now, other);
            }
        }
    }

    /// Removes a connection, and records its end.
    fn remove_connection(&mut self, now: Time, key: Key) {
        if let Some(connection) = self.connections.remove(&key) {
            self.record_event(now, TraceEvent::ConnectionClosed { connection: connection.id });
        }
    }
}

/// A connection between two programs.
#[derive(Debug)]
pub(super) struct Connection {
    pub id: ConnectionId,
    /// Directions, by the end that sends.
    streams: [StreamDirection; 2],
}

/// One direction of a connection. Sequence numbers count from the SYN, which is 0, without
/// wrapping.
#[derive(Debug, Default)]
struct StreamDirection {
    /// Number of the SYN in the packets.
    initial: Option<u32>,
    /// The number after the last one sent.
    highest: u64,
    /// The highest acknowledgment that the sender has received.
    una: u64,
    /// End of the payload that has arrived in order.
    in_order_to: u64,
    /// Ranges of payload that have arrived beyond it, sorted: first number, and number after the
    /// last.
    out_of_order: Vec<(u64, u64)>,
    /// Whether a FIN was sent.
    has_finished: bool,
    /// Whether the FIN was acknowledged.
    fin_acknowledged: bool,
    /// Whether the SYN was acknowledged.
    is_established: bool,
}

/// A SYN of a connection.
#[derive(Debug, Clone, Copy)]
struct Syn {
    /// The end that sent the SYN.
    end: End,
    /// Sequence number in the packet.
    number: u32,
}

impl Connection {
    /// A connection of which this SYN was seen, or no packet yet.
    fn new(id: ConnectionId, syn: Option<Syn>) -> Self {
        let mut streams = [StreamDirection::default(), StreamDirection::default()];
        if let Some(Syn { end, number }) = syn {
            streams[end as usize].initial = Some(number);
        }
        Connection { id, streams }
    }

    /// Describes a segment that one end sends, with unwrapped numbers. Returns `None` for other
    /// messages, and if the SYN of this end was not seen.
    fn send(&mut self, packet: &Packet, message: Message) -> Option<Segment> {
        let Message::Segment { seq, length, ack, flags } = message else { return None };
        let (syn, fin, rst) = (flags & SYN != 0, flags & FIN != 0, flags & RST != 0);
        let end = End::sending(packet.direction());
        let stream = &mut self.streams[end as usize];
        if syn && stream.initial.is_none() {
            stream.initial = Some(seq);
        }
        let seq = stream.unwrapped(seq)?;
        stream.highest = stream.highest.max(seq + u64::from(length));
        stream.has_finished |= fin;
        let ack = ack.and_then(|ack| self.streams[end.other() as usize].unwrapped(ack));
        // `length` is the sequence space, which SYN and FIN occupy too.
        let payload = length - u32::from(syn) - u32::from(fin);
        Some(Segment {
            flags: Flags { syn, fin, rst, ack: ack.is_some(), ..Flags::default() },
            seq,
            ack: ack.unwrap_or(0),
            payload,
            window: u32::MAX,
            leg: packet.leg(),
            header: (packet.size().0 as u32).saturating_sub(payload) as u16,
            ..Segment::new(self.id, packet.direction())
        })
    }

    fn has_seen(&self, syn: Syn) -> bool {
        self.streams[syn.end as usize].initial == Some(syn.number)
    }

    /// Whether no SYN of this connection was seen yet: only the other connection of its transfer
    /// has begun.
    fn is_unopened(&self) -> bool {
        self.streams.iter().all(|stream| stream.initial.is_none())
    }
}

impl StreamDirection {
    /// Extends a packet's sequence number, which wraps at 2³², to one near the highest number so
    /// far.
    fn unwrapped(&self, number: u32) -> Option<u64> {
        let offset = number.wrapping_sub(self.initial?);
        let distance = i64::from(offset.wrapping_sub(self.highest as u32) as i32);
        self.highest.checked_add_signed(distance)
    }

    /// Records the arrival of payload `from..to`. Returns the number of bytes that are newly in
    /// order.
    fn receive(&mut self, from: u64, to: u64) -> u64 {
        let before = self.in_order_to.max(1);
        if self.out_of_order.len() >= MAX_OUT_OF_ORDER {
            self.out_of_order.pop();
        }
        self.out_of_order.push((from, to));
        self.out_of_order.sort_unstable();
        let mut in_order_to = before;
        // Removes the ranges that continue the data in order, which grow with each of them.
        self.out_of_order.retain(|&(from, to)| {
            let continues = from <= in_order_to;
            if continues {
                in_order_to = in_order_to.max(to);
            }
            !continues
        });
        self.in_order_to = in_order_to;
        in_order_to - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_order_ranges_take_bounded_memory() {
        // The payload has a gap of ten bytes before every ten bytes that arrive.
        let mut stream = StreamDirection::default();
        for piece in 0..10_000 {
            let first = 10 + 20 * piece;
            assert_eq!(stream.receive(first, first + 10), 0);
        }
        assert_eq!(stream.out_of_order.len(), MAX_OUT_OF_ORDER);
        // Bytes 1 to 9 close the first gap, so bytes 1 to 19 are in order.
        assert_eq!(stream.receive(1, 10), 19);
    }
}
