//! Processes: the emulator's own, which leaves the host's namespaces, and the programs, which wait behind walls of their own
//! until the network is there.

pub mod children;
pub mod isolation;
pub mod sandbox;
pub mod surroundings;
pub mod waiting;

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::devices::net_namespace::NetNamespace;
use crate::devices::tcp_settings::TcpSettings;
use children::Program;
use waiting::Waiting;

/// The programs of an emulation and what is around them.
pub struct Programs {
    /// The networks of the server side and of each UE, in their order; none between given devices.
    pub networks: Vec<NetNamespace>,
    /// Ends the TCP of the programs between the links, if it is to.
    pub proxy: Option<Proxy>,
    /// Runs in the first UE; the emulation ends with it.
    pub command: Waiting,
    /// Run in the second UE and those after it.
    pub ues: Vec<Waiting>,
    /// The emulation ends when the programs of all UEs have ended, and not with the command alone.
    pub waits: bool,
    /// What is behind the server side.
    pub internet: Internet,
    /// Run at the server side.
    pub servers: Vec<Waiting>,
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
    /// Flows of the scenario that are of a program's UE are simulated beside it; else they never begin.
    pub keeps_flows: bool,
}

/// What ends the programs' TCP, in a namespace of its own.
pub struct Proxy {
    /// It says a line on standard output when it begins, and intercepts what comes by the [devices](crate::PROXY_DEVICES).
    pub program: Program,
    /// What the kernel's TCP is told there, towards the servers and towards the users.
    pub sides: [TcpSettings; 2],
}

/// What is behind the server side.
pub enum Internet {
    /// Nothing: every address is its own.
    None,
    /// Nothing, but every address answers: this program does. It says a line on standard output when names are answered; a
    /// line on its standard input has it take the ports that no server of the user's took, and it says another line then.
    Hermetic(Program),
    /// The host's network, by translation of addresses.
    Host {
        /// Answers names, in the host's network; the sockets where it is asked, UDP and TCP, are the two last words that it
        /// gets.
        resolver: Program,
        /// The host's own addresses are in reach, too.
        services: bool,
    },
}

/// Something of each program beside the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Others<T> {
    /// In the second UE and those after it.
    pub ues: Vec<T>,
    /// Of the user's own at the server side.
    pub servers: Vec<T>,
    /// What is behind that, if it is anything.
    pub internet: Option<T>,
    /// The proxy, if there is one.
    pub proxy: Option<T>,
}

impl<T> Default for Others<T> {
    fn default() -> Self {
        Others { ues: Vec::new(), servers: Vec::new(), internet: None, proxy: None }
    }
}

impl<T> Others<T> {
    /// The same with something else of each.
    pub fn map<U>(self, each: impl Fn(T) -> U) -> Others<U> {
        Others {
            ues: self.ues.into_iter().map(&each).collect(),
            servers: self.servers.into_iter().map(&each).collect(),
            internet: self.internet.map(&each),
            proxy: self.proxy.map(&each),
        }
    }
}
