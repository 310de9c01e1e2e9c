//! What travels: an IP packet with a TCP segment or a UDP datagram in it. Payload is described, not copied.

use umts_units::{Bytes, Time};

use crate::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};

/// TCP's control bits (RFC 9293 §3.1) as far as the model uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
}

/// Selective acknowledgments (RFC 2018): at most [`SackBlocks::MAX`] ranges of sequence numbers above the cumulative
/// acknowledgment, in the order in which they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks([(u32, u32); SackBlocks::MAX]);

impl SackBlocks {
    /// As many as fit into TCP's options (RFC 2018 §3).
    pub const MAX: usize = 4;

    /// No block.
    pub const NONE: SackBlocks = SackBlocks([(0, 0); SackBlocks::MAX]);

    /// The first `MAX` of some ranges `start..end` that lie above `ack`, less than 4 GiB from it.
    pub fn new(ack: u64, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut blocks = SackBlocks::NONE;
        for (block, (start, end)) in blocks.0.iter_mut().zip(ranges) {
            debug_assert!(ack < start && start < end, "{start}..{end} above {ack}");
            *block = ((start - ack) as u32, (end - ack) as u32);
        }
        blocks
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|(_, end)| *end > 0).count()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0].1 == 0
    }

    /// The ranges `start..end` of a segment that acknowledges `ack`.
    #[inline]
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        let reported = self.0.into_iter().take_while(|(_, end)| *end > 0);
        reported.map(move |(start, end)| (ack + u64::from(start), ack + u64::from(end)))
    }
}

/// A TCP segment. Sequence numbers are 64-bit offsets from the initial sequence number (the SYN is number 0, the
/// first payload byte number 1), so the model never wraps; a capture adds the initial number modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The connection.
    pub connection: ConnectionId,
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
    /// When it left.
    pub timestamp: Time,
    /// The timestamp of the segment that it answers.
    pub echo: Time,
    /// Ground truth, unknown to the other end: how often these bytes were sent before.
    pub transmission: u16,
}

impl Segment {
    /// Sequence numbers that it takes: payload, and one each for SYN and FIN.
    #[inline]
    pub fn sequence_length(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// First sequence number after it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.seq + self.sequence_length()
    }
}

/// A UDP datagram (RFC 768).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// What an IP packet carries. Whoever only moves packets asks [`Packet`] for size and direction and never looks inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A segment of a TCP connection.
    Segment(Segment),
    /// A datagram of the packet's flow.
    Datagram(Datagram),
}

/// An IP packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        Bytes(u64::from(self.payload()) + u64::from(self.header()))
    }

    /// The way it goes.
    #[inline]
    pub fn direction(&self) -> Direction {
        match &self.content {
            Content::Segment(segment) => segment.direction,
            Content::Datagram(datagram) => datagram.direction,
        }
    }

    /// Payload of the transport protocol, in bytes.
    #[inline]
    pub fn payload(&self) -> u32 {
        match &self.content {
            Content::Segment(segment) => segment.payload,
            Content::Datagram(datagram) => datagram.payload,
        }
    }

    /// Headers of transport protocol and IP, in bytes, as the model charges them.
    #[inline]
    pub fn header(&self) -> u16 {
        match &self.content {
            Content::Segment(segment) => segment.header,
            Content::Datagram(datagram) => datagram.header,
        }
    }

    /// The TCP segment, if that is what it carries.
    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.content {
            Content::Segment(segment) => Some(segment),
            Content::Datagram(_) => None,
        }
    }
}
