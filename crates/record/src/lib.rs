//! Results computed from events: sinks for the stack's
//! [`TraceEvent`](umts_stack::trace::TraceEvent)s.
//!
//! - [`budget`]: the causes of every connection's time.
//! - [`capture`]: IP packets for Wireshark and tcptrace.
//! - [`live`]: the current state of a network, for a live view.
//! - [`looks`]: colours of causes and states, for figures and pages.
//! - [`metrics`]: numbers for the network and for each connection.
//! - [`seal`]: checks that the files of a run are unchanged.
//! - [`timeline`]: all connections and UEs at full resolution, and the lanes that show them.
//! - [`series`]: windows, round-trip times, buffers and goodput over time.
//!
//! [`Recorders`] combines the recorders that a [`RecorderConfig`] selects into one sink, for a
//! simulation, an emulation or a replay. No recorder depends on another one. The budget uses the
//! types of metrics and tables (definitions, rows, columns), but they do not use the budget. Each
//! recorder owns the table of its metrics, and [`definitions()`] concatenates the tables.
//!
//! Protocols measure nothing themselves. A sink only adds up events, so a run is the same with and
//! without it.

pub mod budget;
pub mod capture;
mod definitions;
pub mod live;
pub mod looks;
pub mod metrics;
mod open;
mod recorders;
mod reference;
pub mod seal;
pub mod series;
mod student;
pub mod timeline;

pub use definitions::definitions;
pub use recorders::{CHUNK_ROWS, Needs, PlainRecorders, RecorderConfig, Recorders, Records, TableChunk};
pub use reference::{lanes_page, reference_page};
pub use student::t_quantile;
