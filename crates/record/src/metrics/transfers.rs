//! Transfers that a proxy splits or lets pass: their times, and the proxy's buffers.

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
    pub split: u64,
    pub passed: u64,
    /// For the direction of the flow's data in split transfers: time open, and octets times time.
    pub open: Duration,
    pub buffered: u128,
    pub most_buffered: u64,
    pub stalled: Duration,
    pub most_ahead: u64,
    pub lost: u64,
    /// Retransmissions and timeouts on the server's leg and on the radio leg.
    pub legs: [LegTotals; 2],
    /// Actions on packets of transfers that are not split, in the order of
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
    last: ConnectionId,
    last_delivery: Option<Time>,
    /// Octets that the proxy has received from the sender and that have not reached the receiver.
    ahead: u64,
    buffer: u64,
    is_full: bool,
    /// Time up to which buffer and stall are added up.
    settled: Time,
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
                self.settle(at, *transfer, *direction, |transfer| {
                    (transfer.buffer, transfer.is_full) = (*octets, *is_full);
                });
            }
            TraceEvent::ProxyLost { transfer, direction, octets } => {
                if self.window.contains(at) {
                    self.totals.lost += octets;
                }
                self.settle(at, *transfer, *direction, |transfer| {
                    (transfer.buffer, transfer.is_full) = (0, false);
                });
            }
            TraceEvent::ProxyHelped { help, .. } if self.window.contains(at) => {
                self.totals.helped[*help as usize] += 1;
            }
            TraceEvent::ConnectionClosed { connection } => self.closed(at, *connection, true),
            TraceEvent::ConnectionFailed { connection, .. } => self.closed(at, *connection, false),
            _ => {}
        }
    }

    /// The totals of a run that ended at `end`.
    pub fn finish(mut self, end: Time) -> TransferTotals {
        for transfer in std::mem::take(&mut self.open).into_values() {
            self.fold(end, transfer, false);
        }
        self.totals
    }

    fn opened(
        &mut self,
        at: Time,
        connection: ConnectionId,
        transfer: ConnectionId,
        leg: ProxyLeg,
        sender: End,
    ) {
        let direction = sender.sends();
        let brings = match leg {
            ProxyLeg::Whole => true,
            ProxyLeg::Server => direction == Direction::Uplink,
            ProxyLeg::Radio => direction == Direction::Downlink,
        };
        let open = self.open.entry(transfer).or_insert(Transfer {
            direction,
            leg,
            opened: at,
            last: connection,
            last_delivery: None,
            ahead: 0,
            buffer: 0,
            is_full: false,
            settled: self.window.clamp(at),
        });
        if brings {
            open.last = connection;
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
        let found = self.open.get_mut(&id).filter(|of| octets > 0 && of.direction == direction);
        let Some(transfer) = found else { return };
        if connection == transfer.last {
            transfer.last_delivery = Some(at);
            transfer.ahead = transfer.ahead.saturating_sub(octets);
        } else {
            transfer.ahead += octets;
            if self.window.contains(at) {
                self.totals.most_ahead = self.totals.most_ahead.max(transfer.ahead);
            }
        }
    }

    fn settle(
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
                self.totals.most_buffered = self.totals.most_buffered.max(transfer.buffer);
            }
        }
    }

    fn closed(&mut self, at: Time, connection: ConnectionId, is_whole: bool) {
        let before = ConnectionId(connection.0.saturating_sub(1));
        let is_last = |transfer: &&Transfer| transfer.last == connection;
        let id = [connection, before].into_iter().find(|id| self.open.get(id).filter(is_last).is_some());
        if let Some(transfer) = id.and_then(|id| self.open.remove(&id)) {
            self.fold(at, transfer, is_whole);
        }
    }

    fn fold(&mut self, at: Time, mut transfer: Transfer, is_whole: bool) {
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
        if let Some(last) =
            transfer.last_delivery.filter(|last| is_whole && transfer.opened >= from && *last < to)
        {
            self.totals.times.add(last - transfer.opened);
        }
    }
}

impl TransferTotals {
    fn settle(&mut self, transfer: &mut Transfer, at: Time) {
        let elapsed = at - transfer.settled;
        transfer.settled = at;
        self.open += elapsed;
        self.buffered += u128::from(transfer.buffer) * u128::from(elapsed.as_nanos());
        if transfer.is_full {
            self.stalled += elapsed;
        }
    }
}
