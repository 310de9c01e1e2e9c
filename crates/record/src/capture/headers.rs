//! Encodes packets of the model as IPv4 and TCP or UDP headers, for captures.
//!
//! A packet of the model has numbers instead of addresses (UE, flow, connection), sequence numbers
//! that begin at 0 and do not wrap around, and times instead of timestamps. Fixed rules give the
//! values of the headers (see the parent module), so that they are the same in every run.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use thiserror::Error;
use umts_stack::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
use umts_stack::packet::{Content, Datagram, Ecn, Packet, SackBlocks, Segment};
use umts_stack::trace::SendCause;
use umts_units::Time;

const FIRST_UE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Number of possible UE numbers.
const UES: u32 = 1 << 16;
const FIRST_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// Addresses of 198.18.0.0/15 except the first and the last.
const SERVERS: u32 = (1 << 17) - 2;
/// Default server port of TCP and UDP. No Wireshark dissector decodes its payload of zeros.
const SERVER_PORT: u16 = 5001;
/// Dynamic ports (RFC 6335 §6).
const UE_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;
const TIME_TO_LIVE: u8 = 64;
/// Length of IPv4 and TCP headers without options.
const WITHOUT_OPTIONS: usize = 40;
/// Room for options in a TCP header.
const MAX_OPTIONS: usize = 40;
/// Kind of the no-operation option (RFC 9293 §3.1).
const NO_OPERATION: u8 = 1;
/// Maximum number of closed connections for which state is stored.
const MAX_CLOSED: usize = 4096;
/// Maximum window shift (RFC 7323 §2.3).
const MAX_SHIFT: u8 = 14;
/// The payload of all packets.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The encoded headers of a simulated packet, or the octets of a real one.
#[derive(Debug)]
pub(super) struct EncodedHeaders {
    pub headers: Vec<u8>,
    /// Length of the packet with payload, as in the IP header.
    pub length: u32,
}

/// A payload that no IP packet can hold.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("a packet with {0} bytes of payload does not fit into an IP packet of 65,535 bytes")]
pub(super) struct PayloadTooLong(u32);

/// Function that returns the octets of a real program's packet while the packet is on its way. In
/// the model a packet has no octets, only its size, addresses and flags.
#[derive(Clone)]
pub struct RealPackets(pub Rc<dyn Fn(PacketId) -> Option<Vec<u8>>>);

impl std::fmt::Debug for RealPackets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RealPackets")
    }
}

/// State of earlier packets that headers depend on.
#[derive(Debug, Default)]
pub(super) struct Headers {
    real: Option<RealPackets>,
    server_ports: Vec<u16>,
    connections: BTreeMap<ConnectionId, [DirectionHeaders; 2]>,
    /// Closed connections, of which packets may still be on the way.
    closed: VecDeque<ConnectionId>,
}

/// One direction of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct DirectionHeaders {
    /// Whether a SYN of this direction was written.
    has_syn: bool,
    /// The acknowledgment of a one-way connection that is written as a SYN+ACK.
    syn_ack: Option<PacketId>,
    /// Window shift (RFC 7323 §2.2).
    shift: u8,
}

impl Headers {
    /// State before the first packet. `real` returns the packets of programs, if there are any.
    pub fn new(real: Option<RealPackets>, server_ports: Vec<u16>) -> Self {
        Headers { real, server_ports, ..Headers::default() }
    }

    fn server_port(&self, flow: FlowId) -> u16 {
        self.server_ports.get(flow.0 as usize).copied().unwrap_or(SERVER_PORT)
    }

    /// Encodes the headers of a packet, or returns the octets of a real packet.
    pub fn encode(&mut self, packet: &Packet) -> Result<EncodedHeaders, PayloadTooLong> {
        let encoded = match &packet.content {
            Content::Segment(segment) => self.tcp(packet, segment),
            Content::Datagram(datagram) => udp(packet, datagram, self.server_port(packet.flow)),
            Content::Foreign(foreign) => {
                let octets = self.real.as_ref().and_then(|real| (real.0)(packet.id));
                Some(EncodedHeaders { headers: octets.unwrap_or_default(), length: foreign.size })
            }
        };
        encoded.ok_or(PayloadTooLong(packet.payload()))
    }

