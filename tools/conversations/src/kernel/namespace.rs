//! A network namespace with a single TUN device, for the kernel's end of a conversation.

use std::fs::{self, OpenOptions};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use tun_rs::{DeviceBuilder, SyncDevice};
use umts_netlink::{Netlink, Route};

use super::settings::Settings;
use super::wire::{KERNEL, PEER};

const DEVICE: &str = "tun0";
/// The file that creates TUN devices.
const TUN: &str = "/dev/net/tun";

/// The device, in a namespace that this thread has entered for good. Both disappear with it and the
/// thread.
pub(super) struct Namespace {
    device: SyncDevice,
}

impl Namespace {
    /// Moves this thread into a new namespace, and configures the kernel's TCP there.
    pub fn new(settings: &Settings) -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        for (name, value) in &settings.variables {
            set_variable(name, value)?;
        }
        let device = DeviceBuilder::new().name(DEVICE).mtu(settings.mtu).enable(false).build_sync()?;
        device.set_nonblocking(true)?;
        let index = device.if_index()?;
        let mut netlink = Netlink::open()?;
        netlink.add_address(index, IpAddr::V4(KERNEL))?;
        // With this limit, the kernel passes segments to the device one at a time, without waiting
        // for more.
        netlink.set_gso_segments(index, 1)?;
        netlink.set_up(index)?;
        let route = Route { metrics: settings.metrics.clone(), ..Route::host(IpAddr::V4(PEER), index) };
        netlink.add_route(&route)?;
        Ok(Namespace { device })
    }

    /// Returns the next packet that the kernel has sent, if there is one.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(packet) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Passes a packet to the kernel, which has processed it when this returns.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).map(drop)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Sets a variable of the TCP of the current namespace.
fn set_variable(name: &str, value: &str) -> io::Result<()> {
    fs::write(Path::new("/proc/sys/net/ipv4").join(name), value)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot set {name} to {value}: {error}")))
}

/// Returns why this process cannot create such a namespace. `None` if it can.
pub(super) fn why_out_of_reach() -> Option<String> {
    let tried = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("no network namespace can be made ({error})"))?;
        set_variable("tcp_sack", "1").map_err(|error| error.to_string())?;
        OpenOptions::new().read(true).write(true).open(TUN).map_err(|error| format!("{TUN}: {error}"))
    });
    match tried.join() {
        Ok(Ok(_)) => None,
        Ok(Err(reason)) => Some(reason),
        Err(_) => Some("the attempt to make a network namespace panicked".to_owned()),
    }
}
