//! Results out of events: sinks for the stack's [`TraceEvent`](umts_stack::trace::TraceEvent)s.
//!
//! - [`budget`]: what every connection's time was spent on.
//! - [`capture`]: IP packets as Wireshark and tcptrace read them.
//! - [`metrics`]: one number per question, for the network and for each connection.
//! - [`seal`]: whether the files of a run are as they were written.
//! - [`series`]: how windows, round-trip times, buffers and goodput change with time.
//!
//! [`Recorders`] puts them together from what is [`RecorderConfig`]: one sink for a simulation, an emulation and a replay. No recorder
//! hears of another; the budget borrows the words of metrics and tables (a definition, a row, a column), never the reverse.
//! Each owns the table of its metrics, and [`definitions()`] puts the tables behind each other.
//!
//! Nothing is measured inside a protocol. A sink only adds up what it is told, so a run without it is the same run.

pub mod budget;
pub mod capture;
mod definitions;
pub mod metrics;
mod open;
mod recorders;
mod reference;
pub mod seal;
pub mod series;

pub use definitions::definitions;
pub use recorders::{
    CHUNK_ROWS, MetricsAlone, MetricsAndSeries, MultiRecorder, RecorderConfig, Recorders, Records, TableChunk,
};
pub use reference::reference_page;