    /// A connection closed. Forgets the oldest closed connection if there are more than
    /// [`MAX_CLOSED`].
    pub fn closed(&mut self, connection: ConnectionId) {
        self.closed.push_back(connection);
        if self.closed.len() > MAX_CLOSED
            && let Some(oldest) = self.closed.pop_front()
        {
            self.connections.remove(&oldest);
        }
    }

    /// The IP and TCP headers of a simulated segment, with valid checksums. The payload is zeros.
    /// `None` if the segment is too large for an IP packet.
    fn tcp(&mut self, packet: &Packet, segment: &Segment) -> Option<EncodedHeaders> {
        let segment = self.as_real_tcp(packet.id, segment);
        let shift = self.shift(&segment);
        let mut tcp = TcpHeader::new(0, 0, sequence_number(&segment), window(&segment, shift));
        tcp.syn = segment.flags.syn;
        tcp.fin = segment.flags.fin;
        tcp.psh = segment.flags.psh;
        tcp.rst = segment.flags.rst;
        tcp.ack = segment.flags.ack;
        tcp.ece = segment.flags.ece;
        tcp.cwr = segment.flags.cwr;
        if segment.flags.ack {
            let peer_isn = initial_number(segment.connection, segment.direction.reversed());
            tcp.acknowledgment_number = peer_isn.wrapping_add(segment.ack as u32);
        }
        let hosts = Hosts::of(packet, segment.direction);
        let ue_port = UE_PORTS.start() + (segment.connection.0 % UE_PORTS.len() as u32) as u16;
        (tcp.source_port, tcp.destination_port) =
            ports(segment.direction, self.server_port(packet.flow), ue_port);
        set_options(&mut tcp, &segment, shift);
        let payload = ZEROS.get(..segment.payload as usize)?;
        let ip = hosts.header(packet, IpNumber::TCP, tcp.header_len() + payload.len())?;
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).ok()?;
        Some(EncodedHeaders::new(&ip, &tcp.to_bytes()))
    }

    /// The segment, changed for a one-way connection (ns-2) so that the capture has a handshake:
    /// see the documentation of the parent module.
    fn as_real_tcp(&mut self, packet: PacketId, segment: &Segment) -> Segment {
        let mut segment = *segment;
        let directions = self.connections.entry(segment.connection).or_default();
        let has_opposite_syn = directions[segment.direction.reversed().index()].has_syn;
        let state = &mut directions[segment.direction.index()];
        state.has_syn |= segment.flags.syn;
        if !state.has_syn && has_opposite_syn && segment.flags.ack {
            state.syn_ack.get_or_insert(packet);
        }
        if state.syn_ack == Some(packet) && segment.payload == 0 {
            segment.flags.syn = true;
            segment.seq = 0;
        } else if !segment.flags.syn {
            segment.seq = segment.seq.max(1);
            if !segment.flags.ack {
                segment.flags.ack = true;
                segment.ack = 1;
            }
        }
        segment
    }

    /// The window shift of this direction: the value of the SYN's option or, for the unlimited
    /// windows of a one-way connection, the smallest shift with which they fit.
    fn shift(&mut self, segment: &Segment) -> u8 {
        let state = &mut self.connections.entry(segment.connection).or_default()[segment.direction.index()];
        if segment.flags.syn {
            let needed = (0..MAX_SHIFT).find(|&shift| segment.window >> shift <= u32::from(u16::MAX));
            state.shift = segment.options.window_scale.unwrap_or(needed.unwrap_or(MAX_SHIFT));
        }
        state.shift
    }
}

impl EncodedHeaders {
    fn new(ip: &Ipv4Header, transport: &[u8]) -> Self {
        let mut headers = ip.to_bytes().to_vec();
        headers.extend_from_slice(transport);
        EncodedHeaders { headers, length: u32::from(ip.total_len) }
    }

    /// The packet with `payload` zeros after its headers.
    pub fn with_payload(&self, payload: u32) -> Vec<u8> {
        let mut octets = self.headers.clone();
        octets.resize(octets.len() + payload as usize, 0);
        octets
    }

