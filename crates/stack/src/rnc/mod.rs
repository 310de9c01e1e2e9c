//! The radio network controller: scheduling on DSCHs and in TDD cells, radio resource control,
//! admission.

mod admission;
pub mod calls;
pub mod mac_sh;
pub mod multicell;
pub mod rrc;
pub mod tdd;

pub use admission::{Admission, Decision, Limits, Preemptible, Preemption, Reserved};
