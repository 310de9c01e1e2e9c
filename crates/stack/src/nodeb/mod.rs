//! The Node B: the Iub, and EURANE's FACH queue.

mod eurane_fach;
mod iub;

pub use eurane_fach::EuraneFach;
pub use iub::{Iub, IubTiming};
