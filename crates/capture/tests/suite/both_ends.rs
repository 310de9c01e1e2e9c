//! Captures at both ends of a path: each connection as the sender of its data saw it.

use std::fs;
use std::path::Path;

use umts_capture::{Position, analyse_both_ends};

use crate::common::{End, ISN, Packet, ms};

/// One-way delay, in milliseconds.
const PATH_MS: u64 = 50;

/// Returns a packet, with `at`, the millisecond in which it leaves its host. Sequence and
/// acknowledgment number are relative.
fn packet_at(
    at: u64,
    port: u16,
    from: End,
    flags: &'static str,
    (seq, ack): (u32, Option<u32>),
    payload: usize,
) -> (u64, Packet) {
    let (sender_isn, receiver_isn) = if from == End::Client { (ISN[0], ISN[1]) } else { (ISN[1], ISN[0]) };
    let (seq, ack) = (sender_isn + seq, ack.map(|ack| receiver_isn + ack));
    (at, Packet { seq, ack, payload, port, ..Packet::new(from, flags) })
}

/// Returns a connection that the client opens at `at`, in which `sender` sends three segments, one
/// per round trip.
fn transfer(at: u64, port: u16, sender: End) -> Vec<(u64, Packet)> {
    use End::{Client, Server};
    let receiver = if sender == Client { Server } else { Client };
    let mut packets = vec![
        packet_at(at, port, Client, "S", (0, None), 0),
        packet_at(at + 50, port, Server, "S", (0, Some(1)), 0),
        packet_at(at + 100, port, Client, "", (1, Some(1)), 0),
    ];
    for number in 0..3 {
        let now = at + 200 + 100 * u64::from(number);
        packets.push(packet_at(now, port, sender, "", (1 + 1000 * number, Some(1)), 1000));
        packets.push(packet_at(now + 50, port, receiver, "", (1, Some(1001 + 1000 * number)), 0));
    }
    packets
}

/// Writes the packets that leave at these times as they are captured at one side.
fn capture(path: &Path, side: End, packets: &[(u64, Packet)]) {
    let mut captured: Vec<_> = packets
        .iter()
        .map(|(at, packet)| (if packet.from == side { *at } else { at + PATH_MS }, packet.ipv4()))
        .collect();
    captured.sort_by_key(|(at, _)| *at);
    // pcap with nanoseconds, link type raw.
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 65_535, 101]);
    for (at, bytes) in captured {
        let (nanos, length) = (ms(at).as_nanos(), bytes.len() as u32);
        file.extend(words(&[(nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32, length, length]));
        file.extend(bytes);
    }
    fs::write(path, file).unwrap();
}

/// Captures the packets at both sides, and analyses the captures.
fn analysis_of(packets: &[(u64, Packet)], with_time_sequences: bool) -> umts_capture::Analysis {
    let folder = tempfile::tempdir().unwrap();
    let [server, client] = ["server", "client"].map(|name| folder.path().join(name));
    capture(&server, End::Server, packets);
    capture(&client, End::Client, packets);
    analyse_both_ends([&server, &client], with_time_sequences, |_, _| true).unwrap()
}

/// A download and an upload. The path takes 50 ms in each direction.
#[test]
fn round_trip_times_come_from_the_senders_side() {
    let packets = [transfer(0, 40_000, End::Server), transfer(20, 40_001, End::Client)].concat();
    let analysis = analysis_of(&packets, false);
    assert_eq!(analysis.connection_count, 2);
    for row in &analysis.connections {
        assert_eq!(row.position, Position::Sender, "{row:?}");
        assert_eq!(row.metrics.value("acknowledged_bytes"), Some(3000.0));
        for name in ["mean_rtt_s", "min_rtt_s"] {
            assert!((row.metrics.value(name).unwrap() - 0.1).abs() < 1e-9, "{name}: {row:?}");
        }
    }
    assert!((analysis.metrics.value("mean_rtt_s").unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(analysis.metrics.value("payload_bytes"), Some(6000.0));
    assert!(analysis.time_sequences.is_empty());
}

#[test]
fn time_sequences_cover_all_connections_since_the_first_packet() {
    let packets = [transfer(0, 40_000, End::Server), transfer(1000, 40_001, End::Client)].concat();
    let analysis = analysis_of(&packets, true);
    // The first packet that counts is the download's SYN at the server, 50 ms after it left.
    assert_eq!(analysis.first, Some(ms(50)));
    let times: Vec<Vec<f64>> = analysis
        .time_sequences
        .iter()
        .map(|tables| tables.sent.iter().filter(|sent| sent.end > 0).map(|sent| sent.time_s).collect())
        .collect();
    let expected = [[0.15, 0.25, 0.35], [1.15, 1.25, 1.35]];
    for (times, expected) in times.iter().zip(expected) {
        assert!(times.iter().zip(expected).all(|(time, at)| (time - at).abs() < 1e-9), "{times:?}");
    }
    assert_eq!(times.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn lost_first_packet_does_not_change_the_senders_side() {
    // The SYN is sent twice. The first one was lost, so only one side saw it.
    let mut packets = transfer(1000, 40_000, End::Client);
    let folder = tempfile::tempdir().unwrap();
    let [server, client] = ["server", "client"].map(|name| folder.path().join(name));
    capture(&server, End::Server, &packets);
    packets.insert(0, packet_at(0, 40_000, End::Client, "S", (0, None), 0));
    capture(&client, End::Client, &packets);
    let analysis = analyse_both_ends([&server, &client], false, |_, _| true).unwrap();
    assert!((analysis.metrics.value("mean_rtt_s").unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(analysis.metrics.value("syn_retransmissions"), Some(1.0));
}

#[test]
fn unwanted_connections_are_left_out() {
    let packets = transfer(0, 40_000, End::Server);
    let folder = tempfile::tempdir().unwrap();
    let [server, client] = ["server", "client"].map(|name| folder.path().join(name));
    capture(&server, End::Server, &packets);
    capture(&client, End::Client, &packets);
    let ends = [[10, 0, 0, 1].into(), [192, 0, 2, 1].into()];
    let analysis =
        analyse_both_ends([&server, &client], true, |a, b| ![[a, b], [b, a]].contains(&ends)).unwrap();
    assert_eq!((analysis.connection_count, analysis.counts.packets), (0, 0));
}

#[test]
fn empty_captures_give_no_connections() {
    let analysis = analysis_of(&[], true);
    assert_eq!((analysis.connection_count, analysis.first, analysis.time_sequences.len()), (0, None, 0));
    assert_eq!(analysis.metrics.value("acknowledged_bytes"), None);
}
