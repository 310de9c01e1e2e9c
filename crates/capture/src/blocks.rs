//! Reads packets from the bytes of a capture file: pcap and pcapng, in either byte order, with any
//! time resolution, compressed or not.

mod section;

use std::io::{self, Read};

use umts_units::Time;

use crate::blocks::section::{IgnoredPackets, Section};
use crate::compressed::{Compression, Decompressor, Fault, Source};
use crate::interface::Interface;
use crate::link::LinkType;
use crate::reader::Reason;

/// Initial size of the buffer, in octets. It grows for a larger block.
const INITIAL_BUFFER: usize = 1 << 18;
/// Maximum size of a packet or block, in octets (libpcap's limit for packets is 256 KiB). A larger
/// length is damage.
const MAX_BLOCK: usize = 16 << 20;
/// Octets of pcap's file header.
const PCAP_HEADER: usize = 24;
/// Octets of a packet header of pcap.
const FRAME_HEADER: usize = 16;
/// Octets that Kuznetzov's "modified" format adds to a packet header.
const MODIFIED_EXTRA: usize = 8;
/// Octets of the smallest block of pcapng.
const MIN_BLOCK: usize = 12;
/// First octets of a pcapng file, in either byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Magic number of a pcapng section in big-endian order.
const BIG_ENDIAN_SECTION: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
/// Magic numbers of pcap: with microseconds, with nanoseconds, and of the "modified" format.
const MICROSECONDS_MAGIC: u32 = 0xa1b2_c3d4;
const NANOSECONDS_MAGIC: u32 = 0xa1b2_3c4d;
const MODIFIED_MAGIC: u32 = 0xa1b2_cd34;
/// Nanoseconds in a second.
const NANOSECONDS: u64 = 1_000_000_000;

/// How a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    CutOff,
    Damaged,
    /// The compressed file is cut off or damaged, or its content is too large.
    NotUnpacked(Fault),
}

/// A packet of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Captured<'a> {
    pub time: Time,
    pub link: LinkType,
    pub bytes: &'a [u8],
    /// Octets on the link.
    pub length: u32,
}

/// Reads a capture sequentially.
pub(crate) struct Blocks {
    source: Input,
    buffer: Vec<u8>,
    /// Range of the octets in the buffer that were read but not used yet.
    begin: usize,
    end: usize,
    is_exhausted: bool,
    /// Offset of `begin` in the decompressed file.
    offset: u64,
    format: Format,
    ignored: IgnoredPackets,
}

/// Where the octets of the capture come from.
enum Input {
    Plain(Source),
    Compressed(Decompressor),
}

/// The format of the file. `header` is the number of octets of a packet header.
#[derive(Debug)]
enum Format {
    Pcap { is_big_endian: bool, link: LinkType, is_nanoseconds: bool, header: usize },
    PcapNg { is_big_endian: bool, interfaces: Vec<Interface> },
}

/// Result of an attempt to read a block.
enum BlockResult {
    /// The block has this number of octets.
    Consumed(usize),
    /// The buffer ends before the block does.
    Incomplete,
    Damaged,
}

impl Blocks {
    /// Reads the beginning of the file, which determines its format.
    pub fn open(source: impl Read + Send + 'static) -> Result<Self, Reason> {
        let mut blocks = Blocks {
            source: Input::Plain(Box::new(source)),
            buffer: vec![0; INITIAL_BUFFER],
            begin: 0,
            end: 0,
            is_exhausted: false,
            offset: 0,
            format: Format::PcapNg { is_big_endian: false, interfaces: Vec::new() },
            ignored: IgnoredPackets::default(),
        };
        while blocks.end < PCAP_HEADER && blocks.fill()? {}
        if let Some(compression) = Compression::of(&blocks.buffer[..blocks.end]) {
            blocks.unpack(compression)?;
        }
        let head = &blocks.buffer[..blocks.end];
        if head.is_empty() {
            return Err(Reason::Empty);
        }
        if head.starts_with(&SECTION) {
            return Ok(blocks);
        }
        blocks.format = Format::of_pcap(head).ok_or(Reason::NoCapture)?;
        blocks.consume(PCAP_HEADER);
        Ok(blocks)
    }

    /// Continues with the decompressed content of the file.
    fn unpack(&mut self, compression: Compression) -> Result<(), Reason> {
        let source = std::mem::replace(&mut self.source, Input::Plain(Box::new(io::empty())));
        let Input::Plain(source) = source else { return Err(Reason::Compressed) };
        let head = &self.buffer[..self.end];
        let decompressor = Decompressor::open(compression, head, source)?.ok_or(Reason::Compressed)?;
        (self.source, self.end, self.is_exhausted) = (Input::Compressed(decompressor), 0, false);
        while self.end < PCAP_HEADER && self.fill()? {}
        match self.fault() {
            // The content must be long enough for the header of a capture.
            Some(_) if self.end < PCAP_HEADER => Err(Reason::NotUnpacked),
            _ if Compression::of(&self.buffer[..self.end]).is_some() => Err(Reason::Compressed),
            _ => Ok(()),
        }
    }

    /// Returns the offset of the next block in the decompressed file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of octets that were read from the file itself. If the file is compressed,
    /// this is fewer than `offset`.
    pub fn position(&self) -> u64 {
        match &self.source {
            Input::Plain(_) => self.offset,
            Input::Compressed(decompressor) => decompressor.position(),
        }
    }

