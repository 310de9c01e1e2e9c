//! Sizes of windows in configurations: in segments or in octets.

use std::fmt;
use std::str::FromStr;

use umts_units::{Bytes, Octets, count_of};

/// A window: `"20 segments"` or `"32 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSize {
    /// Number of full segments.
    Segments(u32),
    /// Octets of payload.
    Bytes(Bytes),
}

impl WindowSize {
    /// The window in octets, for segments of `segment_payload`.
    pub fn in_bytes(self, segment_payload: Octets) -> Bytes {
        match self {
            WindowSize::Segments(n) => Bytes::from(segment_payload) * u64::from(n),
            WindowSize::Bytes(size) => size,
        }
    }

    /// The window in whole segments; the last one may be small. Saturates at `u32::MAX`.
    pub fn in_segments(self, segment_payload: Octets) -> u32 {
        match self {
            WindowSize::Segments(n) => n,
            WindowSize::Bytes(size) => saturated(size.0.div_ceil(segment_payload.0.into())),
        }
    }

    /// [`WindowSize::in_bytes`] as TCP counts it. Saturates at `u32::MAX`.
    pub fn in_octets(self, segment_payload: Octets) -> u32 {
        saturated(self.in_bytes(segment_payload).0)
    }
}

fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl FromStr for WindowSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["segments", "segment"]) {
            Some(count) => count.map(WindowSize::Segments),
            None => text.parse().map(WindowSize::Bytes).map_err(|e| format!("{e}, or as in \"20 segments\"")),
        }
    }
}

impl fmt::Display for WindowSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WindowSize::Segments(n) => write!(f, "{n} segments"),
            WindowSize::Bytes(size) => size.fmt(f),
        }
    }
}

#[cfg(feature = "schema")]
umts_units::as_text!(
    WindowSize,
    "Window",
    "a window in segments or octets with its unit, as in \"20 segments\" or \"32 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(segments?|B|kB|MB|GB|KiB|MiB|GiB)$"
);
