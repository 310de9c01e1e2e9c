//! The radio network controller (RNC): scheduling on DSCHs and in TDD cells, voice and video calls, radio
//! resource control (RRC), and admission to dedicated channels.

mod admission;
pub mod calls;
pub mod mac_sh;
pub mod multicell;
pub mod rrc;
pub mod tdd;

pub use admission::{Admission, Decision, Limits, Preemptible, Preemption, Request, Reserved};
