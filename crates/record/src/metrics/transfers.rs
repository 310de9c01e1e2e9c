//! Metrics of transfers in a network with a proxy: their times, and the content of the proxy's
//! buffers.
//!
//! A proxy either splits a transfer into two connections, between server and proxy and between
//! proxy and UE, or lets it pass as one connection. A transfer has the number of its connection to
//! the server. The connection to the UE (the radio leg) has the next number.

use std::collections::BTreeMap;

use umts_stack::ids::{ConnectionId, Direction, End, ProxyLeg};
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use super::totals::{Intervals, LegTotals};
use super::window::Window;

/// Sums from which the metrics of a proxy are computed.
#[derive(Debug, Default)]
pub(super) struct TransferTotals {
    /// Time from the SYN to the last octet, of transfers that are completely in the window.
    pub times: Intervals,
    /// Number of transfers that the proxy split into two connections.
    pub split: u64,
    /// Number of transfers with one connection from end to end.
    pub passed: u64,
    /// Time for which split transfers were open. This and the next fields describe the direction of
    /// the flow's data.
    pub open: Duration,
    /// Octets in the proxy's buffer times nanoseconds, summed over split transfers.
    pub buffered: u128,
    /// Maximum number of octets in the proxy's buffer for one transfer.
    pub max_buffered: u64,
    /// Time for which the proxy's buffer for a transfer was full.
    pub stalled: Duration,
    /// Maximum number of octets of one transfer that the proxy had received and the receiver had
    /// not.
    pub max_ahead: u64,
    /// Octets that the proxy had acknowledged but that never reached the receiver.
    pub lost: u64,
    /// Retransmissions and timeouts on the server's leg and on the radio leg.
    pub legs: [LegTotals; 2],
    /// Number of actions on packets of transfers that are not split, in the order of
    /// [`Help`](umts_stack::trace::Help).
    pub helped: [u64; 4],
}

/// An open transfer. Only the direction of the flow's data is recorded.
#[derive(Debug)]
struct Transfer {
    direction: Direction,
    leg: ProxyLeg,
    opened: Time,
    /// The connection that delivers the data to the receiver. Its number differs from the
    /// transfer's if the transfer is split.
    last_connection: ConnectionId,
    last_delivery: Option<Time>,
    /// Octets that the proxy has received from the sender and that have not reached the receiver.
    ahead: u64,
    /// Octets in the proxy's buffer.
    buffer: u64,
    /// Whether the proxy's buffer is full, so that the sender must wait.
    is_full: bool,
    /// Time up to which the totals contain the octets in the buffer and the stalls.
    settled_at: Time,
}

/// How a transfer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// All data arrived.
    Complete,
    /// The transfer failed, or the run ended before it.
    Incomplete,
}

/// Computes totals from the events of transfers.
#[derive(Debug)]
pub(super) struct TransferRecorder {
    pub window: Window,
    open: BTreeMap<ConnectionId, Transfer>,
    totals: TransferTotals,
}

