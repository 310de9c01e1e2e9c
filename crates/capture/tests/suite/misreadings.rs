//! Conversations that an analyser easily misinterprets: acknowledgments of old connections, copies
//! from mirror ports, late packets, holes, keep-alives. Most tests change a clean download
//! ([`download`]) and check that its metrics are still right.

use etherparse::TcpOptionElement;
use umts_capture::{Analyser, Analysis, LinkType};
use umts_units::{Duration, Time};

use crate::common::{Conversation, End, Packet, expect, ms};

/// Analyses packets with times in microseconds, in any order, captured as IPv4 or IPv6.
fn analysis_of(is_v6: bool, mut packets: Vec<(u64, Packet)>) -> Analysis {
    packets.sort_by_key(|(at, _)| *at);
    let mut analyser = Analyser::new();
    for (at, packet) in packets {
        let bytes = if is_v6 { packet.ipv6() } else { packet.ipv4() };
        analyser.packet(us(at), LinkType::Raw, &bytes, bytes.len() as u32);
    }
    analyser.finish()
}

/// The time this number of microseconds after the beginning of all captures.
fn us(at: u64) -> Time {
    ms(0) + Duration::from_micros(at)
}

/// A segment with absolute sequence numbers and `payload` octets of payload.
fn segment(from: End, flags: &'static str, seq: u32, ack: Option<u32>, payload: usize) -> Packet {
    Packet { seq, ack, payload, ..Packet::new(from, flags) }
}

/// A download of `segments` sent at once, 100 ms from the client, with times in microseconds.
fn download(isn: [u32; 2], segments: u32) -> Vec<(u64, Packet)> {
    let [client, server] = isn;
    let after = |isn: u32, octets: u32| isn.wrapping_add(1 + octets);
    let mut packets = vec![
        (0, segment(End::Client, "S", client, None, 0)),
        (10, segment(End::Server, "S", server, Some(after(client, 0)), 0)),
        (100_000, segment(End::Client, "", after(client, 0), Some(after(server, 0)), 0)),
    ];
    for number in 0..segments {
        let at = 200_000 + 100 * u64::from(number);
        let data = segment(End::Server, "", after(server, 1000 * number), Some(after(client, 0)), 1000);
        packets.push((at, data));
        let ack = Some(after(server, 1000 * (number + 1)));
        packets.push((at + 100_000, segment(End::Client, "", after(client, 0), ack, 0)));
    }
    packets
}

/// The server still has an old connection between the same ports. It answers the SYN with an ACK of
/// the old connection, the client resets that connection, and repeats its SYN after 3 s. The old
/// numbers are below and above the numbers of the new connection, near the wrap-around and far from
/// it. 70,000 is just beyond the window of 60,000.
#[test]
fn old_acknowledgments_are_rejected() {
    for isn in [[1000, 3_000_000_000], [u32::MAX - 5, 7], [0x8000_0000, u32::MAX - 2000]] {
        for distance in [70_000u32, 860_578_523, 0x4000_0001, 0x9000_0000, u32::MAX - 100_000] {
            let old = isn[0].wrapping_add(distance);
            let mut packets = download(isn, 10);
            packets.iter_mut().for_each(|(at, _)| *at += 3_000_000);
            packets.push((0, segment(End::Client, "S", isn[0], None, 0)));
            packets.push((30_000, segment(End::Server, "", 1_116_180_385, Some(old), 0)));
            packets.push((30_200, segment(End::Client, "R", old, None, 0)));
            let analysis = analysis_of(false, packets);
            let [row] = &analysis.connections[..] else { panic!("one connection") };
            assert_eq!((row.sender, row.ended), ("server", "open"), "{isn:?} {distance}");
            expect(
                row,
                &[
                    ("total_packets", 10.0),
                    ("tcp_retransmissions", 0.0),
                    ("syn_retransmissions", 1.0),
                    ("acknowledged_bytes", 10_000.0),
                    ("unseen_bytes", 0.0),
                ],
            );
            assert_eq!(analysis.counts.not_believed, 2);
        }
    }
}

/// While data flow, an acknowledgment far beyond the window comes once, or twice with the same
/// number.
#[test]
fn acknowledgment_beyond_the_window_is_rejected() {
    for repetitions in [1, 2] {
        let mut packets = download([1000, 5000], 10);
        for number in 0..repetitions {
            packets.push((200_350 + number, segment(End::Client, "", 1001, Some(500_000_000), 0)));
        }
        let analysis = analysis_of(false, packets);
        expect(&analysis.connections[0], &[("acknowledged_bytes", 10_000.0), ("tcp_retransmissions", 0.0)]);
        assert_eq!(analysis.counts.not_believed, repetitions);
    }
}

