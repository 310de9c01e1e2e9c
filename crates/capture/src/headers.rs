//! Nested headers, from the link header to TCP or UDP: IP, headers that carry IP (VLAN, MPLS,
//! LLC/SNAP, PPP), and tunnels.
//!
//! Payload lengths come from the headers, so packets may be cut after their headers. A length in a
//! header that exceeds the frame on the link counts as the length of the frame.

use crate::ends::{End, Ends};
use crate::link::LinkType;
use crate::packet::{OtherProtocol, Packet, Protocol, SkipReason, parse_tcp};
use crate::tunnel;

/// Maximum number of headers of a packet: bounds the time for nested tunnels.
const MAX_HEADERS: usize = 32;

/// Octets of the headers without options or extensions.
const ETHERNET_HEADER: usize = 14;
const IPV4_FIXED: usize = 20;
const IPV6_FIXED: usize = 40;
const UDP_HEADER: usize = 8;

/// IP protocol numbers.
pub(crate) const TCP: u8 = 6;
const UDP: u8 = 17;
const GRE: u8 = 47;
const AH: u8 = 51;

/// The header that is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// Ethernet: two addresses, then an EtherType.
    Ethernet,
    /// An EtherType, or the length of an IEEE 802.3 frame.
    EtherType,
    /// The header of this EtherType.
    OfType(u16),
    Llc,
    Mpls,
    Ppp,
    Ip,
    /// The header of this protocol number of IP.
    Transport(u8),
}

/// A part of a packet: the octets that were captured, and the length on the link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Octets<'a> {
    pub captured: &'a [u8],
    pub length: u32,
}

impl<'a> Octets<'a> {
    /// Removes `octets` octets from the beginning.
    pub fn skip(&mut self, octets: usize) -> Result<(), SkipReason> {
        self.captured = self.captured.get(octets..).ok_or(SkipReason::Short)?;
        self.length = self.length.saturating_sub(octets as u32);
        Ok(())
    }

    /// Reduces the length on the link to at most `length` octets.
    pub fn limit(&mut self, length: u32) {
        self.length = self.length.min(length);
    }

    /// Returns the captured octets without padding or a trailer.
    fn without_padding(&self) -> &'a [u8] {
        &self.captured[..self.captured.len().min(self.length as usize)]
    }

    /// Returns the `N` octets at offset `at`.
    pub fn get<const N: usize>(&self, at: usize) -> Result<[u8; N], SkipReason> {
        let octets = self.captured.get(at..at + N).ok_or(SkipReason::Short)?;
        Ok(octets.try_into().expect("the slice has N octets"))
    }

    pub fn octet(&self, at: usize) -> Result<u8, SkipReason> {
        self.captured.get(at).copied().ok_or(SkipReason::Short)
    }

    /// Returns the 16-bit number at offset `at`.
    pub fn half(&self, at: usize) -> Result<u16, SkipReason> {
        self.get(at).map(u16::from_be_bytes)
    }

    /// Returns the 32-bit number at offset `at`.
    pub fn word(&self, at: usize) -> Result<u32, SkipReason> {
        self.get(at).map(u32::from_be_bytes)
    }
}

/// Parses a packet into `packet`. `bytes` of it were captured, and it had `original_length` octets
/// on the link. The packet is an argument because returning and copying it slows the analysis. In
/// the functions of this file `rest` are the octets behind the headers that were read.
pub(crate) fn parse(
    link: LinkType,
    bytes: &[u8],
    original_length: u32,
    packet: &mut Packet,
) -> Result<Protocol, SkipReason> {
    let length = original_length.max(bytes.len() as u32);
    let mut rest = Octets { captured: bytes, length };
    (packet.teid, packet.exceeds_frame) = (None, false);
    if link == LinkType::Ethernet && bytes.get(12..14) == Some(&[0x08, 0x00]) {
        parse_common(&mut rest, packet)
    } else {
        parse_nested(link, rest, packet)
    }
}

