//! The events that one end of a connection reports to its application. The parts of the end report
//! them here while they process a packet or a timeout, and the application polls them afterwards.

use super::connection::Connection;
use crate::trace::Failure;

/// Events for the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpEvent {
    /// The handshake is complete.
    Established,
    /// The number of further bytes that can be read, in order.
    Delivered(u64),
    /// The other end has sent all its data. Call [`Connection::handle_close`] when this end has,
    /// too.
    PeerClosed,
    /// Everything written so far is acknowledged.
    AllAcked,
    /// The connection was refused, reset or given up. [`TcpEvent::Closed`] follows.
    Failed(Failure),
    /// This end is closed. A one-way connection has no FIN: its sender is closed when everything is
    /// acknowledged and the application writes no more.
    Closed,
}

/// Events not yet polled. `Delivered` adds up. No other event can occur twice before it is polled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Events {
    /// Payload that became readable, in bytes.
    delivered: u64,
    /// Whether any of the fields below is set. Most polls find only `delivered`.
    has_others: bool,
    established: bool,
    peer_closed: bool,
    all_acked: bool,
    failed: Option<Failure>,
    closed: bool,
}

impl Events {
    #[inline]
    pub fn report_delivered(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    pub fn report_established(&mut self) {
        self.established = true;
        self.has_others = true;
    }

    pub fn report_peer_closed(&mut self) {
        self.peer_closed = true;
        self.has_others = true;
    }

    pub fn report_all_acked(&mut self) {
        self.all_acked = true;
        self.has_others = true;
    }

    /// Reports the failure and the end of the connection.
    pub fn report_failed(&mut self, failure: Failure) {
        self.failed = Some(failure);
        self.report_closed();
    }

    pub fn report_closed(&mut self) {
        self.closed = true;
        self.has_others = true;
    }
}

impl Connection {
    /// Returns the next event for the application.
    #[inline]
    pub fn poll_event(&mut self) -> Option<TcpEvent> {
        if self.events.has_others {
            return self.poll_other_event();
        }
        (self.events.delivered > 0).then(|| TcpEvent::Delivered(std::mem::take(&mut self.events.delivered)))
    }

    /// Like `poll_event`, if there are events other than delivered data. The order is the order of
    /// a connection's life.
    #[inline(never)]
    fn poll_other_event(&mut self) -> Option<TcpEvent> {
        let events = &mut self.events;
        if std::mem::take(&mut events.established) {
            Some(TcpEvent::Established)
        } else if events.delivered > 0 {
            Some(TcpEvent::Delivered(std::mem::take(&mut events.delivered)))
        } else if std::mem::take(&mut events.peer_closed) {
            Some(TcpEvent::PeerClosed)
        } else if std::mem::take(&mut events.all_acked) {
            Some(TcpEvent::AllAcked)
        } else if let Some(failure) = events.failed.take() {
            Some(TcpEvent::Failed(failure))
        } else if std::mem::take(&mut events.closed) {
            Some(TcpEvent::Closed)
        } else {
            events.has_others = false;
            None
        }
    }
}
