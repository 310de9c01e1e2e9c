//! Addresses, links and routes of the namespace in which a socket was opened (rtnetlink, RFC 3549).

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// The routing table of a route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Table {
    /// The main table, for every packet.
    #[default]
    Main,
    /// A table for policy rules: its number, and a number of its creator (`ip route` shows it as
    /// `proto`).
    Own(u32, u8),
}

/// A route for a range of destination addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The addresses share the first `length` bits with this one.
    pub to: IpAddr,
    /// Length of the prefix, in bits.
    pub length: u8,
    /// Index of the outgoing device.
    pub device: u32,
    /// The next router. `None` if the addresses are reached directly over the device.
    pub via: Option<IpAddr>,
    /// The addresses belong to this host (`ip route add local`).
    pub is_local: bool,
    /// Metrics for TCP.
    pub metrics: Vec<RouteMetric>,
    /// The routing table.
    pub table: Table,
}

impl Route {
    /// Default route over `device`, for the IP version of `address`.
    pub fn default(address: IpAddr, device: u32) -> Self {
        let to = match address {
            IpAddr::V4(_) => IpAddr::from([0; 4]),
            IpAddr::V6(_) => IpAddr::from([0; 16]),
        };
        Route { to, length: 0, device, via: None, is_local: false, metrics: Vec::new(), table: Table::Main }
    }

    /// Route to one address over `device`.
    pub fn host(to: IpAddr, device: u32) -> Self {
        let length = if to.is_ipv4() { 32 } else { 128 };
        Route { to, length, device, via: None, is_local: false, metrics: Vec::new(), table: Table::Main }
    }
}

/// Properties of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Size of the largest packet, in octets.
    pub mtu: u32,
    /// The device is virtual, for example a veth: it accepts frames for every address. A network
    /// card accepts only frames for this host, unless it is in promiscuous mode.
    pub is_virtual: bool,
}

