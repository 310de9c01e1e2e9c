//! Packets of real programs: parsers for their headers, and a store for their bytes while the
//! network carries descriptions. Independent of where packets enter and leave.

pub mod datagram;
pub mod foreign;
pub mod packet_store;
pub mod transport;
