//! One-way TCP connections against ns-2, packet by packet.
//!
//! A folder of golden runs holds `runs.json` (every run with its parameters), an event file per run, and perhaps long
//! transfers with random losses (`f3_runs.csv`, `f3_losslists.csv`). This crate rebuilds the network in which they were
//! made (two nodes, a link each way, scripted losses, delay spikes), runs `umts_stack`'s TCP through it and compares.
//!
//! - [`run`]: a run and its parameters; [`losses`]: the long transfers.
//! - [`replay`]: the network; [`link`](replay) and calendar have ns-2's arithmetic in floating point seconds.
//! - [`row`]: lines of event files and how they are compared.

pub mod folder;
mod link;
pub mod losses;
pub mod replay;
pub mod row;
pub mod run;
