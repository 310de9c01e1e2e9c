//! What an entity could send now: what a scheduler may ask of it.

use umts_units::{Bytes, Time};

/// What waits in an entity to be sent, for the first time or again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Octets of SDUs: those of which something was not yet sent, and the PDUs that are to be sent again.
    pub octets: Bytes,
    /// Since when the oldest SDU of these is in the buffer; `None` if there is none, but control information may wait.
    pub since: Option<Time>,
    /// Data PDUs that it could send now, as far as its window goes.
    pub pdus: u32,
}
