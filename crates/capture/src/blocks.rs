//! Packets out of the bytes of a capture file: pcap and pcapng, either byte order, any resolution of time, compressed or
//! not.

use std::collections::BTreeMap;
use std::io::{self, Read};

use pcap_parser::{Block, InterfaceDescriptionBlock, parse_block_be, parse_block_le};
use umts_units::Time;

use crate::compressed::{Fault, Packing, Source, Unpacked};
use crate::interface::Interface;
use crate::link::LinkType;
use crate::reader::Reason;

/// What is read at once.
const BUFFER: usize = 1 << 18;
/// No packet or block is larger (libpcap's limit is 256 KiB for packets), so a length beyond this is damage.
const LARGEST: usize = 16 << 20;
/// Octets of pcap's file header, of its packet headers, and of what Kuznetzov's "modified" format adds to these.
const PCAP_HEADER: usize = 24;
const FRAME_HEADER: usize = 16;
const MODIFIED: usize = 8;
/// Octets of the smallest block of pcapng, and of its header.
const SMALLEST_BLOCK: usize = 12;
const BLOCK_HEADER: usize = 8;
/// First octets of a pcapng file, in either byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The block that packets had before the Enhanced Packet Block, and the octets in it before those of the packet.
const PACKET_BLOCK: u32 = 2;
const PACKET_FIXED: usize = 20;
const NANOSECONDS: u64 = 1_000_000_000;
/// Interfaces whose wrong times are told apart in warnings.
const MOST_NAMED: usize = 16;

/// How a file came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    CutOff,
    Damaged,
    /// The compressed octets are wrong, or stand for too many.
    NotUnpacked(Fault),
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
pub(crate) struct Blocks {
    source: Input,
    buffer: Vec<u8>,
    /// What of the buffer is read and not used.
    begin: usize,
    end: usize,
    is_exhausted: bool,
    /// Where `begin` is in the unpacked file.
    offset: u64,
    format: Format,
    left_out: LeftOut,
}

enum Input {
    Plain(Source),
    Packed(Unpacked),
}

#[derive(Debug)]
enum Format {
    Pcap { is_big_endian: bool, link: LinkType, is_nanoseconds: bool, header: usize },
    PcapNg { is_big_endian: bool, interfaces: Vec<Interface> },
}

/// Packets that were left out, and times that cannot be right.
#[derive(Debug, Default)]
struct LeftOut {
    without_time: u64,
    without_interface: u64,
    /// By the number of the interface, with its resolution.
    impossible_times: BTreeMap<u32, (String, u64)>,
    large_fractions: u64,
    /// Interfaces with a clock finer than any, as a warning has them.
    fine_clocks: Vec<String>,
}

/// What one attempt to read a block gave.
enum Attempt {
    /// So many octets are used.
    Used(usize),
    /// More are needed.
    More,
    Damaged,
}

impl Blocks {
    /// Reads what decides the format.
    pub fn open(source: impl Read + Send + 'static) -> Result<Self, Reason> {
        let mut blocks = Blocks {
            source: Input::Plain(Box::new(source)),
            buffer: vec![0; BUFFER],
            begin: 0,
            end: 0,
            is_exhausted: false,
            offset: 0,
            format: Format::PcapNg { is_big_endian: false, interfaces: Vec::new() },
            left_out: LeftOut::default(),
        };
        while blocks.end < PCAP_HEADER && blocks.fill()? {}
        if let Some(packing) = Packing::of(&blocks.buffer[..blocks.end]) {
            blocks.unpack(packing)?;
        }
        let head = &blocks.buffer[..blocks.end];
        if head.is_empty() {
            return Err(Reason::Empty);
        }
        if head.starts_with(&SECTION) {
            return Ok(blocks);
        }
        blocks.format = Format::of_pcap(head).ok_or(Reason::NoCapture)?;
        blocks.use_up(PCAP_HEADER);
        Ok(blocks)
    }

    /// Reads the file's content instead of the file itself.
    fn unpack(&mut self, packing: Packing) -> Result<(), Reason> {
        let source = std::mem::replace(&mut self.source, Input::Plain(Box::new(io::empty())));
        let Input::Plain(source) = source else { return Err(Reason::Compressed) };
        let head = &self.buffer[..self.end];
        let unpacked = Unpacked::open(packing, head, source)?.ok_or(Reason::Compressed)?;
        (self.source, self.end, self.is_exhausted) = (Input::Packed(unpacked), 0, false);
        while self.end < PCAP_HEADER && self.fill()? {}
        match self.fault() {
            // As much as a capture's header has to be there.
            Some(_) if self.end < PCAP_HEADER => Err(Reason::NotUnpacked),
            _ if Packing::of(&self.buffer[..self.end]).is_some() => Err(Reason::Compressed),
            _ => Ok(()),
        }
    }

