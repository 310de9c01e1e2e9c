//! Converts segments to IPv4 packets and back. Numbers in a [`Segment`] count from the SYN of its
//! end.

use std::net::{Ipv4Addr, SocketAddrV4};

use etherparse::{
    IpEcn, IpNumber, Ipv4Header, NetSlice, SlicedPacket, TcpHeader, TcpOptionElement, TransportSlice,
};
use umts_stack::ids::{ConnectionId, End};
use umts_stack::packet::{Ecn, Flags, Options, SackBlocks, Segment};
use umts_units::Time;

/// The initial sequence number of the other end.
const PEER_ISN: u32 = 1_000_000;
/// Value of the other end's timestamp clock at the beginning of the conversation, in ms.
const PEER_CLOCK: u32 = 100_000;
const TIME_TO_LIVE: u8 = 64;
const NANOSECONDS_PER_MS: u64 = 1_000_000;

/// Addresses of both ends, and the values that the kernel chose in its SYN.
#[derive(Debug)]
pub(super) struct Wire {
    pub kernel: SocketAddrV4,
    pub peer: SocketAddrV4,
    /// The kernel's initial sequence number, after its SYN.
    kernel_isn: Option<u32>,
    /// Shifts of the windows of the kernel and of the other end.
    kernel_shift: u8,
    peer_shift: u8,
    /// End of the highest number that the kernel has sent.
    max_sent: u64,
}

impl Wire {
    pub fn new(kernel: SocketAddrV4, peer: SocketAddrV4) -> Self {
        Wire { kernel, peer, kernel_isn: None, kernel_shift: 0, peer_shift: 0, max_sent: 0 }
    }

    /// Returns the end of the highest number that the kernel has sent.
    pub fn max_sent(&self) -> u64 {
        self.max_sent
    }

