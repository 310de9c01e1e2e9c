//! Two given devices with the radio between them. Packet sockets read and write their frames.
//!
//! The pair works like a bridge that contains a radio. Hosts behind the devices see each other's
//! Ethernet addresses. ARP, neighbour discovery and similar frames go directly to the other device;
//! IP packets for a single host cross the radio. Nothing of the host is changed: the owner must
//! configure the devices.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::sockopt::RcvBufForce;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike,
    bind, getsockopt, recvmsg, send, setsockopt, socket,
};
use nix::{cmsg_space, getsockopt_impl, libc, setsockopt_impl, sockopt_impl};

use crate::devices::frames::{self, FrameRoute, HEADER, TAG};
use crate::devices::tun::MTU;
use crate::error::wrong;
use crate::packets::packet_store::Header;
use umts_netlink::Netlink;

/// Receive buffer of a socket in bytes.
const KERNEL_QUEUE: usize = 4 << 20;

/// Packet type of frames that this host sends over the device (PACKET_OUTGOING).
const OUTGOING: u8 = 4;

/// Frames examined per read before the other devices are read, if none of them crosses the radio.
const BURST: usize = 64;

/// Largest frame that is read: an IPv6 packet of maximum length with a tagged header.
const MAX_FRAME: usize = HEADER + 2 * TAG + 40 + u16::MAX as usize;

sockopt_impl!(
    /// Attaches the VLAN tag that the kernel removed to each received frame.
    ReportTags,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_AUXDATA,
    bool
);
sockopt_impl!(
    /// Frames received and dropped by the socket since the last query.
    Statistics,
    GetOnly,
    libc::SOL_PACKET,
    libc::PACKET_STATISTICS,
    libc::tpacket_stats
);

/// Counters of the frames that did not cross the radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frames {
    /// Frames that went directly to the other device.
    pub bypassed: u64,
    /// Frames that the kernel queue of the other device rejected.
    pub bypass_lost: u64,
    /// IP packets for a single host with an invalid IP header.
    pub malformed: u64,
    /// Packets above the MTU that cannot be cut: everything but valid TCP segments without SYN.
    pub too_large: u64,
}

impl std::ops::AddAssign for Frames {
    fn add_assign(&mut self, other: Self) {
        self.bypassed += other.bypassed;
        self.bypass_lost += other.bypass_lost;
        self.malformed += other.malformed;
        self.too_large += other.too_large;
    }
}

/// A device that was opened.
struct Device {
    /// Packet socket of the device.
    socket: Rc<OwnedFd>,
    /// Index of the interface in the kernel.
    index: usize,
}

/// One of the two devices.
pub struct Wire {
    name: String,
    /// Index of the interface in the kernel.
    index: usize,
    /// Packet socket of this device.
    socket: Rc<OwnedFd>,
    /// Packet socket of the other device.
    other: Rc<OwnedFd>,
    /// Buffer for one received frame.
    buffer: RefCell<Vec<u8>>,
    /// Packets that are ready for the radio, including parts of segments that were cut.
    parts: RefCell<VecDeque<(Vec<u8>, Header)>>,
    frames: Cell<Frames>,
    was_down: Cell<bool>,
}

