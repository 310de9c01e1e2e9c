//! Interfaces of a pcapng file, and their clocks.

use pcap_parser::InterfaceDescriptionBlock;
use umts_units::Time;

use crate::link::LinkType;

const NANOSECONDS: u128 = 1_000_000_000;
/// The finest units, as powers of 10 and of 2, for which 64 bits hold the units of a second.
/// Wireshark has the same limits.
const MOST_DECIMAL: u8 = 19;
const MOST_BINARY: u8 = 63;
/// The finest plausible units of a clock: picoseconds, and 2^-40 s.
const FINE_DECIMAL: u8 = 12;
const FINE_BINARY: u8 = 40;
/// The latest time of libpcap's nanoseconds, in the year 2262.
const LATEST: i128 = i64::MAX as i128;

/// An interface of the current section of a pcapng file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interface {
    pub link: LinkType,
    /// The unit is 10^-`power` s, or 2^-`power` s if `is_binary`.
    power: u8,
    is_binary: bool,
    offset_s: i64,
}

impl Interface {
    pub fn of(description: &InterfaceDescriptionBlock<'_>, is_big_endian: bool) -> Self {
        Interface {
            link: LinkType::from_number(description.linktype.0 as u32 & 0xffff),
            power: description.if_tsresol & 0x7f,
            is_binary: description.if_tsresol & 0x80 != 0,
            // pcap-parser 0.17 reads it as little-endian in either byte order.
            offset_s: if is_big_endian {
                description.if_tsoffset.swap_bytes()
            } else {
                description.if_tsoffset
            },
        }
    }

    /// Returns whether times can be computed: 64 bits hold the units of a second.
    pub fn has_clock(&self) -> bool {
        self.power <= if self.is_binary { MOST_BINARY } else { MOST_DECIMAL }
    }

    /// Returns whether times can be computed, but the unit is finer than any clock.
    pub fn is_too_fine(&self) -> bool {
        self.has_clock() && self.power > if self.is_binary { FINE_BINARY } else { FINE_DECIMAL }
    }

    /// Returns the unit, for messages.
    pub fn resolution(&self) -> String {
        format!("{}^-{} s", if self.is_binary { 2 } else { 10 }, self.power)
    }

    /// Returns the time at this number of units after the interface's origin. `None` before 1970
    /// and after 2262.
    pub fn time(&self, units: u64) -> Option<Time> {
        let base: u128 = if self.is_binary { 2 } else { 10 };
        let per_second = base.checked_pow(u32::from(self.power))?;
        let since_offset = i128::try_from(u128::from(units) * NANOSECONDS / per_second).ok()?;
        let ns = since_offset + i128::from(self.offset_s) * NANOSECONDS as i128;
        (0..=LATEST).contains(&ns).then(|| Time::from_nanos(ns as u64))
    }
}
