//! Goldens: the results of every shipped scenario, exact to the last bit. They show that a change
//! of the code changes no result unintentionally.
//!
//! `tests/golden/NAME.txt` belongs to `scenarios/NAME.toml`. It has four runs, each with its own
//! heading: for two seeds, the scenario's own and the next one, a run
//!
//! - over its **whole length**, with metrics only;
//! - **recorded**: at most 60 s, with series, time budget, the waterfall of the first connection,
//!   RLC PDUs and captures.
//!
//! | line | value |
//! |---|---|
//! | `duration` | simulated time |
//! | `events` | events that the kernel scheduled |
//! | `trace` | number and digest of all trace events, each as its time in nanoseconds and its `Debug` text |
//! | `connections` | number and digest of the rows of connections, all fields and metrics |
//! | `metric.NAME` | the shortest decimal that parses to the same bits; no line if it is 0 or null |
//! | `omitted_metrics` | number of metrics that are 0, and that are null; digest of their positions, names and values |
//! | `series.NAME` | rows of the table, and a digest of its columns' names, units, types and values |
//! | `capture.NAME` | octets of the file, and their digest |
//!
//! Digests are the first half of a BLAKE3 digest. Scenarios are loaded and run as by `umts run`,
//! and rows are taken during the run.
//!
//! - [`runs`] has the four runs of a scenario; [`metrics`] has the lines of their metrics, and
//!   [`trace`], [`tables`] and [`capture`] have digests of their other results.
//! - [`golden`] reads and writes golden files; [`difference`] compares two of them.
//! - [`folder`] compares or replaces the goldens of all scenarios.

pub mod capture;
pub mod difference;
mod digest;
pub mod error;
pub mod folder;
pub mod golden;
pub mod metrics;
pub mod runs;
pub mod tables;
pub mod trace;
