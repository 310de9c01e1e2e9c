//! What travels: a TCP segment in an IP packet. Payload is described, not copied.

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
    pub segment: Segment,
}

impl Packet {
    /// Size on an IP link: payload and the headers charged.
    #[inline]
    pub fn size(&self) -> Bytes {
        Bytes(u64::from(self.segment.payload) + u64::from(self.segment.header))
    }

    /// The way it goes.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.segment.direction
    }
}
