//! Packets out of the bytes of a capture file: pcap and pcapng, either byte order, any resolution of time.

use std::io::{self, Read};

use pcap_parser::nom;
use pcap_parser::{
    Block, InterfaceDescriptionBlock, LegacyPcapBlock, PcapError, parse_block_be, parse_block_le,
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use umts_units::Time;

use crate::link::LinkType;
use crate::reader::Reason;

/// What is read at once.
const BUFFER: usize = 1 << 18;
/// No packet or block is larger (libpcap's limit is 256 KiB for packets), so a length beyond this is damage.
const LARGEST: usize = 16 << 20;
/// Octets of pcap's file header, and of the smallest block of pcapng.
const PCAP_HEADER: usize = 24;
const SMALLEST_BLOCK: usize = 12;
/// First octets of a pcapng file, in either byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The block that packets had before the enhanced packet block; nobody has written it since 2005.
const OBSOLETE_PACKET: u32 = 2;
const NANOSECONDS: u64 = 1_000_000_000;

/// How a file came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    CutOff,
    Damaged,
}

/// A packet as the file has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Captured<'a> {
    pub time: Time,
    pub link: LinkType,
    pub bytes: &'a [u8],
    /// Octets on the link.
    pub length: u32,
}

/// Reads a capture from the front.
#[derive(Debug)]
pub(crate) struct Blocks<R> {
    source: R,
    buffer: Vec<u8>,
    /// What of the buffer is read and not used.
    begin: usize,
    end: usize,
    is_exhausted: bool,
    /// Where `begin` is in the file.
    offset: u64,
    format: Format,
    without_time: u64,
    without_interface: u64,
}

#[derive(Debug)]
enum Format {
    Pcap { frame: FrameParser, is_big_endian: bool, link: LinkType, is_nanoseconds: bool },
    PcapNg { is_big_endian: bool, interfaces: Vec<Interface> },
}

type FrameParser = for<'a> fn(&'a [u8]) -> nom::IResult<&'a [u8], LegacyPcapBlock<'a>, PcapError<&'a [u8]>>;

/// An interface of the present section of a pcapng file.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: LinkType,
    /// Units per second.
    resolution: u128,
    offset_s: i64,
}

/// What one attempt to read a block gave.
enum Attempt {
    /// So many octets are used.
    Used(usize),
    /// More are needed.
    More,
    Damaged,
}

impl<R: Read> Blocks<R> {
    /// Reads what decides the format.
    pub fn open(source: R) -> Result<Self, Reason> {
        let format = Format::PcapNg { is_big_endian: false, interfaces: Vec::new() };
        let mut blocks = Blocks {
            source,
            buffer: vec![0; BUFFER],
            begin: 0,
            end: 0,
            is_exhausted: false,
            offset: 0,
            format,
            without_time: 0,
            without_interface: 0,
        };
        while blocks.end < PCAP_HEADER && blocks.fill()? {}
        let head = &blocks.buffer[..blocks.end];
        match head {
            [] => return Err(Reason::Empty),
            [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [0xfd, b'7', b'z', ..]
            | [b'B', b'Z', b'h', ..] => {
                return Err(Reason::Compressed);
            }
            _ if head.starts_with(&SECTION) => return Ok(blocks),
            _ => {}
        }
        let (_, header) = parse_pcap_header(head).map_err(|_| Reason::NoCapture)?;
        blocks.format = Format::Pcap {
            frame: match (header.is_modified_format(), header.is_bigendian()) {
                (true, _) => |bytes| parse_pcap_frame_modified(bytes),
                (false, true) => |bytes| parse_pcap_frame_be(bytes),
                (false, false) => |bytes| parse_pcap_frame(bytes),
            },
            is_big_endian: header.is_bigendian(),
            // The upper half may tell of frame check sequences.
            link: LinkType::from_number(header.network.0 as u32 & 0xffff),
            is_nanoseconds: header.is_nanosecond_precision(),
        };
        blocks.use_up(PCAP_HEADER);
        Ok(blocks)
    }

    /// Octets used so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the next block, and gives `take` the packet in it if there is one. At the end, tells how that came.
    ///
    /// # Errors
    /// What the system says of reading.
    pub fn next(&mut self, mut take: impl FnMut(Captured<'_>)) -> io::Result<Option<Ending>> {
        loop {
            match self.attempt(&mut take) {
                Attempt::Used(octets) => {
                    self.use_up(octets);
                    return Ok(None);
                }
                Attempt::Damaged => return Ok(Some(Ending::Damaged)),
                Attempt::More if self.end - self.begin > LARGEST => return Ok(Some(Ending::Damaged)),
                Attempt::More => {
                    if !self.fill()? {
                        let is_complete = self.begin == self.end;
                        return Ok(Some(if is_complete { Ending::Complete } else { Ending::CutOff }));
                    }
                }
            }
        }
    }

    /// What to look at before the numbers are trusted.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        [
            (self.without_time, "packets have no time (simple or obsolete packet blocks), and were left out"),
            (
                self.without_interface,
                "packets are of interfaces that the file does not describe, and were left out",
            ),
        ]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
    }

