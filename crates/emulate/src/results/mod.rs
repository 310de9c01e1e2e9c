//! Results in addition to the recorders of every run: the meter, the programs' round trips and time
//! budget, the fingerprint that is compared with a replay, and the fidelity of the emulation.

pub mod digest;
pub mod fidelity;
pub mod first_connection;
pub mod live_state;
pub mod meter;
pub mod programs_budget;
pub mod programs_datagrams;
pub mod recorder;
pub mod round_trips;
