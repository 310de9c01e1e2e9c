//! The way from the server side to the Internet: a pair of devices into the host's network, addresses translated at
//! both ends of it.
//!
//! ```text
//!   UEs ═ radio ═ gi ─ server side ─ uplink ── umts-gi0 ─ host ─ its Internet
//!                         │ translates              │ translates
//! ```
//!
//! The server side translates the UEs' addresses to its own, which is this emulation's alone: so several run beside each
//! other. The host translates that to its own, and refuses what is for itself: its services are no part of the Internet. All of it vanishes with the process but the host's forwarding, which is
//! for whoever started it to set and to set back.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::devices::addresses;
use crate::devices::masquerade::Masquerade;
use crate::devices::net_namespace::{NetNamespace, set_sysctl};
use umts_netlink::{Netlink, Route};

/// Emulations that can reach the Internet at once.
const MOST: u8 = 100;

/// Where names are asked.
const NAMES_PORT: u16 = 53;

/// A connection of the server side to the host's network. It ends with this value and with the server side.
pub struct Uplink {
    _at_server: Masquerade,
    _at_host: Masquerade,
    /// The device in the host's network, and who removes it there.
    device: (Netlink, u32),
    /// What was changed in the host's network, for people.
    pub changes: Vec<String>,
}

impl Uplink {
    /// Connects `server_side` to the network of the present namespace; to the host's own addresses only with
    /// `host_services`.
    ///
    /// # Errors
    /// If this process is not root there, or the kernel cannot translate addresses.
    pub fn new(server_side: &NetNamespace, host_services: bool) -> io::Result<Self> {
        let (number, device) = device_into(server_side)?;
        let [host, inside] = [1, 2].map(|last| IpAddr::V4(Ipv4Addr::new(10, 46, number, last)));
        let mut netlink = Netlink::open()?;
        let index = netlink.index(&device)?;
        silence_ipv6(&device)?;
        netlink.add_address(index, host)?;
        netlink.set_up(index)?;
        netlink.add_route(&Route::host(inside, index))?;
        let fenced = (!host_services).then_some(index);
        let at_host = Masquerade::new(&format!("umtslab{number}"), &[10, 46, number], fenced)?;
        let at_server = server_side.within(|| {
            let mut netlink = Netlink::open()?;
            let index = netlink.index(INSIDE)?;
            netlink.add_address(index, inside)?;
            netlink.set_up(index)?;
            netlink.add_route(&Route::host(host, index))?;
            netlink.add_route(&Route { via: Some(host), ..Route::default(host, index) })?;
            set_sysctl("net/ipv4/ip_forward", "1")?;
            Masquerade::new("umtslab", &[10, 45], None)
        })?;
        let refuses = if host_services { "" } else { ", and refuses what is for the host itself" };
        let gives = "which gives what comes from there the host's address";
        let changes = vec![
            format!("device {device} with {host}, and a route to {inside}"),
            format!("nftables table umtslab{number}, {gives}{refuses}"),
        ];
        Ok(Uplink { _at_server: at_server, _at_host: at_host, device: (netlink, index), changes })
    }
}

impl Drop for Uplink {
    /// The kernel removes the device with the server side's namespace, but when it finds the time: whoever looks as soon as the
    /// emulation has ended must not see it.
    fn drop(&mut self) {
        let (netlink, index) = &mut self.device;
        // Where it is gone already there is nothing to do.
        let _ = netlink.remove(*index);
    }
}

const INSIDE: &str = "uplink";

/// Has the host take no IPv6 from the device: the way is of IPv4 only, and a link needs no route to be asked over.
fn silence_ipv6(device: &str) -> io::Result<()> {
    match set_sysctl(&format!("net/ipv6/conf/{device}/disable_ipv6"), "1") {
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The first pair of devices of which the host has no name yet.
fn device_into(server_side: &NetNamespace) -> io::Result<(u8, String)> {
    let mut netlink = Netlink::open()?;
    for number in 0..MOST {
        let name = format!("umts-gi{number}");
        match netlink.add_pair(&name, INSIDE, server_side.as_fd()) {
            Ok(()) => return Ok((number, name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MOST} emulations reach the Internet already")))
}

/// Sockets where the programs ask for names, in the server side's namespace: UDP and TCP. A program that is started while
/// they are open has them too.
///
/// # Errors
/// If something listens there already.
pub fn name_sockets(server_side: &NetNamespace) -> io::Result<[OwnedFd; 2]> {
    let sockets = server_side.within(|| {
        let at = SocketAddr::new(addresses::SERVER[0], NAMES_PORT);
        Ok([OwnedFd::from(UdpSocket::bind(at)?), OwnedFd::from(TcpListener::bind(at)?)])
    })?;
    for socket in &sockets {
        fcntl(socket, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(sockets)
}

/// The numbers by which a program that was started with these sockets knows them.
pub fn numbers(sockets: &[OwnedFd; 2]) -> [String; 2] {
    [0, 1].map(|which| sockets[which].as_raw_fd().to_string())
}
