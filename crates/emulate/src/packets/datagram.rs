//! UDP in packets of real programs: reads the ends of a datagram, and rewrites them.

use std::net::IpAddr;

use crate::packets::foreign;

/// Protocol numbers of IANA.
const ICMP: u8 = 1;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Address and port.
pub type End = (IpAddr, u16);

/// Fields of a datagram's headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The sender.
    pub from: End,
    /// The receiver.
    pub to: End,
    /// Bytes of payload, of all fragments together.
    pub payload: u16,
    /// Identification of the fragments if the datagram is fragmented; this packet is then the first
    /// fragment.
    pub fragments: Option<Fragments>,
}

/// Identification shared by all fragments of a packet (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fragments {
    /// Source address.
    pub from: IpAddr,
    /// Destination address.
    pub to: IpAddr,
    /// Identification field.
    pub number: u32,
}

/// Reads the headers of a packet with valid [`addresses`](foreign::addresses). Returns `None` if it
/// is not UDP, or is a later fragment.
pub fn read(packet: &[u8]) -> Option<Datagram> {
    let (from, to) = foreign::addresses(packet).ok()?;
    let upper = foreign::upper(packet).filter(|upper| upper.protocol == UDP)?;
    let header: &[u8; 8] = packet[upper.at..upper.end].first_chunk()?;
    let u16_at = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let fragments = if upper.is_fragment { fragments(packet) } else { None };
    Some(Datagram {
        from: (from, u16_at(0)),
        to: (to, u16_at(2)),
        payload: u16_at(4).saturating_sub(8),
        fragments,
    })
}

/// Identification of a fragmented datagram. Returns `None` if the packet is not a fragment of UDP.
pub fn fragments(packet: &[u8]) -> Option<Fragments> {
    let (from, to) = foreign::addresses(packet).ok()?;
    if packet[0] >> 4 == 4 {
        let is_cut = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
        let number = u32::from(u16::from_be_bytes([packet[4], packet[5]]));
        return (is_cut && packet[9] == UDP).then_some(Fragments { from, to, number });
    }
    // Only a fragment header directly behind the IPv6 header is recognised: hosts send no other
    // headers before it.
    let header: &[u8; 8] = packet.get(40..)?.first_chunk()?;
    let number = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    (packet[6] == FRAGMENT && header[0] == UDP).then_some(Fragments { from, to, number })
}

/// Next header value of the fragment header (IPv6).
const FRAGMENT: u8 = 44;

/// Bytes of a fragmented datagram, UDP header included, that this fragment carries.
pub fn fragment_octets(packet: &[u8]) -> usize {
    let u16_at = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    if packet[0] >> 4 == 4 {
        u16_at(2).saturating_sub(usize::from(packet[0] & 15) * 4)
    } else {
        u16_at(4).saturating_sub(8)
    }
}

/// One of the two ends of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEnd {
    /// Source.
    Sender,
    /// Destination.
    Receiver,
}

/// Replaces an address by another one of the same version, and updates the checksums. [`read`] or
/// [`fragments`] must accept the packet.
pub fn set_address(packet: &mut [u8], packet_end: PacketEnd, address: IpAddr) {
    let checksum = read(packet).and_then(|_| udp_checksum(packet));
    match address {
        IpAddr::V4(address) => {
            let at = if packet_end == PacketEnd::Sender { 12 } else { 16 };
            put(packet, at, &address.octets(), [Some(IPV4_CHECKSUM), checksum]);
        }
        IpAddr::V6(address) => {
            let at = if packet_end == PacketEnd::Sender { 8 } else { 24 };
            put(packet, at, &address.octets(), [None, checksum]);
        }
    }
    avoid_zero(packet, checksum);
}

/// Replaces a port and updates the checksum. [`read`] must accept the packet.
pub fn set_port(packet: &mut [u8], packet_end: PacketEnd, port: u16) {
    let Some(upper) = foreign::upper(packet) else { return };
    let checksum = udp_checksum(packet);
    let at = if packet_end == PacketEnd::Sender { upper.at } else { upper.at + 2 };
    put(packet, at, &port.to_be_bytes(), [None, checksum]);
    avoid_zero(packet, checksum);
}

/// Offset of the checksum in the IPv4 header.
const IPV4_CHECKSUM: usize = 10;