    /// Converts a segment of the other end into a packet. The data are zeros.
    pub fn encode(&mut self, segment: &Segment) -> Result<Vec<u8>, String> {
        if let Some(shift) = segment.options.window_scale {
            self.peer_shift = shift;
        }
        let shift = if segment.flags.syn { 0 } else { self.peer_shift };
        let window = u16::try_from(segment.window >> shift).unwrap_or(u16::MAX);
        let seq = PEER_ISN.wrapping_add(segment.seq as u32);
        let mut tcp = TcpHeader::new(self.peer.port(), self.kernel.port(), seq, window);
        let Flags { syn, ack, fin, psh, rst, ece, cwr } = segment.flags;
        (tcp.syn, tcp.ack, tcp.fin, tcp.psh) = (syn, ack, fin, psh || segment.payload > 0);
        (tcp.rst, tcp.ece, tcp.cwr) = (rst, ece, cwr);
        if ack {
            tcp.acknowledgment_number = self.kernel_isn.unwrap_or(0).wrapping_add(segment.ack as u32);
        }
        tcp.set_options(&self.options(segment)).map_err(|error| error.to_string())?;
        let payload = vec![0; segment.payload as usize];
        let length = u16::try_from(tcp.header_len() + payload.len()).map_err(|error| error.to_string())?;
        let (from, to) = (self.peer.ip().octets(), self.kernel.ip().octets());
        let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, IpNumber::TCP, from, to)
            .map_err(|error| error.to_string())?;
        ip.ecn = match segment.ecn {
            Ecn::NotCapable => IpEcn::ZERO,
            Ecn::Capable => IpEcn::TWO,
            Ecn::Experienced => IpEcn::THREE,
        };
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).map_err(|error| error.to_string())?;
        Ok([&ip.to_bytes()[..], &tcp.to_bytes()[..], &payload].concat())
    }

    fn options(&self, segment: &Segment) -> Vec<TcpOptionElement> {
        let mut options = Vec::new();
        if segment.flags.syn {
            if segment.mss > 0 {
                options.push(TcpOptionElement::MaximumSegmentSize(segment.mss));
            }
            if segment.options.sack_permitted {
                options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
            }
            options.extend(segment.options.window_scale.map(TcpOptionElement::WindowScale));
        }
        if segment.options.timestamps {
            let echo = segment.echo.as_nanos() / NANOSECONDS_PER_MS;
            let value = PEER_CLOCK.wrapping_add((segment.timestamp.as_nanos() / NANOSECONDS_PER_MS) as u32);
            options.push(TcpOptionElement::Timestamp(value, echo as u32));
        }
        let number = |number: u64| self.kernel_isn.unwrap_or(0).wrapping_add(number as u32);
        let mut blocks = segment.sack.ranges(segment.ack).map(|(from, to)| (number(from), number(to)));
        if let Some(first) = blocks.next() {
            // The option has at most four blocks.
            let rest = [blocks.next(), blocks.next(), blocks.next()];
            options.push(TcpOptionElement::SelectiveAcknowledgement(first, rest));
        }
        options
    }

    /// Converts a packet of the kernel into a segment. Returns `None` if the packet is not a
    /// segment of this connection.
    pub fn decode(&mut self, packet: &[u8]) -> Option<Segment> {
        let packet = SlicedPacket::from_ip(packet).ok()?;
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (packet.net, packet.transport)
        else {
            return None;
        };
        let from = SocketAddrV4::new(ip.header().source_addr(), tcp.source_port());
        let to = SocketAddrV4::new(ip.header().destination_addr(), tcp.destination_port());
        if *from.ip() != *self.kernel.ip() || to != self.peer {
            return None;
        }
        // The port of an active open becomes known with the SYN.
        self.kernel = from;
        if tcp.syn() && self.kernel_isn != Some(tcp.sequence_number()) {
            // The first SYN, or the SYN of a new connection after one that failed.
            (self.kernel_isn, self.max_sent) = (Some(tcp.sequence_number()), 0);
        }
        let isn = self.kernel_isn.unwrap_or(0);
        let seq = u64::from(tcp.sequence_number().wrapping_sub(isn));
        let ack = u64::from(tcp.acknowledgment_number().wrapping_sub(PEER_ISN));
        let mut segment = Segment {
            flags: Flags {
                syn: tcp.syn(),
                ack: tcp.ack(),
                fin: tcp.fin(),
                psh: tcp.psh(),
                rst: tcp.rst(),
                ece: tcp.ece(),
                cwr: tcp.cwr(),
            },
            ecn: match ip.header().ecn() {
                IpEcn::ZERO => Ecn::NotCapable,
                IpEcn::THREE => Ecn::Experienced,
                _ => Ecn::Capable,
            },
            seq,
            ack: if tcp.ack() { ack } else { 0 },
            payload: tcp.payload().len() as u32,
            ..Segment::new(ConnectionId(0), End::Server.sends())
        };
        self.read_options(&mut segment, tcp.options_iterator());
        let shift = if segment.flags.syn { 0 } else { self.kernel_shift };
        segment.window = u32::from(tcp.window_size()) << shift;
        let is_repeated = segment.sequence_length() > 0 && segment.end() <= self.max_sent;
        segment.transmission = u16::from(is_repeated);
        if !segment.flags.rst {
            self.max_sent = self.max_sent.max(segment.end());
        }
        Some(segment)
    }

    fn read_options(
        &mut self,
        segment: &mut Segment,
        options: impl Iterator<Item = Result<TcpOptionElement, etherparse::TcpOptionReadError>>,
    ) {
        let number = |number: u32| u64::from(number.wrapping_sub(PEER_ISN));
        let mut present = Options::default();
        for option in options.flatten() {
            match option {
                TcpOptionElement::MaximumSegmentSize(mss) => segment.mss = mss,
                TcpOptionElement::WindowScale(shift) => {
                    present.window_scale = Some(shift);
                    // Both ends must send the option (RFC 7323 §2.2).
                    self.kernel_shift = shift;
                }
                TcpOptionElement::SelectiveAcknowledgementPermitted => present.sack_permitted = true,
                TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                    let blocks = [Some(first), rest[0], rest[1], rest[2]].into_iter().flatten();
                    let ranges = blocks.map(|(from, to)| (number(from), number(to)));
                    segment.sack = SackBlocks::new(segment.ack, ranges);
                }
                TcpOptionElement::Timestamp(value, _) => {
                    present.timestamps = true;
                    segment.timestamp = Time::from_nanos(u64::from(value) * NANOSECONDS_PER_MS);
                }
                TcpOptionElement::Noop => {}
            }
        }
        segment.options = present;
    }

    /// Records that the other end does not scale windows, so the kernel does not either.
    pub fn without_scaling(&mut self) {
        self.kernel_shift = 0;
    }
}

/// Addresses of the kernel and of the other end.
pub(super) const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
pub(super) const PEER: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
