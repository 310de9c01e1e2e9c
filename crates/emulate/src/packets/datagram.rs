//! UDP in packets of real programs: whom a datagram is from and for, and the same datagram with other ends.

use std::net::IpAddr;

use crate::packets::foreign;

/// Protocol numbers of IANA.
const ICMP: u8 = 1;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// An end: address and port.
pub type End = (IpAddr, u16);

/// What the header of a datagram says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// The sender.
    pub from: End,
    /// The receiver.
    pub to: End,
    /// Octets of payload, in all fragments together.
    pub payload: u16,
    /// What its fragments have in common, if it comes in fragments; this is the first.
    pub fragments: Option<Fragments>,
}

/// What all fragments of a packet have in common (RFC 791 §3.2, RFC 8200 §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fragments {
    /// Who cut it.
    pub from: IpAddr,
    /// Who puts it together.
    pub to: IpAddr,
    /// Its number.
    pub number: u32,
}

/// Reads the headers of a packet whose [`addresses`](foreign::addresses) could be read; `None` if it is no datagram, or
/// a fragment but the first.
pub fn read(packet: &[u8]) -> Option<Datagram> {
    let (from, to) = foreign::addresses(packet).ok()?;
    let upper = foreign::upper(packet).filter(|upper| upper.protocol == UDP)?;
    let header: &[u8; 8] = packet[upper.at..upper.end].first_chunk()?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let fragments = if upper.is_fragment { fragments(packet) } else { None };
    Some(Datagram { from: (from, half(0)), to: (to, half(2)), payload: half(4).saturating_sub(8), fragments })
}

/// Of a fragment, what it has in common with the others of its datagram; `None` if the packet is whole.
pub fn fragments(packet: &[u8]) -> Option<Fragments> {
    let (from, to) = foreign::addresses(packet).ok()?;
    if packet[0] >> 4 == 4 {
        let is_cut = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
        let number = u32::from(u16::from_be_bytes([packet[4], packet[5]]));
        return (is_cut && packet[9] == UDP).then_some(Fragments { from, to, number });
    }
    // Hosts put nothing between: what is behind a fragment header belongs to the part that is cut.
    let header: &[u8; 8] = packet.get(40..)?.first_chunk()?;
    let number = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    (packet[6] == FRAGMENT && header[0] == UDP).then_some(Fragments { from, to, number })
}

/// Next header of a fragment of IPv6.
const FRAGMENT: u8 = 44;

/// How many octets of a fragmented datagram, its header included, are in this fragment of it.
pub fn fragment_octets(packet: &[u8]) -> usize {
    let half = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    if packet[0] >> 4 == 4 {
        half(2).saturating_sub(usize::from(packet[0] & 15) * 4)
    } else {
        half(4).saturating_sub(8)
    }
}

/// One of the two ends of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Who sends it.
    Sender,
    /// Who gets it.
    Receiver,
}

/// Puts another address, of the same version, into a packet that [`read`] or [`fragments`] could read; checksums stay
/// right.
pub fn set_address(packet: &mut [u8], whose: Whose, address: IpAddr) {
    let checksum = read(packet).and_then(|_| udp_checksum(packet));
    match address {
        IpAddr::V4(address) => {
            let at = if whose == Whose::Sender { 12 } else { 16 };
            put(packet, at, &address.octets(), [Some(IPV4_CHECKSUM), checksum]);
        }
        IpAddr::V6(address) => {
            let at = if whose == Whose::Sender { 8 } else { 24 };
            put(packet, at, &address.octets(), [None, checksum]);
        }
    }
    never_none(packet, checksum);
}

/// Puts another port into a packet that [`read`] could read.
pub fn set_port(packet: &mut [u8], whose: Whose, port: u16) {
    let Some(upper) = foreign::upper(packet) else { return };
    let checksum = udp_checksum(packet);
    let at = if whose == Whose::Sender { upper.at } else { upper.at + 2 };
    put(packet, at, &port.to_be_bytes(), [None, checksum]);
    never_none(packet, checksum);
}

/// Where the IPv4 header has its checksum.
const IPV4_CHECKSUM: usize = 10;

/// Where a datagram's checksum is; `None` if it has none (RFC 768).
fn udp_checksum(packet: &[u8]) -> Option<usize> {
    let at = foreign::upper(packet)?.at + 6;
    (packet[at..at + 2] != [0, 0]).then_some(at)
}

/// A checksum that comes to zero is sent as its other form, since zero says that there is none.
fn never_none(packet: &mut [u8], checksum: Option<usize>) {
    if let Some(at) = checksum
        && packet[at..at + 2] == [0, 0]
    {
        packet[at..at + 2].fill(0xff);
    }
}

/// Puts `octets` in at `at`, an even number of octets behind the beginning of what is summed, and adjusts the checksums at
/// these places (RFC 1624 §3).
fn put(packet: &mut [u8], at: usize, octets: &[u8], checksums: [Option<usize>; 2]) {
    for (place, new) in (at..).step_by(2).zip(octets.chunks_exact(2)) {
        let old = [packet[place], packet[place + 1]];
        for sum in checksums.into_iter().flatten() {
            let before = !u16::from_be_bytes([packet[sum], packet[sum + 1]]);
            let change = [!u16::from_be_bytes(old), u16::from_be_bytes([new[0], new[1]])];
            let folded = change.into_iter().fold(before, |total, word| {
                let (total, carries) = total.overflowing_add(word);
                total + u16::from(carries)
            });
            packet[sum..sum + 2].copy_from_slice(&(!folded).to_be_bytes());
        }
        packet[place..place + 2].copy_from_slice(new);
    }
}