impl TransferRecorder {
    pub fn new(window: Window) -> Self {
        TransferRecorder { window, open: BTreeMap::new(), totals: TransferTotals::default() }
    }

    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { connection, transfer, leg, sender, .. } => {
                self.opened(at, *connection, *transfer, *leg, *sender);
            }
            TraceEvent::ProxyBuffer { transfer, direction, octets, is_full } => {
                self.update(at, *transfer, *direction, |transfer| {
                    (transfer.buffer, transfer.is_full) = (*octets, *is_full);
                });
            }
            TraceEvent::ProxyLost { transfer, direction, octets } => {
                if self.window.contains(at) {
                    self.totals.lost += octets;
                }
                self.update(at, *transfer, *direction, |transfer| {
                    (transfer.buffer, transfer.is_full) = (0, false);
                });
            }
            TraceEvent::ProxyHelped { help, .. } if self.window.contains(at) => {
                self.totals.helped[*help as usize] += 1;
            }
            TraceEvent::ConnectionClosed { connection } => self.closed(at, *connection, Outcome::Complete),
            TraceEvent::ConnectionFailed { connection, .. } => {
                self.closed(at, *connection, Outcome::Incomplete)
            }
            _ => {}
        }
    }

    /// The totals of a run that ended at `end`.
    pub fn finish(mut self, end: Time) -> TransferTotals {
        for transfer in std::mem::take(&mut self.open).into_values() {
            self.finish_transfer(end, transfer, Outcome::Incomplete);
        }
        self.totals
    }

    /// A connection opens. Registers its transfer with the first connection, and stores which
    /// connection delivers to the receiver.
    fn opened(
        &mut self,
        at: Time,
        connection: ConnectionId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        sender: End,
    ) {
        let direction = sender.sends();
        let delivers_to_receiver = match leg {
            ProxyLeg::Whole => true,
            ProxyLeg::Server => direction == Direction::Uplink,
            ProxyLeg::Radio => direction == Direction::Downlink,
        };
        let open = self.open.entry(transfer).or_insert(Transfer {
            direction,
            leg,
            opened: at,
            last_connection: connection,
            last_delivery: None,
            ahead: 0,
            buffer: 0,
            is_full: false,
            settled_at: self.window.clamp(at),
        });
        if delivers_to_receiver {
            open.last_connection = connection;
        }
    }

    /// A segment of `connection` in this direction brought `octets` octets into order.
    pub fn delivered(
        &mut self,
        at: Time,
        connection: ConnectionId,
        leg: ProxyLeg,
        direction: Direction,
        octets: u64,
    ) {
        let id = match leg {
            ProxyLeg::Radio => ConnectionId(connection.0 - 1),
            ProxyLeg::Whole | ProxyLeg::Server => connection,
        };
        let open = self.open.get_mut(&id).filter(|transfer| octets > 0 && transfer.direction == direction);
        let Some(transfer) = open else { return };
        if connection == transfer.last_connection {
            transfer.last_delivery = Some(at);
            transfer.ahead = transfer.ahead.saturating_sub(octets);
        } else {
            transfer.ahead += octets;
            if self.window.contains(at) {
                self.totals.max_ahead = self.totals.max_ahead.max(transfer.ahead);
            }
        }
    }

    /// Adds up the buffer of a transfer until `at`, then applies `change` to the transfer.
    fn update(
        &mut self,
        at: Time,
        id: ConnectionId,
        direction: Direction,
        change: impl FnOnce(&mut Transfer),
    ) {
        let at = self.window.clamp(at);
        if let Some(transfer) = self.open.get_mut(&id).filter(|transfer| transfer.direction == direction) {
            self.totals.settle(transfer, at);
            change(transfer);
            if self.window.contains(at) {
                self.totals.max_buffered = self.totals.max_buffered.max(transfer.buffer);
            }
        }
    }

    /// A connection ended. The transfer ends with the connection that delivers to the receiver.
    fn closed(&mut self, at: Time, connection: ConnectionId, outcome: Outcome) {
        let previous_id = ConnectionId(connection.0.saturating_sub(1));
        let is_last = |transfer: &&Transfer| transfer.last_connection == connection;
        let id = [connection, previous_id].into_iter().find(|id| self.open.get(id).filter(is_last).is_some());
        if let Some(transfer) = id.and_then(|id| self.open.remove(&id)) {
            self.finish_transfer(at, transfer, outcome);
        }
    }

    /// Adds an ended transfer to the totals, unless it was outside the window. Its time counts if
    /// it is complete, opened in the window, and delivered its last octet in the window.
    fn finish_transfer(&mut self, at: Time, mut transfer: Transfer, outcome: Outcome) {
        let (from, to) = (self.window.from, self.window.to());
        if transfer.opened >= to || at < from {
            return;
        }
        if transfer.leg == ProxyLeg::Whole {
            self.totals.passed += 1;
        } else {
            self.totals.split += 1;
            self.totals.settle(&mut transfer, self.window.clamp(at));
        }
        if outcome == Outcome::Complete
            && transfer.opened >= from
            && let Some(last_delivery) = transfer.last_delivery.filter(|last| *last < to)
        {
            self.totals.times.add(last_delivery - transfer.opened);
        }
    }
}

impl TransferTotals {
    /// Adds the time of a transfer since its last change, and its buffer's content in this time.
    fn settle(&mut self, transfer: &mut Transfer, at: Time) {
        let elapsed = at - transfer.settled_at;
        transfer.settled_at = at;
        self.open += elapsed;
        self.buffered += u128::from(transfer.buffer) * u128::from(elapsed.as_nanos());
        if transfer.is_full {
            self.stalled += elapsed;
        }
    }
}
