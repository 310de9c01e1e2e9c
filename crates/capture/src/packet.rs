//! IP and TCP headers, from as many bytes as were captured. Lengths come from the IP header, so a capture that was cut
//! behind the headers is as good as a whole one.

use crate::ends::{End, Ends};
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

/// A TCP segment, and between whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Packet {
    pub ends: Ends,
    /// The source is the first one of the ends.
    pub is_from_first: bool,
    /// A router has marked it (RFC 3168 §5: CE).
    pub is_marked: bool,
    pub segment: Segment,
}

/// What TCP's header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Segment {
    /// IPv4's identification; zero if there is none.
    pub identification: u16,
    pub window: u16,
    pub seq: u32,
    pub ack: u32,
    /// Octets of payload, as the IP header says.
    pub payload: u32,
    pub flags: Flags,
    pub options: Options,
}

/// The control bits as they are in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    pub fn fin(self) -> bool {
        self.0 & 0x01 != 0
    }

    pub fn syn(self) -> bool {
        self.0 & 0x02 != 0
    }

    pub fn rst(self) -> bool {
        self.0 & 0x04 != 0
    }

    pub fn ack(self) -> bool {
        self.0 & 0x10 != 0
    }

    pub fn ece(self) -> bool {
        self.0 & 0x40 != 0
    }

    pub fn cwr(self) -> bool {
        self.0 & 0x80 != 0
    }
}

/// Selective acknowledgments of one segment: at most four (RFC 2018 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SackBlocks {
    count: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

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
        self.payload + u32::from(self.flags.syn()) + u32::from(self.flags.fin())
    }
}

/// Octets of the headers without options.
const IPV4_FIXED: usize = 20;
const IPV6_FIXED: usize = 40;
const TCP_FIXED: usize = 20;
/// The protocol number of TCP.
const TCP: u8 = 6;

/// Reads a packet of which `bytes` were captured and that had `original_length` octets on the link. It is written
/// where it is wanted, since every copy of it shows in the speed.
pub(crate) fn parse(
    link: LinkType,
    bytes: &[u8],
    original_length: u32,
    packet: &mut Packet,
) -> Result<(), Skipped> {
    let ip = link.ip_of(bytes)?;
    let link_header = (bytes.len() - ip.len()) as u32;
    let ip_length = original_length.saturating_sub(link_header);
    match ip.first().ok_or(Skipped::Short)? >> 4 {
        4 => parse_ipv4(ip, ip_length, packet),
        6 => parse_ipv6(ip, ip_length, packet),
        _ => Err(Skipped::NotIp),
    }
}

fn parse_ipv4(ip: &[u8], on_link: u32, packet: &mut Packet) -> Result<(), Skipped> {
    let Some((fixed, _)) = ip.split_first_chunk::<IPV4_FIXED>() else { return Err(Skipped::Short) };
    let header_length = usize::from(fixed[0] & 0x0f) * 4;
    if header_length < IPV4_FIXED || header_length > ip.len() {
        return Err(Skipped::Short);
    }
    // More fragments to come, or not the first one.
    if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0 {
        return Err(Skipped::Fragment);
    }
    if fixed[9] != TCP {
        return Err(Skipped::NotTcp);
    }
    // Zero: captured before the network card divided it into packets.
    let total = match u32::from(u16::from_be_bytes([fixed[2], fixed[3]])) {
        0 => on_link,
        length => length,
    };
    let tcp_length = total.checked_sub(header_length as u32).ok_or(Skipped::Short)?;
    let address = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let ports = parse_tcp(&ip[header_length..], tcp_length, &mut packet.segment)?;
    packet.segment.identification = u16::from_be_bytes([fixed[4], fixed[5]]);
    packet.is_marked = is_marked(fixed[1]);
    (packet.ends, packet.is_from_first) = Ends::of_ipv4((address(12), ports.0), (address(16), ports.1));
    Ok(())
}

