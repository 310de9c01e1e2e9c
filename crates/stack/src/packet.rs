//! What travels: an IP packet with a TCP segment or a UDP datagram in it. Payload is described, not copied.

use umts_units::{Bytes, Time};

use crate::ids::{ConnectionId, Direction, FlowId, PacketId, ProxyLeg, UeId};

/// TCP's control bits (RFC 9293 §3.1) as far as the model uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// The acknowledgment number is valid.
    pub ack: bool,
    /// No more data from the sender.
    pub fin: bool,
    /// Push.
    pub psh: bool,
    /// Reset the connection.
    pub rst: bool,
    /// Congestion was experienced (RFC 3168 §6.1); in a SYN: capable of ECN.
    pub ece: bool,
    /// The congestion window was reduced.
    pub cwr: bool,
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// 00: a router that wants to slow the sender down has to drop.
    #[default]
    NotCapable,
    /// 10, ECT(0): a router may mark in place of dropping.
    Capable,
    /// 11, CE: a router has marked it.
    Experienced,
}

/// Options of a segment beside the maximum segment size and the blocks of selective acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Options {
    /// The shift of every later window of this end (RFC 7323 §2), on a SYN.
    pub window_scale: Option<u8>,
    /// Selective acknowledgments may be sent to this end (RFC 2018 §2), on a SYN.
    pub sack_permitted: bool,
    /// `timestamp` and `echo` of the segment are on the wire (RFC 7323 §3).
    pub timestamps: bool,
}

/// Selective acknowledgments (RFC 2018): at most [`SackBlocks::MAX`] ranges of sequence numbers in the order in which
/// they are reported. All lie above the cumulative acknowledgment but perhaps the first, which may report a duplicate
/// (RFC 2883). They are kept as distances from the acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SackBlocks([(u32, u32); SackBlocks::MAX]);

impl SackBlocks {
    /// As many as fit into TCP's options (RFC 2018 §3).
    pub const MAX: usize = 4;

    /// No block.
    pub const NONE: SackBlocks = SackBlocks([(0, 0); SackBlocks::MAX]);

    /// The first `MAX` of some ranges `start..end`, none empty, less than 2 GiB from `ack`.
    pub fn new(ack: u64, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut blocks = SackBlocks::NONE;
        for (block, (start, end)) in blocks.0.iter_mut().zip(ranges) {
            debug_assert!(start < end, "{start}..{end}");
            *block = (start.wrapping_sub(ack) as u32, end.wrapping_sub(ack) as u32);
        }
        blocks
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|(start, end)| start != end).count()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] == (0, 0)
    }

    /// The ranges `start..end` of a segment that acknowledges `ack`.
    #[inline]
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        let reported = self.0.into_iter().take_while(|(start, end)| start != end);
        let at = move |distance: u32| ack.wrapping_add_signed(i64::from(distance as i32));
        reported.map(move |(start, end)| (at(start), at(end)))
    }

    /// The first range if it reports a duplicate: it lies below the acknowledgment or inside the second (RFC 2883 §4).
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let mut ranges = self.ranges(ack);
        let first = ranges.next()?;
        let inside = |(start, end): (u64, u64)| start <= first.0 && first.1 <= end;
        (first.1 <= ack || ranges.next().is_some_and(inside)).then_some(first)
    }
}

/// A TCP segment. Sequence numbers are 64-bit offsets from the initial sequence number (the SYN is number 0, the
/// first payload byte number 1), so the model never wraps; a capture adds the initial number modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The connection.
    pub connection: ConnectionId,
    /// The part of the way that the connection takes.
    pub leg: ProxyLeg,
    /// The way it goes.
    pub direction: Direction,
    /// Control bits.
    pub flags: Flags,
    /// Number of the first payload byte (or of the SYN or FIN).
    pub seq: u64,
    /// Next byte expected from the other end, if `flags.ack`.
    pub ack: u64,
    /// Payload, in bytes.
    pub payload: u32,
    /// Advertised window, in bytes.
    pub window: u32,
    /// TCP and IP headers, in bytes, as the model charges them.
    pub header: u16,
    /// Maximum segment size option, zero if absent.
    pub mss: u16,
    /// Selective acknowledgments.
    pub sack: SackBlocks,
    /// Other options.
    pub options: Options,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// When it left: in whole ticks of the sender's clock with the timestamps option, else exact and unknown to the other
    /// end (but for ns-2's one-way connections, which use it).
    pub timestamp: Time,
    /// The timestamp of the segment that it answers.
    pub echo: Time,
    /// Ground truth, unknown to the other end: how often these bytes were sent before.
    pub transmission: u16,
}

