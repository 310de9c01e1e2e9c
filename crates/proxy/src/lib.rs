//! A split proxy (RFC 3135) for real traffic: every client's TCP connection ends here, and another one goes on to the
//! server, so each has the round trips, the windows and the losses of its own half of the path.
//!
//! ```text
//!            ┌──────────── worker: a thread, an event queue, a listener ────────────┐
//!   client ──┤ socket ── pipe ──► socket: `relay::way` up                           ├── server
//!          ◄─┤ socket ◄── pipe ── socket: `relay::way` down                         │
//!            └──────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! - `options`: what was typed, checked; `room`: how many connections that leaves room for.
//! - `sockets`: what TCP is told at each side, and what it then does.
//! - `interception`: connections for others, led here by the kernel.
//! - `policy`: which destinations clients may reach; `notices`: what users should know at the start.
//! - `departure`: connections to servers.
//! - `relay`: two sockets joined; knows nothing of where they come from.
//! - `asked`: what clients say of where they want to go, and what servers are told of clients.
//! - `connection`: one from its SYN to its end; `worker`: many of them.
//! - `told`: counts, metrics, the log.
//!
//! [`run()`] puts them together.
#![cfg(target_os = "linux")]

mod connection;
mod error;
mod handshake;
mod interception;
mod limits;
mod notices;
mod options;
mod outbound;
mod policy;
mod relay;
mod run;
mod signals;
mod sockets;
mod telemetry;
mod worker;

pub use error::ProxyError;
pub use interception::{
    Cleaned, IfDead, Interception, Least, Manner, PathSettings, Selection, Slot, at_work, clean, lay_down,
    left_behind,
};
pub use limits::Limits;
pub use options::Options;
pub use policy::{Destinations, Network, Policy};
pub use relay::ended::Ended;
pub use run::{Started, Summary, run};
pub use sockets::Effective;
pub use telemetry::counts::{Totals, WayTotal};
