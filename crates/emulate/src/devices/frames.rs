//! Ethernet frames between two given devices. [`route`] selects the frames whose IP packets cross
//! the radio. The other functions prepare these packets: they remove the padding, and they do what
//! the kernel left to the network card, which is to complete checksums and to cut large segments.

use crate::packets::foreign;

/// Length of an Ethernet header: destination, source, type.
pub const HEADER: usize = 14;

/// Length of a VLAN tag (IEEE 802.1Q): type and tag control information.
pub const TAG: usize = 4;

/// Maximum number of tags that are parsed: a customer tag inside a provider tag.
const MAX_TAGS: usize = 2;

/// Ethernet types.
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Ethernet types of a customer tag and of a provider tag.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

/// Protocol numbers of IANA.
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Length of a TCP header without options. A smaller data offset is malformed (RFC 9293 §3.1).
const MIN_TCP_HEADER: usize = 20;

/// Flags that only the last part of a segment keeps.
const FIN_AND_PSH: u8 = 0x09;
const SYN: u8 = 0x02;
/// Flag that only the first part of a segment keeps.
const CWR: u8 = 0x80;

/// Route of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameRoute {
    /// Across the radio: an IP packet for a single host. The value is the length of the link-layer
    /// header.
    Radio(usize),
    /// Directly to the other device: ARP, neighbour discovery, multicast, broadcast, and everything
    /// that is not IP.
    Bypass,
    /// Dropped: an IP packet for a single host with an invalid IP header.
    Drop,
}

/// Decides the route of a frame.
pub fn route(frame: &[u8]) -> FrameRoute {
    let Some(header) = header_of(frame) else { return FrameRoute::Bypass };
    let (header_octets, packet) = frame.split_at(header);
    let is_ip = [IPV4, IPV6].iter().any(|kind| header_octets.ends_with(kind));
    // The lowest bit of the first octet marks a multicast or broadcast address.
    if frame[0] & 1 == 1 || !is_ip {
        return FrameRoute::Bypass;
    }
    if foreign::addresses(packet).is_err() {
        return FrameRoute::Drop;
    }
    // Types of neighbour and router discovery, 133 to 137 (RFC 4861 §4).
    let is_discovery = packet[0] >> 4 == 6
        && packet[6] == ICMPV6
        && packet.get(40).is_some_and(|kind| (133..=137).contains(kind));
    if is_discovery { FrameRoute::Bypass } else { FrameRoute::Radio(header) }
}

/// Length of the link-layer header, tags included. Returns `None` if the frame is truncated or has
/// more than `MAX_TAGS` tags.
fn header_of(frame: &[u8]) -> Option<usize> {
    (0..=MAX_TAGS)
        .map(|tags| HEADER + tags * TAG)
        .take_while(|&length| frame.len() >= length)
        .find(|&length| !TAGS.iter().any(|tag| frame[..length].ends_with(tag)))
}

/// The IP packet of a frame, without link-layer header and padding.
pub fn packet_of(frame: &[u8], header: usize) -> &[u8] {
    let packet = &frame[header..];
    let length = match packet[0] >> 4 {
        4 => usize::from(u16::from_be_bytes([packet[2], packet[3]])),
        _ => 40 + usize::from(u16::from_be_bytes([packet[4], packet[5]])),
    };
    &packet[..length.min(packet.len())]
}

/// The parts of a TCP or UDP packet that segmentation and checksums need.
struct Transport {
    /// Offset of the TCP or UDP header in the packet.
    offset: usize,
    protocol: u8,
    /// Sum over the pseudo-header, addresses and protocol (RFC 9293 §3.1, RFC 8200 §8.1), without
    /// the length.
    pseudo_sum: u32,
}

/// `None` if the packet is a fragment, truncated, or neither TCP nor UDP.
fn transport(packet: &[u8]) -> Option<Transport> {
    let upper = foreign::upper(packet).filter(|upper| !upper.is_fragment)?;
    let min_header = match upper.protocol {
        TCP => MIN_TCP_HEADER,
        UDP => 8,
        _ => return None,
    };
    let addresses = if packet[0] >> 4 == 4 { 12..20 } else { 8..40 };
    (upper.end >= upper.at + min_header).then(|| Transport {
        offset: upper.at,
        protocol: upper.protocol,
        pseudo_sum: sum(&packet[addresses]) + u32::from(upper.protocol),
    })
}

