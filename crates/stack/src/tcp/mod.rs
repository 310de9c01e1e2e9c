//! TCP: one [`Connection`] is one end of a connection, sans-IO, counted in bytes but sent in segments.
//!
//! ```text
//!            application                         application
//!       handle_write, handle_close                poll_event
//!                │                                    ▲
//!        ┌───────▼────────┐  poll_transmit   ┌────────┴───────┐
//!        │ sender         │ ───segments────► │ receiver       │   each end has both halves;
//!        │  congestion    │ ◄─────ACKs────── │  delayed ACK   │   an ACK rides on data that goes its way
//!        │  rto           │  handle_packet   │  reordering    │
//!        └────────────────┘                  └────────────────┘
//! ```
//!
//! - [`connection`]: opening, closing and the calls from outside; [`sender`](connection) and receiver halves beside it.
//! - [`congestion`]: the versions of TCP, one file each, to be held against their RFC.
//! - [`rto`]: round-trip estimators, RFC 6298, Linux' and ns-2's whole clock ticks.
//!
//! Two kinds of connection ([`TcpConfig::one_way`]): full duplex as RFC 9293 has it (handshake, FIN both ways, no
//! TIME-WAIT), and one way as ns-2's agents have it (a SYN that is packet number 0, its ACK, data, no FIN). Where
//! ns-2 departs from the RFCs in the window rules, [`congestion::Rules`] names the difference.
//!
//! One file for each mechanism beside these: which segments are taken (`acceptance`), what SYNs agree on ([`options`](self)), closed windows (`persist`, `reading`),
//! needless retransmissions (`spurious`), connections that fail (`failure`) or are kept alive (`keepalive`), rates of their own (`pacing`),
//! explicit congestion notification (`ecn`), losses told by time and probes for a lost tail (`rack`, `tail_loss`).

mod acceptance;
mod acks;
pub mod config;
pub mod congestion;
pub mod connection;
mod ecn;
mod expiry;
mod failure;
mod keepalive;
mod options;
pub mod outstanding;
mod pacing;
mod persist;
mod rack;
mod reading;
mod receiver;
pub mod rto;
mod scoreboard;
mod sender;
mod spurious;
mod state;
mod tail_loss;
mod timers;

pub use crate::trace::Failure;
pub use config::{
    ChargedOptions, DEFAULT_MSS, FackConfig, Keepalive, Nagle, NewRenoConfig, Retries, RtoConfig, RtoRule,
    SlowStart, SpuriousConfig, TcpConfig, Variant, VegasConfig,
};
pub use congestion::CubicConfig;
pub use connection::{Connection, TcpEvent};
pub use failure::reset_for;
pub use scoreboard::Noted;
pub use state::State;

#[cfg(test)]
mod tests;