    /// The comment of the packet: information from the model that headers do not contain.
    pub fn comment(&self, packet: &Packet, cause: Option<SendCause>) -> String {
        let Packet { id: PacketId(id), flow: FlowId(flow), ue: UeId(ue), content } = packet;
        let mut comment = format!("packet {id}");
        let mut add =
            |text: std::fmt::Arguments<'_>| comment.write_fmt(text).expect("writing to a String cannot fail");
        if let Content::Segment(segment) = content {
            add(format_args!(", connection {}", segment.connection.0));
        }
        add(format_args!(", flow {flow}, UE {ue}"));
        match content {
            Content::Segment(segment) if segment.sequence_length() > 0 => {
                add(format_args!(", transmission {}", u32::from(segment.transmission) + 1));
            }
            Content::Segment(_) => {}
            Content::Datagram(datagram) => add(format_args!(", datagram {}", datagram.number)),
            Content::Foreign(_) => {}
        }
        match cause {
            Some(SendCause::DupAck) => add(format_args!(" after duplicate acknowledgments")),
            Some(SendCause::Rto) => add(format_args!(" after a timeout")),
            Some(SendCause::TailLoss) => add(format_args!(" as a tail loss probe")),
            Some(SendCause::KeepAlive) => add(format_args!(", keep-alive")),
            Some(SendCause::WindowProbe) => add(format_args!(", window probe")),
            Some(SendCause::New | SendCause::Ack | SendCause::Reset) | None => {}
        }
        let size_in_model = packet.size();
        if size_in_model.0 != u64::from(self.length) {
            add(format_args!(", charged as {size_in_model}"));
        }
        comment
    }
}

fn sequence_number(segment: &Segment) -> u32 {
    initial_number(segment.connection, segment.direction).wrapping_add(segment.seq as u32)
}

/// Initial sequence number: a hash (the finaliser of SplitMix64). The numbers look as in a real
/// stack and are the same in every run.
pub(super) fn initial_number(connection: ConnectionId, direction: Direction) -> u32 {
    let key = u64::from(connection.0) << 1 | direction.index() as u64;
    let mut hash = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ hash >> 31) as u32
}

/// The window field of the header. The window of a SYN is never scaled (RFC 7323 §2.2).
fn window(segment: &Segment, shift: u8) -> u16 {
    let shift = if segment.flags.syn { 0 } else { shift };
    u16::try_from(segment.window >> shift).unwrap_or(u16::MAX)
}

/// Sets the segment's options in the layout of real TCP stacks. Adds no-operation options up to the
/// header length that the model counts.
fn set_options(tcp: &mut TcpHeader, segment: &Segment, shift: u8) {
    use TcpOptionElement::{MaximumSegmentSize, Noop, SelectiveAcknowledgementPermitted, WindowScale};
    let (options, syn) = (segment.options, segment.flags.syn);
    let mut elements = Vec::new();
    if syn && segment.mss > 0 {
        elements.push(MaximumSegmentSize(segment.mss));
    }
    // Timestamps take 10 octets. SACK permitted, or two no-operation options, fill them up to 12.
    match (syn && options.sack_permitted, options.timestamps) {
        (true, true) => elements.push(SelectiveAcknowledgementPermitted),
        (true, false) => elements.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
        (false, true) => elements.extend([Noop, Noop]),
        (false, false) => {}
    }
    if options.timestamps {
        elements.push(timestamp_option(segment));
    }
    if syn && (options.window_scale.is_some() || shift > 0) {
        elements.extend([Noop, WindowScale(shift)]);
    }
    if let Some(sack) = sack_option(segment) {
        elements.extend([Noop, Noop, sack]);
    }
    tcp.set_options(&elements).expect("the stack never sends more than 40 octets");
    // Octets of options that the model counts, rounded down to a multiple of four.
    let counted = usize::from(segment.header).saturating_sub(WITHOUT_OPTIONS).min(MAX_OPTIONS) & !3;
    let written = tcp.options.len();
    if !syn && counted > written {
        let mut padded = [NO_OPERATION; MAX_OPTIONS];
        padded[..written].copy_from_slice(tcp.options.as_slice());
        tcp.set_options_raw(&padded[..counted]).expect("the options fit");
    }
}

