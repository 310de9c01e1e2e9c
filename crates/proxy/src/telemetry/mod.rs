//! Counters, metrics for Prometheus, and a log with one line per connection.

pub mod counts;
pub mod log;
pub mod metrics;
pub mod page;
