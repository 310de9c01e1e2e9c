//! The radio network controller: RLC of every UE, and who may use the common channel.

mod mac_c;

pub use mac_c::RoundRobin;
