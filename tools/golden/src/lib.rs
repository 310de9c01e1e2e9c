//! Goldens: what every shipped scenario gives, to the last bit, so that a change of code that should not move a result is
//! seen to move none.
//!
//! `tests/golden/NAME.txt` is of `scenarios/NAME.toml`. It has four runs, each under its own head: two seeds, that of the
//! scenario and the next one, each
//!
//! - over its **whole length** with metrics alone;
//! - **recorded**: at most 60 s, with series, time budget, the waterfall of the first connection, RLC PDUs and captures.
//!
//! | line | value |
//! |---|---|
//! | `duration` | simulated time |
//! | `events` | events that the kernel scheduled |
//! | `trace` | number and digest of all trace events, each as its time in nanoseconds and its `Debug` text |
//! | `connections` | number and digest of the rows of connections, all fields and metrics |
//! | `metric.NAME` | the shortest decimal that reads back as the same bits; `null` where there is no value |
//! | `series.NAME` | rows of the table, and a digest of its columns' names, units, types and values |
//! | `capture.NAME` | octets of the file, and their digest |
//!
//! Digests are the first half of BLAKE3's. Nothing here knows how a run is made: scenarios are loaded and run as
//! `umts run` does it, rows are taken while the run goes on.
//!
//! - [`runs`]: the four runs of a scenario; [`trace`], [`tables`]: digests of what they leave.
//! - [`golden`]: a file of goldens; [`difference`]: two of them compared.
//! - [`folder`]: all scenarios compared or blessed.

pub mod difference;
mod digest;
pub mod error;
pub mod folder;
pub mod golden;
pub mod runs;
pub mod tables;
pub mod trace;
