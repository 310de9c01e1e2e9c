//! Packets of real programs: what their headers say, and their octets while the network carries descriptions of them.
//!
//! Nothing here knows where a packet comes from or where it goes.

pub mod datagram;
pub mod foreign;
pub mod packet_store;
pub mod transport;
