//! The radio network controller: who may use the common channel, who gets a channel of his own, and when.

mod admission;
mod mac_c;
pub mod rrc;

pub use admission::{Admission, Decision, Limits, Preemptible, Reserved};
pub use mac_c::RoundRobin;
