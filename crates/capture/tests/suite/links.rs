//! Packets of every link type, over IPv4 and IPv6, complete and cut off.

use std::cell::Cell;

use crate::common::{End, Packet, ms};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use umts_capture::{Analyser, Analysis, LinkType};

const ETHERTYPES: [u16; 2] = [0x0800, 0x86dd];

// Numbers of link types (LINKTYPE of the tcpdump group).
const LOOPBACK: u32 = 0;
const ETHERNET: u32 = 1;
const PPP: u32 = 9;
const PPP_HDLC: u32 = 50;
const PPP_OVER_ETHERNET: u32 = 51;
const RAW: u32 = 101;
const OPENBSD_LOOPBACK: u32 = 108;
const LINUX_SLL: u32 = 113;
const LINUX_SLL2: u32 = 276;
/// A link type that is not supported.
const USER_0: u32 = 147;

/// Returns an IP packet with a TCP segment of 100 octets.
fn data(is_ipv6: bool) -> Vec<u8> {
    let packet = Packet { seq: 7, ack: Some(9), payload: 100, ..Packet::new(End::Server, "") };
    if is_ipv6 { packet.ipv6() } else { packet.ipv4() }
}

/// Analyses one packet, of which the first `captured` octets are captured.
fn analysis_of(link: u32, bytes: &[u8], captured: usize) -> Analysis {
    let mut analyser = Analyser::new();
    let cut = &bytes[..captured.min(bytes.len())];
    analyser.packet(ms(0), LinkType::from_number(link), cut, bytes.len() as u32);
    analyser.finish()
}

fn payload(analysis: &Analysis) -> Option<f64> {
    analysis.connections.first()?.metrics.value("payload_bytes")
}

/// Returns a packet with 100 octets of payload after this link header.
fn with_header(header: &[u8], is_ipv6: bool) -> Vec<u8> {
    [header, &data(is_ipv6)].concat()
}

#[test]
fn every_link_type_leads_to_the_same_packet() {
    let mac = [0u8; 12];
    for (is_ipv6, ether_type) in [false, true].into_iter().zip(ETHERTYPES) {
        let ether_type = ether_type.to_be_bytes();
        let ppp = if is_ipv6 { 0x57 } else { 0x21 };
        let family = if is_ipv6 { 30 } else { 2 };
        let vlan = [0x81, 0, 0, 5];
        let two_vlans = [0x88, 0xa8, 0, 5, 0x81, 0, 0, 6];
        let pppoe_session = [0x11, 0, 0, 1, 0, 142];
        // PPP sends its protocol number in two octets or, compressed, in one. HDLC-like framing
        // adds an address and a control octet. Cisco HDLC has an EtherType instead.
        let headers: Vec<(u32, Vec<u8>)> = vec![
            (ETHERNET, [&mac[..], &ether_type].concat()),
            (ETHERNET, [&mac[..], &vlan, &ether_type].concat()),
            (ETHERNET, [&mac[..], &two_vlans, &ether_type].concat()),
            (ETHERNET, [&mac[..], &[0x88, 0x64], &pppoe_session, &[0, ppp]].concat()),
            (LINUX_SLL, [&[0u8; 14][..], &ether_type].concat()),
            (LINUX_SLL2, [&ether_type[..], &[0; 18]].concat()),
            (PPP, vec![0, ppp]),
            (PPP, vec![ppp]),
            (PPP, vec![0xff, 0x03, 0, ppp]),
            (PPP_HDLC, vec![0xff, 0x03, ppp]),
            (PPP_HDLC, [&[0x0f, 0][..], &ether_type].concat()),
            (PPP_OVER_ETHERNET, [&pppoe_session[..], &[0, ppp]].concat()),
            // The address family in the byte order of a little-endian and a big-endian computer.
            (LOOPBACK, vec![family, 0, 0, 0]),
            (LOOPBACK, vec![0, 0, 0, family]),
            (OPENBSD_LOOPBACK, vec![0, 0, 0, family]),
            // Raw IP, whose numbers differ between systems.
            (RAW, vec![]),
            (12, vec![]),
            (14, vec![]),
            (if is_ipv6 { 229 } else { 228 }, vec![]),
        ];
        for (link, header) in headers {
            let bytes = with_header(&header, is_ipv6);
            let whole = analysis_of(link, &bytes, bytes.len());
            assert_eq!(payload(&whole), Some(100.0), "link {link}, {header:?}");
            assert_eq!(whole.connections[0].server.port(), 80);
            // The payload need not be captured: lengths come from the IP header.
            let cut = analysis_of(link, &bytes, bytes.len() - 100);
            assert_eq!(cut.metrics, whole.metrics, "link {link}, {header:?}");
            // A packet that is cut off before the end of its headers is counted once.
            for captured in 0..bytes.len() - 100 {
                let counts = analysis_of(link, &bytes, captured).counts;
                assert_eq!(
                    (counts.packets, counts.tcp + counts.unreadable + counts.not_ip),
                    (1, 1),
                    "{captured}"
                );
            }
        }
    }
}

