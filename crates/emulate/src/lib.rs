//! Way 2: the stack on the wall clock. Real programs over the kernel's own TCP, in namespaces of their own, with the
//! modelled radio access network between them.
//!
//! ```text
//!   program ─ kernel's TCP/IP ─ TUN ─┐                               ┌─ TUN ─ kernel's TCP/IP ─ server
//!   (namespace of its UE)            ├─ exchange ─ Network ─ exchange┤        (namespace of the server side)
//!                                    └───────── wall clock ──────────┘
//! ```
//!
//! [`leave_host`] and [`settle`] make the world in which it runs, [`emulate`] runs it, [`replay`] runs its packets again in
//! simulated time.
#![cfg(target_os = "linux")]

mod addresses;
mod cargo;
mod children;
mod digest;
mod exchange;
mod fidelity;
mod foreign;
mod frames;
mod gauge;
mod isolation;
mod lateness;
mod live;
mod masquerade;
mod net_namespace;
mod netlink;
mod port;
mod probe;
mod programs_budget;
mod recording;
mod replay;
mod round_trips;
mod run;
mod surroundings;
mod tcp_settings;
mod topology;
mod transport;
mod tun;
mod uplink;
mod wall_clock;
mod wire;

pub use addresses::{SERVER, of_ue};
pub use cargo::Losses;
pub use children::Program;
pub use exchange::Counts;
pub use fidelity::Fidelity;
pub use gauge::Reading;
pub use isolation::{leave_host, settle};
pub use lateness::Lateness;
pub use probe::measure_lateness;
pub use run::{EmulationError, Internet, Keep, Outcome, Programs, Results, Started, emulate, replay};
pub use tcp_settings::{Effective, TcpSettings};
pub use wire::Frames;
