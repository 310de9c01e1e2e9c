//! Processes: the emulator, which leaves the host's namespaces, and the programs, which wait in
//! their sandboxes until the network exists.

pub mod children;
pub mod isolation;
pub mod sandbox;
pub mod surroundings;
pub mod waiting;

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::devices::net_namespace::NetNamespace;
use crate::devices::tcp_settings::TcpSettings;
use crate::faults::FaultInbox;
use crate::readings::LiveInbox;
use children::Program;
use waiting::Waiting;

/// The programs of an emulation, and their environment.
pub struct Programs {
    /// Network namespaces of the server side and of the UEs, in the order of their ports. Empty
    /// with given devices.
    pub networks: Vec<NetNamespace>,
    /// The proxy that splits the programs' TCP connections, if there is one.
    pub proxy: Option<Proxy>,
    /// The command. It runs in the first UE, and the emulation ends with it.
    pub command: Waiting,
    /// Programs of the second UE and later ones.
    pub ues: Vec<Waiting>,
    /// Whether the emulation also waits for the programs of the other UEs.
    pub waits: bool,
    /// Network behind the server side.
    pub internet: Internet,
    /// Programs of the server side.
    pub servers: Vec<Waiting>,
    /// Given devices instead of namespaces: towards the UE, towards the network. The command then
    /// runs in the namespaces of this process, and nothing else is started.
    pub wires: Option<[String; 2]>,
    /// Settings of the kernel's TCP.
    pub tcp: TcpSettings,
    /// Pipe from the parent process. Its other end is open while the parent wants the emulation.
    pub parent: OwnedFd,
    /// Orders about faults during the run, if they are accepted.
    pub faults: Option<FaultInbox>,
    /// Requests of viewers during the run, if they are answered.
    pub viewers: Option<LiveInbox>,
    /// File of the recording for a replay, if there is one.
    pub recording: Option<PathBuf>,
    /// Whether the process has a real-time priority.
    pub is_real_time: bool,
    /// Whether the scenario's flows of UEs with programs are simulated too. Otherwise they never
    /// start.
    pub keeps_flows: bool,
}

/// The proxy that splits TCP connections, in its own namespace.
pub struct Proxy {
    /// The program. It writes a line to standard output when it is ready, and intercepts packets of
    /// the [devices](crate::PROXY_DEVICES).
    pub program: Program,
    /// TCP settings towards the servers, and towards the users.
    pub sides: [TcpSettings; 2],
}

/// Network behind the server side.
pub enum Internet {
    /// Every address is local to the server side, and only the user's servers answer.
    None,
    /// Every address is local to the server side, and this program provides built-in servers. It
    /// writes a line to standard output when it answers DNS. After a line on its standard input it
    /// opens the ports that no server of the user has opened, and writes another line.
    Hermetic(Program),
    /// The host's network, by address translation.
    Host {
        /// Name server in the host's network. Its two last arguments are the descriptors of its UDP
        /// and TCP sockets in the server side's namespace.
        resolver: Program,
        /// Whether the host's own addresses are reachable.
        services: bool,
    },
}

/// One value per program, except for the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerProgram<T> {
    /// Of the second UE and later ones.
    pub ues: Vec<T>,
    /// Of the user's servers.
    pub servers: Vec<T>,
    /// Of the built-in servers or the name server, if there are any.
    pub internet: Option<T>,
    /// Of the proxy, if there is one.
    pub proxy: Option<T>,
}

impl<T> Default for PerProgram<T> {
    fn default() -> Self {
        PerProgram { ues: Vec::new(), servers: Vec::new(), internet: None, proxy: None }
    }
}

impl<T> PerProgram<T> {
    /// Applies `each` to every value.
    pub fn map<U>(self, each: impl Fn(T) -> U) -> PerProgram<U> {
        PerProgram {
            ues: self.ues.into_iter().map(&each).collect(),
            servers: self.servers.into_iter().map(&each).collect(),
            internet: self.internet.map(&each),
            proxy: self.proxy.map(&each),
        }
    }
}