#[test]
fn other_protocols_are_counted_by_kind() {
    let ethernet = |ether_type: u16, ip: &[u8]| [&[0u8; 12][..], &ether_type.to_be_bytes(), ip].concat();
    let mut udp = data(false);
    udp[9] = 17;
    let mut fragment = data(false);
    fragment[6..8].copy_from_slice(&0x2000u16.to_be_bytes());
    let mut analyser = Analyser::new();
    let mut analyse = |link, bytes: &[u8]| analyser.packet(ms(0), LinkType::from_number(link), bytes, 1500);
    // ARP, UDP, a fragment of TCP, an IP header that is cut off, an unknown link type.
    analyse(ETHERNET, &ethernet(0x0806, &[0; 28]));
    analyse(ETHERNET, &ethernet(0x0800, &udp));
    analyse(ETHERNET, &ethernet(0x0800, &fragment));
    analyse(ETHERNET, &ethernet(0x0800, &[0x45, 0]));
    analyse(USER_0, &[1, 2, 3]);
    let analysis = analyser.finish();
    let counts = analysis.counts;
    assert_eq!((counts.packets, counts.bytes, counts.tcp), (5, 7500, 0));
    assert_eq!((counts.not_ip, counts.not_tcp, counts.fragments), (1, 1, 1));
    assert_eq!((counts.unreadable, counts.unknown_link), (1, 1));
    assert_eq!(analysis.passed_over.get("link type 147"), Some(&1), "{:?}", analysis.passed_over);
    // About the fragment, the cut header, the unknown link type, and a capture without TCP.
    assert_eq!(analysis.warnings.len(), 4, "{:?}", analysis.warnings);
}

/// Inserts extension headers between the headers of IPv6 and TCP.
fn extended(first: u8, extensions: &[u8]) -> Vec<u8> {
    let mut bytes = data(true);
    bytes[6] = first;
    let length = u16::from_be_bytes([bytes[4], bytes[5]]) + extensions.len() as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes.splice(40..40, extensions.iter().copied());
    bytes
}