    fn use_up(&mut self, octets: usize) {
        self.begin += octets;
        self.offset += octets as u64;
    }

    /// Reads more; tells whether there was more.
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
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
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

    fn attempt(&mut self, take: &mut impl FnMut(Captured<'_>)) -> Attempt {
        let bytes = &self.buffer[self.begin..self.end];
        match &mut self.format {
            Format::Pcap { frame, is_big_endian, link, is_nanoseconds } => {
                let (rest, packet) = match frame(bytes) {
                    Ok(parsed) => parsed,
                    Err(nom::Err::Incomplete(_)) if is_too_long(bytes, *is_big_endian) => {
                        return Attempt::Damaged;
                    }
                    Err(nom::Err::Incomplete(_)) => return Attempt::More,
                    Err(_) => return Attempt::Damaged,
                };
                let fraction = u64::from(packet.ts_usec) * if *is_nanoseconds { 1 } else { 1_000 };
                let time = Time::from_nanos(u64::from(packet.ts_sec) * NANOSECONDS + fraction);
                take(Captured { time, link: *link, bytes: packet.data, length: packet.origlen });
                Attempt::Used(bytes.len() - rest.len())
            }
            Format::PcapNg { is_big_endian, interfaces } => {
                let Some(header) = bytes.get(..SMALLEST_BLOCK) else { return Attempt::More };
                // A section may have another byte order than the one before.
                if header.starts_with(&SECTION) {
                    *is_big_endian = header[8..12] == [0x1a, 0x2b, 0x3c, 0x4d];
                }
                let length = [header[4], header[5], header[6], header[7]];
                let length =
                    if *is_big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
                if (length as usize) < SMALLEST_BLOCK || length as usize > LARGEST {
                    return Attempt::Damaged;
                }
                let Some(block) = bytes.get(..length as usize) else { return Attempt::More };
                let parse = if *is_big_endian { parse_block_be } else { parse_block_le };
                let Ok((_, block)) = parse(block) else { return Attempt::Damaged };
                match block {
                    Block::SectionHeader(_) => interfaces.clear(),
                    Block::InterfaceDescription(description) => {
                        interfaces.push(Interface::of(&description, *is_big_endian))
                    }
                    Block::EnhancedPacket(packet) => match interfaces.get(packet.if_id as usize) {
                        Some(interface) => {
                            let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                            let bytes = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                            let time = interface.time(units);
                            take(Captured { time, link: interface.link, bytes, length: packet.origlen });
                        }
                        None => self.without_interface += 1,
                    },
                    Block::SimplePacket(_) => self.without_time += 1,
                    Block::Unknown(unknown) => {
                        self.without_time += u64::from(unknown.block_type == OBSOLETE_PACKET);
                    }
                    _ => {}
                }
                Attempt::Used(length as usize)
            }
        }
    }
}

/// Whether the packet that begins here says that it is longer than any.
fn is_too_long(bytes: &[u8], is_big_endian: bool) -> bool {
    let Some(&[a, b, c, d]) = bytes.get(8..12) else { return false };
    let length = [a, b, c, d];
    let length = if is_big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
    length as usize > LARGEST
}

impl Interface {
    fn of(description: &InterfaceDescriptionBlock<'_>, is_big_endian: bool) -> Self {
        let power = u32::from(description.if_tsresol & 0x7f);
        let base: u128 = if description.if_tsresol & 0x80 == 0 { 10 } else { 2 };
        Interface {
            link: LinkType::from_number(description.linktype.0 as u32 & 0xffff),
            // A resolution that no number can hold has no units in it: all packets are of one time.
            resolution: base.checked_pow(power).unwrap_or(u128::MAX),
            // pcap-parser 0.17 reads it as little-endian in either byte order.
            offset_s: if is_big_endian {
                description.if_tsoffset.swap_bytes()
            } else {
                description.if_tsoffset
            },
        }
    }

    fn time(&self, units: u64) -> Time {
        let since_offset = u128::from(units) * u128::from(NANOSECONDS) / self.resolution;
        let offset = i128::from(self.offset_s) * i128::from(NANOSECONDS);
        let ns = i128::try_from(since_offset).unwrap_or(i128::MAX).saturating_add(offset);
        Time::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }
}
