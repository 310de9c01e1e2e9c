//! What an emulation tells beside the recorders of every run: the meter, the programs' round trips and time budget, the
//! fingerprint that a replay is held against, and whether the machine was quick enough.

pub mod digest;
pub mod fidelity;
pub mod first_connection;
pub mod meter;
pub mod programs_budget;
pub mod programs_datagrams;
pub mod recorder;
pub mod round_trips;