/// A capture that misses many packets of both directions continues to be analysed. The second
/// acknowledgment beyond the window confirms the first.
#[test]
fn acknowledgments_after_a_capture_gap_need_confirmation() {
    let mut packets = download([1000, 5000], 2);
    for number in 0..4 {
        let ack = 10_000_000 + 1000 * number;
        packets.push((400_000 + 1000 * u64::from(number), segment(End::Client, "", 1001, Some(ack), 0)));
    }
    let analysis = analysis_of(false, packets);
    assert_eq!(analysis.counts.not_believed, 1);
    expect(&analysis.connections[0], &[("acknowledged_bytes", 10_003_000.0 - 5001.0)]);
}

/// A SYN+ACK acknowledges a SYN with another number.
#[test]
fn syn_ack_for_another_syn_is_rejected() {
    let mut packets = download([1000, 5000], 5);
    packets.push((5, segment(End::Server, "S", 77, Some(999_999), 0)));
    let analysis = analysis_of(false, packets);
    expect(&analysis.connections[0], &[("handshake_rtt_s", 0.1), ("acknowledged_bytes", 5000.0)]);
    assert_eq!(analysis.counts.not_believed, 1);
}

/// A mirror port sends each packet a second time to the capture, with the same IP identification.
#[test]
fn copies_of_mirror_ports_are_recognised() {
    for is_v6 in [false, true] {
        // Delay of the copies in microseconds. Copies are recognised within 10 ms.
        for delay in [1, 50, 200, 1_500, 4_000, 9_000] {
            let mut packets = download([1000, u32::MAX - 3000], 20);
            for (number, (_, packet)) in packets.iter_mut().enumerate() {
                packet.identification = 300 + number as u16;
            }
            let copies: Vec<_> = packets.iter().map(|(at, packet)| (at + delay, packet.clone())).collect();
            packets.extend(copies);
            let analysis = analysis_of(is_v6, packets);
            // 3 packets of the handshake, 20 segments and 20 acknowledgments.
            assert_eq!(analysis.counts.captured_twice, 43, "IPv6 {is_v6}, {delay} us");
            expect(
                &analysis.connections[0],
                &[
                    ("total_packets", 20.0),
                    ("payload_bytes", 20_000.0),
                    ("tcp_retransmissions", 0.0),
                    ("rto_count", 0.0),
                    ("dupack_runs", 0.0),
                    ("handshake_rtt_s", 0.1),
                ],
            );
        }
    }
}

/// A segment is captured again with the same identification, but more than 10 ms later.
#[test]
fn later_equal_packets_are_retransmissions() {
    for is_v6 in [false, true] {
        for gap in [20_000, 120_000, 450_000] {
            let mut packets = download([1000, 5000], 1);
            packets[3].1.identification = 777;
            let (at, copy) = packets[3].clone();
            // The acknowledgment comes after both copies.
            packets[4].0 = at + gap + 100_000;
            packets.push((at + gap, copy));
            let analysis = analysis_of(is_v6, packets);
            assert_eq!(analysis.counts.captured_twice, 0, "{gap}");
            expect(&analysis.connections[0], &[("tcp_retransmissions", 1.0)]);
        }
    }
}

/// Duplicate acknowledgments without IP identification are equal, but not copies.
#[test]
fn immediate_duplicate_acknowledgments_are_not_copies() {
    let mut packets = download([1000, 5000], 6);
    packets.truncate(5);
    for number in 0..4 {
        packets.push((300_100 + number, segment(End::Client, "", 1001, Some(6001), 0)));
    }
    for number in 1..6 {
        packets.push((
            200_100 + u64::from(number),
            segment(End::Server, "", 5001 + 1000 * number, Some(1001), 1000),
        ));
    }
    for is_v6 in [false, true] {
        let analysis = analysis_of(is_v6, packets.clone());
        assert_eq!(analysis.counts.captured_twice, 0);
        expect(&analysis.connections[0], &[("dupack_runs", 1.0)]);
    }
}

