//! Sections of a pcapng file: descriptions of interfaces, and packets with an interface and a time.

use std::collections::BTreeMap;

use crate::blocks::{Captured, MIN_BLOCK, word};
use crate::interface::Interface;
use crate::reader::Reason;

/// Octets of a block's header.
const BLOCK_HEADER: usize = 8;
/// Types of blocks. The Packet Block preceded the Enhanced Packet Block.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// First word of a Section Header Block's body, in the byte order of the section.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Octets of a Section Header Block's body without options.
const SECTION_FIXED: usize = 16;
/// Octets of a packet's block between its header and the packet.
const PACKET_FIXED: usize = 20;
/// Maximum number of interfaces of a section, which bounds memory: a Packet Block cannot refer to
/// more.
const MAX_INTERFACES: usize = 1 << 16;
/// Maximum number of interfaces that are listed in warnings.
const MAX_NAMED: usize = 16;

/// Packets that were left out, and packets with implausible times.
#[derive(Debug, Default)]
pub(super) struct IgnoredPackets {
    without_time: u64,
    without_interface: u64,
    /// Resolution and number of packets, by the number of the interface.
    impossible_times: BTreeMap<u32, (String, u64)>,
    /// Number of packets of further interfaces.
    other_impossible_times: u64,
    pub large_fractions: u64,
    /// Warnings about interfaces with units finer than any clock.
    fine_clocks: Vec<String>,
}

impl IgnoredPackets {
    fn impossible_time(&mut self, number: u32, interface: &Interface) {
        let is_named = self.impossible_times.contains_key(&number);
        if is_named || self.impossible_times.len() < MAX_NAMED {
            let new_entry = || (interface.resolution(), 0);
            let (_, packets) = self.impossible_times.entry(number).or_insert_with(new_entry);
            *packets += 1;
        } else {
            self.other_impossible_times += 1;
        }
    }

    /// Returns warnings about packets that were left out and about times.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let counted = [
            (self.without_time, "packets have no time (Simple Packet Blocks) and were ignored"),
            (
                self.without_interface,
                "packets belong to interfaces that the file does not describe and were ignored",
            ),
            (
                self.large_fractions,
                "packets have a fraction of a second that is one second or more: the file may count nanoseconds \
                 where its header says microseconds",
            ),
            (
                self.other_impossible_times,
                "packets of other interfaces have times before 1970 or after 2262 and were ignored",
            ),
        ];
        let counted = counted.into_iter().filter(|(number, _)| *number > 0);
        let impossible = self.impossible_times.iter().map(|(interface, (resolution, number))| {
            format!(
                "{number} packets of interface {interface}, which counts units of {resolution}, have times before \
                 1970 or after 2262, and were left out"
            )
        });
        let fine = self.fine_clocks.iter().cloned();
        counted.map(|(number, text)| format!("{number} {text}")).chain(impossible).chain(fine)
    }
}

/// A section of a pcapng file.
pub(super) struct Section<'a> {
    pub is_big_endian: bool,
    pub interfaces: &'a mut Vec<Interface>,
}

/// A packet with the interface and the time in its block.
struct PacketBlock<'a> {
    interface: u32,
    units: u64,
    bytes: &'a [u8],
    length: u32,
}

impl Section<'_> {
    /// Reads one block. Returns false if it is damaged.
    pub fn read(
        &mut self,
        block: &[u8],
        ignored: &mut IgnoredPackets,
        on_packet: &mut impl FnMut(Captured<'_>),
    ) -> Result<bool, Reason> {
        let (body, trailer) = block[BLOCK_HEADER..].split_at(block.len() - MIN_BLOCK);
        let kind = word(block, 0, self.is_big_endian);
        let is_closed = word(trailer, 0, self.is_big_endian) as usize == block.len();
        match kind {
            SECTION_HEADER => {
                self.interfaces.clear();
                return Ok(body.len() >= SECTION_FIXED && word(body, 0, self.is_big_endian) == BYTE_ORDER);
            }
            _ if !is_closed => return Ok(false),
            INTERFACE_DESCRIPTION => return Ok(self.describe(body, ignored)),
            PACKET | ENHANCED_PACKET => {
                let Some(packet) = self.packet(body, kind == PACKET) else { return Ok(false) };
                self.pass_on(packet, ignored, on_packet)?;
            }
            SIMPLE_PACKET => ignored.without_time += 1,
            _ => {}
        }
        Ok(true)
    }

    /// Reads the body of an Enhanced Packet Block, or of the obsolete Packet Block
    /// (draft-ietf-opsawg-pcapng, appendix A). Returns `None` if it is damaged.
    fn packet<'b>(&self, body: &'b [u8], is_obsolete: bool) -> Option<PacketBlock<'b>> {
        let (fixed, data) = body.split_first_chunk::<PACKET_FIXED>()?;
        let [interface, high, low, captured, length] =
            [0, 4, 8, 12, 16].map(|at| word(fixed, at, self.is_big_endian));
        // The obsolete block has the interface and a count of lost packets in one word.
        let interface = match (is_obsolete, self.is_big_endian) {
            (false, _) => interface,
            (true, true) => interface >> 16,
            (true, false) => interface & 0xffff,
        };
        let units = u64::from(high) << 32 | u64::from(low);
        let bytes = match data.get(..captured as usize) {
            None if is_obsolete => data,
            bytes => bytes?,
        };
        Some(PacketBlock { interface, units, bytes, length })
    }

    /// Adds an interface. Returns false if its description is damaged, or if there are too many.
    fn describe(&mut self, description: &[u8], ignored: &mut IgnoredPackets) -> bool {
        if self.interfaces.len() >= MAX_INTERFACES {
            return false;
        }
        let Some(interface) = Interface::of(description, self.is_big_endian) else { return false };
        if interface.is_too_fine() && ignored.fine_clocks.len() < MAX_NAMED {
            ignored.fine_clocks.push(format!(
                "interface {} counts time in units of {}, finer than any clock: its times may be wrong",
                self.interfaces.len(),
                interface.resolution()
            ));
        }
        self.interfaces.push(interface);
        true
    }

    /// Passes a packet to `on_packet`, with its time and link type. Counts it as ignored if its
    /// interface is not described or its time is impossible.
    fn pass_on(
        &self,
        packet: PacketBlock<'_>,
        ignored: &mut IgnoredPackets,
        on_packet: &mut impl FnMut(Captured<'_>),
    ) -> Result<(), Reason> {
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            ignored.without_interface += 1;
            return Ok(());
        };
        if !interface.has_clock() {
            return Err(Reason::Clock { interface: packet.interface, resolution: interface.resolution() });
        }
        match interface.time(packet.units) {
            Some(time) => {
                let PacketBlock { bytes, length, .. } = packet;
                on_packet(Captured { time, link: interface.link, bytes, length });
            }
            None => ignored.impossible_time(packet.interface, interface),
        }
        Ok(())
    }
}
