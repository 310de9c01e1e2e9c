//! The wall clock and its lateness. The time of an emulation is read only in this module.

pub mod lateness;
pub mod probe;
pub mod wall_clock;
