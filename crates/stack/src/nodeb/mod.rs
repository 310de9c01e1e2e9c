//! The Node B: the Iub, and the queue of EURANE's FACH.

mod iub;
mod queue;

pub use iub::{Iub, IubTiming};
pub use queue::{FachQueue, QueuedBlock};