/// Parses TCP over IPv4 over Ethernet, the form of most packets, without the loop of
/// [`parse_nested`]. Calls `parse_nested` for other protocols over IPv4.
#[inline]
fn parse_common<'a>(rest: &mut Octets<'a>, packet: &mut Packet) -> Result<Protocol, SkipReason> {
    let whole = *rest;
    rest.skip(ETHERNET_HEADER)?;
    let mut ip = Ip::default();
    match ip.read(rest, packet)? {
        Header::Transport(TCP) => tcp(rest, &ip, whole.captured.len(), packet),
        _ => parse_nested(LinkType::Ethernet, whole, packet),
    }
}

/// Parses any nesting of headers, one header per iteration.
#[inline(never)]
fn parse_nested(link: LinkType, mut rest: Octets<'_>, packet: &mut Packet) -> Result<Protocol, SkipReason> {
    let captured = rest.captured.len();
    let mut ip = Ip::default();
    let mut header = link.skip(&mut rest)?;
    for _ in 0..MAX_HEADERS {
        header = match header {
            Header::Ethernet => LinkType::Ethernet.skip(&mut rest)?,
            Header::EtherType => ether_type(&mut rest)?,
            Header::OfType(number) => of_type(number, &mut rest)?,
            Header::Llc => llc(&mut rest)?,
            Header::Mpls => mpls(&mut rest)?,
            Header::Ppp => ppp(&mut rest)?,
            Header::Ip => ip.read(&mut rest, packet)?,
            Header::Transport(TCP) => return tcp(&mut rest, &ip, captured, packet),
            Header::Transport(UDP) => match udp(&mut rest, &ip, captured, packet)? {
                Some(inner) => inner,
                None => return Ok(Protocol::Udp),
            },
            Header::Transport(GRE) => tunnel::gre(&mut rest)?,
            Header::Transport(number) => ip.extension(number, &mut rest)?,
        };
    }
    Err(SkipReason::TooDeep)
}

/// Reads an EtherType, or the length of an IEEE 802.3 frame with LLC.
fn ether_type(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    let number = rest.half(0)?;
    rest.skip(2)?;
    if number <= 1500 {
        rest.limit(u32::from(number));
        return Ok(Header::Llc);
    }
    Ok(Header::OfType(number))
}

/// Returns the header that follows an EtherType. Skips VLAN tags and PPPoE headers.
fn of_type(number: u16, rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    match number {
        0x0800 | 0x86dd => Ok(Header::Ip),
        // IEEE 802.1Q, 802.1ad, and two numbers that were used before 802.1ad had one.
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
            rest.skip(2)?;
            Ok(Header::EtherType)
        }
        0x8847 | 0x8848 => Ok(Header::Mpls),
        0x8864 => {
            rest.skip(6)?;
            Ok(Header::Ppp)
        }
        0x6558 => Ok(Header::Ethernet),
        // Linux "cooked" captures have this number for frames with LLC.
        0x0004 => Ok(Header::Llc),
        _ => Err(SkipReason::NotIp(OtherProtocol::EtherType(number))),
    }
}

/// Skips the header of IEEE 802.2: SNAP with an EtherType (RFC 1042), or IP by its own number.
fn llc(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    match rest.get::<3>(0)? {
        [0xaa, 0xaa, 0x03] => match rest.get::<3>(3)? {
            // IEEE 802.1H has 00-00-f8, for protocols that cannot have 00-00-00.
            [0, 0, 0] | [0, 0, 0xf8] => {
                let number = rest.half(6)?;
                rest.skip(8)?;
                Ok(Header::OfType(number))
            }
            _ => Err(SkipReason::NotIp(OtherProtocol::Llc(0xaa))),
        },
        [0x06, 0x06, 0x03] => {
            rest.skip(3)?;
            Ok(Header::Ip)
        }
        [service, ..] => Err(SkipReason::NotIp(OtherProtocol::Llc(service))),
    }
}

/// Skips a stack of labels (RFC 3032). The first four bits of the content show its protocol (RFC
/// 4928, RFC 4385 §3).
fn mpls(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    loop {
        let is_last = rest.octet(2)? & 1 == 1;
        rest.skip(4)?;
        if is_last {
            break;
        }
    }
    match rest.octet(0)? >> 4 {
        4 | 6 => Ok(Header::Ip),
        // The control word of a pseudowire; pseudowires are assumed to carry Ethernet.
        0 => {
            rest.skip(4)?;
            Ok(Header::Ethernet)
        }
        _ => Err(SkipReason::NotIp(OtherProtocol::MplsContent)),
    }
}

