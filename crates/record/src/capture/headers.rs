//! A segment of the model as IPv4 and TCP headers.

use std::fmt::Write;
use std::net::Ipv4Addr;

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use thiserror::Error;
use umts_stack::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
use umts_stack::packet::{Packet, Segment};
use umts_stack::trace::SendCause;

const FIRST_UE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FIRST_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// Addresses of 198.18.0.0/15 but its first and last.
const SERVERS: u32 = (1 << 17) - 2;
/// No dissector takes its payload of zeros for a protocol.
const SERVER_PORT: u16 = 5001;
/// Dynamic ports (RFC 6335 §6).
const UE_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;
const TIME_TO_LIVE: u8 = 64;
/// IPv4 and TCP without options.
const PLAIN: usize = 40;
/// Room for options in a TCP header.
const MAX_OPTIONS: usize = 40;
/// RFC 7323 §2.3.
const MAX_SHIFT: u8 = 14;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A packet as it goes into a file.
#[derive(Debug)]
pub(super) struct Encoded {
    pub headers: Vec<u8>,
    /// With payload, as the IP header says.
    pub length: u32,
}

/// A segment that no IP packet can hold.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("a segment with {0} bytes of payload does not fit into an IP packet of 65,535 bytes")]
pub(super) struct TooLong(u32);

/// What a header needs to know of the packets before it.
#[derive(Debug, Default)]
pub(super) struct Headers {
    /// By the number of the connection.
    connections: Vec<[Way; 2]>,
}

/// One direction of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    has_syn: bool,
    /// The acknowledgment of a one-way connection that stands for its SYN+ACK.
    syn_ack: Option<PacketId>,
    shift: u8,
}

impl Headers {
    pub fn encode(&mut self, packet: &Packet) -> Result<Encoded, TooLong> {
        let segment = self.as_real_tcp(packet);
        let shift = self.shift(&segment);
        let mut tcp = TcpHeader::new(0, 0, sequence_number(&segment), window(&segment, shift));
        tcp.syn = segment.flags.syn;
        tcp.fin = segment.flags.fin;
        tcp.psh = segment.flags.psh;
        tcp.rst = segment.flags.rst;
        tcp.ack = segment.flags.ack;
        if segment.flags.ack {
            let other = initial_number(segment.connection, segment.direction.reversed());
            tcp.acknowledgment_number = other.wrapping_add(segment.ack as u32);
        }
        let server = FIRST_SERVER.to_bits() + packet.flow.0 % SERVERS;
        let ue = FIRST_UE.to_bits() + u32::from(packet.ue.0);
        let ue_port = UE_PORTS.start() + (segment.connection.0 % UE_PORTS.len() as u32) as u16;
        let (source, destination);
        match segment.direction {
            Direction::Downlink => {
                (source, destination) = (server, ue);
                (tcp.source_port, tcp.destination_port) = (SERVER_PORT, ue_port);
            }
            Direction::Uplink => {
                (source, destination) = (ue, server);
                (tcp.source_port, tcp.destination_port) = (ue_port, SERVER_PORT);
            }
        }
        set_options(&mut tcp, &segment, shift);
        checksummed(packet, tcp, source, destination).ok_or(TooLong(segment.payload))
    }

    /// The segment, with the handshake that a one-way connection leaves out (module documentation).
    fn as_real_tcp(&mut self, packet: &Packet) -> Segment {
        let mut segment = packet.segment;
        let index = segment.connection.index();
        if index >= self.connections.len() {
            self.connections.resize(index + 1, [Way::default(); 2]);
        }
        let has_opposite_syn = self.connections[index][segment.direction.reversed().index()].has_syn;
        let way = &mut self.connections[index][segment.direction.index()];
        way.has_syn |= segment.flags.syn;
        if !way.has_syn && has_opposite_syn && segment.flags.ack {
            way.syn_ack.get_or_insert(packet.id);
        }
        if way.syn_ack == Some(packet.id) && segment.payload == 0 {
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

    /// The shift of this direction's windows; zero for the SYN's own, whose window is never scaled.
    fn shift(&mut self, segment: &Segment) -> u8 {
        let way = &mut self.connections[segment.connection.index()][segment.direction.index()];
        if segment.flags.syn {
            way.shift = (0..MAX_SHIFT)
                .find(|&shift| segment.window >> shift <= u32::from(u16::MAX))
                .unwrap_or(MAX_SHIFT);
        }
        way.shift
    }
}

impl Encoded {
    /// Ground truth, for the packet's comment.
    pub fn comment(&self, packet: &Packet, cause: Option<SendCause>) -> String {
        let Packet { id: PacketId(id), flow: FlowId(flow), ue: UeId(ue), segment } = *packet;
        let ConnectionId(connection) = segment.connection;
        let mut comment = format!("packet {id}, connection {connection}, flow {flow}, UE {ue}");
        let mut add = |text: std::fmt::Arguments<'_>| comment.write_fmt(text).expect("a string takes all");
        if segment.sequence_length() > 0 {
            add(format_args!(", transmission {}", u32::from(segment.transmission) + 1));
        }
        match cause {
            Some(SendCause::DupAck) => add(format_args!(" after duplicate acknowledgments")),
            Some(SendCause::Rto) => add(format_args!(" after a timeout")),
            Some(SendCause::New | SendCause::Ack) | None => {}
        }
        let charged = packet.size();
        if charged.0 != u64::from(self.length) {
            add(format_args!(", charged as {charged}"));
        }
        comment
    }
}

fn sequence_number(segment: &Segment) -> u32 {
    initial_number(segment.connection, segment.direction).wrapping_add(segment.seq as u32)
}

/// A hash (the finaliser of SplitMix64), so that numbers look like those of a real stack and are the same in every run.
fn initial_number(connection: ConnectionId, direction: Direction) -> u32 {
    let mut x = (u64::from(connection.0) << 1 | direction.index() as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) as u32
}

fn window(segment: &Segment, shift: u8) -> u16 {
    let shift = if segment.flags.syn { 0 } else { shift };
    u16::try_from(segment.window >> shift).unwrap_or(u16::MAX)
}

/// A SYN's options, and no-operations up to the header that the model charges.
fn set_options(tcp: &mut TcpHeader, segment: &Segment, shift: u8) {
    if segment.flags.syn {
        let scale = TcpOptionElement::WindowScale(shift);
        let options = [TcpOptionElement::MaximumSegmentSize(segment.mss), TcpOptionElement::Noop, scale];
        let absent = usize::from(segment.mss == 0);
        tcp.set_options(&options[absent..]).expect("eight octets fit");
    } else {
        let charged = usize::from(segment.header).saturating_sub(PLAIN).min(MAX_OPTIONS);
        let no_operations = [1; MAX_OPTIONS];
        tcp.set_options_raw(&no_operations[..charged & !3]).expect("they fit");
    }
}

/// None if the packet would be longer than 65,535 bytes.
fn checksummed(packet: &Packet, mut tcp: TcpHeader, source: u32, destination: u32) -> Option<Encoded> {
    let payload = ZEROS.get(..packet.segment.payload as usize)?;
    let length = u16::try_from(tcp.header_len() + payload.len()).ok()?;
    let (source, destination) = (source.to_be_bytes(), destination.to_be_bytes());
    let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, IpNumber::TCP, source, destination).ok()?;
    ip.identification = packet.id.0 as u16;
    ip.dont_fragment = true;
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).ok()?;
    let mut headers = ip.to_bytes().to_vec();
    headers.extend_from_slice(&tcp.to_bytes());
    Some(Encoded { length: u32::from(ip.total_len), headers })
}