/// Timestamps in milliseconds (RFC 7323 §5.4). The clock of each end has its own offset, so that
/// the two ends do not seem to share a clock.
fn timestamp_option(segment: &Segment) -> TcpOptionElement {
    let clock = |direction, at: Time| {
        let offset = initial_number(segment.connection, direction).rotate_left(16);
        offset.wrapping_add((at.as_nanos() / 1_000_000) as u32)
    };
    let echo = if segment.flags.ack { clock(segment.direction.reversed(), segment.echo) } else { 0 };
    TcpOptionElement::Timestamp(clock(segment.direction, segment.timestamp), echo)
}

/// The SACK option of a segment. `None` without SACK blocks.
fn sack_option(segment: &Segment) -> Option<TcpOptionElement> {
    let first = initial_number(segment.connection, segment.direction.reversed());
    let number = |seq: u64| first.wrapping_add(seq as u32);
    let mut ranges = segment.sack.ranges(segment.ack).map(|(start, end)| (number(start), number(end)));
    let newest = ranges.next()?;
    let mut older = [None; SackBlocks::MAX - 1];
    older.iter_mut().zip(ranges).for_each(|(block, range)| *block = Some(range));
    Some(TcpOptionElement::SelectiveAcknowledgement(newest, older))
}

/// A UDP datagram of a flow, with ports of the flow.
fn udp(packet: &Packet, datagram: &Datagram, server_port: u16) -> Option<EncodedHeaders> {
    let payload = ZEROS.get(..datagram.payload as usize)?;
    let ue_port = UE_PORTS.start() + (packet.flow.0 % UE_PORTS.len() as u32) as u16;
    let (source, destination) = ports(datagram.direction, server_port, ue_port);
    let hosts = Hosts::of(packet, datagram.direction);
    let ip = hosts.header(packet, IpNumber::UDP, UdpHeader::LEN + payload.len())?;
    let udp = UdpHeader::with_ipv4_checksum(source, destination, &ip, payload).ok()?;
    Some(EncodedHeaders::new(&ip, &udp.to_bytes()))
}

/// Source and destination port.
fn ports(direction: Direction, server: u16, ue: u16) -> (u16, u16) {
    match direction {
        Direction::Downlink => (server, ue),
        Direction::Uplink => (ue, server),
    }
}

/// Whether the addresses belong to a simulated user and its server, in either order.
pub fn are_simulated(a: IpAddr, b: IpAddr) -> bool {
    let (IpAddr::V4(a), IpAddr::V4(b)) = (a, b) else { return false };
    let is_in_block = |address: Ipv4Addr, first: Ipv4Addr, count: u32| {
        address.to_bits().checked_sub(first.to_bits()).is_some_and(|number| number < count)
    };
    let are_ue_and_server =
        |ue, server| is_in_block(ue, FIRST_UE, UES) && is_in_block(server, FIRST_SERVER, SERVERS);
    are_ue_and_server(a, b) || are_ue_and_server(b, a)
}

/// Source and destination address of a packet.
struct Hosts {
    source: u32,
    destination: u32,
}

impl Hosts {
    fn of(packet: &Packet, direction: Direction) -> Self {
        let server = FIRST_SERVER.to_bits() + packet.flow.0 % SERVERS;
        let ue = FIRST_UE.to_bits() + u32::from(packet.ue.0);
        match direction {
            Direction::Downlink => Hosts { source: server, destination: ue },
            Direction::Uplink => Hosts { source: ue, destination: server },
        }
    }

    /// An IP header for `length` octets. `None` if the packet would exceed 65,535 octets.
    fn header(&self, packet: &Packet, protocol: IpNumber, length: usize) -> Option<Ipv4Header> {
        let (source, destination) = (self.source.to_be_bytes(), self.destination.to_be_bytes());
        let length = u16::try_from(length).ok()?;
        let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, protocol, source, destination).ok()?;
        ip.identification = packet.id.0 as u16;
        ip.dont_fragment = true;
        ip.ecn = match packet.segment().map_or(Ecn::NotCapable, |segment| segment.ecn) {
            Ecn::NotCapable => IpEcn::ZERO,
            Ecn::Capable => IpEcn::TWO,
            Ecn::Experienced => IpEcn::THREE,
        };
        ip.header_checksum = ip.calc_header_checksum();
        Some(ip)
    }
}