#[test]
fn ipv6_extension_headers_are_skipped() {
    let hop_by_hop_then_destination =
        [60, 0, 1, 4, 0, 0, 0, 0, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let authentication = [6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let atomic_fragment = [6, 0, 0, 0, 0, 0, 0, 1];
    for (first, extensions) in
        [(0, &hop_by_hop_then_destination[..]), (51, &authentication[..]), (44, &atomic_fragment[..])]
    {
        let bytes = extended(first, extensions);
        assert_eq!(payload(&analysis_of(RAW, &bytes, bytes.len())), Some(100.0), "{first}");
    }
    let fragment = extended(44, &[6, 0, 0, 9, 0, 0, 0, 1]);
    assert_eq!(analysis_of(RAW, &fragment, fragment.len()).counts.fragments, 1);
}

#[test]
fn zero_ip_length_means_segmentation_offload() {
    let mut bytes = data(false);
    bytes[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(payload(&analysis_of(RAW, &bytes, 40)), Some(100.0));
    let mut bytes = data(true);
    bytes[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(payload(&analysis_of(RAW, &bytes, 60)), Some(100.0));
}

#[test]
fn truncated_options_do_not_affect_other_fields() {
    let syn = Packet::new(End::Client, "S")
        .option(etherparse::TcpOptionElement::MaximumSegmentSize(1400))
        .option(etherparse::TcpOptionElement::WindowScale(3));
    let bytes = syn.ipv4();
    let mut analyser = Analyser::new();
    // The headers of IPv4 and TCP, and the first option. The window scale of the SYN is cut off.
    let captured = 20 + 20 + 4;
    analyser.packet(ms(0), LinkType::Raw, &bytes[..captured], bytes.len() as u32);
    let mut answer = Packet { ack: Some(1), ..syn };
    answer.from = End::Server;
    let bytes = answer.ipv4();
    analyser.packet(ms(1), LinkType::Raw, &bytes, bytes.len() as u32);
    let data = Packet { seq: 1, ack: Some(1), payload: 9, ..Packet::new(End::Server, "") }.ipv4();
    analyser.packet(ms(2), LinkType::Raw, &data, data.len() as u32);
    let row = &analyser.finish().connections[0];
    // Windows are scaled only if both ends announce a scale, and only the SYN+ACK does.
    assert_eq!((row.mss, row.window_scale), (Some(1400), Some(0)));
}

/// Returns link type, octets and IP version of a packet with random headers before TCP.
fn random_headers() -> impl Strategy<Value = (u32, Vec<u8>, bool)> {
    let tags = proptest::collection::vec(prop_oneof![Just(0x8100u16), Just(0x88a8), Just(0x9100)], 0..4);
    // Next headers of IPv6 that are skipped, with any lengths.
    let extensions = proptest::collection::vec(
        (prop_oneof![Just(0u8), Just(43), Just(60), Just(135), Just(51), Just(44)], 0u8..4),
        0..4,
    );
    (any::<bool>(), tags, extensions, any::<bool>()).prop_map(|(is_ipv6, tags, extensions, is_ethernet)| {
        let mut ip = data(is_ipv6);
        if is_ipv6 {
            for (kind, length) in extensions {
                let octets = match kind {
                    44 => 8,
                    51 => 4 * (2 + usize::from(length)),
                    _ => 8 * (1 + usize::from(length)),
                };
                let mut extension = vec![0; octets];
                (extension[0], extension[1]) = (ip[6], if kind == 44 { 0 } else { length });
                ip[6] = kind;
                let total = u16::from_be_bytes([ip[4], ip[5]]) + octets as u16;
                ip[4..6].copy_from_slice(&total.to_be_bytes());
                ip.splice(40..40, extension);
            }
        }
        if !is_ethernet {
            return (RAW, ip, is_ipv6);
        }
        let mut bytes = vec![0; 12];
        for tag in tags {
            bytes.extend(tag.to_be_bytes());
            bytes.extend([0, 7]);
        }
        bytes.extend(if is_ipv6 { 0x86ddu16 } else { 0x0800 }.to_be_bytes());
        bytes.extend(ip);
        (ETHERNET, bytes, is_ipv6)
    })
}

/// Random headers with a few wrong octets, cut off anywhere. The test counts the packets in which
/// TCP is still found, to ensure that damage to headers after the link header is tested.
#[test]
fn damaged_headers_never_panic_and_intact_ones_lead_to_tcp() {
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let strategy = (random_headers(), damage, any::<Option<prop::sample::Index>>(), any::<u32>());
    let (whole, with_tcp) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let result = runner.run(&strategy, |((link, mut bytes, _), damage, cut, length)| {
        let intact = analysis_of(link, &bytes, bytes.len());
        prop_assert_eq!((intact.counts.tcp, payload(&intact)), (1, Some(100.0)));
        whole.set(whole.get() + 1);
        for (at, octet) in &damage {
            let at = at.index(bytes.len());
            bytes[at] = *octet;
        }
        let captured = cut.map_or(bytes.len(), |cut| cut.index(bytes.len() + 1));
        let mut analyser = Analyser::new().with_time_sequence(0);
        analyser.packet(ms(0), LinkType::from_number(link), &bytes[..captured], length);
        analyser.packet(ms(1), LinkType::from_number(link), &bytes[..captured], bytes.len() as u32);
        let counts = analyser.finish().counts;
        prop_assert_eq!(counts.packets, 2);
        with_tcp.set(with_tcp.get() + u64::from(counts.tcp > 0));
        Ok(())
    });
    result.unwrap();
    assert!(with_tcp.get() > whole.get() / 3, "{} of {}", with_tcp.get(), whole.get());
}
