//! TCP. A [`Connection`] is one end of a connection, sans-IO. It counts bytes and sends segments.
//!
//! ```text
//!            application                         application
//!       handle_write, handle_close                poll_event
//!                │                                    ▲
//!        ┌───────▼────────┐  poll_transmit   ┌────────┴───────┐
//!        │ sender         │ ───segments────► │ receiver       │   each end has both halves;
//!        │  congestion    │ ◄─────ACKs────── │  delayed ACK   │   data segments carry ACKs
//!        │  rto           │  handle_packet   │  reordering    │
//!        └────────────────┘                  └────────────────┘
//! ```
//!
//! - [`connection`]: the state of an end and its public calls. `lifecycle` opens and closes it, and
//!   `ack_timing` and `transmission` decide when it acknowledges and which segments it sends.
//! - `sender`, `sending`, `new_data`, `acks`, `round_trips`, `expiry`: the sending half.
//!   `receiver`: the receiving half.
//! - [`congestion`]: the variants of TCP, one file each, to be compared with their RFC.
//! - [`rto`]: round-trip estimators: RFC 6298, Linux, and ns-2's in whole clock ticks.
//!
//! There are two kinds of connection ([`TcpConnection`]). Full duplex follows RFC 9293: handshake,
//! FIN in both directions, no TIME-WAIT. One way follows ns-2's agents: a SYN that is packet number
//! 0, its ACK, data, no FIN. [`congestion::Rules`] names the window rules in which ns-2 departs
//! from the RFCs.
//!
//! Each other mechanism has a file: acceptance of segments (`acceptance`), options of SYNs
//! (`options`), closed windows (`persist`, `reading`), unused congestion windows
//! (`window_validation`), spurious retransmissions (`spurious`), connections that fail (`failure`)
//! or are kept alive (`keepalive`), pacing (`pacing`), explicit congestion notification (`ecn`),
//! time-based loss detection and tail loss probes (`rack`, `tail_loss`).

mod acceptance;
mod ack_timing;
mod acks;
pub mod config;
pub mod congestion;
pub mod connection;
mod ecn;
mod events;
mod expiry;
mod failure;
mod keepalive;
mod lifecycle;
mod new_data;
mod options;
pub mod outstanding;
mod pacing;
mod persist;
mod rack;
mod reading;
mod receiver;
mod round_trips;
pub mod rto;
mod scoreboard;
mod sender;
mod sending;
mod spurious;
mod state;
mod tail_loss;
mod timers;
mod transmission;
mod window_size;
mod window_validation;

pub use crate::trace::Failure;
pub use config::{ChargedOptions, Nagle, RtoRule, SlowStart, TcpConfig, TcpConnection, TcpProfile, Variant};
pub use connection::Connection;
pub use events::TcpEvent;
pub use failure::reset_for;
pub use scoreboard::NewlySacked;
pub use state::State;
pub use window_size::WindowSize;

#[cfg(test)]
mod tests;
