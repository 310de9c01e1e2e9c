//! Bit rates.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::text::{Quantity, UnitError, format_integer, parse_integer};
use crate::{Bytes, Duration};

/// A rate in bits per second, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(NonZeroU64);

impl BitRate {
    /// Returns a rate in bit/s, `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        match NonZeroU64::new(bps) {
            Some(bps) => Some(BitRate(bps)),
            None => None,
        }
    }

    /// Returns the rate in bit/s.
    #[inline]
    pub const fn bps(self) -> u64 {
        self.0.get()
    }

    /// Returns the time to send `size` at this rate, rounded up to a whole nanosecond.
    #[inline]
    pub fn time_to_send(self, size: Bytes) -> Duration {
        const NS: u64 = 1_000_000_000;
        let (bits, bps) = (size.bits(), self.0.get());
        // For packets, 64 bits are enough. A division in 64 bits takes a third of the time of a
        // division in 128 bits.
        match bits.checked_mul(NS) {
            Some(scaled) => Duration::from_nanos(scaled.div_ceil(bps)),
            None => long_time(bits, bps),
        }
    }

    /// Returns the whole bits that fit into `interval`.
    #[inline]
    pub fn bits_in(self, interval: Duration) -> u64 {
        let bits = u128::from(self.0.get()) * u128::from(interval.as_nanos()) / 1_000_000_000;
        u64::try_from(bits).expect("fewer than 2^64 bits")
    }
}

/// Returns the time to send 2^64 / 10^9 bits or more, by a division in 128 bits.
#[cold]
#[inline(never)]
fn long_time(bits: u64, bps: u64) -> Duration {
    let ns = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(bps));
    Duration::from_nanos(u64::try_from(ns).expect("shorter than 584 years"))
}

const RATE: Quantity = Quantity {
    name: "a bit rate",
    example: "32 kbit/s",
    rule: "a whole number of bit/s above zero",
    units: &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
};

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bps = parse_integer(text, &RATE)?;
        BitRate::from_bps(bps).ok_or_else(|| UnitError::OutOfRange {
            text: text.to_owned(),
            quantity: RATE.name,
            rule: RATE.rule,
        })
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_integer(
            self.0.get(),
            f,
            &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)],
        )
    }
}