/// Completes a TCP or UDP checksum that the kernel left to the device (checksum offload): the
/// checksum field then holds the sum over addresses, protocol and length. All other checksums stay
/// unchanged, even if they are wrong.
pub fn complete_checksum(packet: &mut [u8]) {
    let Some(transport) = transport(packet) else { return };
    // Offset of the checksum field in the TCP or the UDP header.
    let at = transport.offset + if transport.protocol == TCP { 16 } else { 6 };
    let body = &packet[transport.offset..];
    let pseudo = fold(transport.pseudo_sum + body.len() as u32);
    if u16::from_be_bytes([packet[at], packet[at + 1]]) == pseudo {
        // The checksum field already contains the sum over the pseudo-header. In UDP, 0 means that
        // there is no checksum (RFC 768).
        let checksum = !fold(sum(body));
        let checksum = if checksum == 0 && transport.protocol == UDP { 0xffff } else { checksum };
        packet[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Cuts a TCP segment larger than `mtu` into segments of at most `mtu`. Kernels pass such
/// segments to a device with segmentation offload (TSO, GRO). Returns `None` if the packet
/// cannot be cut.
pub fn cut(packet: &[u8], mtu: usize) -> Option<Vec<Vec<u8>>> {
    let transport = transport(packet).filter(|transport| transport.protocol == TCP)?;
    let header = usize::from(packet[transport.offset + 12] >> 4) * 4;
    // A SYN occupies a sequence number, and no kernel leaves one to segmentation offload.
    if header < MIN_TCP_HEADER || packet[transport.offset + 13] & SYN != 0 {
        return None;
    }
    let headers = transport.offset + header;
    let max_payload = mtu.checked_sub(headers).filter(|&max| max > 0 && packet.len() > headers)?;
    let first = u32::from_be_bytes(packet[transport.offset + 4..][..4].try_into().expect("four octets"));
    let payload = &packet[headers..];
    let count = payload.len().div_ceil(max_payload);
    let parts = payload.chunks(max_payload).enumerate().map(|(number, chunk)| {
        let mut part = [&packet[..headers], chunk].concat();
        let seq = first.wrapping_add((number * max_payload) as u32);
        part[transport.offset + 4..][..4].copy_from_slice(&seq.to_be_bytes());
        let flags = &mut part[transport.offset + 13];
        *flags &= if number + 1 < count { !FIN_AND_PSH } else { 0xff };
        *flags &= if number > 0 { !CWR } else { 0xff };
        set_length(&mut part, number as u16);
        // As if the kernel had left the checksum of each part to the device.
        let pseudo = fold(transport.pseudo_sum + (part.len() - transport.offset) as u32);
        part[transport.offset + 16..][..2].copy_from_slice(&pseudo.to_be_bytes());
        complete_checksum(&mut part);
        part
    });
    Some(parts.collect())
}

/// Writes the length into the IP header. For IPv4, also adds `number` to the identification,
/// because each part of a segment needs another one, and updates the header's checksum.
fn set_length(packet: &mut [u8], number: u16) {
    let length = packet.len();
    if packet[0] >> 4 == 6 {
        packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        return;
    }
    packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    let identification = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(number);
    packet[4..6].copy_from_slice(&identification.to_be_bytes());
    packet[10..12].fill(0);
    let header = usize::from(packet[0] & 15) * 4;
    let checksum = !fold(sum(&packet[..header]));
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Sum of 16-bit words (RFC 1071).
fn sum(octets: &[u8]) -> u32 {
    octets
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)])))
        .sum()
}