    /// Octets used so far, of the unpacked file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Octets of the file itself that were read so far: less than `offset` if it is compressed.
    pub fn position(&self) -> u64 {
        match &self.source {
            Input::Plain(_) => self.offset,
            Input::Packed(unpacked) => unpacked.position(),
        }
    }

    fn fault(&self) -> Option<Fault> {
        match &self.source {
            Input::Plain(_) => None,
            Input::Packed(unpacked) => unpacked.fault,
        }
    }

    /// Reads the next block, and gives `take` the packet in it if there is one. Returns how the file ended, at its end.
    ///
    /// # Errors
    /// If the system refuses to read, or an interface has no usable clock.
    pub fn next(&mut self, mut take: impl FnMut(Captured<'_>)) -> Result<Option<Ending>, Reason> {
        loop {
            match self.attempt(&mut take)? {
                Attempt::Used(octets) => {
                    self.use_up(octets);
                    return Ok(None);
                }
                Attempt::Damaged => return Ok(Some(Ending::Damaged)),
                Attempt::More if self.end - self.begin > LARGEST => return Ok(Some(Ending::Damaged)),
                Attempt::More => {
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

    /// What to look at before the numbers are trusted.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let LeftOut { without_time, without_interface, large_fractions, .. } = self.left_out;
        let counted = [
            (without_time, "packets have no time (Simple Packet Blocks), and were left out"),
            (
                without_interface,
                "packets are of interfaces that the file does not describe, and were left out",
            ),
            (
                large_fractions,
                "packets have a fraction of a second that is one second or more: the file may count nanoseconds \
                 where its header says microseconds",
            ),
        ];
        let counted = counted.into_iter().filter(|(number, _)| *number > 0);
        let impossible = self.left_out.impossible_times.iter().map(|(interface, (resolution, number))| {
            format!(
                "{number} packets of interface {interface}, which counts units of {resolution}, have times before \
                 1970 or after 2262, and were left out"
            )
        });
        let fine = self.left_out.fine_clocks.iter().cloned();
        counted.map(|(number, what)| format!("{number} {what}")).chain(impossible).chain(fine)
    }

    fn use_up(&mut self, octets: usize) {
        self.begin += octets;
        self.offset += octets as u64;
    }

    /// Reads more. Returns whether there was more.
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
            Input::Packed(unpacked) => unpacked,
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

    fn attempt(&mut self, take: &mut impl FnMut(Captured<'_>)) -> Result<Attempt, Reason> {
        let bytes = &self.buffer[self.begin..self.end];
        match &mut self.format {
            &mut Format::Pcap { is_big_endian, link, is_nanoseconds, header } => {
                let Some(fields) = bytes.get(..header) else { return Ok(Attempt::More) };
                let [seconds, fraction, captured, length] =
                    [0, 4, 8, 12].map(|at| word(fields, at, is_big_endian));
                if captured as usize > LARGEST {
                    return Ok(Attempt::Damaged);
                }
                let end = header + captured as usize;
                let Some(bytes) = bytes.get(header..end) else { return Ok(Attempt::More) };
                let fraction = u64::from(fraction) * if is_nanoseconds { 1 } else { 1_000 };
                self.left_out.large_fractions += u64::from(fraction >= NANOSECONDS);
                let time = Time::from_nanos(u64::from(seconds) * NANOSECONDS + fraction);
                take(Captured { time, link, bytes, length });
                Ok(Attempt::Used(end))
            }
            Format::PcapNg { is_big_endian, interfaces } => {
                let Some(header) = bytes.get(..SMALLEST_BLOCK) else { return Ok(Attempt::More) };
                // A section may have another byte order than the one before.
                if header.starts_with(&SECTION) {
                    *is_big_endian = header[8..12] == [0x1a, 0x2b, 0x3c, 0x4d];
                }
                let length = word(header, 4, *is_big_endian) as usize;
                if !(SMALLEST_BLOCK..=LARGEST).contains(&length) {
                    return Ok(Attempt::Damaged);
                }
                let Some(block) = bytes.get(..length) else { return Ok(Attempt::More) };
                let mut section = Section { is_big_endian: *is_big_endian, interfaces };
                Ok(if section.read(block, &mut self.left_out, take)? {
                    Attempt::Used(length)
                } else {
                    Attempt::Damaged
                })
            }
        }
    }
}

impl Format {
    /// The format of a pcap file that begins with `head`; none if it does not.
    fn of_pcap(head: &[u8]) -> Option<Self> {
        let head: &[u8; PCAP_HEADER] = head.first_chunk()?;
        let of_order = |is_big_endian| {
            let (is_nanoseconds, header) = match word(head, 0, is_big_endian) {
                0xa1b2_c3d4 => (false, FRAME_HEADER),
                0xa1b2_3c4d => (true, FRAME_HEADER),
                0xa1b2_cd34 => (false, FRAME_HEADER + MODIFIED),
                _ => return None,
            };
            // The upper half may tell of frame check sequences.
            let link = LinkType::from_number(word(head, 20, is_big_endian) & 0xffff);
            Some(Format::Pcap { is_big_endian, link, is_nanoseconds, header })
        };
        of_order(false).or_else(|| of_order(true))
    }
}

/// A section of a pcapng file.
struct Section<'a> {
    is_big_endian: bool,
    interfaces: &'a mut Vec<Interface>,
}

/// A packet with the interface and the time that its block names.
struct Stamped<'a> {
    interface: u32,
    units: u64,
    bytes: &'a [u8],
    length: u32,
}

impl Section<'_> {
    /// Reads one block. Returns false if it is damaged.
    fn read(
        &mut self,
        block: &[u8],
        left_out: &mut LeftOut,
        take: &mut impl FnMut(Captured<'_>),
    ) -> Result<bool, Reason> {
        if word(block, 0, self.is_big_endian) == PACKET_BLOCK {
            let Some(packet) = self.packet_block(block) else { return Ok(false) };
            return self.take(packet, left_out, take).map(|()| true);
        }
        let parse = if self.is_big_endian { parse_block_be } else { parse_block_le };
        let Ok((_, block)) = parse(block) else { return Ok(false) };
        match block {
            Block::SectionHeader(_) => self.interfaces.clear(),
            Block::InterfaceDescription(description) => self.describe(&description, left_out),
            Block::EnhancedPacket(packet) => {
                let bytes = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let packet = Stamped { interface: packet.if_id, units, bytes, length: packet.origlen };
                self.take(packet, left_out, take)?;
            }
            Block::SimplePacket(_) => left_out.without_time += 1,
            _ => {}
        }
        Ok(true)
    }

    /// The obsolete Packet Block (draft-ietf-opsawg-pcapng, appendix A); none if it is damaged.
    fn packet_block<'b>(&self, block: &'b [u8]) -> Option<Stamped<'b>> {
        let body = block.get(BLOCK_HEADER..block.len() - (SMALLEST_BLOCK - BLOCK_HEADER))?;
        let (fixed, data) = body.split_first_chunk::<PACKET_FIXED>()?;
        let half = [fixed[0], fixed[1]];
        let interface = if self.is_big_endian { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) };
        // After it comes a number of lost packets.
        let [high, low, captured, length] = [4, 8, 12, 16].map(|at| word(fixed, at, self.is_big_endian));
        let bytes = data.get(..captured as usize).unwrap_or(data);
        let units = u64::from(high) << 32 | u64::from(low);
        Some(Stamped { interface: u32::from(interface), units, bytes, length })
    }

