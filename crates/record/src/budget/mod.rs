//! The time budget: assigns one cause to every instant of every TCP connection, from trace events
//! alone.
//!
//! ```text
//!   events/   ─► ue.rs, bearer.rs, missing.rs   positions of packets in the radio access network
//!                harq.rs                       repetitions and reordering below RLC
//!                capacity.rs, dsch_postponement.rs   radio resources that the UE lacks
//!          ─► direction_state.rs, loss.rs   other positions, losses, windows, data written and sent
//!               │
//!          ─► connection/        the one packet that the connection waits for, and so the cause
//!               │  ▲
//!               ▼  └ rto.rs      expiries of retransmission timers: whether needed, and why
//!             log.rs             intervals, sums ─► report.rs: results
//!               │
//!          ─► transfers.rs       two connections joined by a proxy: which of them delays the receiver
//! ```
//!
//! Times are integers in nanoseconds, and each interval begins where the previous one ends. The
//! parts of a connection therefore add up exactly to its duration. Definitions:
//! `docs/reference/time-budget.md`.

mod bearer;
mod capacity;
mod cause;
mod connection;
mod direction_state;
mod dsch_postponement;
mod events;
mod harq;
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
use log::FinishedLog;
pub use log::Interval;
pub use loss::Loss;
pub use metrics::definitions;
pub use rto::{Timeout, TimeoutReason};
pub use transfers::{TransferBudget, TransferInterval, TransferPart, TransferParts};

use crate::metrics::{ConnectionRow, RunMetrics};
use crate::open::Open;
use crate::series::Table;
use crate::timeline::Timeline;
use bearer::Undeliverable;
pub(crate) use bearer::statuses;
use connection::Connection;
use report::Report;
use transfers::{TransferLegs, Transfers};
use ue::{Ue, WaitingUes};
use waterfall::Waterfall;

/// Configuration of a [`Budget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetConfig {
    /// Start of the window of the metrics.
    pub from: Time,
    /// End of the window of the metrics.
    pub to: Time,
    /// Whether to keep every interval, which takes memory.
    pub keeps_intervals: bool,
    /// The connection of the recorded segments, PDUs and states, if any.
    pub waterfall: Option<ConnectionId>,
    /// Whether to record the timeline of all connections and UEs.
    pub timeline: bool,
    /// Origin of the connections.
    pub origin: ConnectionOrigin,
}

/// Origin of the connections of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionOrigin {
    /// Simulated users, without real programs. The metrics of the network are computed from them.
    Simulated,
    /// Simulated users in a run with real programs. The metrics of the network are computed from
    /// the programs. The tables of simulated users have their own names, because their connections
    /// are numbered separately.
    BesidePrograms,
    /// Real programs. Events contain their packets, but no windows, timers or written data.
    Programs,
}

impl ConnectionOrigin {
    /// Whether events contain the state of senders: windows, timers and written data.
    fn knows_senders(self) -> bool {
        self != ConnectionOrigin::Programs
    }
}

/// The budget of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionBudget {
    /// Number of the connection, unique in the run.
    pub connection: ConnectionId,
    /// The flow that opened the connection.
    pub flow: FlowId,
    /// The user equipment at one end of the connection.
    pub ue: UeId,
    /// Protocol of the packets.
    pub kind: Kind,
    /// Time of opening.
    pub opened: Time,
    /// Time of closing, or end of the run.
    pub until: Time,
    /// Time by cause.
    pub parts: Parts,
    /// Time inside the window by cause.
    pub in_window: Parts,
    /// Intervals, if they are kept.
    pub intervals: Vec<Interval>,
    /// Retransmission timeouts.
    pub timeouts: Vec<Timeout>,
}

/// Divides the time of connections among causes.
#[derive(Debug)]
pub struct Budget {
    config: BudgetConfig,
    ues: Vec<Ue>,
    waiting: WaitingUes,
    /// Whether FACH blocks wait in queues of the Node B, by cell.
    has_fach_queue: Vec<bool>,
    /// Links of the fixed network, from the servers to the RNC.
    core: Vec<LinkConfig>,
    /// Number of links between servers and proxy.
    hops_to_proxy: usize,
    open: Open<Connection>,
    finished: Vec<ConnectionBudget>,
    /// Open transfers that a proxy splits.
    transfers: Transfers,
    finished_transfers: Vec<TransferBudget>,
    report: Report,
    waterfall: Option<Waterfall>,
    timeline: Option<Box<Timeline>>,
    /// Scratch buffer: packets that cannot arrive any more.
    undeliverable: Vec<Undeliverable>,
}