impl Wire {
    /// Opens two devices of the current namespace, in the order of `names`.
    ///
    /// # Errors
    /// An error with a repair if a device is missing or unsuitable.
    pub fn pair(names: [&str; 2]) -> io::Result<[Wire; 2]> {
        if names[0] == names[1] {
            return Err(wrong(format!(
                "device {} is given for both ends of the radio: give two devices",
                names[0]
            )));
        }
        let [first, second] = [open(names[0])?, open(names[1])?];
        let wire = |name: &str, device: &Device, other: &Device| Wire {
            name: name.to_owned(),
            index: device.index,
            socket: Rc::clone(&device.socket),
            other: Rc::clone(&other.socket),
            buffer: RefCell::new(vec![0; MAX_FRAME]),
            parts: RefCell::default(),
            frames: Cell::default(),
            was_down: Cell::default(),
        };
        Ok([wire(names[0], &first, &second), wire(names[1], &second, &first)])
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the device has been down. It may then have been removed.
    pub fn was_down(&self) -> bool {
        self.was_down.get()
    }

    /// Whether the device no longer exists.
    pub fn is_gone(&self) -> bool {
        let link = || Netlink::open()?.link(self.index as u32);
        self.was_down() && link().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Reads frames until one crosses the radio. Returns the length of its packet and its
    /// link-layer header, or `None` if there is none. Forwards or counts the other frames.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<(usize, Header)>> {
        let mut frame = self.buffer.borrow_mut();
        for _ in 0..BURST {
            if let Some((part, header)) = self.parts.borrow_mut().pop_front() {
                packet[..part.len()].copy_from_slice(&part);
                return Ok(Some((part.len(), header)));
            }
            match self.receive(&mut frame)? {
                Received::Nothing => return Ok(None),
                Received::Own => {}
                Received::TooLarge => self.count(|frames| frames.too_large += 1),
                Received::Frame(length) => self.dispatch(&frame[..length]),
            }
        }
        Ok(None)
    }

    /// Receives the next frame, and inserts the VLAN tag that the kernel has removed.
    fn receive(&self, frame: &mut [u8]) -> io::Result<Received> {
        let mut space = cmsg_space!(libc::tpacket_auxdata);
        // Leaves space for the tag.
        let capacity = frame.len() - TAG;
        let mut slices = [IoSliceMut::new(&mut frame[..capacity])];
        let received =
            recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut slices, Some(&mut space), MsgFlags::empty());
        let received = match received {
            Ok(received) => received,
            Err(nix::Error::EAGAIN) => return Ok(Received::Nothing),
            // The kernel reports this once. The device may come up again, or be removed: a removed
            // device goes down first.
            Err(nix::Error::ENETDOWN) => {
                self.was_down.set(true);
                return Ok(Received::Nothing);
            }
            Err(error) => return Err(error.into()),
        };
        // Before `bind`, the socket receives frames of all devices: ignore those of others.
        let is_own = |from: LinkAddr| from.pkttype() == OUTGOING || from.ifindex() != self.index;
        if received.address.is_some_and(is_own) {
            return Ok(Received::Own);
        }
        if received.flags.contains(MsgFlags::MSG_TRUNC) {
            return Ok(Received::TooLarge);
        }
        let length = received.bytes;
        let Some(tag) = received.cmsgs()?.find_map(|message| tag_of(&message)) else {
            return Ok(Received::Frame(length));
        };
        // The tag follows the two addresses.
        let at = HEADER - 2;
        if length < at {
            return Ok(Received::Frame(length));
        }
        frame.copy_within(at..length, at + TAG);
        frame[at..at + TAG].copy_from_slice(&tag);
        Ok(Received::Frame(length + TAG))
    }

    /// Forwards, drops or queues a frame according to its route.
    fn dispatch(&self, frame: &[u8]) {
        let header_length = match frames::route(frame) {
            FrameRoute::Radio(length) => length,
            FrameRoute::Bypass => {
                // A full queue loses the frame, as in a switch.
                let is_accepted = send(self.other.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT).is_ok();
                return self.count(|frames| {
                    frames.bypassed += u64::from(is_accepted);
                    frames.bypass_lost += u64::from(!is_accepted);
                });
            }
            FrameRoute::Drop => return self.count(|frames| frames.malformed += 1),
        };
        let header = Header::from(&frame[..header_length]);
        let mut whole = frames::packet_of(frame, header_length).to_vec();
        let mtu = usize::from(MTU);
        if whole.len() <= mtu {
            frames::complete_checksum(&mut whole);
            self.parts.borrow_mut().push_back((whole, header));
        } else if let Some(parts) = frames::cut(&whole, mtu) {
            self.parts.borrow_mut().extend(parts.into_iter().map(|part| (part, Rc::clone(&header))));
        } else {
            self.count(|frames| frames.too_large += 1);
        }
    }

