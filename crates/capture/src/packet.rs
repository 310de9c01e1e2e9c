//! IP and TCP headers, from as many bytes as were captured. Lengths come from the IP header, so a capture that was cut
//! behind the headers is as good as a whole one.

use std::net::{IpAddr, SocketAddr};

use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, TcpOptionElement, TcpOptionsIterator};

use crate::link::LinkType;

/// Why a packet says nothing about TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// Its link type is not read here.
    LinkType,
    /// Not IP: ARP, say.
    NotIp,
    /// A part of an IP packet.
    Fragment,
    /// IP, but not TCP.
    NotTcp,
    /// Cut off, or wrong, before the end of TCP's fixed header.
    Short,
}

/// What TCP's header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub source: SocketAddr,
    pub destination: SocketAddr,
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    /// Octets of payload, as the IP header says.
    pub payload: u32,
    pub flags: Flags,
    pub options: Options,
    /// IPv4's identification; zero if there is none.
    pub identification: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    pub fin: bool,
    pub syn: bool,
    pub rst: bool,
    pub ack: bool,
}

/// Selective acknowledgments of one segment: at most four (RFC 2018 §3).
pub(crate) type SackBlocks = [Option<(u32, u32)>; 4];

/// TCP options that are looked at; those that were cut off are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Options {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub sack: SackBlocks,
    /// Value and echo reply (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
}

impl Segment {
    /// Octets of sequence space: payload, and one each for SYN and FIN.
    pub fn sequence_length(&self) -> u32 {
        self.payload + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }
}

/// Octets of TCP's header without options.
const TCP_FIXED: usize = 20;

/// Reads a packet of which `bytes` were captured and that had `original_length` octets on the link.
pub(crate) fn parse(link: LinkType, bytes: &[u8], original_length: u32) -> Result<Segment, Skipped> {
    let ip = link.ip_of(bytes)?;
    let link_header = (bytes.len() - ip.len()) as u32;
    let ip_length = original_length.saturating_sub(link_header);
    match ip.first().ok_or(Skipped::Short)? >> 4 {
        4 => parse_ipv4(ip, ip_length),
        6 => parse_ipv6(ip, ip_length),
        _ => Err(Skipped::NotIp),
    }
}

fn parse_ipv4(ip: &[u8], on_link: u32) -> Result<Segment, Skipped> {
    let header = Ipv4HeaderSlice::from_slice(ip).map_err(|_| Skipped::Short)?;
    if header.is_fragmenting_payload() {
        return Err(Skipped::Fragment);
    }
    if header.protocol() != etherparse::IpNumber::TCP {
        return Err(Skipped::NotTcp);
    }
    // Zero: captured before the network card divided it into packets.
    let total = Some(u32::from(header.total_len())).filter(|&length| length > 0).unwrap_or(on_link);
    let header_length = header.slice().len();
    let tcp_length = total.checked_sub(header_length as u32).ok_or(Skipped::Short)?;
    let (source, destination) = (header.source_addr().into(), header.destination_addr().into());
    let segment = parse_tcp(&ip[header_length..], tcp_length, source, destination)?;
    Ok(Segment { identification: header.identification(), ..segment })
}

fn parse_ipv6(ip: &[u8], on_link: u32) -> Result<Segment, Skipped> {
    let header = Ipv6HeaderSlice::from_slice(ip).map_err(|_| Skipped::Short)?;
    let fixed = header.slice().len();
    let length = Some(u32::from(header.payload_length()))
        .filter(|&length| length > 0)
        .unwrap_or(on_link.saturating_sub(fixed as u32));
    let (mut next, mut at) = (header.next_header().0, fixed);
    loop {
        let extension = |octets: usize| ip.get(at..at + octets).ok_or(Skipped::Short);
        let octets = match next {
            6 => break,
            // Hop-by-hop options, routing, destination options, mobility (RFC 8200 §4, RFC 6275): units of eight
            // octets, the first not counted.
            0 | 43 | 60 | 135 => 8 * (1 + usize::from(extension(2)?[1])),
            // Authentication header (RFC 4302 §2.2): units of four octets, two not counted.
            51 => 4 * (2 + usize::from(extension(2)?[1])),
            44 => {
                // An "atomic" fragment is the whole packet (RFC 6946).
                let fields = extension(4)?;
                if u16::from_be_bytes([fields[2], fields[3]]) & 0xfff9 != 0 {
                    return Err(Skipped::Fragment);
                }
                8
            }
            _ => return Err(Skipped::NotTcp),
        };
        next = extension(1)?[0];
        at += octets;
    }
    let tcp = ip.get(at..).ok_or(Skipped::Short)?;
    let tcp_length = length.checked_sub((at - fixed) as u32).ok_or(Skipped::Short)?;
    parse_tcp(tcp, tcp_length, header.source_addr().into(), header.destination_addr().into())
}

/// By hand, because a capture may be cut inside of the options, and etherparse wants them all.
fn parse_tcp(tcp: &[u8], length: u32, source: IpAddr, destination: IpAddr) -> Result<Segment, Skipped> {
    let fixed = tcp.get(..TCP_FIXED).ok_or(Skipped::Short)?;
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < TCP_FIXED {
        return Err(Skipped::Short);
    }
    let payload = length.checked_sub(header as u32).ok_or(Skipped::Short)?;
    let bits = fixed[13];
    Ok(Segment {
        source: SocketAddr::new(source, half(0)),
        destination: SocketAddr::new(destination, half(2)),
        seq: word(4),
        ack: word(8),
        window: half(14),
        payload,
        flags: Flags {
            fin: bits & 0x01 != 0,
            syn: bits & 0x02 != 0,
            rst: bits & 0x04 != 0,
            ack: bits & 0x10 != 0,
        },
        options: options(&tcp[TCP_FIXED..header.min(tcp.len())]),
        identification: 0,
    })
}

fn options(bytes: &[u8]) -> Options {
    let mut options = Options::default();
    // One that is wrong or cut off ends the list.
    for option in TcpOptionsIterator::from_slice(bytes).map_while(Result::ok) {
        match option {
            TcpOptionElement::MaximumSegmentSize(mss) => options.mss = Some(mss),
            // RFC 7323 §2.3: more than 14 counts as 14.
            TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift.min(14)),
            TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            TcpOptionElement::SelectiveAcknowledgement(first, [b, c, d]) => {
                options.sack = [Some(first), b, c, d];
            }
            TcpOptionElement::Timestamp(value, echo) => options.timestamps = Some((value, echo)),
            TcpOptionElement::Noop => {}
        }
    }
    options
}