/// A capture can contain data shortly after their acknowledgment if each direction has a queue of
/// its own. Up to 3 ms later the data are a first copy.
#[test]
fn data_after_their_acknowledgments_are_not_retransmissions() {
    for (early_us, is_first_copy) in [(25, true), (1_000, true), (2_900, true), (5_000, false)] {
        let mut packets = download([1000, u32::MAX - 1500], 5);
        // Data have odd indices from 3 on, each followed by its acknowledgment. Pairs are 20 ms
        // apart, and each acknowledgment is captured `early_us` before its data.
        for number in 0..5 {
            packets[4 + 2 * number].0 = packets[3 + 2 * number].0 + 20_000 * number as u64 - early_us;
            packets[3 + 2 * number].0 += 20_000 * number as u64;
        }
        let analysis = analysis_of(false, packets);
        let retransmissions = if is_first_copy { 0.0 } else { 5.0 };
        expect(
            &analysis.connections[0],
            &[
                ("tcp_retransmissions", retransmissions),
                ("total_packets", 5.0 - retransmissions),
                ("acknowledged_bytes", 5000.0),
            ],
        );
    }
}

/// The SYN is captured after its SYN+ACK, and the FIN after its acknowledgment.
#[test]
fn late_fin_and_syn_are_first_copies() {
    let mut packets = download([1000, 5000], 2);
    packets[0].0 = 30;
    packets.push((500_000, segment(End::Client, "", 1001, Some(7002), 0)));
    packets.push((500_025, segment(End::Server, "F", 7001, Some(1001), 0)));
    let analysis = analysis_of(false, packets);
    let row = &analysis.connections[0];
    expect(
        row,
        &[
            ("tcp_retransmissions", 0.0),
            ("reverse_tcp_retransmissions", 0.0),
            ("acknowledged_bytes", 2000.0),
            ("fin_packets", 1.0),
            ("unseen_bytes", 0.0),
        ],
    );
    assert_eq!(row.client.port(), 40_000);
}

/// A capture at the receiver, with timestamps of 1 ms. Eight packets were overtaken, and one was
/// lost.
#[test]
fn timestamps_distinguish_late_packets_from_retransmissions() {
    for has_timestamps in [true, false] {
        for start in [1_000u32, u32::MAX - 30] {
            let stamp = |packet: Packet, value: u64| {
                let value = start.wrapping_add(value as u32);
                if has_timestamps { packet.timestamps(value, 9) } else { packet }
            };
            let mut packets = vec![
                (0, stamp(segment(End::Client, "S", 1000, None, 0), 0)),
                (100_000, stamp(segment(End::Server, "S", 5000, Some(1001), 0), 0)),
                (100_010, stamp(segment(End::Client, "", 1001, Some(5001), 0), 0)),
            ];
            for number in 0..40u32 {
                let sent = 150_000 + 2_000 * u64::from(number);
                let is_late = number % 5 == 2;
                let arrives = sent + 50_000 + if is_late { 9_500 } else { 0 };
                let data = segment(End::Server, "", 5001 + 1000 * number, Some(1001), 1000);
                // Number 20 is lost, and retransmitted 150 ms later.
                let (arrives, sent) =
                    if number == 20 { (arrives + 150_000, sent + 150_000) } else { (arrives, sent) };
                packets.push((arrives, stamp(data, sent / 1_000)));
            }
            packets.push((900_000, stamp(segment(End::Client, "", 1001, Some(45_001), 0), 900)));
            let analysis = analysis_of(false, packets);
            let has_warning = analysis.warnings.iter().any(|warning| warning.contains("without timestamps"));
            assert_eq!(has_warning, !has_timestamps, "{:?}", analysis.warnings);
            let (retransmissions, late) = if has_timestamps { (1.0, 8.0) } else { (9.0, 0.0) };
            expect(
                &analysis.connections[0],
                &[("tcp_retransmissions", retransmissions), ("out_of_order_packets", late)],
            );
        }
    }
}

/// A capture at the receiver. The retransmission arrives before the late original, which has an
/// older timestamp.
#[test]
fn late_original_after_a_retransmission_is_not_a_second_retransmission() {
    let mut conversation = Conversation::new();
    conversation.handshake(&[TcpOptionElement::Timestamp(1, 0)]);
    let mut add = |at: u64, number: u32, stamp: u32| {
        let data = Packet { payload: 1000, ..Packet::new(End::Server, "") }.timestamps(stamp, 1);
        conversation.add(at, 1 + 1000 * number, Some(1), data);
    };
    add(100, 0, 100);
    add(110, 2, 110);
    add(250, 1, 250);
    add(260, 1, 105);
    expect(&conversation.row(), &[("tcp_retransmissions", 1.0), ("out_of_order_packets", 1.0)]);
}

