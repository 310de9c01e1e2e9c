//! UDP flows, with QUIC's spin bit.

use etherparse::PacketBuilder;
use umts_capture::{Analyser, Analysis, LinkType};
use umts_units::Duration;

use crate::common::ms;

const FROM_CLIENT: bool = true;
const FROM_SERVER: bool = false;

/// Analyses datagrams: time in microseconds, whether from the client, and payload.
fn analysis_of(is_v6: bool, datagrams: &[(u64, bool, Vec<u8>)]) -> Analysis {
    let mut analyser = Analyser::new();
    for (at, is_from_client, payload) in datagrams {
        let ports = if *is_from_client { (50_000, 443) } else { (443, 50_000) };
        let mut bytes = Vec::new();
        let ends = if *is_from_client { [1, 2] } else { [2, 1] };
        if is_v6 {
            let builder = PacketBuilder::ipv6([ends[0]; 16], [ends[1]; 16], 64);
            builder.udp(ports.0, ports.1).write(&mut bytes, payload).unwrap();
        } else {
            let builder = PacketBuilder::ipv4([10, 0, 0, ends[0]], [10, 0, 0, ends[1]], 64);
            builder.udp(ports.0, ports.1).write(&mut bytes, payload).unwrap();
            // The identification, different for each payload.
            bytes[4..6].copy_from_slice(&[1, payload[0]]);
        }
        let time = ms(0) + Duration::from_micros(*at);
        analyser.packet(time, LinkType::Raw, &bytes, bytes.len() as u32);
    }
    analyser.finish()
}

/// The client sends eleven datagrams every 20 ms and one 60 ms later, from 0 to 260 ms; the server
/// sends one.
#[test]
fn a_flow_has_packets_octets_rate_and_gaps() {
    let mut datagrams: Vec<_> =
        (0..11).map(|number| (20_000 * number, FROM_CLIENT, vec![number as u8; 200])).collect();
    datagrams.push((260_000, FROM_CLIENT, vec![99; 200]));
    datagrams.push((100_500, FROM_SERVER, vec![1; 50]));
    datagrams.sort_by_key(|datagram| datagram.0);
    for is_v6 in [false, true] {
        let analysis = analysis_of(is_v6, &datagrams);
        assert_eq!((analysis.counts.udp, analysis.counts.tcp), (13, 0));
        let [flow] = &analysis.udp_flows[..] else { panic!("one flow") };
        assert_eq!((flow.sender, flow.client.port(), flow.server.port()), ("client", 50_000, 443));
        assert_eq!((flow.sent.packets, flow.sent.payload_bytes), (12, 2400));
        let is_close =
            |actual: Option<f64>, expected: f64| (actual.expect("it is known") - expected).abs() < 1e-9;
        assert!(is_close(flow.sent.rate_kbps, 2400.0 * 8.0 / 260.0), "{:?}", flow.sent.rate_kbps);
        assert!(is_close(flow.sent.mean_gap_s, 0.26 / 11.0) && is_close(flow.sent.longest_gap_s, 0.06));
        assert_eq!((flow.reverse.packets, flow.reverse.rate_kbps, flow.reverse.mean_gap_s), (1, None, None));
        assert_eq!((flow.quic_version, flow.sent.spin_rtt_s), (None, None));
    }
}

#[test]
fn the_spin_bit_of_quic_gives_the_round_trip() {
    // Packets with a long header and version 1, which identify QUIC.
    let initial = |number: u8| [&[0xc3, 0, 0, 0, 1, 8][..], &[number; 1200]].concat();
    let mut datagrams = vec![(0, FROM_CLIENT, initial(1)), (60_000, FROM_SERVER, initial(2))];
    // A round trip of 120 ms. Both ends send every 10 ms.
    for number in 0..120u64 {
        let (at, counter) = (120_000 + 10_000 * number, number as u8);
        // A short header with the spin bit (0x20) set or not.
        let spin = |at: u64| if (at / 120_000).is_multiple_of(2) { 0x60 } else { 0x40 };
        datagrams.push((at, FROM_CLIENT, vec![spin(at), counter, 1]));
        datagrams.push((at + 60_000, FROM_SERVER, vec![spin(at), counter, 2, 2]));
    }
    datagrams.sort_by_key(|datagram| datagram.0);
    let analysis = analysis_of(false, &datagrams);
    let flow = &analysis.udp_flows[0];
    assert_eq!(flow.quic_version, Some(1));
    for direction in [flow.sent, flow.reverse] {
        assert!(
            (direction.spin_rtt_s.expect("the spin bit alternates") - 0.12).abs() < 1e-6,
            "{direction:?}"
        );
        assert!(direction.spin_rtt_samples >= 8);
    }
    // Without a packet that identifies QUIC, the same octets may be any protocol.
    let analysis = analysis_of(false, &datagrams[2..]);
    assert_eq!(analysis.udp_flows[0].sent.spin_rtt_s, None);
}

#[test]
fn flows_beyond_the_limit_are_summed() {
    let mut analyser = Analyser::new().with_limit(2);
    for number in 0..5u16 {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(2000 + number, 53);
        builder.write(&mut bytes, &[7; 40]).unwrap();
        analyser.packet(ms(u64::from(number)), LinkType::Raw, &bytes, bytes.len() as u32);
    }
    let analysis = analyser.finish();
    assert_eq!(analysis.udp_flows.len(), 2);
    assert_eq!((analysis.udp_rest.packets, analysis.udp_rest.payload_bytes), (3, 120));
    assert!(analysis.warnings.iter().any(|warning| warning.starts_with("3 datagrams belong to UDP flows")));
}

#[test]
fn a_mirrored_flow_counts_each_datagram_once() {
    let mut datagrams: Vec<_> =
        (0..10).map(|number| (20_000 * number, FROM_CLIENT, vec![number as u8; 100])).collect();
    let copies: Vec<_> = datagrams
        .iter()
        .map(|(at, is_from_client, payload)| (at + 300, *is_from_client, payload.clone()))
        .collect();
    datagrams.extend(copies);
    datagrams.sort_by_key(|datagram| datagram.0);
    let analysis = analysis_of(false, &datagrams);
    assert_eq!((analysis.udp_flows[0].sent.packets, analysis.counts.captured_twice), (10, 10));
    // IPv6 has no identification: a program may send the same datagram twice.
    let analysis = analysis_of(true, &datagrams);
    assert_eq!((analysis.udp_flows[0].sent.packets, analysis.counts.captured_twice), (20, 0));
}

#[test]
fn octets_after_a_datagram_are_not_payload() {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(50_000, 443).write(&mut bytes, &[]).unwrap();
    // A trailer of the link that looks like a long header of QUIC.
    bytes.extend([0xc3, 0, 0, 0, 1, 8]);
    let mut analyser = Analyser::new();
    analyser.packet(ms(0), LinkType::Raw, &bytes, bytes.len() as u32);
    let flow = &analyser.finish().udp_flows[0];
    assert_eq!((flow.sent.payload_bytes, flow.quic_version), (0, None));
}