/// Offset of the UDP checksum. Returns `None` if the datagram has no checksum (RFC 768).
fn udp_checksum(packet: &[u8]) -> Option<usize> {
    let at = foreign::upper(packet)?.at + 6;
    (packet[at..at + 2] != [0, 0]).then_some(at)
}

/// Replaces a checksum of zero by 0xffff, because zero means that there is no checksum.
fn avoid_zero(packet: &mut [u8], checksum: Option<usize>) {
    if let Some(at) = checksum
        && packet[at..at + 2] == [0, 0]
    {
        packet[at..at + 2].fill(0xff);
    }
}

/// Writes `octets` at offset `at`, and updates the checksums at the given offsets (RFC 1624 §3).
/// `at` must be aligned to the 16-bit words of the checksums.
fn put(packet: &mut [u8], at: usize, octets: &[u8], checksums: [Option<usize>; 2]) {
    for (word_at, new) in (at..).step_by(2).zip(octets.chunks_exact(2)) {
        let old = [packet[word_at], packet[word_at + 1]];
        for sum_at in checksums.into_iter().flatten() {
            let before = !u16::from_be_bytes([packet[sum_at], packet[sum_at + 1]]);
            let change = [!u16::from_be_bytes(old), u16::from_be_bytes([new[0], new[1]])];
            let folded = change.into_iter().fold(before, |total, word| {
                let (total, carries) = total.overflowing_add(word);
                total + u16::from(carries)
            });
            packet[sum_at..sum_at + 2].copy_from_slice(&(!folded).to_be_bytes());
        }
        packet[word_at..word_at + 2].copy_from_slice(new);
    }
}

/// A datagram that an ICMP error reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedDatagram {
    /// The sender.
    pub from: End,
    /// The receiver.
    pub to: End,
    /// Offset of the source port in the packet with the error.
    pub source_port_at: usize,
}

/// The datagram that an ICMP error reports. `None` if the packet is not such an error.
pub fn reported(packet: &[u8]) -> Option<ReportedDatagram> {
    let upper = foreign::upper(packet)?;
    let (kind, inner) = (*packet.get(upper.at)?, packet.get(upper.at + 8..upper.end)?);
    let is_error = match upper.protocol {
        // Destination unreachable, time exceeded, parameter problem (RFC 792).
        ICMP => [3, 11, 12].contains(&kind),
        // Types below 128 are errors, of which four exist (RFC 4443 §2.1).
        ICMPV6 => (1..=4).contains(&kind),
        _ => false,
    };
    // The error contains only the beginning of the packet, so its length field is not checked.
    let version = *inner.first()? >> 4;
    let (header, protocol, from, to) = match version {
        4 if inner.len() >= 20 => {
            let address =
                |at: usize| IpAddr::from(<[u8; 4]>::try_from(&inner[at..at + 4]).expect("four octets"));
            (usize::from(inner[0] & 15) * 4, inner[9], address(12), address(16))
        }
        6 if inner.len() >= 40 => {
            let address =
                |at: usize| IpAddr::from(<[u8; 16]>::try_from(&inner[at..at + 16]).expect("sixteen octets"));
            (40, inner[6], address(8), address(24))
        }
        _ => return None,
    };
    let ports: &[u8; 4] = inner.get(header..)?.first_chunk()?;
    let u16_at = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    (is_error && protocol == UDP).then_some(ReportedDatagram {
        from: (from, u16_at(0)),
        to: (to, u16_at(2)),
        source_port_at: upper.at + 8 + header,
    })
}

/// Replaces the source port in the packet that an ICMP error reports. `at` is the offset that
/// [`reported`] returns: [`ReportedDatagram::source_port_at`].
pub fn set_reported_port(packet: &mut [u8], at: usize, port: u16) {
    let Some(upper) = foreign::upper(packet) else { return };
    put(packet, at, &port.to_be_bytes(), [Some(upper.at + 2), None]);
}

#[cfg(test)]
pub mod generated {
    //! Datagrams for tests.

    use super::*;

    /// One's complement sum over `octets` (RFC 1071).
    pub fn sum(octets: &[u8]) -> u16 {
        let words =
            octets.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
        let mut total: u32 = words.sum();
        while total > 0xffff {
            total = (total >> 16) + (total & 0xffff);
        }
        total as u16
    }

