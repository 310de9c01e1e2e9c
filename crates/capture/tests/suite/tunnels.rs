//! Connections in tunnels, also nested, and after further link headers.

use umts_capture::{Analyser, Analysis, LinkType};

use crate::common::{End, Packet, expect, ms};

/// A small download: a handshake, and three segments with an acknowledgment each. Times are in
/// milliseconds.
fn download(port: u16, isn: [u32; 2]) -> Vec<(u64, Packet)> {
    let packet = |at, from, flags, seq: u32, ack: Option<u32>, payload| {
        let (sender_isn, receiver_isn) =
            if from == End::Client { (isn[0], isn[1]) } else { (isn[1], isn[0]) };
        let (seq, ack) = (sender_isn.wrapping_add(seq), ack.map(|ack| receiver_isn.wrapping_add(ack)));
        (at, Packet { seq, ack, payload, port, ..Packet::new(from, flags) })
    };
    let mut packets = vec![
        packet(0, End::Client, "S", 0, None, 0),
        packet(0, End::Server, "S", 0, Some(1), 0),
        packet(100, End::Client, "", 1, Some(1), 0),
    ];
    for number in 0..3 {
        let at = 100 + 100 * u64::from(number);
        packets.push(packet(at, End::Server, "", 1 + 1000 * number, Some(1), 1000));
        packets.push(packet(at + 100, End::Client, "", 1, Some(1001 + 1000 * number), 0));
    }
    packets
}

fn analysis_of(link: u32, frames: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Analysis {
    let mut analyser = Analyser::new();
    for (at, bytes) in frames {
        analyser.packet(ms(at), LinkType::from_number(link), &bytes, bytes.len() as u32);
    }
    analyser.finish()
}

/// Panics unless the analysis has exactly the packets of [`download`].
#[track_caller]
fn expect_download(analysis: &Analysis) {
    assert_eq!(analysis.connection_count, 1, "{:?} {:?}", analysis.counts, analysis.passed_over);
    assert_eq!(analysis.counts.tcp, 9);
    assert_eq!(analysis.warnings, Vec::<String>::new());
    expect(
        &analysis.connections[0],
        &[
            ("payload_bytes", 3000.0),
            ("acknowledged_bytes", 3000.0),
            ("handshake_rtt_s", 0.1),
            ("min_rtt_s", 0.1),
        ],
    );
}

// The functions below put a packet into a header and return both. `is_v6`: the outer IP header is
// IPv6. Fields that the analysis does not use have arbitrary values.

fn ether_type_of(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] }
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &ether_type_of(packet), packet].concat()
}

/// Adds an outer header of IPv4 or IPv6.
fn ip(is_v6: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    if is_v6 {
        let length = (payload.len() as u16).to_be_bytes();
        return [&[0x60, 0, 0, 0][..], &length, &[protocol, 64], &[0xfd; 32], payload].concat();
    }
    let length = (20 + payload.len() as u16).to_be_bytes();
    let header =
        [0x45, 0, length[0], length[1], 0, 9, 0x40, 0, 64, protocol, 0, 0, 172, 16, 0, 1, 172, 16, 0, 2];
    [&header[..], payload].concat()
}

/// Adds outer headers of UDP, with the same port at both ends, and of IP.
fn udp(is_v6: bool, port: u16, payload: &[u8]) -> Vec<u8> {
    let words = [port, port, (8 + payload.len()) as u16, 0].map(u16::to_be_bytes).concat();
    ip(is_v6, 17, &[&words[..], payload].concat())
}

/// Encapsulates a packet in GTP-U with this TEID, and with this number of extension headers, which
/// have 4 and 8 octets in turn.
fn gtp(is_v6: bool, teid: u32, extensions: usize, packet: &[u8]) -> Vec<u8> {
    let mut rest = Vec::new();
    if extensions > 0 {
        rest.extend([0, 1, 0, 0x85]);
        for number in 0..extensions {
            let units = 1 + number % 2;
            rest.push(units as u8);
            rest.extend(vec![0x11; 4 * units - 2]);
            rest.push(if number + 1 < extensions { 0xc0 } else { 0 });
        }
    }
    rest.extend(packet);
    let flags = if extensions > 0 { 0x34 } else { 0x30 };
    let header = [&[flags, 255][..], &(rest.len() as u16).to_be_bytes(), &teid.to_be_bytes()].concat();
    udp(is_v6, 2152, &[header, rest].concat())
}

/// Encapsulates a packet in GRE. `flags`: checksum, key and sequence number present.
fn gre(is_v6: bool, flags: u8, packet: &[u8]) -> Vec<u8> {
    let fields = vec![7; 4 * (flags & 0xb0).count_ones() as usize];
    ip(is_v6, 47, &[&[flags, 0][..], &ether_type_of(packet), &fields, packet].concat())
}

