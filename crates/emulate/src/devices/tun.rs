//! TUN devices, on which IP packets of real programs enter and leave.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::devices::net_namespace::NetNamespace;
use crate::devices::tcp_settings;
use crate::error::wrong;
use umts_netlink::{Netlink, Route};

/// Largest packet in bytes: the MTU of the model.
pub const MTU: u16 = 1500;

/// Packets that the kernel queues while this process is busy. Later packets are dropped and
/// counted. A device gives no back-pressure: a sender at 100 Mbit/s can, when its window opens,
/// send several thousand at once.
const KERNEL_QUEUE: u32 = 10_000;

/// A TUN device that this process reads and writes. The kernel removes it when this value is
/// dropped.
pub struct Tun {
    device: SyncDevice,
    index: u32,
    name: String,
    namespace: NetNamespace,
}

impl Tun {
    /// Creates device `name` with these addresses in `namespace`, and sets it up.
    ///
    /// # Errors
    /// An error if `/dev/net/tun` cannot be opened, or if the kernel refuses.
    pub fn new(namespace: NetNamespace, name: &str, addresses: &[IpAddr]) -> io::Result<Self> {
        let (device, index) = namespace.within(|| {
            let device = DeviceBuilder::new().name(name).mtu(MTU).enable(false).build_sync()?;
            device.set_nonblocking(true)?;
            let index = device.if_index()?;
            let mut netlink = Netlink::open()?;
            netlink.set_queue(index, KERNEL_QUEUE)?;
            for &address in addresses {
                netlink.add_address(index, address)?;
            }
            netlink.set_up(index)?;
            Ok((device, index))
        })?;
        Ok(Tun { device, index, name: name.to_owned(), namespace })
    }

    pub fn namespace(&self) -> &NetNamespace {
        &self.namespace
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Index of the device in its namespace.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Adds routes in the namespace of the device.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn add_routes(&self, routes: &[Route]) -> io::Result<()> {
        self.namespace.within(|| {
            let mut netlink = Netlink::open()?;
            routes.iter().try_for_each(|route| {
                netlink.add_route(route).map_err(|error| match tcp_settings::described(&route.metrics) {
                    Some(settings) => wrong(format!("{settings}: the kernel rejects such a route ({error})")),
                    None => error,
                })
            })
        })
    }

    /// Reads the next packet that a program sent, if there is one. Returns its length.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(packet) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a packet to the programs of the namespace. Returns whether the kernel accepted it.
    pub fn write(&self, packet: &[u8]) -> bool {
        self.device.send(packet).is_ok_and(|length| length == packet.len())
    }

    /// Packets of programs that the kernel dropped because they were not read in time.
    ///
    /// # Errors
    /// An error if the device is gone.
    pub fn dropped(&self) -> io::Result<u64> {
        // Not sysfs, which shows the namespace of its mount: this table shows the namespace of the
        // thread.
        let table = self.namespace.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?;
        let line =
            table.lines().find_map(|line| line.trim_start().strip_prefix(&self.name)?.strip_prefix(':'));
        // Eight columns of reception, then bytes, packets, errors and drops of transmission.
        let dropped = line.and_then(|line| line.split_whitespace().nth(11)?.parse().ok());
        dropped.ok_or_else(|| io::Error::other(format!("the kernel's table has no {}", self.name)))
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