    fn describe(&mut self, description: &InterfaceDescriptionBlock<'_>, left_out: &mut LeftOut) {
        let interface = Interface::of(description, self.is_big_endian);
        if interface.is_too_fine() && left_out.fine_clocks.len() < MOST_NAMED {
            left_out.fine_clocks.push(format!(
                "interface {} counts time in units of {}, finer than any clock: its times may be wrong",
                self.interfaces.len(),
                interface.resolution()
            ));
        }
        self.interfaces.push(interface);
    }

    fn take(
        &self,
        packet: Stamped<'_>,
        left_out: &mut LeftOut,
        take: &mut impl FnMut(Captured<'_>),
    ) -> Result<(), Reason> {
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            left_out.without_interface += 1;
            return Ok(());
        };
        if !interface.has_clock() {
            return Err(Reason::Clock { interface: packet.interface, resolution: interface.resolution() });
        }
        match interface.time(packet.units) {
            Some(time) => {
                let Stamped { bytes, length, .. } = packet;
                take(Captured { time, link: interface.link, bytes, length });
            }
            None => {
                let named = &mut left_out.impossible_times;
                if named.len() < MOST_NAMED || named.contains_key(&packet.interface) {
                    let begun = || (interface.resolution(), 0);
                    named.entry(packet.interface).or_insert_with(begun).1 += 1;
                }
            }
        }
        Ok(())
    }
}

/// The word at this place, which is there.
fn word(bytes: &[u8], at: usize, is_big_endian: bool) -> u32 {
    let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if is_big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}
