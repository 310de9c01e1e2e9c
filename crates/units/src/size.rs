//! Sizes in octets.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use crate::text::{Quantity, UnitError, format_integer, parse_integer};

/// A size in octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Zero octets.
    pub const ZERO: Bytes = Bytes(0);

    /// Returns the size in bits.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0.checked_mul(8).expect("sizes fit into 61 bits")
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.checked_add(other.0).expect("sizes fit into 64 bits"))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.checked_sub(other.0).expect("a size is not negative"))
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    #[inline]
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.checked_mul(factor).expect("sizes fit into 64 bits"))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

const SIZE: Quantity = Quantity {
    name: "a size",
    example: "40 B",
    rule: "a whole number of bytes",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ],
};

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_integer(text, &SIZE).map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_integer(self.0, f, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
    }
}

/// The size of one packet or PDU, in octets, at most 65,535 (the range of IP's length field). Its
/// text is as for [`Bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Octets(pub u16);

impl From<Octets> for Bytes {
    fn from(octets: Octets) -> Bytes {
        Bytes(octets.0.into())
    }
}

impl FromStr for Octets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let size: Bytes = text.parse()?;
        let too_large = |_| UnitError::OutOfRange {
            text: text.to_owned(),
            quantity: "the size of a packet",
            rule: "65535 B or less",
        };
        size.0.try_into().map(Octets).map_err(too_large)
    }
}

impl fmt::Display for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes::from(*self).fmt(f)
    }
}
