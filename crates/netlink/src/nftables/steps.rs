//! Conditions and actions of rules.
//!
//! A condition ends the rule for packets that do not meet it.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::encoding::{attribute, nested, number, text};
use super::operations::{
    Field, Header, Meta, REGISTER, differs_from, equals, is_between, keep_bits, load_constant, load_field,
    load_meta, load_type_of_destination,
};
use super::{Expression, Family, PortSet, attr};

const SOURCE_PORT: Field = Field { header: Header::Transport, offset: 0, octets: 2 };
const DESTINATION_PORT: Field = Field { header: Header::Transport, offset: 2, octets: 2 };
/// The octet with FIN, SYN, RST and ACK.
const TCP_FLAGS: Field = Field { header: Header::Transport, offset: 13, octets: 1 };

// ── Conditions: the path of the packet ──────────────────────────────────────────────────────────

/// Condition: the packet came in by the device with this index.
pub fn is_from_device(device: u32) -> [Expression; 2] {
    [load_meta(Meta::IncomingDevice), equals(&device.to_ne_bytes())]
}

/// Condition: the packet has this mark.
pub fn has_mark(value: u32) -> [Expression; 2] {
    [load_meta(Meta::Mark), equals(&value.to_ne_bytes())]
}

/// Condition: a socket sent the packet. The kernel sends SYN cookies without a socket.
pub fn has_socket() -> [Expression; 1] {
    [load_meta(Meta::SocketUser)]
}

/// Condition: the packet belongs to a transparent socket, which may have an address of another
/// host.
pub fn has_transparent_socket() -> [Expression; 2] {
    /// Key of the flag of a transparent socket.
    const TRANSPARENT: u32 = 0;
    let socket = [number(attr::socket::KEY, TRANSPARENT), number(attr::socket::TARGET, REGISTER)];
    [Expression::new("socket", &socket), equals(&[1])]
}

// ── Conditions: addresses ───────────────────────────────────────────────────────────────────────

/// Condition: the IPv4 source address begins with these octets.
pub fn is_from(prefix: &[u8]) -> [Expression; 2] {
    let beginning_of_address = Field { header: Header::Network, offset: 12, octets: prefix.len() };
    [load_field(beginning_of_address), equals(prefix)]
}

/// Condition: the destination address and `network` have the same first `length` bits.
pub fn is_to(network: IpAddr, length: u8) -> Vec<Expression> {
    /// Octets before the destination address in the header of IPv4.
    const IPV4_OFFSET: u32 = 16;
    /// Octets before the destination address in the header of IPv6.
    const IPV6_OFFSET: u32 = 24;
    let (family, offset, address) = match network {
        IpAddr::V4(network) => (Family::Ipv4, IPV4_OFFSET, network.octets().to_vec()),
        IpAddr::V6(network) => (Family::Ipv6, IPV6_OFFSET, network.octets().to_vec()),
    };
    let mask = mask_of(length, address.len());
    let prefix: Vec<u8> = address.iter().zip(&mask).map(|(octet, mask)| octet & mask).collect();
    vec![
        load_meta(Meta::IpVersion),
        equals(&[family as u8]),
        load_field(Field { header: Header::Network, offset, octets: address.len() }),
        keep_bits(&mask),
        equals(&prefix),
    ]
}

/// Returns a mask of `octets` octets with the first `length` bits set.
fn mask_of(length: u8, octets: usize) -> Vec<u8> {
    let set_bits = |octet: usize| usize::from(length).saturating_sub(8 * octet).min(8) as u32;
    (0..octets).map(|octet| !u8::MAX.checked_shr(set_bits(octet)).unwrap_or(0)).collect()
}

/// Condition: the destination is not a unicast address of another host, but for example a
/// broadcast or multicast address or an address of this host.
pub fn is_not_for_another_host() -> [Expression; 2] {
    /// Type of an address of one other host (`RTN_UNICAST` of linux/rtnetlink.h).
    const UNICAST: u32 = 1;
    [load_type_of_destination(), differs_from(&UNICAST.to_ne_bytes())]
}

/// Condition: the destination is an address of this host.
pub fn is_for_this_host() -> [Expression; 2] {
    /// Type of an address of this host (`RTN_LOCAL` of linux/rtnetlink.h).
    const LOCAL: u32 = 2;
    [load_type_of_destination(), equals(&LOCAL.to_ne_bytes())]
}

// ── Conditions: TCP ─────────────────────────────────────────────────────────────────────────────

