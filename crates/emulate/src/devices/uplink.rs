//! Access of the server side to the Internet: a pair of devices into the host's network, with
//! address translation at both ends.
//!
//! ```text
//!   UEs ═ radio ═ gi ─ server side ─ uplink ── umts-gi0 ─ host ─ its Internet
//!                         │ translates              │ translates
//! ```
//!
//! The server side translates the UEs' addresses to its own address, which no other emulation has,
//! so several emulations can run at once. The host translates that address to its own, and rejects
//! packets to itself: its services do not belong to the Internet. Everything disappears with the
//! process, except the host's forwarding setting, which the parent process must set and restore.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::devices::addresses;
use crate::devices::masquerade::Masquerade;
use crate::devices::net_namespace::{NetNamespace, set_sysctl};
use umts_netlink::{Netlink, Route};

/// Maximum number of emulations with access to the Internet.
const MAX_UPLINKS: u8 = 100;

/// Port of DNS.
const DNS_PORT: u16 = 53;

/// The device of the connection in the host's network.
struct HostDevice {
    /// Netlink socket in the host's network, to remove the device.
    netlink: Netlink,
    index: u32,
}

/// Connection of the server side to the host's network. It ends when this value is dropped, or with
/// the server side's namespace.
pub struct Uplink {
    _at_server: Masquerade,
    _at_host: Masquerade,
    device: HostDevice,
    /// Changes in the host's network, for users.
    pub changes: Vec<String>,
}

impl Uplink {
    /// Connects `server_side` to the network of the current namespace. The host's own addresses are
    /// reachable only with `host_services`.
    ///
    /// # Errors
    /// An error if this process is not root in that namespace, or if the kernel cannot translate
    /// addresses.
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
            let index = netlink.index(SERVER_DEVICE)?;
            netlink.add_address(index, inside)?;
            netlink.set_up(index)?;
            netlink.add_route(&Route::host(host, index))?;
            netlink.add_route(&Route { via: Some(host), ..Route::default(host, index) })?;
            set_sysctl("net/ipv4/ip_forward", "1")?;
            Masquerade::new("umtslab", &[10, 45], None)
        })?;
        let refuses = if host_services { "" } else { ", and rejects packets to the host itself" };
        let translates = "which translates source addresses to the host's address";
        let changes = vec![
            format!("device {device} with {host}, and a route to {inside}"),
            format!("nftables table umtslab{number}, {translates}{refuses}"),
        ];
        let device = HostDevice { netlink, index };
        Ok(Uplink { _at_server: at_server, _at_host: at_host, device, changes })
    }
}

impl Drop for Uplink {
    /// The kernel also removes the device with the server side's namespace, but asynchronously.
    /// Explicit removal makes sure that the device is gone when the emulation has ended.
    fn drop(&mut self) {
        // Fails if the device is already gone.
        let _ = self.device.netlink.remove(self.device.index);
    }
}

/// Name of the device in the server side's namespace.
const SERVER_DEVICE: &str = "uplink";

/// Disables IPv6 on the host's device. Access is IPv4 only, and IPv6 would send packets for its own
/// configuration.
fn silence_ipv6(device: &str) -> io::Result<()> {
    match set_sysctl(&format!("net/ipv6/conf/{device}/disable_ipv6"), "1") {
        // The kernel has no IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Creates a pair of devices with the first free number. Returns the number and the name of the
/// host's device.
fn device_into(server_side: &NetNamespace) -> io::Result<(u8, String)> {
    let mut netlink = Netlink::open()?;
    for number in 0..MAX_UPLINKS {
        let name = format!("umts-gi{number}");
        match netlink.add_pair(&name, SERVER_DEVICE, server_side.as_fd()) {
            Ok(()) => return Ok((number, name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{MAX_UPLINKS} emulations are already connected to the Internet")))
}

/// Opens UDP and TCP sockets for DNS in the server side's namespace. Programs that are started
/// while the sockets are open inherit them.
///
/// # Errors
/// An error if the port is in use.
pub fn name_sockets(server_side: &NetNamespace) -> io::Result<[OwnedFd; 2]> {
    let sockets = server_side.within(|| {
        let at = SocketAddr::new(addresses::SERVER[0], DNS_PORT);
        Ok([OwnedFd::from(UdpSocket::bind(at)?), OwnedFd::from(TcpListener::bind(at)?)])
    })?;
    for socket in &sockets {
        fcntl(socket, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(sockets)
}

/// Descriptor numbers of the sockets, as arguments of a program that inherits them.
pub fn numbers(sockets: &[OwnedFd; 2]) -> [String; 2] {
    [0, 1].map(|which| sockets[which].as_raw_fd().to_string())
}
