//! Two given devices, joined by the radio: frames are taken from and put on them by packet sockets.
//!
//! It is a bridge with a radio in it. Hosts behind the devices see each other's Ethernet addresses; what a link needs for
//! itself goes from one device to the other at once, and IP packets for one host take the radio. Nothing of the host is
//! changed: what the devices must be like is for their owner to set.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::sockopt::RcvBuf;
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike, bind, recvfrom, send,
    setsockopt, socket,
};

use crate::foreign;
use crate::frames::{self, HEADER, Way};
use crate::netlink::Netlink;
use crate::tun::MTU;

/// Pairs of addresses whose Ethernet header is remembered.
const MOST_PAIRS: usize = 4096;

/// What the kernel keeps for us while we are busy.
const KERNEL_QUEUE: usize = 4 << 20;

/// What this host itself sends over the device.
const OUTGOING: u8 = 4;

/// By source and destination of a packet, the header of the frame that it came in last.
type Headers = Rc<RefCell<BTreeMap<(IpAddr, IpAddr), [u8; HEADER]>>>;

/// One of the two devices.
pub struct Wire {
    socket: Rc<OwnedFd>,
    other: Rc<OwnedFd>,
    headers: Headers,
    buffer: RefCell<Vec<u8>>,
    /// Parts of segments that were too large for one packet.
    parts: RefCell<VecDeque<Vec<u8>>>,
}

impl Wire {
    /// The two devices of these names in the present namespace, in their order.
    ///
    /// # Errors
    /// If they are not there or not fit for it: the message says what to do.
    pub fn pair(names: [&str; 2]) -> io::Result<[Wire; 2]> {
        if names[0] == names[1] {
            return Err(io::Error::other("the two devices are the same"));
        }
        let [first, second] = [open(names[0])?, open(names[1])?].map(Rc::new);
        let headers = Headers::default();
        let wire = |socket: &Rc<OwnedFd>, other: &Rc<OwnedFd>| Wire {
            socket: Rc::clone(socket),
            other: Rc::clone(other),
            headers: Rc::clone(&headers),
            buffer: RefCell::new(vec![0; HEADER + usize::from(u16::MAX) + 40]),
            parts: RefCell::default(),
        };
        Ok([wire(&first, &second), wire(&second, &first)])
    }

    /// The next packet for the radio, if there is one: its length. What goes aside goes on the way.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<usize>> {
        let buffer = &mut *self.buffer.borrow_mut();
        loop {
            if let Some(part) = self.parts.borrow_mut().pop_front() {
                packet[..part.len()].copy_from_slice(&part);
                return Ok(Some(part.len()));
            }
            let (length, from) = match recvfrom::<LinkAddr>(self.socket.as_raw_fd(), buffer) {
                Ok(received) => received,
                Err(nix::Error::EAGAIN) => return Ok(None),
                // The device is down, and may come up again.
                Err(nix::Error::ENETDOWN) => continue,
                Err(error) => return Err(error.into()),
            };
            if from.is_some_and(|from| from.pkttype() == OUTGOING) {
                continue;
            }
            let frame = &buffer[..length];
            if frames::way_of(frame) == Way::Aside {
                // A full queue loses it, as a switch's would.
                let _ = send(self.other.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT);
                continue;
            }
            self.remember(frame);
            let mut whole = frames::packet_of(frame).to_vec();
            if whole.len() > usize::from(MTU) {
                self.parts.borrow_mut().extend(frames::cut(&whole, usize::from(MTU)).unwrap_or_default());
                continue;
            }
            frames::complete_checksum(&mut whole);
            packet[..whole.len()].copy_from_slice(&whole);
            return Ok(Some(whole.len()));
        }
    }

    /// Whether a packet waits that the socket does not know of.
    pub fn has_parts(&self) -> bool {
        !self.parts.borrow().is_empty()
    }

    /// Puts a packet that crossed the radio on the device; whether the kernel took it.
    pub fn write(&self, packet: &[u8]) -> bool {
        let Ok(pair) = foreign::addresses(packet) else { return false };
        let Some(header) = self.headers.borrow().get(&pair).copied() else { return false };
        let frame = [&header[..], packet].concat();
        send(self.socket.as_raw_fd(), &frame, MsgFlags::MSG_DONTWAIT).is_ok_and(|sent| sent == frame.len())
    }

    fn remember(&self, frame: &[u8]) {
        let Some((header, packet)) = frame.split_first_chunk::<HEADER>() else { return };
        let Ok(pair) = foreign::addresses(packet) else { return };
        let headers = &mut *self.headers.borrow_mut();
        if headers.len() >= MOST_PAIRS && !headers.contains_key(&pair) {
            headers.pop_first();
        }
        headers.insert(pair, *header);
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn open(name: &str) -> io::Result<OwnedFd> {
    let of_device = |advice: String| io::Error::other(format!("device {name}: {advice}"));
    let mut link = None;
    for found in getifaddrs()?.filter(|found| found.interface_name == name) {
        let Some(address) = found.address else { continue };
        if let Some(address) = address.as_link_addr() {
            link = Some((*address, found.flags));
        }
        let is_local = address.as_sockaddr_in6().is_some_and(|address| address.ip().is_unicast_link_local());
        if address.family().is_some_and(|family| family != AddressFamily::Packet) && !is_local {
            let advice = "this host has an address there and would answer too: ip address flush dev";
            return Err(of_device(format!("{advice} {name}")));
        }
    }
    let Some((address, flags)) = link else { return Err(of_device("there is none of this name".to_owned())) };
    let found = Netlink::open()?.link(address.ifindex() as u32)?;
    if !flags.contains(InterfaceFlags::IFF_UP) {
        return Err(of_device(format!("it is down: ip link set {name} up")));
    }
    if found.mtu > u32::from(MTU) {
        return Err(of_device(format!("its MTU is {}: ip link set {name} mtu {MTU}", found.mtu)));
    }
    if !found.is_virtual && !flags.contains(InterfaceFlags::IFF_PROMISC) {
        let advice = "it takes only frames for this host: ip link set";
        return Err(of_device(format!("{advice} {name} promisc on (and off afterwards)")));
    }
    let socket = socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )?;
    setsockopt(&socket, RcvBuf, &KERNEL_QUEUE)?;
    bind(socket.as_raw_fd(), &address)?;
    Ok(socket)
}