/// Skips a PPP header. The address and control fields are optional (RFC 1662 §3.1), and the
/// protocol field has one octet or two (RFC 1661 §2). Cisco's HDLC begins with 0x0f or 0x8f, and
/// has an EtherType.
fn ppp(rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
    match rest.captured {
        [0xff, 0x03, ..] => rest.skip(2)?,
        [0x0f | 0x8f, 0x00, ..] => {
            rest.skip(2)?;
            return ether_type(rest);
        }
        _ => {}
    }
    match *rest.captured {
        [0x00, 0x21 | 0x57, ..] => rest.skip(2)?,
        [0x21 | 0x57, ..] => rest.skip(1)?,
        [0x02, 0x81 | 0x83, ..] => {
            rest.skip(2)?;
            return Ok(Header::Mpls);
        }
        [high, low, ..] => {
            return Err(SkipReason::NotIp(OtherProtocol::Ppp(u16::from_be_bytes([high, low]))));
        }
        _ => return Err(SkipReason::Short),
    }
    Ok(Header::Ip)
}

/// Fields of the innermost IP header.
#[derive(Debug, Clone, Copy, Default)]
struct Ip {
    addresses: Addresses,
    /// 0 in IPv6.
    identification: u16,
    /// A router marked the packet (CE, RFC 3168).
    is_marked: bool,
}

/// Source and destination, in this order.
#[derive(Debug, Clone, Copy)]
enum Addresses {
    V4(u32, u32),
    V6([u8; 16], [u8; 16]),
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses::V4(0, 0)
    }
}

impl Ip {
    /// Reads a header of IPv4 or IPv6. Returns the header that follows.
    #[inline]
    fn read(&mut self, rest: &mut Octets<'_>, packet: &mut Packet) -> Result<Header, SkipReason> {
        match rest.captured.first().ok_or(SkipReason::Short)? >> 4 {
            4 => self.read_v4(rest, packet),
            6 => self.read_v6(rest, packet),
            _ => Err(SkipReason::NotIp(OtherProtocol::OtherVersion)),
        }
    }

    #[inline]
    fn read_v4(&mut self, rest: &mut Octets<'_>, packet: &mut Packet) -> Result<Header, SkipReason> {
        let Some((fixed, _)) = rest.captured.split_first_chunk::<IPV4_FIXED>() else {
            return Err(SkipReason::Short);
        };
        let header_length = usize::from(fixed[0] & 0x0f) * 4;
        if header_length < IPV4_FIXED {
            return Err(SkipReason::Short);
        }
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        // A fragment: more fragments follow, or it is not the first one.
        if half(6) & 0x3fff != 0 {
            return Err(SkipReason::Fragment);
        }
        // Zero: captured before the network card split the data into packets. The length of the
        // frame counts.
        match u32::from(half(2)) {
            0 => {}
            total if (total as usize) < header_length => return Err(SkipReason::Short),
            total => {
                packet.exceeds_frame |= total > rest.length;
                rest.limit(total);
            }
        }
        self.addresses = Addresses::V4(word(12), word(16));
        self.identification = half(4);
        self.is_marked = is_marked(fixed[1]);
        let protocol = fixed[9];
        rest.skip(header_length)?;
        Ok(Header::Transport(protocol))
    }

    fn read_v6(&mut self, rest: &mut Octets<'_>, packet: &mut Packet) -> Result<Header, SkipReason> {
        let fixed: [u8; IPV6_FIXED] = rest.get(0)?;
        let address = |from: usize| std::array::from_fn(|index| fixed[from + index]);
        self.addresses = Addresses::V6(address(8), address(24));
        self.identification = 0;
        self.is_marked = is_marked(fixed[1] >> 4);
        rest.skip(IPV6_FIXED)?;
        match u32::from(u16::from_be_bytes([fixed[4], fixed[5]])) {
            // A jumbogram, or captured before segmentation offload.
            0 => {}
            length => {
                packet.exceeds_frame |= length > rest.length;
                rest.limit(length);
            }
        }
        Ok(Header::Transport(fixed[6]))
    }

