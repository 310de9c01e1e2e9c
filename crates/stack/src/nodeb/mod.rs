//! The Node B: the Iub, and the queue of EURANE's FACH.

pub mod frames;
mod iub;
mod queue;

pub use iub::{Iub, IubTiming};
pub use queue::{FachQueue, QueuedBlock};