/// A netlink socket for routing.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the current namespace.
    ///
    /// # Errors
    /// If the kernel has no netlink.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Brings a device up.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn set_up(&mut self, device: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.send_request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Sets the length of a device's transmit queue, in packets. Unlike the ioctl, this does not
    /// need root.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn set_queue(&mut self, device: u32, packets: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.attributes = vec![LinkAttribute::TxQueueLen(packets)];
        self.send_request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Limits the number of segments in one packet that the kernel passes to a device (GSO).
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn set_gso_segments(&mut self, device: u32, segments: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.attributes = vec![LinkAttribute::GsoMaxSegs(segments)];
        self.send_request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Adds an address to a device, without duplicate address detection.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn add_address(&mut self, device: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = if address.is_ipv4() { 32 } else { 128 };
        message.header.scope = AddressScope::Universe;
        message.header.index = device;
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.send_request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Creates a pair of connected virtual devices: `name` in this namespace, `peer_name` in the
    /// namespace `peer_namespace`.
    ///
    /// # Errors
    /// Errors of the kernel: `AlreadyExists` if a device with this name exists.
    pub fn add_pair(
        &mut self,
        name: &str,
        peer_name: &str,
        peer_namespace: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let mut peer = LinkMessage::default();
        peer.attributes = vec![
            LinkAttribute::IfName(peer_name.to_owned()),
            LinkAttribute::NetNsFd(peer_namespace.as_raw_fd()),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.send_request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Removes a device, and its peer if it is one of a pair, before it returns.
    ///
    /// # Errors
    /// If no device has this index.
    pub fn remove(&mut self, device: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        self.send_request(RouteNetlinkMessage::DelLink(message), 0)
    }

    /// Returns the properties of a device.
    ///
    /// # Errors
    /// If no device has this index.
    pub fn link(&mut self, index: u32) -> io::Result<Link> {
        for answer in self.list(RouteNetlinkMessage::GetLink(LinkMessage::default()))? {
            let RouteNetlinkMessage::NewLink(link) = answer else { continue };
            if link.header.index != index {
                continue;
            }
            let mut properties = Link { mtu: 0, is_virtual: false };
            for attribute in link.attributes {
                match attribute {
                    LinkAttribute::Mtu(octets) => properties.mtu = octets,
                    // The kernel reports a kind (`veth`, `bridge`) only for virtual devices.
                    LinkAttribute::LinkInfo(info) => {
                        properties.is_virtual |= info.iter().any(|info| matches!(info, LinkInfo::Kind(_)));
                    }
                    _ => {}
                }
            }
            return Ok(properties);
        }
        Err(io::Error::from(io::ErrorKind::NotFound))
    }

    /// Returns the index of a device.
    ///
    /// # Errors
    /// If no device has this name.
    pub fn index(&mut self, name: &str) -> io::Result<u32> {
        let is_named = |link: &LinkMessage| link.attributes.contains(&LinkAttribute::IfName(name.to_owned()));
        let links = self.list(RouteNetlinkMessage::GetLink(LinkMessage::default()))?;
        let matching_index = links.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(link) if is_named(&link) => Some(link.header.index),
            _ => None,
        });
        matching_index
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no device {name}")))
    }

    /// Adds a route.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn add_route(&mut self, route: &Route) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(route.to);
        message.header.destination_prefix_length = route.length;
        match route.table {
            Table::Main => {
                message.header.table = RouteHeader::RT_TABLE_MAIN;
                message.header.protocol = RouteProtocol::Boot;
            }
            Table::Own(number, owner) => {
                message.attributes.push(RouteAttribute::Table(number));
                message.header.protocol = RouteProtocol::from(owner);
            }
        }
        message.header.kind = if route.is_local { RouteType::Local } else { RouteType::Unicast };
        message.header.scope = match (route.is_local, route.to) {
            (true, IpAddr::V4(_)) => RouteScope::Host,
            (false, IpAddr::V4(_)) if route.via.is_none() => RouteScope::Link,
            _ => RouteScope::Universe,
        };
        if route.length > 0 {
            message.attributes.push(RouteAttribute::Destination(route_address(route.to)));
        }
        if let Some(router) = route.via {
            message.attributes.push(RouteAttribute::Gateway(route_address(router)));
        }
        message.attributes.push(RouteAttribute::Oif(route.device));
        if !route.metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(route.metrics.clone()));
        }
        self.send_request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Returns the metrics of the routes over a device, first of IPv4 and then of IPv6.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn route_metrics(&mut self, device: u32) -> io::Result<Vec<RouteMetric>> {
        let mut metrics_of_routes = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut message = RouteMessage::default();
            message.header.address_family = family;
            for route in self.list(RouteNetlinkMessage::GetRoute(message))? {
                let RouteNetlinkMessage::NewRoute(route) = route else { continue };
                let uses_device = route.attributes.contains(&RouteAttribute::Oif(device));
                for attribute in route.attributes.into_iter().filter(|_| uses_device) {
                    if let RouteAttribute::Metrics(metrics) = attribute {
                        metrics_of_routes.extend(metrics);
                    }
                }
            }
        }
        Ok(metrics_of_routes)
    }

    /// Sends a dump request and returns the kernel's answers.
    pub(crate) fn list(&mut self, message: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.send(message, NLM_F_DUMP)?;
        let mut messages = Vec::new();
        loop {
            let (answer, _) = self.socket.recv_from_full()?;
            let mut unread = &answer[..];
            while !unread.is_empty() {
                let message =
                    NetlinkMessage::<RouteNetlinkMessage>::deserialize(unread).map_err(io::Error::other)?;
                // Each message begins at a multiple of four octets.
                let length = (message.header.length as usize).next_multiple_of(4).clamp(4, unread.len());
                unread = &unread[length..];
                match message.payload {
                    NetlinkPayload::InnerMessage(message) => messages.push(message),
                    NetlinkPayload::Done(_) => return Ok(messages),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    other => return Err(io::Error::other(format!("unexpected netlink reply: {other:?}"))),
                }
            }
        }
    }

    /// Sends one request and waits for the kernel's answer.
    pub(crate) fn send_request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_ACK | flags)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            NetlinkPayload::Error(_) => Ok(()),
            other => Err(io::Error::other(format!("unexpected netlink reply: {other:?}"))),
        }
    }

    /// Sends a request with these flags in addition to NLM_F_REQUEST.
    fn send(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}
