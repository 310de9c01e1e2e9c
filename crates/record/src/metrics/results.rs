//! What a run yields: named numbers for the network and for each connection.

use umts_stack::ids::{ConnectionId, FlowId, ProxyLeg, UeId};

use super::definitions::connection_names;

/// Named numbers in the order of their definitions; a metric without a value had nothing to be computed from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricSet(Vec<(&'static str, Option<f64>)>);

impl MetricSet {
    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Option<f64>)> {
        self.0.iter().copied()
    }

    /// Adds others behind them.
    pub(crate) fn append(&mut self, others: MetricSet) {
        self.0.extend(others.0);
    }

    /// Puts other values in the place of those of the same names.
    pub fn replace(&mut self, others: MetricSet) {
        for (name, value) in &mut self.0 {
            if let Some((_, other)) = others.0.iter().find(|(known, _)| known == name) {
                *value = *other;
            }
        }
    }

    /// The value of the metric called `name`: `None` if it has none or there is no such metric.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name)?.1
    }
}

impl FromIterator<(&'static str, Option<f64>)> for MetricSet {
    fn from_iter<I: IntoIterator<Item = (&'static str, Option<f64>)>>(metrics: I) -> Self {
        MetricSet(metrics.into_iter().collect())
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionRow {
    /// Its number, unique in the run.
    pub connection: ConnectionId,
    /// The number of the transfer: its own, or that of the first of the two that a proxy joins.
    pub transfer: ConnectionId,
    /// The part of the way that it takes.
    pub leg: ProxyLeg,
    /// The flow that opened it.
    pub flow: FlowId,
    /// The user equipment at its end.
    pub ue: UeId,
    /// When it opened, in seconds since the run began.
    pub opened_s: f64,
    /// When it closed; none if it was still open at the end.
    pub closed_s: Option<f64>,
    /// Its metrics but those of its budget, without their names, which are the same for all: many rows wait to be written.
    pub values: Box<[Option<f64>]>,
    /// Its time budget, if that was asked for.
    pub budget: MetricSet,
}

impl ConnectionRow {
    /// Its metrics, those of its budget behind the others.
    pub fn metrics(&self) -> MetricSet {
        let named = connection_names().zip(self.values.iter().copied());
        named.chain(self.budget.iter()).collect()
    }

    /// Number `index` of its [`metrics`](Self::metrics).
    pub fn value(&self, index: usize) -> Option<f64> {
        let of_budget = || self.budget.iter().nth(index - self.values.len()).and_then(|(_, value)| value);
        self.values.get(index).copied().unwrap_or_else(of_budget)
    }
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMetrics {
    /// The network as a whole.
    pub network: MetricSet,
    /// The connections that touched the window and were not taken before, in the order in which they closed; those
    /// that never closed come last, in the order of their numbers.
    pub connections: Vec<ConnectionRow>,
}
