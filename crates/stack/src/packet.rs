//! IP packets with a TCP segment or a UDP datagram. The payload has a length but no content.

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
    /// Congestion was experienced (RFC 3168 §6.1). In a SYN: the sender supports ECN.
    pub ece: bool,
    /// The congestion window was reduced.
    pub cwr: bool,
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// 00: a router must drop the packet to signal congestion.
    #[default]
    NotCapable,
    /// 10, ECT(0): a router may mark the packet instead of dropping it.
    Capable,
    /// 11, CE: a router has marked the packet.
    Experienced,
}

/// TCP options other than the maximum segment size and SACK blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Options {
    /// The shift of all later windows of this end (RFC 7323 §2). Only on a SYN.
    pub window_scale: Option<u8>,
    /// This end accepts selective acknowledgments (RFC 2018 §2). Only on a SYN.
    pub sack_permitted: bool,
    /// `timestamp` and `echo` of the segment are sent (RFC 7323 §3).
    pub timestamps: bool,
}

/// Selective acknowledgments (RFC 2018): at most [`SackBlocks::MAX`] ranges of sequence numbers, in
/// the order in which they are reported. All lie above the cumulative acknowledgment, except that
/// the first one may report a duplicate (RFC 2883). Stored as distances from the acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SackBlocks([(u32, u32); SackBlocks::MAX]);

impl SackBlocks {
    /// The largest number that fits into TCP's options (RFC 2018 §3).
    pub const MAX: usize = 4;

    pub const NONE: SackBlocks = SackBlocks([(0, 0); SackBlocks::MAX]);

    /// Takes the first `MAX` of the ranges `start..end`. No range may be empty or 2 GiB or more
    /// from `ack`.
    pub fn new(ack: u64, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut blocks = SackBlocks::NONE;
        for (block, (start, end)) in blocks.0.iter_mut().zip(ranges) {
            debug_assert!(start < end, "{start}..{end}");
            *block = (start.wrapping_sub(ack) as u32, end.wrapping_sub(ack) as u32);
        }
        blocks
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|(start, end)| start != end).count()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] == (0, 0)
    }

    /// The ranges `start..end`. `ack` is the cumulative acknowledgment of the segment.
    #[inline]
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        let reported = self.0.into_iter().take_while(|(start, end)| start != end);
        let at = move |distance: u32| ack.wrapping_add_signed(i64::from(distance as i32));
        reported.map(move |(start, end)| (at(start), at(end)))
    }

    /// The first range if it reports a duplicate: it lies below the acknowledgment or inside the
    /// second range (RFC 2883 §4).
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let mut ranges = self.ranges(ack);
        let (first_start, first_end) = ranges.next()?;
        let contains_first = |(start, end): (u64, u64)| start <= first_start && first_end <= end;
        let is_duplicate = first_end <= ack || ranges.next().is_some_and(contains_first);
        is_duplicate.then_some((first_start, first_end))
    }
}

/// A TCP segment. Sequence numbers are 64-bit offsets from the initial sequence number, so they
/// never wrap: the SYN is number 0 and the first payload byte number 1. A capture adds the initial
/// sequence number modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    pub connection: ConnectionId,
    pub leg: ProxyLeg,
    pub direction: Direction,
    pub flags: Flags,
    /// Number of the first payload byte, or of the SYN or FIN.
    pub seq: u64,
    /// Next byte expected from the other end. Valid if `flags.ack`.
    pub ack: u64,
    /// Payload, in bytes.
    pub payload: u32,
    /// Advertised window, in bytes.
    pub window: u32,
    /// TCP and IP headers that the model charges, in bytes.
    pub header: u16,
    /// Maximum segment size option, in bytes. 0: absent.
    pub mss: u16,
    pub sack: SackBlocks,
    pub options: Options,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Time of transmission. With the timestamps option it is in whole ticks of the sender's clock.
    /// Without the option it is exact, and only ns-2's one-way connections use it at the other end.
    pub timestamp: Time,
    /// The timestamp that this segment echoes.
    pub echo: Time,
    /// Number of earlier transmissions of these bytes. Only for observers: the other end does not
    /// use it.
    pub transmission: u16,
}