/// A segment without data has a number 5000 octets ahead: these octets were sent and lost. Five
/// retransmissions fill the hole.
#[test]
fn retransmissions_fill_holes_shown_by_empty_segments() {
    for isn in [[1000, 5000], [u32::MAX - 3, u32::MAX - 2500]] {
        let number = |octets: u32| isn[1].wrapping_add(1 + octets);
        let ack = Some(isn[0].wrapping_add(1));
        let mut packets = download(isn, 1);
        // A capture at the receiver: the server answers after 100 ms.
        (packets[1].0, packets[2].0) = (100_000, 100_010);
        packets.push((420_000, segment(End::Server, "", number(6000), ack, 0)));
        for index in 0..5 {
            packets.push((
                1_000_000 + 100_000 * u64::from(index),
                segment(End::Server, "", number(1000 + 1000 * index), ack, 1000),
            ));
            packets.push((
                1_000_010 + 100_000 * u64::from(index),
                segment(End::Client, "", isn[0].wrapping_add(1), Some(number(2000 + 1000 * index)), 0),
            ));
        }
        for is_v6 in [false, true] {
            let analysis = analysis_of(is_v6, packets.clone());
            expect(
                &analysis.connections[0],
                &[("tcp_retransmissions", 5.0), ("rto_count", 1.0), ("unseen_bytes", 0.0)],
            );
        }
    }
    // Reordered by a millisecond: new data.
    let mut packets = download([1000, 5000], 1);
    packets.push((420_000, segment(End::Server, "", 7001, Some(1001), 0)));
    packets.push((421_000, segment(End::Server, "", 6001, Some(1001), 1000)));
    let analysis = analysis_of(false, packets);
    expect(&analysis.connections[0], &[("tcp_retransmissions", 0.0), ("total_packets", 2.0)]);
}

#[test]
fn acknowledged_but_unseen_octets_are_counted() {
    let mut packets = download([1000, 5000], 6);
    // Data 2 and 3 were not captured, but their acknowledgments were.
    packets.retain(|(_, packet)| packet.payload == 0 || ![7001, 8001].contains(&packet.seq));
    let analysis = analysis_of(false, packets);
    expect(
        &analysis.connections[0],
        &[("unseen_bytes", 2000.0), ("acknowledged_bytes", 6000.0), ("tcp_retransmissions", 0.0)],
    );
}

/// Each end sends five keep-alives, some with one octet of old data, and each is answered.
#[test]
fn keep_alives_of_both_ends_are_counted_separately() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 1);
    for number in 0..5 {
        let at = 10_000 + 1000 * number;
        let octets = if number % 2 == 0 { 1 } else { 0 };
        conversation.add(at, 0, Some(1001), Packet { payload: octets, ..Packet::new(End::Client, "") });
        conversation.add(at + 100, 1001, Some(1), Packet::new(End::Server, ""));
        conversation.add(at + 400, 1000, Some(1), Packet { payload: octets, ..Packet::new(End::Server, "") });
        conversation.add(at + 500, 1, Some(1001), Packet::new(End::Client, ""));
    }
    expect(
        &conversation.row(),
        &[
            ("keep_alives", 5.0),
            ("reverse_keep_alives", 5.0),
            ("tcp_retransmissions", 0.0),
            ("reverse_tcp_retransmissions", 0.0),
        ],
    );
}

/// A segment is sent several times, at the given times. The first wait could belong to a probe; if
/// the next one is twice as long, both were timeouts.
#[test]
fn doubling_timeouts_are_not_probes() {
    let causes_of = |times: &[u64]| {
        let mut conversation = Conversation::new();
        conversation.handshake(&[TcpOptionElement::SelectiveAcknowledgementPermitted]);
        for &at in times {
            conversation.data(at, 0);
        }
        conversation.ack(times[times.len() - 1] + 100, 1);
        let analysis = conversation.analysis();
        let causes: Vec<_> = analysis.time_sequences[0].sent.iter().map(|point| point.cause.name()).collect();
        let value = |name| analysis.connections[0].metrics.value(name);
        (value("rto_count"), value("tail_loss_probes"), causes[causes.len() - times.len()..].join(" "))
    };
    // Waits of 450 and 900 ms: the timeout doubles.
    assert_eq!(causes_of(&[200, 650, 1550]), (Some(2.0), Some(0.0), "new rto rto".to_owned()));
    // 300, 600 and 1200 ms.
    assert_eq!(causes_of(&[200, 500, 1100, 2300]), (Some(3.0), Some(0.0), "new rto rto rto".to_owned()));
    // 400 ms to a probe, then timeouts of 320 and 640 ms.
    assert_eq!(causes_of(&[200, 600, 920, 1560]), (Some(2.0), Some(1.0), "new probe rto rto".to_owned()));
}