/// Condition: the packet carries TCP.
pub fn is_tcp() -> [Expression; 2] {
    /// Protocol number of TCP.
    const TCP: u8 = 6;
    [load_meta(Meta::TransportProtocol), equals(&[TCP])]
}

/// Condition: the TCP destination port is in this range.
pub fn is_for(ports: &RangeInclusive<u16>) -> [Expression; 2] {
    let range = is_between(&ports.start().to_be_bytes(), &ports.end().to_be_bytes());
    [load_field(DESTINATION_PORT), range]
}

/// Condition: the TCP destination port is in the set.
pub fn is_for_port_in(set: &PortSet) -> [Expression; 2] {
    let lookup = [text(attr::lookup::SET_NAME, set.name), number(attr::lookup::SOURCE, REGISTER)];
    [load_field(DESTINATION_PORT), Expression::new("lookup", &lookup)]
}

/// Condition: a TCP segment with SYN and without ACK, FIN and RST.
pub fn is_syn() -> [Expression; 3] {
    has_flags(SYN)
}

/// Condition: a TCP segment with SYN and ACK and without FIN and RST.
pub fn is_syn_ack() -> [Expression; 3] {
    has_flags(SYN | ACK)
}

/// Condition: a TCP segment with ACK and without SYN, FIN and RST.
pub fn is_ack() -> [Expression; 3] {
    has_flags(ACK)
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// Condition: of FIN, SYN, RST and ACK, exactly these flags are set.
fn has_flags(flags: u8) -> [Expression; 3] {
    [load_field(TCP_FLAGS), keep_bits(&[FIN | SYN | RST | ACK]), equals(&[flags])]
}

// ── Actions ─────────────────────────────────────────────────────────────────────────────────────

/// Action: adds the TCP source port to the set, or restarts its timeout.
pub fn record_source_port(set: &PortSet) -> [Expression; 2] {
    /// Operation: add an element, or restart its timeout.
    const UPDATE: u32 = 1;
    let update = [
        text(attr::dynset::SET_NAME, set.name),
        number(attr::dynset::OPERATION, UPDATE),
        number(attr::dynset::ELEMENT_SOURCE, REGISTER),
    ];
    [load_field(SOURCE_PORT), Expression::new("dynset", &update)]
}

/// Action: sets the mark.
pub fn mark(value: u32) -> [Expression; 2] {
    let set_mark = [number(attr::meta::KEY, Meta::Mark as u32), number(attr::meta::SOURCE, REGISTER)];
    [load_constant(&value.to_ne_bytes()), Expression::new("meta", &set_mark)]
}

/// Action: delivers the packet to the socket that listens at a port of this host. Without a
/// listener, the rule ends here.
pub fn deliver_to(port: u16) -> [Expression; 2] {
    /// Both versions of IP.
    const ANY: u32 = 0;
    let deliver = [number(attr::tproxy::FAMILY, ANY), number(attr::tproxy::PORT_SOURCE, REGISTER)];
    [load_constant(&port.to_be_bytes()), Expression::new("tproxy", &deliver)]
}

/// Action: accepts the packet in this chain; later chains still see it.
pub fn accept() -> [Expression; 1] {
    /// The register of the verdict on a packet.
    const VERDICT: u32 = 0;
    /// The verdict.
    const ACCEPT: u32 = 1;
    let verdict = nested(attr::data::VERDICT, &number(attr::data::VERDICT_CODE, ACCEPT));
    let set_verdict = [number(attr::immediate::TARGET, VERDICT), nested(attr::immediate::DATA, &verdict)];
    [Expression::new("immediate", &set_verdict)]
}

/// Action: rejects the packet with an ICMP message to the sender.
pub fn prohibit() -> [Expression; 1] {
    /// Type of a rejection by an ICMP message.
    const BY_ICMP: u32 = 0;
    /// Code of ICMP destination unreachable (RFC 1812 §5.2.7.1): communication administratively
    /// prohibited.
    const PROHIBITED: u8 = 13;
    let reject = [number(attr::reject::TYPE, BY_ICMP), attribute(attr::reject::ICMP_CODE, &[PROHIBITED])];
    [Expression::new("reject", &reject)]
}

/// Action: rejects the packet with a TCP reset.
pub fn reset() -> [Expression; 1] {
    /// Type of a rejection by a TCP reset, which has no code.
    const BY_RESET: u32 = 1;
    let reject = [number(attr::reject::TYPE, BY_RESET), attribute(attr::reject::ICMP_CODE, &[0])];
    [Expression::new("reject", &reject)]
}

/// Action: replaces the source address by the address of the outgoing device.
pub fn masquerade() -> [Expression; 1] {
    [Expression::new("masq", &[])]
}