    /// Skips an extension header of IP. Returns the header that follows.
    fn extension(&self, number: u8, rest: &mut Octets<'_>) -> Result<Header, SkipReason> {
        let is_v6 = matches!(self.addresses, Addresses::V6(..));
        let octets = match number {
            // IP in IP (RFC 2003, RFC 2473), MPLS in IP (RFC 4023).
            4 | 41 => return Ok(Header::Ip),
            137 => return Ok(Header::Mpls),
            // RFC 4302 §2.2: units of four octets, minus 2.
            AH => 4 * (2 + usize::from(rest.octet(1)?)),
            // Hop-by-hop options, routing, destination options, mobility, HIP, shim6 (RFC 8200 §4,
            // RFC 6275, RFC 7401, RFC 5533): units of eight octets, without the first eight.
            0 | 43 | 60 | 135 | 139 | 140 if is_v6 => 8 * (1 + usize::from(rest.octet(1)?)),
            44 if is_v6 => {
                // An "atomic" fragment is the whole packet (RFC 6946).
                if rest.half(2)? & 0xfff9 != 0 {
                    return Err(SkipReason::Fragment);
                }
                8
            }
            _ => return Err(SkipReason::NotTcp(OtherProtocol::Protocol(number))),
        };
        if octets as u32 > rest.length {
            return Err(SkipReason::Short);
        }
        let next = rest.octet(0)?;
        rest.skip(octets)?;
        Ok(Header::Transport(next))
    }

    /// Returns both ends of a packet with these ports in an order that does not depend on the
    /// direction, and whether the first of them is the source.
    #[inline]
    fn ends(&self, source: u16, destination: u16) -> (Ends, bool) {
        match self.addresses {
            Addresses::V4(from, to) => Ends::of_ipv4((from, source), (to, destination)),
            Addresses::V6(from, to) => {
                Ends::between(End::of_ipv6(from, source), End::of_ipv6(to, destination))
            }
        }
    }
}

/// Returns whether both bits of the ECN field are set: congestion experienced.
fn is_marked(bits: u8) -> bool {
    bits & 0x03 == 0x03
}

/// Parses a TCP header into `packet`. `captured` is the number of octets captured of the frame.
#[inline]
fn tcp(rest: &mut Octets<'_>, ip: &Ip, captured: usize, packet: &mut Packet) -> Result<Protocol, SkipReason> {
    let header = parse_tcp(rest.captured, rest.length, &mut packet.segment)?;
    packet.segment.identification = ip.identification;
    packet.is_marked = ip.is_marked;
    packet.payload_at = (captured - rest.captured.len() + header.octets) as u32;
    (packet.ends, packet.is_from_first) = ip.ends(header.source_port, header.destination_port);
    Ok(Protocol::Tcp)
}

/// Parses a UDP header. Returns the header that follows in a tunnel over UDP. Without a tunnel,
/// writes the datagram to `packet` and returns `None`.
fn udp(
    rest: &mut Octets<'_>,
    ip: &Ip,
    captured: usize,
    packet: &mut Packet,
) -> Result<Option<Header>, SkipReason> {
    let (source, destination) = (rest.half(0)?, rest.half(2)?);
    let (length, checksum) = (rest.half(4)?, rest.half(6)?);
    match u32::from(length) {
        // A jumbogram, or captured before the network card split the data.
        0 => {}
        1..=7 => return Err(SkipReason::Short),
        length => {
            packet.exceeds_frame |= length > rest.length;
            rest.limit(length);
        }
    }
    rest.skip(UDP_HEADER)?;
    if let Some(inner) = tunnel::in_udp((source, destination), rest, packet)? {
        return Ok(Some(inner));
    }
    packet.segment.identification = ip.identification;
    packet.segment.payload = rest.length;
    packet.is_marked = ip.is_marked;
    packet.payload_at = (captured - rest.captured.len()) as u32;
    packet.datagram.read(checksum, rest.without_padding());
    (packet.ends, packet.is_from_first) = ip.ends(source, destination);
    Ok(None)
}
