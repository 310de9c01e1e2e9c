//! The definitions of the metrics that are computed from totals (`totals.rs`): name, label, unit,
//! meaning, and formula in words and in code. At the end of a run the formulas give the values of
//! the metrics. The reference page of the metrics is generated from these definitions and from the
//! definitions of the time budget.
//!
//! Each area of metrics has a table in a file of `definitions/`. The macro `metrics!` declares it.
//! A row is
//!
//! ```text
//! "name" "label" ["unit"] "meaning" = "numerator" / "denominator" => formula;
//! ```
//!
//! The denominator is empty if the value is no ratio. The formula computes the value from the
//! totals of the area.

use umts_units::Duration;

use super::results::MetricSet;
use super::totals::{
    CellTotals, DatagramTotals, LayoutTotals, NetworkTotals, QueueTotals, RadioTotals, TcpTotals, TddTotals,
};
use super::transfers::TransferTotals;

/// Subject of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// TCP: the network (all connections together) and each connection.
    Connection,
    /// RLC, Iub and air, all users together. The uplink's metric has the suffix `_uplink`.
    Radio,
    /// UDP, all flows together. The uplink's metric has the suffix `_uplink`.
    Datagram,
    /// Cells with switched users, all together.
    Cell,
    /// The network only.
    Network,
    /// The cells of a layout, all together. Recorded only if there is a layout.
    Layout,
    /// A proxy. Recorded only if there is one.
    Proxy,
    /// Queue management of links and RLC. Recorded only if a queue has it.
    Queues,
    /// The time budget of all connections together and of each connection. Recorded only on
    /// request.
    Budget,
    /// The time budget of transfers that a proxy splits, all together. Recorded only on request and
    /// with such a proxy.
    Transfers,
}

/// Definition of a metric.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// Name in results, tables and claims. For a [`Scope::Radio`] or [`Scope::Datagram`] metric,
    /// the name of the downlink's.
    pub name: &'static str,
    /// Label in figures and tables, without the unit.
    pub label: &'static str,
    /// Unit of the number; `1` for counts and ratios.
    pub unit: &'static str,
    /// Subject of the metric.
    pub scope: Scope,
    /// Meaning in one sentence.
    pub meaning: &'static str,
    /// Description of the numerator.
    pub numerator: &'static str,
    /// Description of the denominator; empty if there is none.
    pub denominator: &'static str,
}

/// Every metric of [`Metrics`](super::Metrics), in the order of the results. A metric with a
/// direction is listed once; in the results, its `_uplink` metric follows those of the downlink.
pub fn definitions() -> impl Iterator<Item = Definition> {
    definitions_of(TCP, Scope::Connection)
        .chain(definitions_of(RADIO, Scope::Radio))
        .chain(definitions_of(DATAGRAM, Scope::Datagram))
        .chain(definitions_of(CELL, Scope::Cell))
        .chain(definitions_of(NETWORK, Scope::Network))
        .chain(definitions_of(E_DCH, Scope::Network))
        .chain(definitions_of(TDD, Scope::Network))
        .chain(definitions_of(LAYOUT, Scope::Layout))
        .chain(definitions_of(PROXY, Scope::Proxy))
        .chain(definitions_of(QUEUES, Scope::Queues))
}

/// The definitions of a table of metrics.
fn definitions_of<T>(table: &'static [Metric<T>], scope: Scope) -> impl Iterator<Item = Definition> {
    table.iter().map(move |metric| {
        let Metric { name, label, unit, meaning, numerator, denominator, .. } = *metric;
        Definition { name, label, unit, scope, meaning, numerator, denominator }
    })
}

/// Names of the metrics of a connection.
pub(super) fn connection_names() -> impl Iterator<Item = &'static str> {
    TCP.iter().map(|metric| metric.name)
}

/// Values of the metrics of a connection, in the order of [`connection_names`].
pub(super) fn connection_values(totals: &TcpTotals) -> impl Iterator<Item = Option<f64>> {
    TCP.iter().map(|metric| (metric.formula)(totals))
}

/// The totals of all areas of a run. Arrays are indexed by direction.
pub(super) struct AllTotals<'a> {
    pub tcp: &'a TcpTotals,
    pub radio: &'a [RadioTotals; 2],
    pub datagrams: &'a [DatagramTotals; 2],
    pub cell: &'a CellTotals,
    pub network: &'a NetworkTotals,
    pub tdd: &'a TddTotals,
    /// `None` without a layout.
    pub layout: Option<&'a LayoutTotals>,
    /// `None` without a proxy.
    pub transfers: Option<&'a TransferTotals>,
    /// `None` without queue management.
    pub queues: Option<&'a QueueTotals>,
}

