//! The two connections of a split transfer, and the proxy's end of each.

use super::Side;
use crate::ids::ConnectionId;
use crate::tcp::Connection;

/// The connections of a split transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitConnections {
    /// Between the server and the proxy.
    pub server: ConnectionId,
    /// Between the proxy and the UE.
    pub radio: ConnectionId,
}

impl SplitConnections {
    /// The connection on a side of the proxy.
    pub fn on(self, side: Side) -> ConnectionId {
        if side == Side::Server { self.server } else { self.radio }
    }
}

/// The proxy's ends of a split transfer.
#[derive(Debug)]
pub struct ProxyEnds<'a> {
    /// Its end of the connection to the server, where it acts as the UE.
    pub server: &'a mut Connection,
    /// Its end of the connection to the UE, where it acts as the server.
    pub radio: &'a mut Connection,
}

impl ProxyEnds<'_> {
    /// The end on a side of the proxy.
    pub fn on(&mut self, side: Side) -> &mut Connection {
        if side == Side::Server { self.server } else { self.radio }
    }

    /// Whether the end on a side of the proxy is established.
    pub fn is_established(&self, side: Side) -> bool {
        if side == Side::Server { self.server.is_established() } else { self.radio.is_established() }
    }
}
