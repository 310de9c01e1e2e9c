//! Turns the budgets of finished connections and transfers into results: the metrics of a
//! connection (time by cause, counts of timeouts), the metrics of the network, and the tables of
//! intervals, timeouts and transfers. A table collects its columns during the run.

use umts_stack::ids::{ConnectionId, End, ProxyLeg};
use umts_units::Time;

use super::cause::{Cause, Parts};
use super::loss::Loss;
use super::metrics::{TimeoutCounts, metrics, transfer_metrics};
use super::transfers::{TransferBudget, TransferPart, TransferParts};
use super::{BudgetConfig, ConnectionBudget, ConnectionOrigin, Interval};
use crate::metrics::{ConnectionRow, RunMetrics, Window};
use crate::series::{Column, Recorded, Table, Values};

/// Names of tables.
const INTERVALS: &str = "budget_intervals";
const TIMEOUTS: &str = "budget_rtos";
const TRANSFERS: &str = "transfer_budget_intervals";

/// Sums and tables of the connections reported so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Time inside the window by cause, of all connections.
    parts: Parts,
    /// Timeouts inside the window, of all connections.
    timeouts: TimeoutCounts,
    intervals: IntervalColumns,
    expiries: TimeoutColumns,
    /// Connections of real programs, without their intervals.
    connections: Vec<ConnectionBudget>,
    /// Transfers that a proxy splits. `None` if the network splits none.
    transfers: Option<TransferReport>,
}

/// Sums and rows of the transfers that a proxy splits.
#[derive(Debug, Default)]
struct TransferReport {
    /// Time inside the window by use, of all transfers.
    parts: TransferParts,
    rows: TransferColumns,
}

