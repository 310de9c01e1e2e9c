//! Ports, where packets of real programs enter and leave: own TUN devices or given devices.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::devices::net_namespace::NetNamespace;
use crate::devices::topology::{SERVER_PORT, ue_port};
use crate::devices::tun::Tun;
use crate::devices::wire::{Frames, Wire};
use crate::packets::packet_store::Header;

/// A port.
pub enum Port {
    /// A TUN device in a namespace of the emulation.
    Tun(Tun),
    /// A given device.
    Wire(Wire),
}

/// Hosts behind the ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// UEs with addresses from the emulation.
    Ues {
        /// Number of UEs.
        count: usize,
        /// Whether a proxy between the UEs and the servers splits TCP. It has two more ports.
        are_split: bool,
    },
    /// One UE; the addresses of both sides are arbitrary.
    OneUe,
}

/// Ports of a proxy: towards the servers, towards the users.
pub type ProxyPorts = [usize; 2];

impl Behind {
    /// `count` UEs without a proxy.
    pub fn ues(count: usize) -> Self {
        Behind::Ues { count, are_split: false }
    }

    /// Number of UEs.
    pub fn count(self) -> usize {
        match self {
            Behind::Ues { count, .. } => count,
            Behind::OneUe => 1,
        }
    }

    /// Ports of the proxy, if there is one. They follow the ports of the server side and of the
    /// UEs.
    pub fn proxy(self) -> Option<ProxyPorts> {
        match self {
            Behind::Ues { count, are_split: true } => Some([ue_port(count), ue_port(count) + 1]),
            Behind::Ues { .. } | Behind::OneUe => None,
        }
    }

    /// Number of ports.
    pub fn ports(self) -> usize {
        ue_port(self.count()) + self.proxy().map_or(0, |ports| ports.len())
    }

    /// Name of a port for users.
    pub fn name_of(self, port: usize) -> String {
        match self.proxy() {
            Some([to_servers, _]) if port == to_servers => "proxy, to the servers".to_owned(),
            Some([_, to_users]) if port == to_users => "proxy, to the users".to_owned(),
            _ if port == SERVER_PORT => "server side".to_owned(),
            _ => format!("UE {}", port - ue_port(0)),
        }
    }
}

impl Port {
    /// Reads the next packet, if there is one. Returns its length and its link-layer header.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<(usize, Header)>> {
        match self {
            Port::Tun(tun) => Ok(tun.read(packet)?.map(|length| (length, Header::default()))),
            Port::Wire(wire) => wire.read(packet),
        }
    }

    /// Whether a given device was down at some time, so that the caller must check whether it still
    /// exists.
    pub fn was_down(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.was_down())
    }

    /// Whether a given device no longer exists.
    pub fn is_gone(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.is_gone())
    }

    /// Message to users about a removed device.
    pub fn when_gone(&self) -> String {
        match self {
            Port::Tun(tun) => {
                format!("a program has removed the device {}: its host has no network any more", tun.name())
            }
            Port::Wire(wire) => {
                format!("device {} was removed: no packets cross the radio any more", wire.name())
            }
        }
    }

    /// Whether a packet is ready of which polling [`AsFd`] does not inform.
    pub fn has_more(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.has_parts())
    }

    /// Writes a packet after its link-layer header. Returns whether the kernel accepted it.
    pub fn write(&self, header: &[u8], packet: &[u8]) -> bool {
        match self {
            Port::Tun(tun) => tun.write(packet),
            Port::Wire(wire) => wire.write(header, packet),
        }
    }

    /// Packets that the kernel dropped because they were not read in time.
    ///
    /// # Errors
    /// An error if the device is gone.
    pub fn dropped(&self) -> io::Result<u64> {
        match self {
            Port::Tun(tun) => tun.dropped(),
            Port::Wire(wire) => wire.dropped(),
        }
    }

    /// Counters of the frames of a given device that did not cross the radio.
    pub fn frames(&self) -> Frames {
        match self {
            Port::Tun(_) => Frames::default(),
            Port::Wire(wire) => wire.frames(),
        }
    }

    /// The namespace of an own device.
    pub fn namespace(&self) -> Option<&NetNamespace> {
        match self {
            Port::Tun(tun) => Some(tun.namespace()),
            Port::Wire(_) => None,
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Port::Tun(tun) => tun.as_fd(),
            Port::Wire(wire) => wire.as_fd(),
        }
    }
}