/// The metrics of the whole network in the order of the reference page. Metrics of layouts, proxies
/// and queue management exist only in networks that have them.
pub(super) fn network_metrics(totals: &AllTotals<'_>) -> MetricSet {
    let [radio_downlink, radio_uplink] = totals.radio;
    let [datagrams_downlink, datagrams_uplink] = totals.datagrams;
    values_of(TCP, totals.tcp)
        .chain(values_of(RADIO, radio_downlink))
        .chain(uplink_values_of(RADIO, radio_uplink))
        .chain(values_of(DATAGRAM, datagrams_downlink))
        .chain(uplink_values_of(DATAGRAM, datagrams_uplink))
        .chain(values_of(CELL, totals.cell))
        .chain(values_of(NETWORK, totals.network))
        .chain(values_of(E_DCH, totals.network))
        .chain(values_of(TDD, totals.tdd))
        .chain(totals.layout.into_iter().flat_map(|layout| values_of(LAYOUT, layout)))
        .chain(totals.transfers.into_iter().flat_map(|transfers| values_of(PROXY, transfers)))
        .chain(totals.queues.into_iter().flat_map(|queues| values_of(QUEUES, queues)))
        .collect()
}

/// Name and value of each metric.
fn values_of<'a, T>(
    metrics: &'static [Metric<T>],
    totals: &'a T,
) -> impl Iterator<Item = (&'static str, Option<f64>)> + use<'a, T> {
    metrics.iter().map(|metric| (metric.name, (metric.formula)(totals)))
}

/// As [`values_of`], with the names of the uplink's metrics.
fn uplink_values_of<'a, T>(
    metrics: &'static [Metric<T>],
    totals: &'a T,
) -> impl Iterator<Item = (&'static str, Option<f64>)> + use<'a, T> {
    metrics.iter().map(|metric| (metric.uplink, (metric.formula)(totals)))
}

/// A metric that is computed from totals of type `T`.
pub(super) struct Metric<T> {
    name: &'static str,
    /// Name of the uplink's metric, if the metric has a direction.
    uplink: &'static str,
    label: &'static str,
    unit: &'static str,
    meaning: &'static str,
    numerator: &'static str,
    denominator: &'static str,
    formula: fn(&T) -> Option<f64>,
}

/// Defines a table of metrics. See the beginning of this file for the rows.
macro_rules! metrics {
    ($table:ident: $totals:ty; $($name:literal $label:literal [$unit:literal] $meaning:literal
        = $numerator:literal / $denominator:literal => $formula:expr;)*) => {
        pub(super) static $table: &[Metric<$totals>] = &[$(Metric {
            name: $name,
            uplink: concat!($name, "_uplink"),
            label: $label,
            unit: $unit,
            meaning: $meaning,
            numerator: $numerator,
            denominator: $denominator,
            formula: $formula,
        },)*];
    };
}

mod cell;
mod datagram;
mod e_dch;
mod layout;
mod network;
mod proxy;
mod queues;
mod radio;
mod tcp;
mod tdd;

use cell::CELL;
use datagram::DATAGRAM;
use e_dch::E_DCH;
use layout::LAYOUT;
use network::NETWORK;
use proxy::PROXY;
use queues::QUEUES;
use radio::RADIO;
use tcp::TCP;
use tdd::TDD;

// Helpers of the formulas. Quotients are `None` if the denominator is 0.

fn count(number: u64) -> Option<f64> {
    Some(number as f64)
}

fn ratio(numerator: f64, denominator: f64) -> Option<f64> {
    (denominator > 0.0).then(|| numerator / denominator)
}

fn per(numerator: u64, denominator: u64) -> Option<f64> {
    ratio(numerator as f64, denominator as f64)
}

fn percent_of(numerator: f64, denominator: f64) -> Option<f64> {
    ratio(100.0 * numerator, denominator)
}

fn percent(numerator: u64, denominator: u64) -> Option<f64> {
    percent_of(numerator as f64, denominator as f64)
}

/// 1 kbit/s is 1,000 bit/s.
fn kbps(bits: u64, time: Duration) -> Option<f64> {
    ratio(bits as f64 / 1e3, time.as_secs())
}
