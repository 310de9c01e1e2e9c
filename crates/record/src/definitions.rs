//! The definitions of all metrics: each recorder owns a table, and here they stand behind each other.

use crate::metrics::Definition;
use crate::{budget, metrics};

/// Every metric, in the order in which results list them (`_uplink` twins follow all of the downlink's).
pub fn definitions() -> impl Iterator<Item = Definition> {
    metrics::definitions().chain(budget::definitions())
}
