//! Where packets of real programs come in and go out: a TUN device of ours, or a device that was given.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::devices::net_namespace::NetNamespace;
use crate::devices::topology::{SERVER_PORT, ue_port};
use crate::devices::tun::Tun;
use crate::devices::wire::{Frames, Wire};
use crate::packets::packet_store::Header;

/// One of them.
pub enum Port {
    /// A device in a namespace of ours.
    Tun(Tun),
    /// A given device.
    Wire(Wire),
}

/// Who is behind the ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// UEs, each with addresses of ours.
    Ues {
        /// So many.
        count: usize,
        /// Whether a proxy is between them and the servers, which has two ports behind theirs.
        are_split: bool,
    },
    /// One UE, whatever addresses it and the other side have.
    Anybody,
}

/// Of a proxy, its port towards the servers and that towards the users.
pub type ProxyPorts = [usize; 2];

impl Behind {
    /// So many UEs, without a proxy.
    pub fn ues(count: usize) -> Self {
        Behind::Ues { count, are_split: false }
    }

    /// How many UEs there are.
    pub fn count(self) -> usize {
        match self {
            Behind::Ues { count, .. } => count,
            Behind::Anybody => 1,
        }
    }

    /// The ports of the proxy, if there is one: behind those of the server side and the UEs.
    pub fn proxy(self) -> Option<ProxyPorts> {
        match self {
            Behind::Ues { count, are_split: true } => Some([ue_port(count), ue_port(count) + 1]),
            Behind::Ues { .. } | Behind::Anybody => None,
        }
    }

    /// How many ports there are.
    pub fn ports(self) -> usize {
        ue_port(self.count()) + self.proxy().map_or(0, |ports| ports.len())
    }

    /// What a port is, for people.
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
    /// The next packet, if there is one: its length, and what stood in front of it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<(usize, Header)>> {
        match self {
            Port::Tun(tun) => Ok(tun.read(packet)?.map(|length| (length, Header::default()))),
            Port::Wire(wire) => wire.read(packet),
        }
    }

    /// Whether a device that was given has been down, so that it is to be seen whether it is gone.
    pub fn was_down(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.was_down())
    }

    /// Whether a device that was given is there no more.
    pub fn is_gone(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.is_gone())
    }

    /// What it means that the device is gone, for people.
    pub fn when_gone(&self) -> String {
        match self {
            Port::Tun(tun) => {
                format!("a program has taken {} away: its host has no network any more", tun.name())
            }
            Port::Wire(wire) => format!("device {} is gone: nothing crosses the radio any more", wire.name()),
        }
    }

    /// Whether a packet waits that [`AsFd`] does not tell of.
    pub fn has_more(&self) -> bool {
        matches!(self, Port::Wire(wire) if wire.has_parts())
    }

    /// Hands out a packet behind what stood in front of it; whether the kernel took it.
    pub fn write(&self, header: &[u8], packet: &[u8]) -> bool {
        match self {
            Port::Tun(tun) => tun.write(packet),
            Port::Wire(wire) => wire.write(header, packet),
        }
    }

    /// Packets that the kernel dropped because nobody read them.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn dropped(&self) -> io::Result<u64> {
        match self {
            Port::Tun(tun) => tun.dropped(),
            Port::Wire(wire) => wire.dropped(),
        }
    }

    /// What became of the frames of a given device that did not take the radio.
    pub fn frames(&self) -> Frames {
        match self {
            Port::Tun(_) => Frames::default(),
            Port::Wire(wire) => wire.frames(),
        }
    }

    /// The namespace of ours, if it is one.
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
