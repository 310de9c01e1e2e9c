//! What MAC adds to a PDU and how many blocks a TTI holds: TS 25.321 §9.2, TS 25.302 §7.

pub mod header;
mod rach_access;
pub mod transport_channel;
mod transport_format;

pub use rach_access::{Access, RachAccess};
pub use transport_channel::Channel;
pub use transport_format::{TransportFormat, block_bits};
