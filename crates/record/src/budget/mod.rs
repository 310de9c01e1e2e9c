//! The time budget: for every instant of every TCP connection one cause, out of trace events and nothing else.
//!
//! ```text
//!   events.rs ─► ue.rs, bearer.rs, missing.rs   where packets are in the radio access network, and why they stay there
//!                capacity.rs, turns.rs          what their user lacks there
//!          ─► way.rs, loss.rs    where they are elsewhere or were lost; windows, what is written, sent and acknowledged
//!               │
//!          ─► connection.rs      the one packet that the connection waits for, and so the cause
//!               │  ▲
//!               ▼  └ rto.rs      expiries of retransmission timers: whether they were needed, and why
//!             log.rs             intervals, sums ─► report.rs: results
//!               │
//!          ─► transfers.rs       of two connections that a proxy joins: which of them its receiver waits for
//! ```
//!
//! Time runs in whole nanoseconds and each interval begins where the last one ends, so the parts of a connection add up to
//! its duration exactly. The definitions are in `docs/reference/time-budget.md`.

mod bearer;
mod capacity;
mod cause;
mod connection;
mod direction_state;
mod dsch_postponement;
mod events;
mod log;
mod loss;
mod metrics;
mod missing;
mod report;
mod rto;
mod transfers;
mod ue;
mod waterfall;

#[cfg(test)]
mod tests;

use umts_stack::core_network::LinkConfig;
use umts_stack::ids::{ConnectionId, FlowId, UeId};
use umts_stack::network::{CellConfig, FachMode, NetworkConfig};
use umts_units::Time;

pub use cause::{Cause, Parts};
pub use connection::Kind;
pub use log::Interval;
pub use loss::Loss;
pub use metrics::definitions;
pub use rto::{Because, Timeout};
pub use transfers::{Spent, TransferBudget, TransferInterval, TransferParts};

use crate::metrics::{ConnectionRow, RunMetrics};
use crate::open::Open;
use crate::series::Table;
use bearer::Dead;
use connection::Connection;
use report::Report;
use transfers::Transfers;
use ue::{Ue, Waiting};
use waterfall::Waterfall;

/// What to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetConfig {
    /// The window of the metrics: it opens, …
    pub from: Time,
    /// … and it ends.
    pub to: Time,
    /// Whether to keep every interval, which takes memory.
    pub keeps_intervals: bool,
    /// The connection whose segments, PDUs and states are kept, if any.
    pub waterfall: Option<ConnectionId>,
    /// Whose connections they are.
    pub whose: Whose,
}

/// Whose connections a budget is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Of simulated users, and there are no others: the metrics of the network are theirs.
    Simulated,
    /// Of simulated users beside real programs. The metrics of the network are the programs'; the tables have names of
    /// their own, since connections are numbered apart.
    BesidePrograms,
    /// Of real programs. The events tell their packets, but no windows, no timers and nothing of what is written.
    Programs,
}

impl Whose {
    fn sees_senders(self) -> bool {
        self != Whose::Programs
    }
}

/// The budget of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionBudget {
    /// Its number, unique in the run.
    pub connection: ConnectionId,
    /// The flow that opened it.
    pub flow: FlowId,
    /// The user equipment at its end.
    pub ue: UeId,
    /// Protocol of its packets.
    pub kind: Kind,
    /// It opened.
    pub opened: Time,
    /// It closed, or the run ended.
    pub until: Time,
    /// What its time was spent on.
    pub parts: Parts,
    /// What the part of it inside the window was spent on.
    pub in_window: Parts,
    /// Its intervals, if they are kept.
    pub intervals: Vec<Interval>,
    /// Its retransmission timeouts.
    pub timeouts: Vec<Timeout>,
}

/// Divides the time of connections.
#[derive(Debug)]
pub struct Budget {
    config: BudgetConfig,
    ues: Vec<Ue>,
    waiting: Waiting,
    /// Cells whose blocks wait at the Node B.
    has_queue: Vec<bool>,
    core: Vec<LinkConfig>,
    /// Links between servers and proxy.
    hops_to_proxy: usize,
    open: Open<Connection>,
    finished: Vec<ConnectionBudget>,
    /// Transfers that a proxy splits, and those of them that are over.
    transfers: Transfers,
    finished_transfers: Vec<TransferBudget>,
    report: Report,
    waterfall: Option<Waterfall>,
    /// Scratch: packets that cannot arrive any more.
    dead: Vec<Dead>,
}