    /// Changes the counters by `add`.
    fn count(&self, add: impl FnOnce(&mut Frames)) {
        let mut frames = self.frames.get();
        add(&mut frames);
        self.frames.set(frames);
    }

    /// Counters of the frames from this device that did not cross the radio.
    pub fn frames(&self) -> Frames {
        self.frames.get()
    }

    /// Frames that the kernel dropped because they were not read in time, since the last call.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn dropped(&self) -> io::Result<u64> {
        Ok(u64::from(getsockopt(&self.socket, Statistics)?.tp_drops))
    }

    /// Whether a packet is queued here. Polling the socket does not report it.
    pub fn has_parts(&self) -> bool {
        !self.parts.borrow().is_empty()
    }

    /// Sends a packet that crossed the radio, after its link-layer header. Returns whether the
    /// kernel accepted it.
    pub fn write(&self, header: &[u8], packet: &[u8]) -> bool {
        let frame = [header, packet].concat();
        send(self.socket.as_raw_fd(), &frame, MsgFlags::MSG_DONTWAIT).is_ok_and(|sent| sent == frame.len())
    }
}

/// Result of receiving.
enum Received {
    /// No frame is available.
    Nothing,
    /// A frame that this host sent, or of another device.
    Own,
    /// The frame is larger than the buffer.
    TooLarge,
    /// A frame of this length in bytes.
    Frame(usize),
}

/// The VLAN tag that the kernel removed from a frame, in network byte order.
fn tag_of(message: &ControlMessageOwned) -> Option<[u8; TAG]> {
    let ControlMessageOwned::Unknown(message) = message else { return None };
    let header = &message.cmsg_header;
    if (header.cmsg_level, header.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // struct tpacket_auxdata: three 32-bit words, of which the first is the status, then four
    // 16-bit words, of which the last two are the TCI and the type of the tag.
    let data: &[u8; 20] = message.data_bytes.first_chunk()?;
    let status = u32::from_ne_bytes([data[0], data[1], data[2], data[3]]);
    if status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let [number, kind] = [16, 18].map(|at| u16::from_ne_bytes([data[at], data[at + 1]]).to_be_bytes());
    Some([kind[0], kind[1], number[0], number[1]])
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Opens a packet socket on a device.
fn open(name: &str) -> io::Result<Device> {
    let of_device = |advice: String| wrong(format!("device {name}: {advice}"));
    let mut link = None;
    for entry in getifaddrs()?.filter(|entry| entry.interface_name == name) {
        let Some(address) = entry.address else { continue };
        if let Some(address) = address.as_link_addr() {
            link = Some((*address, entry.flags));
        }
        let is_local = address.as_sockaddr_in6().is_some_and(|address| address.ip().is_unicast_link_local());
        if address.family().is_some_and(|family| family != AddressFamily::Packet) && !is_local {
            let advice = "this host has an address on it and would answer too; remove the address: ip address flush dev";
            return Err(of_device(format!("{advice} {name}")));
        }
    }
    let Some((address, flags)) = link else {
        return Err(of_device("there is no device of this name".to_owned()));
    };
    let link_info = Netlink::open()?.link(address.ifindex() as u32)?;
    if !flags.contains(InterfaceFlags::IFF_UP) {
        return Err(of_device(format!("it is down: ip link set {name} up")));
    }
    if link_info.mtu > u32::from(MTU) {
        return Err(of_device(format!("its MTU is {}: ip link set {name} mtu {MTU}", link_info.mtu)));
    }
    if !link_info.is_virtual && !flags.contains(InterfaceFlags::IFF_PROMISC) {
        let advice = "it receives only frames for this host: ip link set";
        return Err(of_device(format!("{advice} {name} promisc on (and off afterwards)")));
    }
    let socket = socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )?;
    // RcvBufForce may exceed net.core.rmem_max.
    setsockopt(&socket, RcvBufForce, &KERNEL_QUEUE)?;
    setsockopt(&socket, ReportTags, &true)?;
    bind(socket.as_raw_fd(), &address)?;
    Ok(Device { socket: Rc::new(socket), index: address.ifindex() })
}
