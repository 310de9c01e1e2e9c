//! Radio link control: TS 25.322.

pub mod am;
mod arrived;
mod backlog;
pub mod block_set;
mod buffer;
mod config;
mod entity;
mod managed_sdus;
pub mod octets;
mod sdu_queue;
pub mod sn;
#[cfg(test)]
pub(crate) mod testing;
pub mod tm;
pub mod um;
mod window;
pub mod wire;

pub use backlog::{Backlog, WaitingSdu};
pub use block_set::{BlockSet, DataRun, Mrw, MrwAck, Pdu, Sdu, SduEnd, SnRun, Status};
pub use config::{PduSize, RlcConfig, RlcMode, SduDiscard};
pub use entity::Rlc;
pub use sn::Sn;