/// Adds a stack of this number of labels over Ethernet.
fn mpls(labels: u8, packet: &[u8]) -> Vec<u8> {
    let stack: Vec<u8> = (1..=labels).flat_map(|label| [0, label, u8::from(label == labels), 64]).collect();
    [&[2; 12][..], &[0x88, 0x47], &stack, packet].concat()
}

type Encapsulation = fn(&[u8]) -> Vec<u8>;

/// Encapsulations of an IP packet over Ethernet.
const ENCAPSULATIONS: [(&str, Encapsulation); 27] = [
    ("GTP-U", |packet| ethernet(&gtp(false, 7, 0, packet))),
    ("GTP-U over IPv6", |packet| ethernet(&gtp(true, 7, 0, packet))),
    ("GTP-U with extension headers", |packet| ethernet(&gtp(false, 7, 3, packet))),
    ("GTP-U in GTP-U", |packet| ethernet(&gtp(false, 1, 1, &gtp(false, 7, 0, packet)))),
    ("MPLS", |packet| mpls(1, packet)),
    ("three labels", |packet| mpls(3, packet)),
    ("a pseudowire with control word", |packet| mpls(2, &[&[0; 4][..], &ethernet(packet)].concat())),
    ("VLAN and MPLS", |packet| [&[2; 12][..], &[0x81, 0, 0, 5, 0x88, 0x47, 0, 1, 1, 64], packet].concat()),
    ("two VLAN tags", |packet| {
        [&[2; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6], &ether_type_of(packet), packet].concat()
    }),
    ("MPLS and GTP-U", |packet| mpls(1, &gtp(false, 7, 0, packet))),
    ("GRE", |packet| ethernet(&gre(false, 0, packet))),
    ("GRE with key", |packet| ethernet(&gre(false, 0x20, packet))),
    ("GRE with checksum, key and sequence over IPv6", |packet| ethernet(&gre(true, 0xb0, packet))),
    ("GRE with source routes", |packet| {
        let routes = [0x08, 0, 4, 4, 10, 0, 0, 1, 0, 0, 0, 0];
        let header = [&[0x40, 0][..], &ether_type_of(packet), &[0; 4], &routes].concat();
        ethernet(&ip(false, 47, &[&header, packet].concat()))
    }),
    ("Ethernet in GRE", |packet| {
        ethernet(&ip(false, 47, &[&[0, 0, 0x65, 0x58][..], &ethernet(packet)].concat()))
    }),
    ("VXLAN", |packet| {
        ethernet(&udp(false, 4789, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(packet)].concat()))
    }),
    ("VXLAN over IPv6", |packet| {
        ethernet(&udp(true, 4789, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(packet)].concat()))
    }),
    ("VXLAN-GPE", |packet| {
        let contents = if packet[0] >> 4 == 6 { 2 } else { 1 };
        ethernet(&udp(false, 4790, &[&[0x0c, 0, 0, contents, 0, 0, 5, 0][..], packet].concat()))
    }),
    ("Ethernet in VXLAN-GPE", |packet| {
        ethernet(&udp(false, 4790, &[&[0x0c, 0, 0, 3, 0, 0, 5, 0][..], &ethernet(packet)].concat()))
    }),
    ("Geneve with options", |packet| {
        ethernet(&udp(
            false,
            6081,
            &[&[1, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 4][..], &ethernet(packet)].concat(),
        ))
    }),
    ("LLC and SNAP", |packet| {
        let length = (8 + packet.len() as u16).to_be_bytes();
        [&[2; 12][..], &length, &[0xaa, 0xaa, 3, 0, 0, 0], &ether_type_of(packet), packet].concat()
    }),
    ("VLAN, LLC and SNAP", |packet| {
        let length = (8 + packet.len() as u16).to_be_bytes();
        [&[2; 12][..], &[0x81, 0, 0, 5], &length, &[0xaa, 0xaa, 3, 0, 0, 0], &ether_type_of(packet), packet]
            .concat()
    }),
    ("AH", |packet| {
        let number = if packet[0] >> 4 == 6 { 41 } else { 4 };
        ethernet(&ip(false, 51, &[&[number, 4, 0, 0][..], &[0; 20], packet].concat()))
    }),
    ("AH over IPv6", |packet| {
        let number = if packet[0] >> 4 == 6 { 41 } else { 4 };
        ethernet(&ip(true, 51, &[&[number, 4, 0, 0][..], &[0; 20], packet].concat()))
    }),
    ("IP in IP", |packet| ethernet(&ip(false, if packet[0] >> 4 == 6 { 41 } else { 4 }, packet))),
    ("MPLS in IP", |packet| ethernet(&ip(false, 137, &[&[0, 1, 1, 64][..], packet].concat()))),
    ("a mirror over GRE (ERSPAN II)", |packet| {
        ethernet(&ip(
            false,
            47,
            &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1][..], &[0; 8], &ethernet(packet)].concat(),
        ))
    }),
];