impl Segment {
    /// An empty segment with a header of 40 octets.
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

    /// Number of sequence numbers that the segment occupies: its payload, and one each for SYN and
    /// FIN.
    #[inline]
    pub fn sequence_length(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// The segment with only its first `payload` bytes and without FIN.
    pub fn cut(&self, payload: u32) -> Segment {
        Segment { payload, flags: Flags { fin: false, ..self.flags }, ..*self }
    }

    /// First sequence number after the segment.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + self.sequence_length()
    }
}

/// A UDP datagram (RFC 768).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Datagram {
    pub direction: Direction,
    /// Number among the datagrams of the same flow and direction, from 0.
    pub number: u64,
    /// Payload, in bytes.
    pub payload: u32,
    /// UDP and IP headers that the model charges, in bytes.
    pub header: u16,
    /// Time of transmission.
    pub timestamp: Time,
}

/// A packet of a real program. The component that sent it into the network keeps its octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Foreign {
    pub direction: Direction,
    pub leg: ProxyLeg,
    /// Size including the IP header, in bytes.
    pub size: u32,
}

/// Content of an IP packet. Components that only forward packets use [`Packet`]'s size and
/// direction instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Content {
    Segment(Segment),
    Datagram(Datagram),
    /// The IP packet of a real program.
    Foreign(Foreign),
}

/// Assigns packet identities. Each packet that a host sends gets a new one.
#[derive(Debug, Default)]
pub struct Packets(u64);

impl Packets {
    /// Makes the next packet of `flow`, to or from `ue`.
    #[inline]
    pub fn number(&mut self, flow: FlowId, ue: UeId, content: Content) -> Packet {
        let id = PacketId(self.0);
        self.0 += 1;
        Packet { id, flow, ue, content }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Unique in a run.
    pub id: PacketId,
    pub flow: FlowId,
    /// The UE that sends or receives the packet.
    pub ue: UeId,
    pub content: Content,
}

impl Packet {
    /// Size on an IP link: payload and charged headers.
    #[inline]
    pub fn size(&self) -> Bytes {
        let (payload, header) = match &self.content {
            Content::Segment(segment) => (segment.payload, segment.header),
            Content::Datagram(datagram) => (datagram.payload, datagram.header),
            Content::Foreign(foreign) => (foreign.size, 0),
        };
        Bytes(u64::from(payload) + u64::from(header))
    }

    /// Marks the packet if the sender supports ECN (RFC 3168 §5). Returns whether the packet is
    /// marked.
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

    #[inline]
    pub fn direction(&self) -> Direction {
        match &self.content {
            Content::Segment(segment) => segment.direction,
            Content::Datagram(datagram) => datagram.direction,
            Content::Foreign(foreign) => foreign.direction,
        }
    }

    /// The part of the path that the packet takes. Datagrams always take the whole path.
    #[inline]
    pub fn leg(&self) -> ProxyLeg {
        match &self.content {
            Content::Segment(segment) => segment.leg,
            Content::Foreign(foreign) => foreign.leg,
            Content::Datagram(_) => ProxyLeg::Whole,
        }
    }

    /// Payload of the transport protocol, in bytes. The full size of a foreign packet.
    #[inline]
    pub fn payload(&self) -> u32 {
        match &self.content {
            Content::Segment(segment) => segment.payload,
            Content::Datagram(datagram) => datagram.payload,
            Content::Foreign(foreign) => foreign.size,
        }
    }

    /// Transport and IP headers that the model charges, in bytes. 0 for a foreign packet.
    #[inline]
    pub fn header(&self) -> u16 {
        match &self.content {
            Content::Segment(segment) => segment.header,
            Content::Datagram(datagram) => datagram.header,
            Content::Foreign(_) => 0,
        }
    }

    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Datagram(_) | Content::Foreign(_) => None,
        }
    }
}
