//! What the proxy tells of itself: counts, metrics for Prometheus, a line for every connection.

pub mod counts;
pub mod log;
pub mod metrics;
pub mod page;
