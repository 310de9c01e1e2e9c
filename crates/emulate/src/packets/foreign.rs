//! Parses packets of real programs as far as a router or the core network needs it.

use std::net::IpAddr;

use thiserror::Error;

/// Reason for which a packet is not forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The version is neither 4 nor 6.
    #[error("not an IP packet")]
    NoIp,
    /// The header is truncated or too short.
    #[error("the IP header is cut off or too short")]
    Header,
    /// The length field exceeds the packet, or is shorter than the header.
    #[error("the length in the IP header is wrong")]
    Length,
}

/// Returns the source and destination addresses.
///
/// Checks only what a router checks (RFC 1812 §5.2.2, RFC 8200 §3). Errors in upper layers are for
/// the hosts to detect.
///
/// # Errors
/// An error if a router could not forward the packet.
pub fn addresses(packet: &[u8]) -> Result<(IpAddr, IpAddr), Malformed> {
    match packet.first().ok_or(Malformed::NoIp)? >> 4 {
        4 => {
            let header: &[u8; 20] = packet.first_chunk().ok_or(Malformed::Header)?;
            let header_length = usize::from(header[0] & 15) * 4;
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            if header_length < 20 || packet.len() < header_length {
                return Err(Malformed::Header);
            }
            if length < header_length || length > packet.len() {
                return Err(Malformed::Length);
            }
            let address =
                |at: usize| IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            Ok((address(12), address(16)))
        }
        6 => {
            let header: &[u8; 40] = packet.first_chunk().ok_or(Malformed::Header)?;
            let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
            if length + 40 > packet.len() {
                return Err(Malformed::Length);
            }
            let address = |at: usize| {
                let octets: [u8; 16] = header[at..at + 16].try_into().expect("sixteen of forty octets");
                IpAddr::from(octets)
            };
            Ok((address(8), address(24)))
        }
        _ => Err(Malformed::NoIp),
    }
}

/// Whether a packet with valid [`addresses`] carries TCP. Later fragments of IPv4 count too.
pub fn is_tcp(packet: &[u8]) -> bool {
    const TCP: u8 = 6;
    match packet[0] >> 4 {
        4 => packet[9] == TCP,
        _ => upper(packet).is_some_and(|upper| upper.protocol == TCP),
    }
}

/// The upper-layer part of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpperLayer {
    /// Protocol number (IANA).
    pub protocol: u8,
    /// Offset of the upper-layer header.
    pub at: usize,
    /// End of the packet; bytes after it are padding.
    pub end: usize,
    /// Whether the packet is the first fragment of several.
    pub is_fragment: bool,
}

/// IPv6 extension headers that a host skips (RFC 8200 §4): hop-by-hop options, routing, destination
/// options.
const SKIPPED: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;

/// Finds the upper-layer part of a packet with valid [`addresses`]. Returns `None` for a later
/// fragment, or if the upper layer would begin after the end of the packet.
pub fn upper(packet: &[u8]) -> Option<UpperLayer> {
    let u16_at = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    if packet[0] >> 4 == 4 {
        // The more-fragments flag and the fragment offset.
        let fragment = u16_at(6) & 0x3fff;
        let at = usize::from(packet[0] & 15) * 4;
        let upper =
            UpperLayer { protocol: packet[9], at, end: usize::from(u16_at(2)), is_fragment: fragment != 0 };
        return (fragment & 0x1fff == 0).then_some(upper);
    }
    let end = 40 + usize::from(u16_at(4));
    let (mut at, mut protocol, mut is_fragment) = (40, packet[6], false);
    while SKIPPED.contains(&protocol) || protocol == FRAGMENT {
        let header: &[u8; 8] = packet[..end].get(at..)?.first_chunk()?;
        let mut length = 8;
        if protocol == FRAGMENT {
            let fragment = u16::from_be_bytes([header[2], header[3]]);
            if fragment >> 3 != 0 {
                return None;
            }
            is_fragment |= fragment & 1 != 0;
        } else {
            length += usize::from(header[1]) * 8;
        }
        protocol = header[0];
        at += length;
    }
    (at <= end).then_some(UpperLayer { protocol, at, end, is_fragment })
}

#[cfg(test)]
pub mod generated {
    //! Generators of valid and invalid packets for property tests.

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    /// Protocols that some parser handles, and two that none does.
    const PROTOCOLS: [u8; 6] = [1, 6, 17, 58, 132, 59];

    /// A packet with valid headers, options (IPv4) or extension headers (IPv6), and an arbitrary
    /// body.
    fn right() -> impl Strategy<Value = Vec<u8>> {
        let headers = prop_oneof![
            4 => Just(Vec::new()),
            2 => vec((prop::sample::select(vec![0_u8, 43, 60, 44]), 0_u8..3), 1..4),
        ];
        // More-fragments flag of IPv4, of IPv6, or any value.
        let fragment = prop_oneof![6 => Just(0_u16), 1 => Just(0x2000), 1 => Just(1), 1 => any::<u16>()];
        let body = prop_oneof![vec(any::<u8>(), 0..100), vec(any::<u8>(), 1400..4000)];
        (
            any::<bool>(),
            prop::sample::select(PROTOCOLS.to_vec()),
            headers,
            5_u8..16,
            fragment,
            any::<bool>(),
            body,
        )
            .prop_map(|(is_v4, protocol, headers, words, fragment, is_tcp_sane, mut body)| {
                if protocol == 6 && is_tcp_sane && body.len() > 33 {
                    // A TCP header that usually fits into the body, without SYN.
                    body[12] = 0x50 | body[12] & 0x2f;
                    body[13] &= !2;
                }
                if is_v4 {
                    v4(protocol, words, fragment, &body)
                } else {
                    v6(protocol, &headers, fragment, &body)
                }
            })
    }

