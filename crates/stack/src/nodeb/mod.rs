//! The Node B: what waits there for the air.

mod fach_queue;

pub use fach_queue::{FachQueue, Pushed};
