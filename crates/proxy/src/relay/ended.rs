//! The two connections of a transfer through the proxy, and the possible outcomes.

use std::io;

/// One of the two TCP connections of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The connection to the client.
    Client,
    /// The connection to the server.
    Server,
}

impl Side {
    /// Name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// Outcome of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Both sides closed, and each received all data of the other side.
    InOrder,
    /// The client reset the connection.
    ResetByClient,
    /// The server reset the connection.
    ResetByServer,
    /// The client stopped answering for the user timeout, or for the kernel's default timeout.
    ClientGone,
    /// The server stopped answering for that time.
    ServerGone,
    /// No data were transferred for the idle timeout.
    Idle,
    /// The server refused the connection.
    Refused,
    /// The server did not answer in time, or there is no route to it.
    Unreachable,
    /// The client is the proxy itself.
    Loop,
    /// The client sent no complete SOCKS5 request in time, or an invalid one.
    BadRequest,
    /// The policy does not permit the requested destination.
    Denied,
    /// This host ran out of descriptors, memory or ports.
    Exhausted,
    /// The proxy was stopped.
    Stopped,
}

impl Ended {
    /// All outcomes.
    pub const ALL: [Ended; 13] = [
        Ended::InOrder,
        Ended::ResetByClient,
        Ended::ResetByServer,
        Ended::ClientGone,
        Ended::ServerGone,
        Ended::Idle,
        Ended::Refused,
        Ended::Unreachable,
        Ended::Loop,
        Ended::BadRequest,
        Ended::Denied,
        Ended::Exhausted,
        Ended::Stopped,
    ];

    /// Name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Ended::InOrder => "in_order",
            Ended::ResetByClient => "reset_by_client",
            Ended::ResetByServer => "reset_by_server",
            Ended::ClientGone => "client_gone",
            Ended::ServerGone => "server_gone",
            Ended::Idle => "idle",
            Ended::Refused => "refused",
            Ended::Unreachable => "unreachable",
            Ended::Loop => "loop",
            Ended::BadRequest => "bad_request",
            Ended::Denied => "denied",
            Ended::Exhausted => "exhausted",
            Ended::Stopped => "stopped",
        }
    }

    /// Maps a socket error at one side to an outcome.
    pub fn of_error(side: Side, error: &io::Error) -> Ended {
        let is_reset = matches!(
            error.kind(),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected
        );
        match (side, is_reset) {
            (Side::Client, true) => Ended::ResetByClient,
            (Side::Server, true) => Ended::ResetByServer,
            (Side::Client, false) => Ended::ClientGone,
            (Side::Server, false) => Ended::ServerGone,
        }
    }
}