#[test]
fn tcp_is_found_in_each_tunnel_over_ipv4_and_ipv6() {
    for (name, encapsulate) in ENCAPSULATIONS {
        for is_v6 in [false, true] {
            let packets = download(40_000, [1000, u32::MAX - 1500]);
            let inner = |packet: &Packet| if is_v6 { packet.ipv6() } else { packet.ipv4() };
            println!("{name}, IPv6 inside: {is_v6}");
            let frames: Vec<_> =
                packets.iter().map(|(at, packet)| (*at, encapsulate(&inner(packet)))).collect();
            expect_download(&analysis_of(1, frames.clone()));
            // Captures are often cut off after the headers. The first 200 octets of each frame
            // include all headers, from which the lengths are known.
            let mut analyser = Analyser::new();
            for (at, frame) in &frames {
                let captured = &frame[..frame.len().min(200)];
                analyser.packet(ms(*at), LinkType::Ethernet, captured, frame.len() as u32);
            }
            expect_download(&analyser.finish());
        }
    }
}

#[test]
fn frame_padding_is_not_payload() {
    let frames = download(40_000, [7, 9]).into_iter().map(|(at, packet)| {
        let mut frame = ethernet(&packet.ipv4());
        frame.resize(frame.len().max(60) + 4, 0);
        (at, frame)
    });
    expect_download(&analysis_of(1, frames));
}

#[test]
fn ah_in_ipv4_is_skipped() {
    let frames = download(40_000, [7, 9]).into_iter().map(|(at, packet)| {
        let mut bytes = packet.ipv4();
        let total = u16::from_be_bytes([bytes[2], bytes[3]]) + 24;
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes[9] = 51;
        bytes.splice(20..20, [&[6, 4, 0, 0][..], &[0; 20]].concat());
        (at, ethernet(&bytes))
    });
    expect_download(&analysis_of(1, frames));
}

/// Two downloads between the same addresses and ports, in tunnels with the TEIDs 1 and 2, and 11
/// and 12.
#[test]
fn equal_ends_in_two_tunnels_are_two_connections() {
    let mut frames = Vec::new();
    for (tunnel, isn) in [(0, [1000, 5000]), (10, [700_000_000, 3_000_000_000])] {
        for (at, packet) in download(40_000, isn) {
            let teid = tunnel + if packet.from == End::Client { 1 } else { 2 };
            frames.push((at + u64::from(tunnel), ethernet(&gtp(false, teid, 0, &packet.ipv4()))));
        }
    }
    frames.sort_by_key(|(at, _)| *at);
    let analysis = analysis_of(1, frames);
    let [first, second] = &analysis.connections[..] else { panic!("{}", analysis.connection_count) };
    assert_eq!((first.teid, second.teid), ([Some(1), Some(2)], [Some(11), Some(12)]));
    for row in [first, second] {
        expect(row, &[("payload_bytes", 3000.0), ("tcp_retransmissions", 0.0), ("handshake_rtt_s", 0.1)]);
    }
}

/// After 250 ms the packets of a connection have other TEIDs, as after a handover.
#[test]
fn connection_that_changes_tunnels_stays_one() {
    let frames = download(40_000, [1000, 5000]).into_iter().map(|(at, packet)| {
        let teid = if at < 250 { 1 } else { 21 } + u32::from(packet.from == End::Server);
        (at, ethernet(&gtp(false, teid, 0, &packet.ipv4())))
    });
    let analysis = analysis_of(1, frames);
    expect_download(&analysis);
    assert_eq!(analysis.connections[0].teid, [Some(21), Some(22)]);
}