    fn fault(&self) -> Option<Fault> {
        match &self.source {
            Input::Plain(_) => None,
            Input::Compressed(decompressor) => decompressor.fault,
        }
    }

    /// Reads the next block, and calls `on_packet` if the block has a packet. At the end, returns
    /// how the file ended.
    ///
    /// # Errors
    /// An error of the operating system, or a packet of an interface whose clock has an impossible
    /// unit.
    pub fn next(&mut self, mut on_packet: impl FnMut(Captured<'_>)) -> Result<Option<Ending>, Reason> {
        loop {
            match self.try_block(&mut on_packet)? {
                BlockResult::Consumed(octets) => {
                    self.consume(octets);
                    return Ok(None);
                }
                BlockResult::Damaged => return Ok(Some(Ending::Damaged)),
                BlockResult::Incomplete if self.end - self.begin > MAX_BLOCK => {
                    return Ok(Some(Ending::Damaged));
                }
                BlockResult::Incomplete => {
                    if !self.fill()? {
                        return Ok(Some(match self.fault() {
                            Some(fault) => Ending::NotUnpacked(fault),
                            None if self.begin == self.end => Ending::Complete,
                            None => Ending::CutOff,
                        }));
                    }
                }
            }
        }
    }

    /// Returns warnings about packets that were left out and about times.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.ignored.warnings()
    }

    /// Removes octets from the start of the buffer.
    fn consume(&mut self, octets: usize) {
        self.begin += octets;
        self.offset += octets as u64;
    }

    /// Reads more octets into the buffer. Returns whether there were any.
    fn fill(&mut self) -> io::Result<bool> {
        if self.is_exhausted {
            return Ok(false);
        }
        if self.begin > 0 {
            self.buffer.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let source: &mut dyn Read = match &mut self.source {
            Input::Plain(source) => source,
            Input::Compressed(decompressor) => decompressor,
        };
        loop {
            match source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(octets) => {
                    self.end += octets;
                    self.is_exhausted = octets == 0;
                    return Ok(octets > 0);
                }
            }
        }
    }

    /// Reads one block from the octets in the buffer, and calls `on_packet` if the block has a
    /// packet.
    fn try_block(&mut self, on_packet: &mut impl FnMut(Captured<'_>)) -> Result<BlockResult, Reason> {
        let bytes = &self.buffer[self.begin..self.end];
        match &mut self.format {
            &mut Format::Pcap { is_big_endian, link, is_nanoseconds, header } => {
                let Some(fields) = bytes.get(..header) else { return Ok(BlockResult::Incomplete) };
                let [seconds, fraction, captured, length] =
                    [0, 4, 8, 12].map(|at| word(fields, at, is_big_endian));
                if captured as usize > MAX_BLOCK {
                    return Ok(BlockResult::Damaged);
                }
                let end = header + captured as usize;
                let Some(bytes) = bytes.get(header..end) else { return Ok(BlockResult::Incomplete) };
                let fraction = u64::from(fraction) * if is_nanoseconds { 1 } else { 1_000 };
                self.ignored.large_fractions += u64::from(fraction >= NANOSECONDS);
                let time = Time::from_nanos(u64::from(seconds) * NANOSECONDS + fraction);
                on_packet(Captured { time, link, bytes, length });
                Ok(BlockResult::Consumed(end))
            }
            Format::PcapNg { is_big_endian, interfaces } => {
                let Some(header) = bytes.get(..MIN_BLOCK) else { return Ok(BlockResult::Incomplete) };
                // A section may have another byte order than the one before.
                if header.starts_with(&SECTION) {
                    *is_big_endian = header[8..12] == BIG_ENDIAN_SECTION;
                }
                let length = word(header, 4, *is_big_endian) as usize;
                if !(MIN_BLOCK..=MAX_BLOCK).contains(&length) {
                    return Ok(BlockResult::Damaged);
                }
                let Some(block) = bytes.get(..length) else { return Ok(BlockResult::Incomplete) };
                let mut section = Section { is_big_endian: *is_big_endian, interfaces };
                Ok(if section.read(block, &mut self.ignored, on_packet)? {
                    BlockResult::Consumed(length)
                } else {
                    BlockResult::Damaged
                })
            }
        }
    }
}

impl Format {
    /// Returns the format of a pcap file that begins with `head`. `None` if `head` is not the
    /// beginning of one.
    fn of_pcap(head: &[u8]) -> Option<Self> {
        let head: &[u8; PCAP_HEADER] = head.first_chunk()?;
        let in_byte_order = |is_big_endian| {
            let (is_nanoseconds, header) = match word(head, 0, is_big_endian) {
                MICROSECONDS_MAGIC => (false, FRAME_HEADER),
                NANOSECONDS_MAGIC => (true, FRAME_HEADER),
                MODIFIED_MAGIC => (false, FRAME_HEADER + MODIFIED_EXTRA),
                _ => return None,
            };
            // The upper half may describe frame check sequences.
            let link = LinkType::from_number(word(head, 20, is_big_endian) & 0xffff);
            Some(Format::Pcap { is_big_endian, link, is_nanoseconds, header })
        };
        [false, true].into_iter().find_map(in_byte_order)
    }
}

/// Returns the word at `at`, which must be within `bytes`.
fn word(bytes: &[u8], at: usize, is_big_endian: bool) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