    /// Builds a datagram with valid checksums.
    pub fn datagram(from: End, to: End, payload: &[u8]) -> Vec<u8> {
        let length = (8 + payload.len()) as u16;
        let mut udp = [from.1.to_be_bytes(), to.1.to_be_bytes(), length.to_be_bytes(), [0, 0]].concat();
        udp.extend(payload);
        let (mut packet, addresses) = match (from.0, to.0) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let mut header = vec![0x45, 0];
                header.extend((20 + length).to_be_bytes());
                header.extend([0, 9, 0, 0, 64, UDP, 0, 0]);
                let addresses = [from.octets(), to.octets()].concat();
                header.extend(&addresses);
                let checksum = !sum(&header);
                header[10..12].copy_from_slice(&checksum.to_be_bytes());
                (header, addresses)
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let mut header = vec![0x60, 0, 0, 0];
                header.extend(length.to_be_bytes());
                header.extend([UDP, 64]);
                let addresses = [from.octets(), to.octets()].concat();
                header.extend(&addresses);
                (header, addresses)
            }
            _ => panic!("of one version"),
        };
        let pseudo = [&addresses[..], &[0, UDP], &length.to_be_bytes()].concat();
        let checksum = !sum(&[&pseudo[..], &udp].concat());
        udp[6..8].copy_from_slice(&if checksum == 0 { u16::MAX } else { checksum }.to_be_bytes());
        packet.extend(udp);
        packet
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::generated::{datagram as build, sum};
    use super::*;

    fn v4(last: u8) -> IpAddr {
        [10, 45, 0, last].into()
    }

    #[test]
    fn rewritten_datagram_equals_one_built_with_these_ends() {
        for (from, other) in [(v4(1), "93.184.216.34"), ("fd45::1".parse().unwrap(), "2001:db8::7")] {
            let to: IpAddr = if from.is_ipv4() { v4(2) } else { "fd45::2".parse().unwrap() };
            let other: IpAddr = other.parse().unwrap();
            let mut packet = build((from, 53), (to, 65_000), b"odd");
            set_address(&mut packet, PacketEnd::Sender, other);
            set_port(&mut packet, PacketEnd::Receiver, 4000);
            assert_eq!(packet, build((other, 53), (to, 4000), b"odd"));
            set_address(&mut packet, PacketEnd::Receiver, from);
            set_port(&mut packet, PacketEnd::Sender, 7);
            assert_eq!(packet, build((other, 7), (from, 4000), b"odd"));
        }
    }

    #[test]
    fn missing_udp_checksum_stays_missing() {
        let mut packet = build((v4(1), 53), (v4(2), 9), b"");
        packet[26..28].fill(0);
        set_address(&mut packet, PacketEnd::Sender, v4(77));
        assert_eq!(packet[26..28], [0, 0]);
        assert_eq!(read(&packet).unwrap().from, (v4(77), 53));
    }

    #[test]
    fn icmp_error_identifies_its_datagram() {
        let inner = build((v4(2), 65_000), ([9, 9, 9, 9].into(), 53), b"question");
        let mut packet =
            vec![0x45, 0, 0, (28 + inner.len()) as u8, 0, 0, 0, 0, 64, ICMP, 0, 0, 9, 9, 9, 9, 10, 45, 0, 2];
        packet.extend([3, 3, 0, 0, 0, 0, 0, 0]);
        packet.extend(inner);
        let checksum = !sum(&packet[20..]);
        packet[22..24].copy_from_slice(&checksum.to_be_bytes());
        let ReportedDatagram { from, to, source_port_at } = reported(&packet).unwrap();
        assert_eq!((from, to), ((v4(2), 65_000), ([9, 9, 9, 9].into(), 53)));
        set_reported_port(&mut packet, source_port_at, 4000);
        assert_eq!(reported(&packet).unwrap().from, (v4(2), 4000));
        assert_eq!(sum(&packet[20..]), 0xffff);
    }

    proptest! {
        #[test]
        fn arbitrary_packets_do_not_panic(mut packet in foreign::generated::packet(), port in any::<u16>()) {
            if let Ok((from, _)) = foreign::addresses(&packet) {
                let _ = (reported(&packet), fragment_octets(&packet));
                if read(&packet).is_some() || fragments(&packet).is_some() {
                    set_address(&mut packet, PacketEnd::Sender, from);
                }
                if read(&packet).is_some() {
                    set_port(&mut packet, PacketEnd::Receiver, port);
                    prop_assert_eq!(read(&packet).unwrap().to.1, port);
                }
            }
        }
    }
}
