//! The Node B: the Iub that leads to it, and what waits there for the air.

mod eurane_fach;
mod iub;

pub use eurane_fach::EuraneFach;
pub use iub::{Iub, IubTiming};
