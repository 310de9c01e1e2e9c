//! How connections end.

use std::io;

/// Which of the two TCP connections of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// To the client.
    Client,
    /// To the server.
    Server,
}

impl Side {
    /// As users read it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Client => "client",
            Side::Server => "server",
        }
    }
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Both sides closed, and each got all that the other one sent.
    InOrder,
    /// The client reset it.
    ResetByClient,
    /// The server reset it.
    ResetByServer,
    /// The client answered no more, for the user timeout or what the kernel has in its place.
    ClientGone,
    /// Likewise the server.
    ServerGone,
    /// Nothing was sent for the idle timeout.
    Idle,
    /// The server refused it.
    Refused,
    /// The server did not answer in time, or there is no way to it.
    Unreachable,
    /// It came from the proxy itself.
    Loop,
    /// The client did not say where to in time, or not in the way of SOCKS5.
    BadRequest,
    /// The client may not reach where it wants to go.
    Denied,
    /// Descriptors, memory or ports of this host ran out.
    Exhausted,
    /// The proxy was ended.
    Stopped,
}

impl Ended {
    /// All of them.
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

    /// As logs and metrics have it.
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

    /// What an error at one side means.
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