/// A capture on both sides of a GGSN: each packet once outside of a tunnel and, 0.7 ms later, once
/// in a tunnel.
#[test]
fn copies_inside_and_outside_of_a_tunnel_count_once() {
    let mut analyser = Analyser::new();
    for (number, (at, packet)) in download(40_000, [1000, 5000]).into_iter().enumerate() {
        let packet = Packet { identification: 100 + number as u16, ..packet };
        let plain = ethernet(&packet.ipv4());
        let inner = ethernet(&gtp(false, 1, 0, &packet.ipv4()));
        let time = ms(at) + umts_units::Duration::from_micros(40 * number as u64);
        analyser.packet(time, LinkType::Ethernet, &plain, plain.len() as u32);
        let later = time + umts_units::Duration::from_micros(700);
        analyser.packet(later, LinkType::Ethernet, &inner, inner.len() as u32);
    }
    let analysis = analyser.finish();
    assert_eq!((analysis.connection_count, analysis.counts.captured_twice), (1, 9));
    expect(&analysis.connections[0], &[("payload_bytes", 3000.0), ("tcp_retransmissions", 0.0)]);
}

#[test]
fn skipped_protocols_are_counted_by_name() {
    // A GTP-U echo request, ESP twice (IP protocol 50), ICMP (1), ARP, an experimental EtherType,
    // L2TP, and a GTP-U packet without an IP packet inside.
    let echo = [&[0x32, 1, 0, 4, 0, 0, 0, 0][..], &[0, 1, 0, 0]].concat();
    let frames = [
        ethernet(&udp(false, 2152, &echo)),
        ethernet(&ip(false, 50, &[0; 40])),
        ethernet(&ip(false, 50, &[0; 40])),
        ethernet(&ip(false, 1, &[0; 8])),
        [&[2; 12][..], &[0x08, 0x06], &[0; 28]].concat(),
        [&[2; 12][..], &[0x88, 0xb5], &[0; 28]].concat(),
        ethernet(&udp(false, 1701, &[0; 30])),
        ethernet(&udp(false, 2152, &[0x30, 255, 0, 4, 0, 0, 0, 9, 0x10, 0, 0, 0])),
    ];
    let analysis = analysis_of(1, frames.into_iter().map(|frame| (0, frame)));
    let expected = [
        ("ARP", 1),
        ("ESP", 2),
        ("EtherType 0x88b5", 1),
        ("GTP-U signalling", 1),
        ("GTP-U with unknown contents", 1),
        ("ICMP", 1),
        ("L2TP", 1),
    ];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(analysis.passed_over, expected.into());
    let has_warning = |text: &str| analysis.warnings.iter().any(|warning| warning == text);
    assert!(has_warning("2 packets are ESP, which is not decoded"), "{:?}", analysis.warnings);
    assert!(has_warning("1 packets are L2TP, which is not decoded"));
    assert!(has_warning("8 packets, but none of them is TCP"));
}

#[test]
fn too_deeply_nested_headers_are_counted() {
    let mut packet = Packet::new(End::Client, "S").ipv4();
    for _ in 0..60 {
        packet = ip(false, 4, &packet);
    }
    let analysis = analysis_of(101, [(0, packet)]);
    assert_eq!((analysis.counts.too_deep, analysis.counts.tcp), (1, 0));
}

/// The IP header of each data packet states a length of 30,000 octets, beyond the end of the frame.
#[test]
fn lengths_beyond_the_frame_are_reduced_in_tunnels_too() {
    type Lengthen = fn(&mut Vec<u8>);
    let ip_versions: [(bool, Lengthen); 2] = [
        (false, |bytes| bytes[2..4].copy_from_slice(&30_000u16.to_be_bytes())),
        (true, |bytes| bytes[4..6].copy_from_slice(&30_000u16.to_be_bytes())),
    ];
    for (is_v6, lengthen) in ip_versions {
        for is_tunnelled in [false, true] {
            let frames = download(40_000, [7, 9]).into_iter().map(|(at, packet)| {
                let mut bytes = if is_v6 { packet.ipv6() } else { packet.ipv4() };
                if packet.payload > 0 {
                    lengthen(&mut bytes);
                }
                let bytes = if is_tunnelled { gtp(false, 3, 0, &bytes) } else { bytes };
                (at, ethernet(&bytes))
            });
            let analysis = analysis_of(1, frames);
            expect(&analysis.connections[0], &[("payload_bytes", 3000.0), ("acknowledged_bytes", 3000.0)]);
            assert_eq!(analysis.counts.beyond_frame, 3);
        }
    }
}

/// A hundred EtherTypes; 64 are counted separately.
#[test]
fn protocols_beyond_the_limit_are_counted_together() {
    let frame = |number: u16| [&[2; 12][..], &(0x9900 + number).to_be_bytes(), &[0; 46]].concat();
    let analysis = analysis_of(1, (0..100).map(|number| (u64::from(number), frame(number))));
    assert_eq!(
        (analysis.passed_over["EtherType 0x9900"], analysis.passed_over["further protocols"]),
        (1, 36)
    );
    assert_eq!(analysis.passed_over.values().sum::<u64>(), 100);
}
