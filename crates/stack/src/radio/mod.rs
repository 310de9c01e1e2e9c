//! State machines and formats that both ends of the air interface use.

pub mod air;
pub(crate) mod bits;
pub mod capacity;
pub mod flat;
pub mod mac;
pub mod pdcp;
pub mod phy;
pub mod rlc;
pub mod rrc_state;

pub use air::Air;
pub use rrc_state::RrcState;
