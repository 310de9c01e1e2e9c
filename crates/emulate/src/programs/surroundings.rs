//! The devices of an emulation and the networks behind them. They exist before a program runs.

use std::ffi::OsString;
use std::io;
use std::mem;
use std::os::fd::AsFd;

use crate::devices::net_namespace::NetNamespace;
use crate::devices::port::{Behind, Port};
use crate::devices::proxy::ProxyNode;
use crate::devices::tcp_settings::Effective;
use crate::devices::topology::{self, SERVER_PORT};
use crate::devices::uplink::{self, Uplink};
use crate::devices::wire::Wire;
use crate::error::{EmulationError, system};
use crate::programs::children::{ChildId, Children, Program};
use crate::programs::{Internet, PerProgram, Programs};

/// Devices, and the networks behind them.
pub struct Surroundings {
    /// Ports in the order of their numbers.
    pub ports: Vec<Port>,
    /// Hosts behind the ports.
    pub behind: Behind,
    /// Effective TCP settings in the namespaces of the emulation.
    pub tcp: Effective,
    /// Effective TCP settings at the proxy: towards the servers, towards the users.
    pub proxy_tcp: Option<[Effective; 2]>,
    /// Access to the host's network.
    pub uplink: Option<Uplink>,
    /// Network namespace of the proxy.
    proxy: Option<NetNamespace>,
}

impl Surroundings {
    /// Creates the devices in the namespaces of the programs, or opens the given devices.
    ///
    /// # Errors
    /// An error if the kernel refuses an operation, or if a given device is unsuitable.
    pub fn new(programs: &mut Programs) -> Result<Self, EmulationError> {
        if let Some([ue, net]) = &programs.wires {
            let wires = Wire::pair([net, ue]).map_err(system("cannot use the given devices"))?;
            let ports = wires.into_iter().map(Port::Wire).collect();
            return Ok(Surroundings {
                ports,
                behind: Behind::OneUe,
                tcp: Effective::new(),
                proxy_tcp: None,
                uplink: None,
                proxy: None,
            });
        }
        let ues = 1 + programs.ues.len();
        let host_services = match programs.internet {
            Internet::Host { services, .. } => Some(services),
            Internet::None | Internet::Hermetic(_) => None,
        };
        let is_hermetic = host_services.is_none();
        let networks = mem::take(&mut programs.networks);
        topology::apply_tcp_sysctls(&networks, &programs.tcp).map_err(system("cannot set up TCP"))?;
        let tuns = topology::build(networks, &programs.tcp, is_hermetic)
            .map_err(system("cannot create the devices"))?;
        let tcp = topology::effective(&tuns, &programs.tcp).map_err(system("cannot read TCP's settings"))?;
        let uplink = host_services.map(|services| Uplink::new(tuns[SERVER_PORT].namespace(), services));
        let uplink = uplink.transpose().map_err(system("cannot reach the host's network"))?;
        let mut ports: Vec<Port> = tuns.into_iter().map(Port::Tun).collect();
        let node = programs.proxy.as_ref().map(|proxy| ProxyNode::new(ues, &proxy.sides, is_hermetic));
        let node = node.transpose().map_err(system("cannot create the node of the proxy"))?;
        let behind = Behind::Ues { count: ues, are_split: node.is_some() };
        let (mut proxy, mut proxy_tcp) = (None, None);
        if let Some(ProxyNode { namespace, tuns, tcp }) = node {
            ports.extend(tuns.map(Port::Tun));
            (proxy, proxy_tcp) = (Some(namespace), Some(tcp));
        }
        Ok(Surroundings { ports, behind, tcp, proxy_tcp, uplink, proxy })
    }

    /// Changes in the host's network.
    pub fn changes(&self) -> &[String] {
        self.uplink.as_ref().map_or(&[], |uplink| &uplink.changes)
    }

    /// Starts the proxy and the programs of the server side. The programs of the UEs are started
    /// later.
    ///
    /// # Errors
    /// An error if one of them cannot be started.
    pub fn start_servers(
        &self,
        children: &mut Children,
        programs: &mut Programs,
    ) -> Result<PerProgram<ChildId>, EmulationError> {
        let mut others = PerProgram::default();
        let Some(server_side) = self.ports[SERVER_PORT].namespace() else { return Ok(others) };
        let parent = programs.parent.as_fd();
        let mut built_in = None;
        match &programs.internet {
            Internet::None => {}
            Internet::Hermetic(servers) => {
                let begun = children.start_first_step(server_side, servers, parent);
                built_in = Some(begun.map_err(system("cannot start the servers inside"))?);
            }
            Internet::Host { resolver, .. } => {
                let begun = start_resolver(children, server_side, resolver);
                others.internet = Some(begun.map_err(system("cannot answer names"))?);
            }
        }
        if let (Some(namespace), Some(proxy)) = (&self.proxy, &programs.proxy) {
            let begun = children.start_and_wait(namespace, &proxy.program, parent);
            others.proxy = Some(begun.map_err(system("cannot start the proxy"))?);
        }
        for server in programs.servers.drain(..) {
            let begun = children.begin_server(server_side, server).map_err(system("cannot run a server"))?;
            others.servers.push(begun);
        }
        // The user's servers may resolve names when they start, and take precedence over the ports
        // of built-in servers.
        if let Some(half) = built_in {
            others.internet = Some(half.finish(parent).map_err(system("cannot start the servers inside"))?);
        }
        Ok(others)
    }
}

/// Starts the name server in the current namespace, with sockets of the server side.
fn start_resolver(
    children: &mut Children,
    server_side: &NetNamespace,
    resolver: &Program,
) -> io::Result<ChildId> {
    let sockets = uplink::name_sockets(server_side)?;
    let mut resolver = resolver.clone();
    resolver.words.extend(uplink::numbers(&sockets).map(OsString::from));
    children.start_here(&resolver)
}
