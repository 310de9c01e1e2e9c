//! Interfaces of a pcapng file, and their clocks.

use umts_units::Time;

use crate::link::LinkType;

/// Octets of an Interface Description Block between its header and its options.
const DESCRIPTION_FIXED: usize = 8;
/// Octets of an option's code and length. Its value is padded to 32 bits.
const OPTION_HEADER: usize = 4;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
/// The resolution of an interface without the option if_tsresol, as a power of 10.
const MICROSECONDS: u8 = 6;
const NANOSECONDS: u128 = 1_000_000_000;
/// The finest units, as negative powers of 10 and of 2, for which the number of units in a second
/// fits into 64 bits. Wireshark has the same limits.
const MAX_DECIMAL: u8 = 19;
const MAX_BINARY: u8 = 63;
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
    /// Reads the body of an Interface Description Block. `None` if it is too short.
    pub fn of(body: &[u8], is_big_endian: bool) -> Option<Self> {
        let half = |at: [u8; 2]| if is_big_endian { u16::from_be_bytes(at) } else { u16::from_le_bytes(at) };
        // The link type is followed by reserved bits and by the maximum captured length.
        let (&[high, low, ..], mut options) = body.split_first_chunk::<DESCRIPTION_FIXED>()?;
        let (mut resolution, mut offset_s) = (MICROSECONDS, 0);
        while let Some((&[a, b, c, d], rest)) = options.split_first_chunk::<OPTION_HEADER>() {
            let Some((value, next)) = rest.split_at_checked(usize::from(half([c, d])).next_multiple_of(4))
            else {
                break;
            };
            match (half([a, b]), value) {
                (IF_TSRESOL, &[unit, ..]) => resolution = unit,
                (IF_TSOFFSET, value) => {
                    let read = if is_big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
                    offset_s = value.first_chunk().map_or(offset_s, |octets| read(*octets));
                }
                _ => {}
            }
            options = next;
        }
        Some(Interface {
            link: LinkType::from_number(u32::from(half([high, low]))),
            power: resolution & 0x7f,
            is_binary: resolution & 0x80 != 0,
            offset_s,
        })
    }

    /// Returns whether times can be computed: the number of units in a second fits into 64 bits.
    pub fn has_clock(&self) -> bool {
        self.power <= if self.is_binary { MAX_BINARY } else { MAX_DECIMAL }
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