impl Segment {
    /// A segment with a header of 40 octets and nothing else.
    pub const fn new(connection: ConnectionId, direction: Direction) -> Self {
        Segment {
            connection,
            leg: ProxyLeg::Whole,
            direction,
            flags: Flags {
                syn: false,
                ack: false,
                fin: false,
                psh: false,
                rst: false,
                ece: false,
                cwr: false,
            },
            seq: 0,
            ack: 0,
            payload: 0,
            window: 0,
            header: 40,
            mss: 0,
            sack: SackBlocks::NONE,
            options: Options { window_scale: None, sack_permitted: false, timestamps: false },
            ecn: Ecn::NotCapable,
            timestamp: Time::ZERO,
            echo: Time::ZERO,
            transmission: 0,
        }
    }

    /// Sequence numbers that it takes: payload, and one each for SYN and FIN.
    #[inline]
    pub fn sequence_length(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// The segment with its first `payload` bytes only, and without a FIN.
    pub fn cut(&self, payload: u32) -> Segment {
        Segment { payload, flags: Flags { fin: false, ..self.flags }, ..*self }
    }

    /// First sequence number after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + self.sequence_length()
    }
}

/// A UDP datagram (RFC 768).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datagram {
    /// The way it goes.
    pub direction: Direction,
    /// Its number among the datagrams of its flow and direction, from 0.
    pub number: u64,
    /// Payload, in bytes.
    pub payload: u32,
    /// UDP and IP headers, in bytes, as the model charges them.
    pub header: u16,
    /// When it left.
    pub timestamp: Time,
}

/// A packet of a real program: its octets are kept by whoever put it into the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Foreign {
    /// The way it goes.
    pub direction: Direction,
    /// The part of the way that it takes.
    pub leg: ProxyLeg,
    /// Its size, the IP header included, in bytes.
    pub size: u32,
}

/// What an IP packet carries. Whoever only moves packets asks [`Packet`] for size and direction and never looks inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Content {
    /// A segment of a TCP connection.
    Segment(Segment),
    /// A datagram of the packet's flow.
    Datagram(Datagram),
    /// Whatever a real program sent, from the IP header on.
    Foreign(Foreign),
}

/// Numbers packets: every one that a host sends is a new one.
#[derive(Debug, Default)]
pub struct Packets(u64);

impl Packets {
    /// The next packet of `flow`, to or from `ue`.
    #[inline]
    pub fn number(&mut self, flow: FlowId, ue: UeId, content: Content) -> Packet {
        let id = PacketId(self.0);
        self.0 += 1;
        Packet { id, flow, ue, content }
    }
}

/// An IP packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Unique in a run.
    pub id: PacketId,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// The user equipment it goes to or comes from.
    pub ue: UeId,
    /// What it carries.
    pub content: Content,
}

impl Packet {
    /// Size on an IP link: payload and the headers charged.
    #[inline]
    pub fn size(&self) -> Bytes {
        let (payload, header) = match &self.content {
            Content::Segment(segment) => (segment.payload, segment.header),
            Content::Datagram(datagram) => (datagram.payload, datagram.header),
            Content::Foreign(foreign) => (foreign.size, 0),
        };
        Bytes(u64::from(payload) + u64::from(header))
    }

    /// A router marks it, if its sender allows (RFC 3168 §5); tells whether it is marked now.
    #[inline]
    pub fn mark(&mut self) -> bool {
        match &mut self.content {
            Content::Segment(segment) if segment.ecn != Ecn::NotCapable => {
                segment.ecn = Ecn::Experienced;
                true
            }
            _ => false,
        }
    }

    /// The way it goes.
    #[inline]
    pub fn direction(&self) -> Direction {
        match &self.content {
            Content::Segment(segment) => segment.direction,
            Content::Datagram(datagram) => datagram.direction,
            Content::Foreign(foreign) => foreign.direction,
        }
    }

    /// The part of the way that it takes.
    #[inline]
    pub fn leg(&self) -> ProxyLeg {
        match &self.content {
            Content::Segment(segment) => segment.leg,
            Content::Foreign(foreign) => foreign.leg,
            Content::Datagram(_) => ProxyLeg::Whole,
        }
    }

    /// Payload of the transport protocol, in bytes; all of a foreign packet.
    #[inline]
    pub fn payload(&self) -> u32 {
        match &self.content {
            Content::Segment(segment) => segment.payload,
            Content::Datagram(datagram) => datagram.payload,
            Content::Foreign(foreign) => foreign.size,
        }
    }

    /// Headers of transport protocol and IP, in bytes, as the model charges them.
    #[inline]
    pub fn header(&self) -> u16 {
        match &self.content {
            Content::Segment(segment) => segment.header,
            Content::Datagram(datagram) => datagram.header,
            Content::Foreign(_) => 0,
        }
    }

    /// The TCP segment, if that is what it carries.
    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Datagram(_) | Content::Foreign(_) => None,
        }
    }
}
