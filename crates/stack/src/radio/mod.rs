//! Machines and messages that both ends of the air interface share, each written once.

mod bits;
pub mod capacity;
pub mod flat;
pub mod mac;
pub mod pdcp;
pub mod phy;
pub mod rlc;
