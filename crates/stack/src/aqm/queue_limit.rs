//! Lengths of queues in packets or octets: limits of drop-tail queues and thresholds.

use std::fmt;
use std::str::FromStr;

use umts_units::{Bytes, count_of};

/// Limit of a drop-tail queue: `"50 packets"` or `"100 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// Number of packets of any size.
    Packets(u32),
    /// Octets of IP packets.
    Bytes(Bytes),
}

impl QueueLimit {
    /// Whether a packet of `size` fits into a queue of `packets` with `octets` in total.
    #[inline]
    pub fn has_room(self, packets: usize, octets: Bytes, size: Bytes) -> bool {
        match self {
            QueueLimit::Packets(max) => packets < max as usize,
            QueueLimit::Bytes(max) => octets + size <= max,
        }
    }

    /// The limit as a number of packets or octets.
    pub fn amount(self) -> f64 {
        match self {
            QueueLimit::Packets(max) => f64::from(max),
            QueueLimit::Bytes(max) => max.0 as f64,
        }
    }

    /// Length of a queue of `packets` with `octets` in total, in the unit of the limit.
    pub fn measure(self, packets: usize, octets: Bytes) -> f64 {
        match self {
            QueueLimit::Packets(_) => packets as f64,
            QueueLimit::Bytes(_) => octets.0 as f64,
        }
    }

    /// Whether a queue of `packets` with `octets` in total has reached the limit.
    pub fn is_reached(self, packets: usize, octets: Bytes) -> bool {
        match self {
            QueueLimit::Packets(from) => packets >= from as usize,
            QueueLimit::Bytes(from) => octets >= from,
        }
    }
}

impl FromStr for QueueLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["packets", "packet"]) {
            Some(count) => count.map(QueueLimit::Packets),
            None => text.parse().map(QueueLimit::Bytes).map_err(|e| format!("{e}, or as in \"50 packets\"")),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Packets(n) => write!(f, "{n} packets"),
            QueueLimit::Bytes(size) => size.fmt(f),
        }
    }
}

#[cfg(feature = "schema")]
umts_units::as_text!(
    QueueLimit,
    "QueueLimit",
    "room in packets or octets with its unit, as in \"50 packets\" or \"100 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(packets?|B|kB|MB|GB|KiB|MiB|GiB)$"
);