fn parse_ipv6(ip: &[u8], on_link: u32, packet: &mut Packet) -> Result<(), Skipped> {
    let Some((fixed, _)) = ip.split_first_chunk::<IPV6_FIXED>() else { return Err(Skipped::Short) };
    let length = match u32::from(u16::from_be_bytes([fixed[4], fixed[5]])) {
        0 => on_link.saturating_sub(IPV6_FIXED as u32),
        length => length,
    };
    let (mut next, mut at) = (fixed[6], IPV6_FIXED);
    loop {
        let extension = |octets: usize| ip.get(at..at + octets).ok_or(Skipped::Short);
        let octets = match next {
            TCP => break,
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
    let tcp_length = length.checked_sub((at - IPV6_FIXED) as u32).ok_or(Skipped::Short)?;
    let address = |from: usize| std::array::from_fn(|index| fixed[from + index]);
    let ports = parse_tcp(tcp, tcp_length, &mut packet.segment)?;
    packet.segment.identification = 0;
    packet.is_marked = is_marked(fixed[1] >> 4);
    (packet.ends, packet.is_from_first) =
        Ends::between(End::of_ipv6(address(8), ports.0), End::of_ipv6(address(24), ports.1));
    Ok(())
}

/// Both bits of the ECN field are set.
fn is_marked(bits: u8) -> bool {
    bits & 0x03 == 0x03
}

/// Ports and segment. A capture may be cut inside of the options.
fn parse_tcp(tcp: &[u8], length: u32, segment: &mut Segment) -> Result<(u16, u16), Skipped> {
    let Some((fixed, rest)) = tcp.split_first_chunk::<TCP_FIXED>() else { return Err(Skipped::Short) };
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < TCP_FIXED {
        return Err(Skipped::Short);
    }
    let payload = length.checked_sub(header as u32).ok_or(Skipped::Short)?;
    segment.window = half(14);
    segment.seq = word(4);
    segment.ack = word(8);
    segment.payload = payload;
    // FIN, SYN, RST, ACK, ECE and CWR; the others change nothing here, and a copy of a packet may differ in them.
    segment.flags = Flags(fixed[13] & 0xd7);
    segment.options = Options::default();
    segment.options.read(&rest[..(header - TCP_FIXED).min(rest.len())]);
    Ok((half(0), half(2)))
}

impl Options {
    fn read(&mut self, mut bytes: &[u8]) {
        let word = |at: &[u8]| u32::from_be_bytes([at[0], at[1], at[2], at[3]]);
        // What nearly all segments of a connection with timestamps have, as RFC 7323, appendix A, recommends it.
        if let [1, 1, 8, 10, value @ ..] = bytes
            && value.len() >= 8
        {
            self.timestamps = Some((word(value), word(&value[4..])));
            bytes = &value[8..];
        }
        // One that is wrong or cut off ends the list.
        while let [kind, rest @ ..] = bytes {
            match kind {
                0 => break,
                1 => bytes = rest,
                _ => {
                    let Some(length) = rest.first().map(|&length| usize::from(length)) else { break };
                    let (Some(value), Some(next)) = (bytes.get(2..length), bytes.get(length..)) else {
                        break;
                    };
                    if !self.take(*kind, value) {
                        break;
                    }
                    bytes = next;
                }
            }
        }
    }

    /// Takes an option in; tells whether it has the length that it must have. Unknown ones are passed over.
    fn take(&mut self, kind: u8, value: &[u8]) -> bool {
        let word = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
        match (kind, value) {
            (2, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            // RFC 7323 §2.3: more than 14 counts as 14.
            (3, &[shift]) => self.window_scale = Some(shift.min(14)),
            (4, []) => self.sack_permitted = true,
            (5, blocks) if matches!(blocks.len(), 8 | 16 | 24 | 32) => {
                self.sack = SackBlocks::default();
                for at in (0..blocks.len()).step_by(8) {
                    self.sack.blocks[at / 8] = (word(at), word(at + 4));
                    self.sack.count += 1;
                }
            }
            (8, value) if value.len() == 8 => self.timestamps = Some((word(0), word(4))),
            (2..=5 | 8, _) => return false,
            _ => {}
        }
        true
    }
}
