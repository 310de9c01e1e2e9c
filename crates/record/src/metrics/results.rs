//! Results of a run: named numbers for the network and for each connection.

use umts_stack::ids::{ConnectionId, FlowId, ProxyLeg, UeId};

use super::definitions::connection_names;

/// Named numbers in the order of their definitions. A metric without a value had no data to be
/// computed from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricSet(Vec<(&'static str, Option<f64>)>);

impl MetricSet {
    /// All metrics, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.0.iter().copied()
    }

    /// Appends other metrics.
    pub(crate) fn append(&mut self, others: MetricSet) {
        self.0.extend(others.0);
    }

    /// Replaces the values of the metrics that `others` contains.
    pub fn replace(&mut self, others: MetricSet) {
        for (name, value) in &mut self.0 {
            if let Some((_, other)) = others.0.iter().find(|(known, _)| known == name) {
                *value = *other;
            }
        }
    }

    /// The value of the metric `name`. `None` if it has no value or does not exist.
    pub fn value(&self, name: &str) -> Option<f64> {
        let (_, value) = self.iter().find(|(known, _)| *known == name)?;
        value
    }
}

impl FromIterator<(&'static str, Option<f64>)> for MetricSet {
    fn from_iter<I: IntoIterator<Item = (&'static str, Option<f64>)>>(metrics: I) -> Self {
        MetricSet(metrics.into_iter().collect())
    }
}

/// Results of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionRow {
    /// Number of the connection, unique in the run.
    pub connection: ConnectionId,
    /// Number of the transfer: the connection's own number, or the first one of two connections
    /// that a proxy joins.
    pub transfer: ConnectionId,
    /// The part of the path that the connection covers.
    pub leg: ProxyLeg,
    /// The flow that opened the connection.
    pub flow: FlowId,
    /// The user equipment at one end of the connection.
    pub ue: UeId,
    /// Time of opening, in seconds since the start of the run.
    pub opened_s: f64,
    /// Time of closing; `None` if the connection was open at the end of the run.
    pub closed_s: Option<f64>,
    /// Values of the metrics, without the budget. The names are not stored with each row, because
    /// they are the same in all rows.
    pub values: Box<[Option<f64>]>,
    /// The time budget, if it was recorded.
    pub budget: MetricSet,
}

impl ConnectionRow {
    /// The metrics with names, followed by the metrics of the budget.
    pub fn metrics(&self) -> MetricSet {
        let named = connection_names().zip(self.values.iter().copied());
        named.chain(self.budget.iter()).collect()
    }

    /// The value with this index in [`metrics`](Self::metrics).
    pub fn value(&self, index: usize) -> Option<f64> {
        let of_budget = || self.budget.iter().nth(index - self.values.len()).and_then(|(_, value)| value);
        self.values.get(index).copied().unwrap_or_else(of_budget)
    }
}

/// Results of a finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMetrics {
    /// The network as a whole.
    pub network: MetricSet,
    /// Connections that overlap the window and were not taken before, in the order of closing.
    /// Connections that never closed come last, in the order of their numbers.
    pub connections: Vec<ConnectionRow>,
}