impl Budget {
    /// A budget of `network` before its first event.
    pub fn new(config: BudgetConfig, network: &NetworkConfig) -> Self {
        let has_fach_queue = |cell: &CellConfig| matches!(cell.fach, FachMode::PerUePush { .. });
        Budget {
            config,
            ues: network.ues.iter().map(Ue::new).collect(),
            waiting: WaitingUes::new(network.cells.len()),
            has_fach_queue: network.cells.iter().map(has_fach_queue).collect(),
            core: network.core.clone(),
            hops_to_proxy: network.proxy.as_ref().map_or(network.core.len(), |proxy| proxy.hops as usize),
            open: Open::default(),
            finished: Vec::new(),
            transfers: Transfers::default(),
            finished_transfers: Vec::new(),
            report: Report::new(match config.origin {
                ConnectionOrigin::Programs => network.splits_programs,
                ConnectionOrigin::Simulated | ConnectionOrigin::BesidePrograms => {
                    network.flows.iter().any(|flow| flow.split.is_some())
                }
            }),
            waterfall: config.waterfall.map(|id| Waterfall::new(id, network.ues.len())),
            timeline: config.timeline.then(|| Box::new(Timeline::new(network))),
            undeliverable: Vec::new(),
        }
    }

    /// Adds the budgets of connections that closed since the last call to their rows.
    pub fn report_finished(&mut self, rows: &mut [ConnectionRow]) {
        let finished = std::mem::take(&mut self.finished);
        let rows = if self.config.origin.knows_senders() { rows } else { &mut [] };
        self.report.add(&self.config, finished, rows);
        self.report.add_transfers(&self.config, &std::mem::take(&mut self.finished_transfers));
    }

    /// Takes the rows of the tables of intervals and timeouts that have at least `rows` rows. An
    /// open connection also contributes its settled intervals if there are more than `rows`.
    pub fn take(&mut self, now: Time, rows: usize) -> Vec<Table> {
        if !self.config.keeps_intervals {
            return Vec::new();
        }
        for connection in self.open.values_mut() {
            let intervals = connection.take_intervals(rows);
            self.transfers.waited(connection.id, &intervals);
            self.report.intervals(connection.id, &intervals);
        }
        let mut tables = self.report.take(self.config.origin, now, rows);
        if let Some(timeline) = &mut self.timeline {
            tables.extend(timeline.take(now, crate::CHUNK_ROWS));
        }
        tables
    }

    /// Ends the run at `end` and adds the remaining budgets to the results. Returns the tables of
    /// intervals and timeouts, which have rows only if intervals are kept, and the waterfall.
    pub fn finish(mut self, end: Time, results: &mut RunMetrics) -> Vec<Table> {
        self.close_all(end);
        self.report_finished(&mut results.connections);
        let mut tables = self.report.finish(&self.config, results);
        tables.extend(self.waterfall.map(|waterfall| waterfall.finish(end)));
        tables.extend(self.timeline.into_iter().flat_map(|timeline| timeline.finish()));
        tables
    }

    /// The budgets of all connections not yet reported: closed ones in the order of closing, then
    /// those open at `end`.
    pub fn into_connections(mut self, end: Time) -> Vec<ConnectionBudget> {
        self.close_all(end);
        self.finished
    }

    /// The budgets of the transfers that a proxy split: finished ones in the order of their end,
    /// then those open at `end`.
    pub fn into_transfers(mut self, end: Time) -> Vec<TransferBudget> {
        self.close_all(end);
        self.finished_transfers
    }

    /// Finishes the connections and transfers that are open at the end of the run.
    fn close_all(&mut self, end: Time) {
        for transfer in self.transfers.ids() {
            self.advance_transfer(end, transfer);
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

    /// Advances a transfer to `now`. The position of its octet follows from the states of its
    /// connections.
    #[cold]
    fn advance_transfer(&mut self, now: Time, id: ConnectionId) {
        let Some(TransferLegs { transfer, connections, sender }) = self.transfers.of(id) else { return };
        let [first, second] =
            connections.map(|id| self.open.get(id).map(|connection| connection.progress(sender)));
        self.transfers.advance(now, transfer, first, second);
    }

    /// Logs the waits of a connection up to `now`, before an event changes it. Returns the
    /// connection.
    #[inline]
    fn connection_at(&mut self, now: Time, id: ConnectionId) -> Option<&mut Connection> {
        if !self.transfers.is_empty() {
            self.advance_transfer(now, id);
        }
        let connection = self.open.get(id)?;
        connection.advance(&self.ues[connection.ue.index()], now);
        Some(connection)
    }

    /// Logs the waits of all connections of a UE up to `now`, before an event changes the UE.
    /// Returns the UE.
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
        self.connection_at(now, id);
        if let Some(connection) = self.open.remove(id) {
            self.ues[connection.ue.index()].open.retain(|open| *open != id);
            self.finish_connection(*connection);
            self.finished_transfers.extend(self.transfers.closed(id));
        }
    }
}

/// Converts a closed connection into its result.
fn budget_of(mut connection: Connection) -> ConnectionBudget {
    let until = connection.end_with_last_packet();
    let Connection { id, flow, ue, kind, opened, .. } = connection;
    let timeouts = connection.timeouts.all().to_vec();
    let FinishedLog { parts, in_window, intervals } = connection.finish();
    ConnectionBudget { connection: id, flow, ue, kind, opened, until, parts, in_window, intervals, timeouts }
}
