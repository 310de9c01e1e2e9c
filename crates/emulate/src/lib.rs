//! Emulation: the stack runs on the wall clock. Real programs use the kernel's TCP in their own
//! network namespaces, with the modelled radio access network between them.
//!
//! ```text
//!   program ─ kernel's TCP/IP ─ TUN ─┐                               ┌─ TUN ─ kernel's TCP/IP ─ server
//!   (namespace of its UE)            ├─ exchange ─ Network ─ exchange┤        (namespace of the server side)
//!                                    └───────── wall clock ──────────┘
//! ```
//!
//! With a proxy ([`Proxy`]), two more devices connect a third namespace between the links, and each
//! TCP connection consists of two legs.
//!
//! [`leave_host`] and [`settle`] isolate the emulator from the host. Each host of the emulation is
//! a [`Place`]. [`emulate`] runs the emulation, and [`replay`] feeds its recorded packets into the
//! network in simulated time. A module uses only the modules above it in this list:
//!
//! - `packets`: headers of real packets, and their bytes while the network carries descriptions.
//! - `devices`: namespaces, devices, addresses and routes of the kernel.
//! - `faults`: orders to set and remove faults of the network.
//! - `readings`: requests for the state of a running emulation.
//! - `clock`: the wall clock and its lateness.
//! - `programs`: processes in the namespaces of UEs and servers.
//! - `outside`: the border of the network, towards real programs or a recording of their packets.
//! - `results`: results in addition to the [recorders](umts_record::Recorders) of every run.
//!
//! `run` combines the network, the event loop [`umts_simulate::drive`] and the recorders.
#![cfg(target_os = "linux")]

mod clock;
mod devices;
mod error;
mod faults;
mod outside;
mod packets;
mod programs;
mod readings;
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
pub use faults::{EmulationEnded, FaultControl, FaultInbox, FaultOrder, fault_channel};
pub use outside::exchange::Counts;
pub use packets::packet_store::Losses;
pub use programs::children::Program;
pub use programs::isolation::{leave_host, settle};
pub use programs::sandbox::{Place, build};
pub use programs::waiting::{Waiting, wait_and_become};
pub use programs::{Internet, PerProgram, Programs, Proxy};
pub use readings::{LiveInbox, LiveReading, LiveViewer, NoReading, live_channel};
pub use results::fidelity::Fidelity;
pub use results::first_connection::BeforeConnection;
pub use results::meter::Reading;
pub use run::{Outcome, OutputConfig, Recorded, Results, Started, emulate, replay};
