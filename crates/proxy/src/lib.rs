//! A split proxy (RFC 3135) for real traffic. The proxy terminates each client's TCP connection and
//! opens another one to the server, so each connection has the round-trip time, windows and losses
//! of its own half of the path.
//!
//! ```text
//!            ┌──────────── worker: a thread, an event queue, a listener ────────────┐
//!   client ──┤ socket ── pipe ──► socket: `relay::pump` up                          ├── server
//!          ◄─┤ socket ◄── pipe ── socket: `relay::pump` down                        │
//!            └──────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! - `options`: command-line options, checked; `limits`: numbers of connections and sizes of
//!   buffers; `limits_file`, `live_limits`: limits that SIGHUP reads again.
//! - `sockets`: socket options of each side, and the values that the kernel reports.
//! - `interception`: connections to other hosts that the kernel redirects to the proxy (TPROXY).
//! - `policy`: destinations that clients may reach; `notices`: notices to users at the start.
//! - `outbound`: connections to servers.
//! - `relay`: copies data between two sockets; independent of `connection` and `worker`.
//! - `handshake`: destinations that clients request (SOCKS5), and the PROXY protocol to servers.
//! - `connection`: one connection from accept to its end; `worker`: a thread with many connections.
//! - `telemetry`: counters, metrics, the log.
//!
//! [`run()`] starts and ends them.
#![cfg(target_os = "linux")]

mod connection;
mod error;
mod handshake;
mod interception;
mod limits;
mod limits_file;
mod live_limits;
mod notices;
mod options;
mod outbound;
mod policy;
mod relay;
mod run;
mod service;
mod signals;
mod sockets;
mod telemetry;
mod worker;

pub use error::ProxyError;
pub use interception::{
    Cleaned, IfDead, Interception, KeptPrivileges, PathSettings, RouteSettings, Selection, Slot,
    active_slots, clean, drop_privileges, leftover_slots,
};
pub use limits::Limits;
pub use options::Options;
pub use policy::{Destinations, Network, Policy};
pub use relay::ended::Ended;
pub use run::{Started, Summary, run};
pub use sockets::Effective;
pub use telemetry::counts::{DirectionTotal, Totals};
