//! Transport channels (TS 25.211 §4).

/// A transport channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Forward access channel: downlink, shared.
    Fach,
    /// Random access channel: uplink.
    Rach,
    /// Dedicated channel.
    Dch,
}
