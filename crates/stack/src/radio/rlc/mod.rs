//! Radio link control (RLC): TS 25.322. It stands between the IP packets of a bearer and the blocks
//! that the transport channel carries in each TTI.
//!
//! The sending entity cuts packets (SDUs) into PDUs, one PDU per block. The receiving entity of the
//! peer assembles the SDUs again. In acknowledged mode (AM) it also reports missing PDUs in STATUS
//! PDUs, and the sender retransmits them. Unacknowledged mode (UM) only detects losses, and
//! transparent mode (TM) adds no header. A STATUS consists of super-fields (SUFIs). One of them,
//! MRW (move receiving window), informs the receiver of discarded SDUs.
//!
//! [`Rlc`] is an entity of any mode. A [`BlockSet`] describes the PDUs of one TTI without their
//! octets. In wire mode ([`octets`], [`wire`]) the PDUs are encoded as well.

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
mod segmentation;
pub mod sn;
#[cfg(test)]
pub(crate) mod testing;
pub mod tm;
pub mod um;
mod window;
pub mod wire;

pub use backlog::{Backlog, WaitingSdu};
pub use block_set::{BlockSet, DataRun, IndexRange, Mrw, MrwAck, Pdu, Sdu, SduEnd, SnRun, Status};
pub use config::{PduSize, RlcConfig, RlcMode, SduDiscard};
pub use entity::Rlc;
pub use sn::Sn;
