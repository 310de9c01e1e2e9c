//! The definitions of all metrics: concatenates the tables of the recorders.

use crate::metrics::Definition;
use crate::{budget, metrics};

/// Every metric, in the order of the results. A metric with a direction is listed once, by the name
/// of the downlink's.
pub fn definitions() -> impl Iterator<Item = Definition> {
    metrics::definitions().chain(budget::definitions())
}
