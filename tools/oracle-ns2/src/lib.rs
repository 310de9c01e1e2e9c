//! Compares one-way TCP connections with ns-2, packet by packet.
//!
//! A folder of golden runs has `runs.json` (every run with its parameters), an event file per run,
//! and optionally long transfers with random losses (`f3_runs.csv`, `f3_losslists.csv`). This crate
//! rebuilds the network of these runs (two nodes, a link in each direction, scripted losses, delay
//! spikes), runs TCP of `umts_stack` through it, and compares.
//!
//! - [`run`] has runs and their parameters; [`losses`] has the long transfers.
//! - [`replay`] has the network; `link.rs` has links and a calendar with the arithmetic of ns-2, in
//!   floating-point seconds.
//! - [`row`] has the lines of event files and their comparison.

pub mod folder;
mod link;
pub mod losses;
pub mod replay;
pub mod row;
pub mod run;
