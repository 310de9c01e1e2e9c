//! TCP segments and UDP datagrams: the header fields that the analysis needs.

use std::borrow::Cow;

use crate::ends::Ends;

/// Why a packet is neither a TCP segment nor a UDP datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// The link type is not supported.
    LinkType(u32),
    /// Not IP: ARP, for example.
    NotIp(OtherProtocol),
    /// An IP fragment.
    Fragment,
    /// IP, but neither TCP nor UDP.
    NotTcp(OtherProtocol),
    /// Cut off or invalid before the end of the fixed header of TCP or UDP.
    Short,
    /// More nested headers than are read.
    TooDeep,
}

/// The protocol of a packet that is neither TCP nor UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OtherProtocol {
    /// A link type (LINKTYPE numbers of the tcpdump group).
    LinkType(u32),
    EtherType(u16),
    /// A service access point of IEEE 802.2.
    Llc(u8),
    /// A protocol number of PPP.
    Ppp(u16),
    /// A protocol number of IP.
    Protocol(u8),
    /// An address family of a loopback interface.
    OtherFamily,
    /// A version of IP other than 4 and 6.
    OtherVersion,
    /// MPLS with neither IP nor a pseudowire's control word.
    MplsContent,
    /// GRE with contents that are not supported.
    GreContent,
    /// GTP-U messages other than packets of users (TS 29.281 §7).
    GtpSignalling,
    /// A packet of a user in GTP-U that is not IP.
    GtpContent,
    /// Tunnels in UDP that are not supported.
    L2tp,
    Teredo,
    Capwap,
    /// VXLAN-GPE with contents that are not supported.
    VxlanGpe,
    /// All protocols beyond the maximum number that is counted separately.
    Others,
}

impl OtherProtocol {
    /// Returns the name in warnings and tables.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            OtherProtocol::LinkType(105) => "IEEE 802.11",
            OtherProtocol::LinkType(107) => "Frame Relay",
            OtherProtocol::LinkType(127) => "IEEE 802.11 with radiotap",
            OtherProtocol::LinkType(195 | 230) => "IEEE 802.15.4",
            OtherProtocol::LinkType(189 | 220) => "USB",
            OtherProtocol::LinkType(239) => "NFLOG",
            OtherProtocol::LinkType(number) => return Cow::Owned(format!("link type {number}")),
            OtherProtocol::EtherType(0x0806) => "ARP",
            OtherProtocol::EtherType(0x8035) => "RARP",
            OtherProtocol::EtherType(0x8863) => "PPPoE discovery",
            OtherProtocol::EtherType(0x888e) => "EAPOL",
            OtherProtocol::EtherType(0x88cc) => "LLDP",
            OtherProtocol::EtherType(0x88e5) => "MACsec",
            OtherProtocol::EtherType(0x88f7) => "PTP",
            OtherProtocol::EtherType(number) => return Cow::Owned(format!("EtherType {number:#06x}")),
            OtherProtocol::Llc(0x42) => "spanning tree",
            OtherProtocol::Llc(number) => return Cow::Owned(format!("LLC service {number:#04x}")),
            OtherProtocol::Ppp(0xc021) => "PPP LCP",
            OtherProtocol::Ppp(0x8021) => "PPP IPCP",
            OtherProtocol::Ppp(number) => return Cow::Owned(format!("PPP protocol {number:#06x}")),
            OtherProtocol::Protocol(1) => "ICMP",
            OtherProtocol::Protocol(2) => "IGMP",
            OtherProtocol::Protocol(50) => "ESP",
            OtherProtocol::Protocol(58) => "ICMPv6",
            OtherProtocol::Protocol(59) => "IPv6 without next header",
            OtherProtocol::Protocol(89) => "OSPF",
            OtherProtocol::Protocol(103) => "PIM",
            OtherProtocol::Protocol(108) => "IPComp",
            OtherProtocol::Protocol(112) => "VRRP",
            OtherProtocol::Protocol(115) => "L2TPv3",
            OtherProtocol::Protocol(132) => "SCTP",
            OtherProtocol::Protocol(number) => return Cow::Owned(format!("IP protocol {number}")),
            OtherProtocol::OtherFamily => "other address families",
            OtherProtocol::OtherVersion => "IP of another version",
            OtherProtocol::MplsContent => "MPLS with unknown contents",
            OtherProtocol::GreContent => "GRE with unknown contents",
            OtherProtocol::GtpSignalling => "GTP-U signalling",
            OtherProtocol::GtpContent => "GTP-U with unknown contents",
            OtherProtocol::L2tp => "L2TP",
            OtherProtocol::Teredo => "Teredo",
            OtherProtocol::Capwap => "CAPWAP",
            OtherProtocol::VxlanGpe => "VXLAN-GPE",
            OtherProtocol::Others => "further protocols",
        })
    }

    /// Returns whether such packets may carry TCP that is not read.
    pub fn may_carry_tcp(self) -> bool {
        matches!(
            self,
            OtherProtocol::EtherType(0x88e5)
                | OtherProtocol::Protocol(50 | 108 | 115)
                | OtherProtocol::MplsContent
                | OtherProtocol::GreContent
                | OtherProtocol::GtpContent
                | OtherProtocol::L2tp
                | OtherProtocol::Teredo
                | OtherProtocol::Capwap
                | OtherProtocol::VxlanGpe
        )
    }
}

/// The protocol of a packet that was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Tcp,
    /// Of `segment`, only `identification` and `payload` are set.
    Udp,
}

