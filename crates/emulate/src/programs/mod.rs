//! Processes: the emulator's own, which leaves the host's namespaces, and the programs that it starts in the namespaces of
//! UEs and servers and waits for.

pub mod children;
pub mod isolation;
pub mod surroundings;

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::devices::tcp_settings::TcpSettings;
use children::Program;

/// The programs of an emulation and what is around them.
pub struct Programs {
    /// Runs in the first UE; the emulation ends with it.
    pub command: Program,
    /// Run in the second UE and those after it.
    pub ues: Vec<Program>,
    /// What is behind the server side.
    pub internet: Internet,
    /// Run at the server side.
    pub servers: Vec<Program>,
    /// Given devices in place of namespaces: the UE's, and that of the network. The command then runs where this process
    /// does, and nothing else is started.
    pub wires: Option<[String; 2]>,
    /// What the kernel's TCP is told.
    pub tcp: TcpSettings,
    /// Its other end is open while the emulation is wanted.
    pub parent: OwnedFd,
    /// Where packets are noted for a replay, if anywhere.
    pub recording: Option<PathBuf>,
    /// The process has a real-time priority.
    pub is_real_time: bool,
}

/// What is behind the server side.
pub enum Internet {
    /// Nothing: every address is its own.
    None,
    /// Nothing, but every address answers: this program does, and says a line on standard output when it begins.
    Hermetic(Program),
    /// The host's network, by translation of addresses. This program answers names, in the host's network; the sockets where
    /// it is asked, UDP and TCP, are the two last words that it gets.
    Host(Program),
}