/// The datagram of which an ICMP error tells its sender: who sent it, and to whom; and where its first port is.
pub fn reported(packet: &[u8]) -> Option<(End, End, usize)> {
    let upper = foreign::upper(packet)?;
    let (kind, inner) = (*packet.get(upper.at)?, packet.get(upper.at + 8..upper.end)?);
    let is_error = match upper.protocol {
        ICMP => [3, 11, 12].contains(&kind),
        ICMPV6 => (1..=4).contains(&kind),
        _ => false,
    };
    // As much of the packet as fits: of its length the header alone tells.
    let version = *inner.first()? >> 4;
    let (header, protocol, from, to) = match version {
        4 if inner.len() >= 20 => {
            let address = |at: usize| IpAddr::from(<[u8; 4]>::try_from(&inner[at..at + 4]).expect("four"));
            (usize::from(inner[0] & 15) * 4, inner[9], address(12), address(16))
        }
        6 if inner.len() >= 40 => {
            let address =
                |at: usize| IpAddr::from(<[u8; 16]>::try_from(&inner[at..at + 16]).expect("sixteen"));
            (40, inner[6], address(8), address(24))
        }
        _ => return None,
    };
    let ports: &[u8; 4] = inner.get(header..)?.first_chunk()?;
    let half = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    (is_error && protocol == UDP).then_some(((from, half(0)), (to, half(2)), upper.at + 8 + header))
}

/// Puts the sender's own port into what an ICMP error reports, at the place that [`reported`] told.
pub fn set_reported_port(packet: &mut [u8], at: usize, port: u16) {
    let Some(upper) = foreign::upper(packet) else { return };
    put(packet, at, &port.to_be_bytes(), [Some(upper.at + 2), None]);
}

#[cfg(test)]
pub mod made {
    //! Datagrams for tests.

    use super::*;

    /// The sum over `octets` and what is carried, as RFC 1071 has it.
    pub fn sum(octets: &[u8]) -> u16 {
        let words =
            octets.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])));
        let mut total: u32 = words.sum();
        while total > 0xffff {
            total = (total >> 16) + (total & 0xffff);
        }
        total as u16
    }

    /// A datagram with right checksums.
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

    use super::made::{datagram as made, sum};
    use super::*;

    fn v4(last: u8) -> IpAddr {
        [10, 45, 0, last].into()
    }

    #[test]
    fn an_answer_with_other_ends_is_as_if_it_had_been_made_so() {
        for (from, other) in [(v4(1), "93.184.216.34"), ("fd45::1".parse().unwrap(), "2001:db8::7")] {
            let to: IpAddr = if from.is_ipv4() { v4(2) } else { "fd45::2".parse().unwrap() };
            let other: IpAddr = other.parse().unwrap();
            let mut packet = made((from, 53), (to, 65_000), b"odd");
            set_address(&mut packet, Whose::Sender, other);
            set_port(&mut packet, Whose::Receiver, 4000);
            assert_eq!(packet, made((other, 53), (to, 4000), b"odd"));
            set_address(&mut packet, Whose::Receiver, from);
            set_port(&mut packet, Whose::Sender, 7);
            assert_eq!(packet, made((other, 7), (from, 4000), b"odd"));
        }
    }

    #[test]
    fn a_datagram_without_a_checksum_gets_none() {
        let mut packet = made((v4(1), 53), (v4(2), 9), b"");
        packet[26..28].fill(0);
        set_address(&mut packet, Whose::Sender, v4(77));
        assert_eq!(packet[26..28], [0, 0]);
        assert_eq!(read(&packet).unwrap().from, (v4(77), 53));
    }

    #[test]
    fn an_error_tells_of_which_datagram_it_is() {
        let inner = made((v4(2), 65_000), ([9, 9, 9, 9].into(), 53), b"question");
        let mut packet =
            vec![0x45, 0, 0, (28 + inner.len()) as u8, 0, 0, 0, 0, 64, ICMP, 0, 0, 9, 9, 9, 9, 10, 45, 0, 2];
        packet.extend([3, 3, 0, 0, 0, 0, 0, 0]);
        packet.extend(inner);
        let checksum = !sum(&packet[20..]);
        packet[22..24].copy_from_slice(&checksum.to_be_bytes());
        let (from, to, at) = reported(&packet).unwrap();
        assert_eq!((from, to), ((v4(2), 65_000), ([9, 9, 9, 9].into(), 53)));
        set_reported_port(&mut packet, at, 4000);
        assert_eq!(reported(&packet).unwrap().0, (v4(2), 4000));
        assert_eq!(sum(&packet[20..]), 0xffff);
    }

    proptest! {
        #[test]
        fn no_packet_makes_it_panic(mut packet in foreign::made::packet(), port in any::<u16>()) {
            if let Ok((from, _)) = foreign::addresses(&packet) {
                let _ = (reported(&packet), fragment_octets(&packet));
                if read(&packet).is_some() || fragments(&packet).is_some() {
                    set_address(&mut packet, Whose::Sender, from);
                }
                if read(&packet).is_some() {
                    set_port(&mut packet, Whose::Receiver, port);
                    prop_assert_eq!(read(&packet).unwrap().to.1, port);
                }
            }
        }
    }
}
