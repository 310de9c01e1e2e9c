//! MAC headers and transport formats: TS 25.321 §9.2, TS 25.302 §7.

mod ack_channel;
pub mod header;
pub mod hs;
mod rach_access;
mod tdd_access;
pub mod transport_channel;
mod transport_format;

pub use ack_channel::{AckContention, AckRoundRobin};
pub use rach_access::{RachAccess, RachAttempt};
pub use tdd_access::TddAccess;
pub use transport_channel::Channel;
pub use transport_format::{PowerFormat, TransportFormat, TransportFormatSet, block_bits};
