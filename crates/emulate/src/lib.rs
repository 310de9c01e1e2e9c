//! Way 2: the stack on the wall clock. Real programs over the kernel's own TCP, in namespaces of their own, with the
//! modelled radio access network between them.
//!
//! ```text
//!   program ─ kernel's TCP/IP ─ TUN ─┐                               ┌─ TUN ─ kernel's TCP/IP ─ server
//!   (namespace of its UE)            ├─ exchange ─ Network ─ exchange┤        (namespace of the server side)
//!                                    └───────── wall clock ──────────┘
//! ```
//!
//! With a proxy ([`Proxy`]) two more devices are between the links, in a namespace of its own: TCP takes the way as two legs.
//!
//! [`leave_host`] and [`settle`] make the world in which it runs, a [`Place`] is each host in that, [`emulate`] runs it,
//! [`replay`] runs its packets again in simulated time. A folder uses those above it, no other:
//!
//! - `packets`: what headers of real packets say, and their octets while the network carries descriptions.
//! - `devices`: namespaces, devices, addresses, routes: what the kernel is asked for.
//! - `clock`: the wall clock, and how late it was.
//! - `programs`: processes, started in the namespaces of UEs and servers.
//! - `outside`: the border of the network, with real programs or a recording of their packets beyond it.
//! - `results`: what is told beside the [recorders](umts_record::Recorders) of every run.
//!
//! `run` joins them: the network, the loop of [`umts_simulate::drive`], the recorders.
#![cfg(target_os = "linux")]

mod clock;
mod devices;
mod error;
mod outside;
mod packets;
mod programs;
mod results;
mod run;

pub use clock::lateness::Lateness;
pub use clock::probe::measure_lateness;
pub use devices::addresses::{SERVER, of_ue};
pub use devices::net_namespace::NetNamespace;
pub use devices::port::Behind;
pub use devices::proxy::DEVICES as PROXY_DEVICES;
pub use devices::tcp_settings::{Effective, TcpSettings};
pub use devices::wire::Frames;
pub use error::EmulationError;
pub use outside::exchange::Counts;
pub use packets::packet_store::Losses;
pub use programs::children::Program;
pub use programs::isolation::{leave_host, settle};
pub use programs::sandbox::{Place, build};
pub use programs::waiting::{Waiting, wait_and_become};
pub use programs::{Internet, Others, Programs, Proxy};
pub use results::fidelity::Fidelity;
pub use results::first_connection::BeforeConnection;
pub use results::meter::Reading;
pub use run::{Outcome, OutputConfig, Recorded, Results, Started, emulate, replay};