/// A TCP segment or a UDP datagram, with its ends and fields of lower headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Packet {
    pub ends: Ends,
    /// The source is the first of `ends`.
    pub is_from_first: bool,
    /// A router marked the packet (CE, RFC 3168 §5).
    pub is_marked: bool,
    /// A length in a header exceeds the frame on the link.
    pub exceeds_frame: bool,
    /// TEID of the innermost GTP-U tunnel of the packet.
    pub teid: Option<u32>,
    /// Octets of the frame before the payload.
    pub payload_at: u32,
    pub segment: Segment,
    pub datagram: Datagram,
}

/// Fields of a UDP datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Datagram {
    pub checksum: u16,
    /// First octet of the payload; 0 if there is none.
    pub first: u8,
    /// Version of QUIC, if the payload begins with a long header (RFC 8999 §5.1).
    pub version: Option<u32>,
}

impl Datagram {
    /// Sets the fields of a datagram.
    pub fn read(&mut self, checksum: u16, payload: &[u8]) {
        let first = payload.first().copied().unwrap_or(0);
        let version = match payload {
            [first, a, b, c, d, ..] if first & 0x80 != 0 => Some(u32::from_be_bytes([*a, *b, *c, *d])),
            _ => None,
        };
        *self = Datagram { checksum, first, version };
    }
}

/// Fields of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Segment {
    /// Identification of IPv4. Zero without one.
    pub identification: u16,
    pub window: u16,
    pub seq: u32,
    pub ack: u32,
    /// Octets of payload, according to the IP header.
    pub payload: u32,
    pub flags: Flags,
    pub options: Options,
}

/// The control bits as they are in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Returns the bits without PSH and URG, which may differ in a copy of a packet.
    pub fn bits_of_copies(self) -> u8 {
        self.0 & !(PSH | URG)
    }

    pub fn fin(self) -> bool {
        self.0 & 0x01 != 0
    }

    pub fn syn(self) -> bool {
        self.0 & 0x02 != 0
    }

    pub fn rst(self) -> bool {
        self.0 & 0x04 != 0
    }

    pub fn psh(self) -> bool {
        self.0 & PSH != 0
    }

    pub fn ack(self) -> bool {
        self.0 & 0x10 != 0
    }

    pub fn urg(self) -> bool {
        self.0 & URG != 0
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

/// The TCP options that are used. Options that were cut off are missing.
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
    /// Returns the octets of sequence space: the payload, and one each for SYN and FIN.
    pub fn sequence_length(&self) -> u32 {
        self.payload + u32::from(self.flags.syn()) + u32::from(self.flags.fin())
    }
}

/// Octets of a TCP header without options.
const TCP_FIXED: usize = 20;
/// Bits of PSH and URG in the header.
const PSH: u8 = 0x08;
const URG: u8 = 0x20;

/// Kinds of TCP options (RFC 9293, RFC 7323, RFC 2018).
const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The fields of a TCP header that a [`Segment`] does not have.
pub(crate) struct TcpHeader {
    pub source_port: u16,
    pub destination_port: u16,
    pub octets: usize,
}

/// Parses a TCP header. The capture may be cut inside the options.
#[inline]
pub(crate) fn parse_tcp(tcp: &[u8], length: u32, segment: &mut Segment) -> Result<TcpHeader, SkipReason> {
    let Some((fixed, rest)) = tcp.split_first_chunk::<TCP_FIXED>() else { return Err(SkipReason::Short) };
    let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < TCP_FIXED {
        return Err(SkipReason::Short);
    }
    let payload = length.checked_sub(header as u32).ok_or(SkipReason::Short)?;
    segment.window = half(14);
    segment.seq = word(4);
    segment.ack = word(8);
    segment.payload = payload;
    segment.flags = Flags(fixed[13]);
    segment.options = Options::default();
    segment.options.read(&rest[..(header - TCP_FIXED).min(rest.len())]);
    Ok(TcpHeader { source_port: half(0), destination_port: half(2), octets: header })
}

impl Options {
    /// Reads all options.
    fn read(&mut self, mut bytes: &[u8]) {
        let word = |at: &[u8]| u32::from_be_bytes([at[0], at[1], at[2], at[3]]);
        // The layout in nearly all segments of a connection with timestamps (recommended by RFC
        // 7323, appendix A).
        if let [NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10, value @ ..] = bytes
            && value.len() >= 8
        {
            self.timestamps = Some((word(value), word(&value[4..])));
            bytes = &value[8..];
        }
        // An option that is wrong or cut off ends the list.
        while let [kind, rest @ ..] = bytes {
            match *kind {
                END_OF_OPTIONS => break,
                NO_OPERATION => bytes = rest,
                _ => {
                    let Some(length) = rest.first().map(|&length| usize::from(length)) else { break };
                    let (Some(value), Some(next)) = (bytes.get(2..length), bytes.get(length..)) else {
                        break;
                    };
                    if !self.read_option(*kind, value) {
                        break;
                    }
                    bytes = next;
                }
            }
        }
    }

    /// Reads an option. Returns whether its length is valid. Unknown options are ignored.
    fn read_option(&mut self, kind: u8, value: &[u8]) -> bool {
        let word = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
        match (kind, value) {
            (MAXIMUM_SEGMENT_SIZE, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            // RFC 7323 §2.3: a shift above 14 counts as 14.
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(14)),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (SACK, blocks) if matches!(blocks.len(), 8 | 16 | 24 | 32) => {
                self.sack = SackBlocks::default();
                for at in (0..blocks.len()).step_by(8) {
                    self.sack.blocks[at / 8] = (word(at), word(at + 4));
                    self.sack.count += 1;
                }
            }
            (TIMESTAMPS, value) if value.len() == 8 => self.timestamps = Some((word(0), word(4))),
            (MAXIMUM_SEGMENT_SIZE | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return false,
            _ => {}
        }
        true
    }
}
