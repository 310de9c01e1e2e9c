//! The radio network controller: MAC of the carriers, radio resource control, admission.

mod admission;
pub mod calls;
mod carrier_config;
mod mac_c;
mod mac_d;
pub mod mac_sh;
pub mod multicell;
pub mod rrc;
pub mod tdd;

pub use admission::{Admission, Decision, Limits, Preemptible, Reserved};
pub use carrier_config::{CarrierConfig, TtiInput, TtiOutcome};
pub use mac_c::MacC;
pub use mac_d::MacD;