#[derive(Debug, Default)]
struct TransferColumns {
    transfer: Vec<u32>,
    start_s: Vec<f64>,
    end_s: Vec<f64>,
    leg: Vec<&'static str>,
    cause: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct IntervalColumns {
    connection: Vec<u32>,
    start_s: Vec<f64>,
    end_s: Vec<f64>,
    cause: Vec<&'static str>,
    sn: Vec<Option<u32>>,
    loss: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct TimeoutColumns {
    connection: Vec<u32>,
    time_s: Vec<f64>,
    idle_s: Vec<f64>,
    end: Vec<&'static str>,
    kind: Vec<&'static str>,
    reason: Vec<&'static str>,
    sn: Vec<Option<u32>>,
}

impl Report {
    /// `splits`: whether the network has a proxy that splits connections.
    pub fn new(splits: bool) -> Self {
        Report { transfers: splits.then(Default::default), ..Report::default() }
    }

    /// Adds finished transfers.
    pub fn add_transfers(&mut self, config: &BudgetConfig, budgets: &[TransferBudget]) {
        let Some(TransferReport { parts, rows }) = &mut self.transfers else { return };
        let window = Window::new(config.from, config.to);
        for budget in budgets {
            for interval in &budget.intervals {
                parts.add(interval, window);
                if config.keeps_intervals {
                    rows.transfer.push(budget.transfer.0);
                    rows.start_s.push(interval.start.as_secs());
                    rows.end_s.push(interval.end.as_secs());
                    let (leg, cause) = match interval.part {
                        TransferPart::Leg(ProxyLeg::Server, cause) => ("server", cause.name()),
                        TransferPart::Leg(_, cause) => ("radio", cause.name()),
                        TransferPart::Queue => ("proxy", "proxy_queue"),
                        TransferPart::Setup => ("proxy", "proxy_setup"),
                    };
                    rows.leg.push(leg);
                    rows.cause.push(cause);
                }
            }
        }
    }

    /// Adds finished connections. Appends the metrics of a connection to its row, if it has one.
    pub fn add(&mut self, config: &BudgetConfig, budgets: Vec<ConnectionBudget>, rows: &mut [ConnectionRow]) {
        let mut rows: Vec<&mut ConnectionRow> = rows.iter_mut().collect();
        rows.sort_by_key(|row| row.connection);
        for budget in budgets {
            if let Ok(index) = rows.binary_search_by_key(&budget.connection, |row| row.connection) {
                let mut counts = TimeoutCounts::default();
                budget.timeouts.iter().for_each(|timeout| counts.count(timeout));
                rows[index].budget.append(metrics(&budget.parts, &counts));
            }
            self.parts.add_all(&budget.in_window);
            let is_measured = |at: Time| config.from <= at && at < config.to;
            for timeout in budget.timeouts.iter().filter(|timeout| is_measured(timeout.at)) {
                self.timeouts.count(timeout);
            }
            if config.keeps_intervals {
                self.add_to_tables(&budget);
            }
            if !config.origin.knows_senders() {
                self.connections.push(ConnectionBudget { intervals: Vec::new(), ..budget });
            }
        }
    }

    /// Adds intervals of a connection to the table.
    pub fn intervals(&mut self, connection: ConnectionId, intervals: &[Interval]) {
        for interval in intervals {
            self.intervals.connection.push(connection.0);
            self.intervals.start_s.push(interval.start.as_secs());
            self.intervals.end_s.push(interval.end.as_secs());
            self.intervals.cause.push(interval.cause.name());
            self.intervals.sn.push(interval.sn.map(u32::from));
            self.intervals.loss.push(interval.loss.map_or("", Loss::name));
        }
    }

    /// Adds the intervals and timeouts of a connection to their tables.
    fn add_to_tables(&mut self, budget: &ConnectionBudget) {
        let ConnectionId(id) = budget.connection;
        self.intervals(budget.connection, &budget.intervals);
        for timeout in &budget.timeouts {
            self.expiries.connection.push(id);
            self.expiries.time_s.push(timeout.at.as_secs());
            self.expiries.idle_s.push((timeout.at - timeout.silent_since).as_secs());
            self.expiries.end.push(match timeout.end {
                End::Server => "server",
                End::Ue => "ue",
            });
            self.expiries.kind.push(if timeout.is_needed { "needed" } else { "spurious" });
            self.expiries.reason.push(timeout.reason.name());
            self.expiries.sn.push(timeout.sn.map(u32::from));
        }
    }

    /// Takes the tables of intervals and timeouts that have at least `rows` rows. The table of
    /// transfers stays until [`Report::finish`].
    pub fn take(&mut self, origin: ConnectionOrigin, now: Time, rows: usize) -> Vec<Table> {
        let tables: [&mut dyn Recorded; 2] = [&mut self.intervals, &mut self.expiries];
        let full = tables.into_iter().filter(|table| table.rows() >= rows);
        full.map(|table| with_origin_name(origin, table.take(now))).collect()
    }

    /// Appends the metrics to the metrics of the network. Returns the tables.
    pub fn finish(mut self, config: &BudgetConfig, results: &mut RunMetrics) -> Vec<Table> {
        // Beside programs, the metrics of the network are computed from the programs.
        if config.origin != ConnectionOrigin::BesidePrograms {
            results.network.append(metrics(&self.parts, &self.timeouts));
        }
        let second_table = match config.origin {
            // Simulated: timeouts are known. BesidePrograms: also, and the table has another name.
            ConnectionOrigin::Simulated | ConnectionOrigin::BesidePrograms => self.expiries.take(Time::NEVER),
            // Programs: timeouts are unknown. Connections have this table instead of rows in
            // `results`.
            ConnectionOrigin::Programs => connections_table(&self.connections),
        };
        let mut tables = vec![self.intervals.take(Time::NEVER), second_table];
        if let Some(TransferReport { parts, mut rows }) = self.transfers {
            if config.origin != ConnectionOrigin::BesidePrograms {
                results.network.append(transfer_metrics(&parts));
            }
            tables.push(rows.take(Time::NEVER));
        }
        tables.into_iter().map(|table| with_origin_name(config.origin, table)).collect()
    }
}

/// Renames the tables of simulated users in a run with real programs.
fn with_origin_name(origin: ConnectionOrigin, table: Table) -> Table {
    let name = match (origin, table.name) {
        (ConnectionOrigin::BesidePrograms, INTERVALS) => "simulated_budget_intervals",
        (ConnectionOrigin::BesidePrograms, TIMEOUTS) => "simulated_budget_rtos",
        (ConnectionOrigin::BesidePrograms, TRANSFERS) => "simulated_transfer_budget_intervals",
        (_, name) => name,
    };
    Table { name, ..table }
}

impl Recorded for IntervalColumns {
    fn rows(&self) -> usize {
        self.start_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let IntervalColumns { connection, start_s, end_s, cause, sn, loss } = std::mem::take(self);
        let columns = vec![
            Column::new("connection", "", Values::Id(connection)),
            Column::new("start_s", "s", Values::Float(start_s)),
            Column::new("end_s", "s", Values::Float(end_s)),
            Column::new("cause", "", Values::Word(cause)),
            Column::new("sn", "", Values::OptionalId(sn)),
            Column::new("loss", "", Values::Word(loss)),
        ];
        Table { name: INTERVALS, columns }
    }
}

impl Recorded for TransferColumns {
    fn rows(&self) -> usize {
        self.start_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let TransferColumns { transfer, start_s, end_s, leg, cause } = std::mem::take(self);
        let columns = vec![
            Column::new("transfer", "", Values::Id(transfer)),
            Column::new("start_s", "s", Values::Float(start_s)),
            Column::new("end_s", "s", Values::Float(end_s)),
            Column::new("leg", "", Values::Word(leg)),
            Column::new("cause", "", Values::Word(cause)),
        ];
        Table { name: TRANSFERS, columns }
    }
}

impl Recorded for TimeoutColumns {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let TimeoutColumns { connection, time_s, idle_s, end, kind, reason, sn } = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(time_s)),
            Column::new("connection", "", Values::Id(connection)),
            Column::new("idle_s", "s", Values::Float(idle_s)),
            Column::new("end", "", Values::Word(end)),
            Column::new("kind", "", Values::Word(kind)),
            Column::new("because", "", Values::Word(reason)),
            Column::new("sn", "", Values::OptionalId(sn)),
        ];
        Table { name: TIMEOUTS, columns }
    }
}

/// Table of the connections of real programs with their time by cause. Connections of simulated
/// users have this in their [`ConnectionRow`].
fn connections_table(connections: &[ConnectionBudget]) -> Table {
    let numbers =
        |number: &dyn Fn(&ConnectionBudget) -> u32| Values::Id(connections.iter().map(number).collect());
    let times =
        |time: &dyn Fn(&ConnectionBudget) -> f64| Values::Float(connections.iter().map(time).collect());
    let mut columns = vec![
        Column::new("connection", "", numbers(&|budget| budget.connection.0)),
        Column::new("ue", "", numbers(&|budget| budget.ue.0.into())),
        Column::new(
            "protocol",
            "",
            Values::Word(connections.iter().map(|budget| budget.kind.name()).collect()),
        ),
        Column::new("opened_s", "s", times(&|budget| budget.opened.as_secs())),
        Column::new("until_s", "s", times(&|budget| budget.until.as_secs())),
    ];
    columns.extend(Cause::ALL.iter().map(|cause| {
        Column::new(cause.time_metric(), "s", times(&|budget| budget.parts.of(*cause).as_secs()))
    }));
    Table { name: "budget_connections", columns }
}
