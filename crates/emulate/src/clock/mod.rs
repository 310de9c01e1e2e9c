//! The wall clock: how time passes until the next event or packet, and how late it was.
//!
//! Only here is it asked what time it is.

pub mod lateness;
pub mod probe;
pub mod wall_clock;