impl Budget {
    /// Nothing has happened yet in `network`.
    pub fn new(config: BudgetConfig, network: &NetworkConfig) -> Self {
        let has_queue = |cell: &CellConfig| matches!(cell.fach, FachMode::PerUePush { .. });
        Budget {
            config,
            ues: network.ues.iter().map(Ue::new).collect(),
            waiting: Waiting::new(network.cells.len()),
            has_queue: network.cells.iter().map(has_queue).collect(),
            core: network.core.clone(),
            hops_to_proxy: network.proxy.as_ref().map_or(network.core.len(), |proxy| proxy.hops as usize),
            open: Open::default(),
            finished: Vec::new(),
            transfers: Transfers::default(),
            finished_transfers: Vec::new(),
            report: Report::new(match config.whose {
                Whose::Programs => network.splits_programs,
                Whose::Simulated | Whose::BesidePrograms => {
                    network.flows.iter().any(|flow| flow.split.is_some())
                }
            }),
            waterfall: config.waterfall.map(|id| Waterfall::new(id, network.ues.len())),
            dead: Vec::new(),
        }
    }

    /// Puts the budgets of connections that closed since this was last called into their rows.
    pub fn tell(&mut self, rows: &mut [ConnectionRow]) {
        let finished = std::mem::take(&mut self.finished);
        let rows = if self.config.whose.sees_senders() { rows } else { &mut [] };
        self.report.add(&self.config, finished, rows);
        self.report.add_transfers(&self.config, &std::mem::take(&mut self.finished_transfers));
    }

    /// Takes the rows of the tables of intervals and timeouts, where there are at least so many. A connection that
    /// stays open hands in its intervals by so many, too.
    pub fn take(&mut self, now: Time, rows: usize) -> Vec<Table> {
        if !self.config.keeps_intervals {
            return Vec::new();
        }
        for connection in self.open.values_mut() {
            let intervals = connection.take_intervals(rows);
            self.transfers.waited(connection.id, &intervals);
            self.report.intervals(connection.id, &intervals);
        }
        self.report.take(self.config.whose, now, rows)
    }

    /// The run ended at `end`: puts the rest into its results. Returns the tables: of intervals and timeouts, with rows only
    /// if intervals are kept, and the waterfall.
    pub fn finish(mut self, end: Time, results: &mut RunMetrics) -> Vec<Table> {
        self.close_all(end);
        self.tell(&mut results.connections);
        let mut tables = self.report.finish(&self.config, results);
        tables.extend(self.waterfall.map(|waterfall| waterfall.finish(end)));
        tables
    }

    /// The budgets of all connections that were not told: those that closed, in their order, and those open at `end`.
    pub fn into_connections(mut self, end: Time) -> Vec<ConnectionBudget> {
        self.close_all(end);
        self.finished
    }

    /// The budgets of transfers that a proxy split, as above.
    pub fn into_transfers(mut self, end: Time) -> Vec<TransferBudget> {
        self.close_all(end);
        self.finished_transfers
    }

    fn close_all(&mut self, end: Time) {
        for transfer in self.transfers.ids() {
            self.follow(end, transfer);
        }
        for mut connection in std::mem::take(&mut self.open).into_values() {
            connection.advance(&self.ues[connection.ue.index()], end);
            self.finish_connection(*connection);
        }
        let open = self.transfers.ids();
        self.finished_transfers
            .extend(open.into_iter().filter_map(|transfer| self.transfers.finish(transfer)));
    }

    fn finish_connection(&mut self, connection: Connection) {
        let budget = budget_of(connection);
        self.transfers.waited(budget.connection, &budget.intervals);
        self.finished.push(budget);
    }

    /// Time passes for a transfer: its octet is where the states of its connections say.
    #[cold]
    fn follow(&mut self, now: Time, id: ConnectionId) {
        let Some((transfer, ids, sender)) = self.transfers.of(id) else { return };
        let [first, second] = ids.map(|id| self.open.get(id).map(|connection| connection.seen(sender)));
        self.transfers.advance(now, transfer, first, second);
    }

    /// Time passes for one connection, which is then looked at.
    #[inline]
    fn at(&mut self, now: Time, id: ConnectionId) -> Option<&mut Connection> {
        if !self.transfers.is_empty() {
            self.follow(now, id);
        }
        let connection = self.open.get(id)?;
        connection.advance(&self.ues[connection.ue.index()], now);
        Some(connection)
    }

    /// Time passes for all connections of a UE.
    fn ue_at(&mut self, now: Time, ue: UeId) -> &mut Ue {
        let ue = &mut self.ues[ue.index()];
        for id in &ue.open {
            if let Some(connection) = self.open.get(*id) {
                connection.advance(ue, now);
            }
        }
        ue
    }

    fn close(&mut self, now: Time, id: ConnectionId) {
        self.at(now, id);
        if let Some(connection) = self.open.remove(id) {
            self.ues[connection.ue.index()].open.retain(|open| *open != id);
            self.finish_connection(*connection);
            self.finished_transfers.extend(self.transfers.closed(id));
        }
    }
}

fn budget_of(mut connection: Connection) -> ConnectionBudget {
    let until = connection.end_with_last_packet();
    let Connection { id, flow, ue, kind, opened, .. } = connection;
    let timeouts = connection.timeouts.all().to_vec();
    let (parts, in_window, intervals) = connection.finish();
    ConnectionBudget { connection: id, flow, ue, kind, opened, until, parts, in_window, intervals, timeouts }
}