/// Adds the carries to the lower 16 bits, which gives the sum in ones' complement.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Builds an IPv4 TCP segment from 10.0.0.1 to 10.0.0.2 with sequence number 256,
    /// identification 9 and an arbitrary TCP checksum.
    fn segment(payload: usize, flags: u8) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 9, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0, 80, 1, 0, 0, 0, 1, 0, 0, 0, 0, 7, 0x50, flags, 0, 1, 0, 0, 0, 0]);
        packet.extend((0..payload).map(|n| n as u8));
        set_length(&mut packet, 0);
        packet
    }

    fn has_valid_checksums(packet: &[u8]) -> bool {
        let transport = transport(packet).expect("the packet carries TCP or UDP");
        let body = &packet[transport.offset..];
        fold(transport.pseudo_sum + body.len() as u32 + sum(body)) == 0xffff && {
            packet[0] >> 4 == 6 || fold(sum(&packet[..20])) == 0xffff
        }
    }

    /// Leaves the checksum to the device, as a kernel with checksum offload does.
    fn offload_checksum(packet: &mut [u8]) {
        let transport = transport(packet).expect("the packet carries TCP or UDP");
        let pseudo = fold(transport.pseudo_sum + (packet.len() - transport.offset) as u32);
        let at = transport.offset + if transport.protocol == TCP { 16 } else { 6 };
        packet[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
    }

    #[test]
    fn offloaded_checksum_is_completed_and_wrong_one_is_kept() {
        let mut packet = segment(101, 0x18);
        offload_checksum(&mut packet);
        complete_checksum(&mut packet);
        assert!(has_valid_checksums(&packet));
        packet[50] ^= 1;
        let wrong = packet.clone();
        complete_checksum(&mut packet);
        assert_eq!(packet, wrong);
    }

    #[test]
    fn large_segment_is_cut_into_valid_segments() {
        let mut whole = segment(4000, 0x19 | CWR);
        offload_checksum(&mut whole);
        let parts = cut(&whole, 1500).unwrap();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1500, 1500, 1120]);
        assert!(parts.iter().all(|part| has_valid_checksums(part)));
        let seqs: Vec<u32> =
            parts.iter().map(|part| u32::from_be_bytes(part[24..28].try_into().unwrap())).collect();
        assert_eq!(seqs, [256, 256 + 1460, 256 + 2920]);
        // All parts have ACK, the first has CWR, the last PSH and FIN.
        assert_eq!(parts.iter().map(|part| part[33]).collect::<Vec<_>>(), [0x10 | CWR, 0x10, 0x19]);
        assert_eq!(parts.iter().map(|part| part[5]).collect::<Vec<_>>(), [9, 10, 11]);
        let payload: Vec<u8> = parts.iter().flat_map(|part| part[40..].to_vec()).collect();
        assert_eq!(payload, whole[40..]);
    }

    #[test]
    fn link_control_and_multicast_frames_bypass_the_radio() {
        let frame = |to: u8, kind: [u8; 2], packet: &[u8]| {
            [&[to, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind, packet].concat()
        };
        // Neighbour advertisement: ICMPv6 (58) of type 136.
        let mut discovery = vec![0x60, 0, 0, 0, 0, 8, 58, 255];
        discovery.extend([0xfe; 32]);
        discovery.extend([136, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(route(&frame(2, IPV4, &segment(1, 0))), FrameRoute::Radio(14));
        assert_eq!(route(&frame(3, IPV4, &segment(1, 0))), FrameRoute::Bypass);
        assert_eq!(route(&frame(2, [8, 6], &segment(1, 0))), FrameRoute::Bypass);
        assert_eq!(route(&frame(2, IPV6, &discovery)), FrameRoute::Bypass);
        // An echo request is not discovery.
        discovery[40] = 128;
        assert_eq!(route(&frame(2, IPV6, &discovery)), FrameRoute::Radio(14));
        assert_eq!(route(&frame(2, IPV4, &segment(1, 0)[..30])), FrameRoute::Drop);
        assert_eq!(route(&frame(2, IPV4, &[])), FrameRoute::Drop);
        // A frame of 60 bytes contains padding after a packet of 41 bytes.
        let mut padded = frame(2, IPV4, &segment(1, 0));
        padded.resize(60, 0);
        assert_eq!(packet_of(&padded, HEADER).len(), 41);
    }

    #[test]
    fn vlan_tags_belong_to_the_header() {
        let frame = |tags: &[u8]| [&[2; 12][..], tags, &IPV4, &segment(1, 0)].concat();
        assert_eq!(route(&frame(&[0x81, 0, 0, 7])), FrameRoute::Radio(18));
        assert_eq!(route(&frame(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8])), FrameRoute::Radio(22));
        assert_eq!(route(&frame(&[0x81, 0, 0, 7].repeat(3))), FrameRoute::Bypass);
        assert_eq!(route(&frame(&[0x81, 0, 0, 7])[..15]), FrameRoute::Bypass);
    }

    #[test]
    fn segments_after_extension_headers_are_cut_and_completed() {
        // IPv6 header, 8 octets of destination options (60), TCP header, 3,000 octets.
        let mut whole = vec![0x60, 0, 0, 0];
        whole.extend((8 + 20 + 3000_u16).to_be_bytes());
        whole.extend([60, 64]);
        whole.extend([0xfd; 32]);
        whole.extend([TCP, 0, 1, 4, 0, 0, 0, 0]);
        whole.extend([0, 80, 1, 0, 0, 0, 1, 0, 0, 0, 0, 7, 0x50, 0x18, 0, 1, 0, 0, 0, 0]);
        whole.resize(48 + 20 + 3000, 7);
        offload_checksum(&mut whole);
        let parts = cut(&whole, 1500).unwrap();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1500, 1500, 204]);
        assert!(parts.iter().all(|part| has_valid_checksums(part)));
    }

    #[test]
    fn datagrams_fragments_and_syns_are_not_cut() {
        let large = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut whole = segment(3000, 0x18);
            change(&mut whole);
            cut(&whole, 1500)
        };
        assert!(large(&|_| {}).is_some());
        assert_eq!(large(&|whole| whole[9] = UDP), None);
        // The flag "more fragments".
        assert_eq!(large(&|whole| whole[6] = 0x20), None);
        assert_eq!(large(&|whole| whole[33] |= SYN), None);
    }

    #[test]
    fn segment_with_a_short_header_is_not_cut() {
        let mut whole = segment(2001, 0x18);
        for offset in 0..5 {
            whole[32] = offset << 4;
            // The last part would contain one byte of payload.
            let mtu = 20 + usize::from(offset) * 4 + 10;
            assert_eq!(cut(&whole, mtu), None);
        }
    }

    /// Builds a frame of `packet` with `tags` VLAN tags.
    fn frame_of(packet: &[u8], tags: usize) -> Vec<u8> {
        let kind = if packet.first().is_some_and(|first| first >> 4 == 6) { IPV6 } else { IPV4 };
        [&[2; 12][..], &[0x81, 0, 0, 7].repeat(tags), &kind, packet].concat()
    }

    #[test]
    fn generated_packets_cover_every_route() {
        let counts = foreign::generated::shares(4000, |packet| {
            let frame = frame_of(packet, 0);
            // Not over the radio, neither TCP nor UDP, UDP, TCP that is not cut, TCP that is cut.
            let FrameRoute::Radio(header) = route(&frame) else { return [true, false, false, false, false] };
            let packet = packet_of(&frame, header).to_vec();
            let (transport, parts) = (transport(&packet), cut(&packet, 576));
            let is_tcp = transport.as_ref().is_some_and(|transport| transport.protocol == TCP);
            [
                false,
                transport.is_none(),
                transport.is_some() && !is_tcp,
                is_tcp && parts.is_none(),
                parts.is_some_and(|parts| parts.len() > 2),
            ]
        });
        assert!(counts.iter().all(|&count| count > 40), "{counts:?}");
    }

    proptest! {
        #[test]
        fn arbitrary_frames_do_not_panic(
            packet in foreign::generated::packet(),
            tags in 0_usize..4,
            mtu in 0_usize..1500,
        ) {
            let frame = frame_of(&packet, tags);
            if let FrameRoute::Radio(header) = route(&frame) {
                let whole = packet_of(&frame, header).to_vec();
                let mut complete = whole.clone();
                complete_checksum(&mut complete);
                for part in cut(&whole, mtu).unwrap_or_default() {
                    prop_assert!(part.len() <= mtu);
                    prop_assert_eq!(foreign::addresses(&part), foreign::addresses(&whole));
                }
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(octets in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = route(&octets);
        }

        #[test]
        fn offloaded_checksums_are_completed_in_arbitrary_packets(packet in foreign::generated::packet()) {
            if foreign::addresses(&packet).is_ok() {
                let end = packet_of(&packet, 0).len();
                let mut packet = packet[..end].to_vec();
                if let Some(transport) = transport(&packet) {
                    offload_checksum(&mut packet);
                    complete_checksum(&mut packet);
                    let body = &packet[transport.offset..];
                    prop_assert_eq!(fold(transport.pseudo_sum + body.len() as u32 + sum(body)), 0xffff);
                }
            }
        }

        #[test]
        fn parts_are_valid_and_complete(payload in 1_usize..20_000, mtu in 41_usize..1500) {
            let whole = segment(payload, 0x18);
            let parts = cut(&whole, mtu).unwrap();
            prop_assert!(parts.iter().all(|part| part.len() <= mtu && has_valid_checksums(part)));
            prop_assert_eq!(parts.iter().map(|part| part.len() - 40).sum::<usize>(), payload);
        }
    }
}