    fn v4(protocol: u8, words: u8, fragment: u16, body: &[u8]) -> Vec<u8> {
        let header = usize::from(words) * 4;
        let mut packet = vec![0x40 | words, 0];
        packet.extend(((header + body.len()) as u16).to_be_bytes());
        packet.extend([0, 9]);
        packet.extend(fragment.to_be_bytes());
        packet.extend([64, protocol, 0, 0, 10, 45, 0, 2, 9, 9, 9, 9]);
        // Option "no operation".
        packet.resize(header, 1);
        packet.extend(body);
        packet
    }

    fn v6(protocol: u8, headers: &[(u8, u8)], fragment: u16, body: &[u8]) -> Vec<u8> {
        let next = |number: usize| headers.get(number).map_or(protocol, |&(kind, _)| kind);
        let mut inside = Vec::new();
        for (number, &(kind, length)) in headers.iter().enumerate() {
            if kind == super::FRAGMENT {
                inside.extend([next(number + 1), 0]);
                inside.extend(fragment.to_be_bytes());
                inside.extend([0; 4]);
            } else {
                inside.extend([next(number + 1), length]);
                inside.resize(inside.len() + 6 + usize::from(length) * 8, 0);
            }
        }
        inside.extend(body);
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((inside.len() as u16).to_be_bytes());
        packet.extend([next(0), 64]);
        packet.extend([0xfd; 32]);
        packet.extend(inside);
        packet
    }

    /// Any packet: valid, with some bytes changed, truncated, padded, or random.
    pub fn packet() -> impl Strategy<Value = Vec<u8>> {
        let wrong = vec((0_usize..80, any::<u8>()), 1..4);
        prop_oneof![
            4 => right(),
            3 => (right(), wrong).prop_map(|(mut packet, wrong)| {
                for (at, octet) in wrong.into_iter().filter(|&(at, _)| at < packet.len()).collect::<Vec<_>>() {
                    packet[at] = octet;
                }
                packet
            }),
            2 => (right(), 0_usize..100).prop_map(|(mut packet, length)| {
                packet.truncate(length);
                packet
            }),
            1 => (right(), 1_usize..60).prop_map(|(mut packet, more)| {
                packet.resize(packet.len() + more, 0);
                packet
            }),
            1 => vec(any::<u8>(), 0..100),
        ]
    }

    /// Number of packets out of `count` that have each property, to check that the generator
    /// produces all of them.
    pub fn shares<const N: usize>(count: usize, has: impl Fn(&[u8]) -> [bool; N]) -> [usize; N] {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let strategy = packet();
        let mut counts = [0; N];
        for _ in 0..count {
            let packet = strategy.new_tree(&mut runner).expect("nothing is filtered").current();
            for (number, has) in counts.iter_mut().zip(has(&packet)) {
                *number += usize::from(has);
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn extension_headers_are_skipped_and_fragments_marked() {
        let with = |first: u8, inside: &[u8]| {
            let mut packet = vec![0x60, 0, 0, 0, 0, inside.len() as u8, first, 64];
            packet.extend([0xfd; 32]);
            packet.extend(inside);
            packet
        };
        let tcp = UpperLayer { protocol: 6, at: 40, end: 41, is_fragment: false };
        assert_eq!(upper(&with(6, &[1])), Some(tcp));
        // Hop-by-hop options of 16 bytes, then a fragment header of an unfragmented packet.
        let mut inside = vec![44, 1];
        inside.resize(16, 0);
        inside.extend([6, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(upper(&with(0, &inside)), Some(UpperLayer { at: 64, end: 64, ..tcp }));
        inside[19] = 1;
        assert_eq!(upper(&with(0, &inside)), Some(UpperLayer { at: 64, end: 64, is_fragment: true, ..tcp }));
        inside[19] = 8;
        assert_eq!(upper(&with(0, &inside)), None);
        // The length of the last header exceeds the packet.
        assert_eq!(upper(&with(60, &[6, 1, 0, 0, 0, 0, 0, 0])), None);
    }

    #[test]
    fn generated_packets_are_of_every_kind() {
        let counts = generated::shares(2000, |packet| {
            let Ok((from, _)) = addresses(packet) else { return [true, false, false, false, false, false] };
            let (is_v4, upper) = (from.is_ipv4(), upper(packet));
            [
                false,
                is_v4 && packet[0] & 15 > 5,
                !is_v4 && upper.is_some_and(|upper| upper.at > 40),
                upper.is_none(),
                upper.is_some_and(|upper| upper.is_fragment),
                upper.is_some_and(|upper| upper.protocol == 6 && upper.end >= upper.at + 20),
            ]
        });
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }

    proptest! {
        #[test]
        fn upper_layer_lies_inside_the_packet(packet in generated::packet()) {
            if addresses(&packet).is_ok() && let Some(upper) = upper(&packet) {
                prop_assert!(20 <= upper.at && upper.at <= upper.end && upper.end <= packet.len());
            }
        }
    }
}
