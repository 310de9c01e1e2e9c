//! Results of the analyser for conversations, which the tests write packet by packet as captured at
//! the server. The client is 100 ms away.
//!
//! Times are in ms and come first in each call. `data(at, n)`: the server sends segment `n`, from
//! 0, with 1000 octets. `flight(at, count)`: the server sends its first `count` segments at once.
//! `ack(at, n)`: the client acknowledges the first `n` segments. `sack(at, n, from, to)`: it also
//! acknowledges segments `from..to` selectively. `add(at, seq, ack, packet)`: any packet; numbers
//! are relative to the initial ones, so that segment `n` begins at `1 + 1000 n`.

use std::collections::BTreeSet;

use crate::common::{Conversation, End, Packet, expect, ms, value};
use etherparse::TcpOptionElement;
use umts_capture::{Analyser, Cause, LinkType, Position, definitions};

#[test]
fn clean_download_has_exact_metrics() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).data(100, 1).ack(200, 1).ack(210, 2).data(210, 2).ack(320, 3);
    let row = conversation.row();
    expect(
        &row,
        &[
            // 3000 octets in 320 ms, and in the 220 ms from the first data to the last ACK.
            ("goodput_kbps", 3000.0 * 8.0 / 320.0),
            ("goodput_active_kbps", 3000.0 * 8.0 / 220.0),
            ("total_packets", 3.0),
            ("tcp_retransmissions", 0.0),
            ("rto_count", 0.0),
            ("acks_received", 4.0),
            ("packets", 9.0),
            ("handshake_rtt_s", 0.1),
            // One segment at a time is timed: the SYN+ACK, and the first and third data segment.
            ("rtt_samples", 3.0),
            ("min_rtt_s", 0.1),
            ("max_rtt_s", 0.11),
            ("max_outstanding_segments", 2.0),
            // Two segments for 100 ms, one for 10 ms, one for 110 ms.
            ("mean_outstanding_segments", (100.0 * 2.0 + 10.0 + 110.0) / 220.0),
            ("transmission_time_s", 0.32),
        ],
    );
    assert_eq!((row.sender, row.position, row.ended), ("server", Position::Sender, "open"));
    assert_eq!((row.mss, row.window_scale, row.sack_permitted), (Some(1000), Some(0), Some(false)));
}

/// Segment 1 of six is lost and retransmitted at the third duplicate acknowledgment.
#[test]
fn three_duplicates_cause_a_fast_retransmission() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 6);
    conversation.ack(200, 1).ack(201, 1).ack(202, 1).ack(203, 1).data(203, 1).ack(204, 1).ack(303, 6);
    let row = conversation.row();
    expect(
        &row,
        &[
            ("tcp_retransmissions", 1.0),
            ("tcp_retransmissions_by_dupack", 1.0),
            ("fast_retransmissions_by_dupacks", 1.0),
            ("rto_count", 0.0),
            ("dupack_runs", 1.0),
            ("tcp_retransmissions_unneeded", 0.0),
            ("retransmitted_bytes", 1000.0),
            ("acknowledged_bytes", 6000.0),
        ],
    );
}

/// Segments 1 to 3 are lost. The timer expires at 1200 ms, and slow start retransmits all three.
#[test]
fn go_back_n_belongs_to_the_expiry() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 4);
    conversation.ack(200, 1).data(1200, 1).ack(1300, 2).data(1300, 2).data(1300, 3).ack(1400, 4);
    let row = conversation.row();
    expect(
        &row,
        &[
            ("tcp_retransmissions", 3.0),
            ("tcp_retransmissions_by_rto", 3.0),
            ("rto_count", 1.0),
            ("fast_retransmissions", 0.0),
            ("rto_per_retransmission", 1.0 / 3.0),
        ],
    );
}

/// A segment is retransmitted after 1, 2 and 4 s. Only the SYN+ACK gives a round-trip time.
#[test]
fn each_backed_off_expiry_counts() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).data(1100, 0).data(3100, 0).data(7100, 0).ack(7200, 1);
    expect(&conversation.row(), &[("tcp_retransmissions", 3.0), ("rto_count", 3.0), ("rtt_samples", 1.0)]);
}

/// The fast retransmission of segment 1 at 203 ms is lost too. The retransmission a second later
/// has another cause, the timer.
#[test]
fn old_duplicates_do_not_explain_a_timeout() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 6);
    conversation.ack(200, 1).ack(201, 1).ack(202, 1).ack(203, 1).data(203, 1).data(1203, 1).ack(1303, 6);
    expect(
        &conversation.row(),
        &[("fast_retransmissions", 1.0), ("rto_count", 1.0), ("tcp_retransmissions", 2.0)],
    );
}

/// Segments 1 and 4 of ten are lost. NewReno retransmits segment 4 at the partial acknowledgment,
/// in the same recovery. Reno waits for three further duplicates. The third sender waits for its
/// timer.
#[test]
fn newreno_needs_one_recovery_for_two_holes_and_reno_two() {
    let begin = || {
        let mut conversation = Conversation::with_handshake();
        conversation.flight(100, 10);
        conversation.ack(200, 1).ack(201, 1).ack(202, 1).ack(203, 1).data(203, 1);
        conversation
    };
    let mut newreno = begin();
    newreno.ack(303, 4).data(303, 4).ack(403, 10);
    expect(&newreno.row(), &[("fast_retransmissions", 1.0), ("tcp_retransmissions_by_dupack", 2.0)]);
    let mut reno = begin();
    reno.ack(303, 4).ack(304, 4).ack(305, 4).ack(306, 4).data(306, 4).ack(406, 10);
    expect(
        &reno.row(),
        &[("fast_retransmissions", 2.0), ("tcp_retransmissions_by_dupack", 2.0), ("dupack_runs", 2.0)],
    );
    let mut stalled = begin();
    stalled.ack(303, 4).data(1303, 4).ack(1403, 10);
    expect(&stalled.row(), &[("fast_retransmissions", 1.0), ("rto_count", 1.0)]);
}

/// Segments 1 and 2 are lost. One acknowledgment reports segments 3 to 5, which are more than two
/// full segments, so that segment 1 is lost by RFC 6675.
#[test]
fn sack_causes_a_fast_retransmission_before_three_duplicates() {
    let mut conversation = Conversation::new();
    conversation.handshake(&[TcpOptionElement::SelectiveAcknowledgementPermitted]);
    conversation.flight(100, 6);
    conversation.ack(200, 1).sack(210, 1, 3, 6).data(210, 1).data(211, 2).ack(310, 6);
    let analysis = conversation.analysis();
    let sent = &analysis.time_sequences[0].sent;
    let causes: Vec<_> = sent.iter().rev().take(2).map(|point| (point.seq, point.cause)).collect();
    assert_eq!(causes, [(2000, Cause::FastRecovery), (1000, Cause::Sack)]);
    assert_eq!(analysis.time_sequences[0].sacked, [(0.21, 3000, 6000)]);
    let row = &analysis.connections[0];
    assert_eq!(row.sack_permitted, Some(true));
    expect(row, &[("fast_retransmissions_by_sack", 1.0), ("rto_count", 0.0), ("tcp_retransmissions", 2.0)]);
}

/// The last segment is retransmitted 220 ms after the last acknowledgment, when a probe is due
/// (after two round trips), although an earlier segment is the oldest outstanding one.
#[test]
fn tail_loss_probe_is_not_an_expiry() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 4);
    conversation.ack(200, 1).data(420, 3).ack(520, 4);
    expect(
        &conversation.row(),
        &[("tail_loss_probes", 1.0), ("rto_count", 0.0), ("tcp_retransmissions", 1.0)],
    );
}

/// After both copies of segment 0 have arrived, the receiver reports the second one: a block below
/// the acknowledgment (RFC 2883).
#[test]
fn dsack_counts_a_needless_retransmission() {
    let mut conversation = Conversation::new();
    conversation.handshake(&[TcpOptionElement::SelectiveAcknowledgementPermitted]);
    conversation.data(100, 0).data(1100, 0).ack(1300, 1);
    conversation.sack(1305, 1, 0, 1);
    expect(
        &conversation.row(),
        &[("tcp_retransmissions_unneeded", 1.0), ("unneeded_by_dsack", 1.0), ("unneeded_by_early_ack", 0.0)],
    );
}

/// Segment 2 is retransmitted. Its report is a first block inside the second one (RFC 2883 §4).
#[test]
fn dsack_inside_the_second_block_counts() {
    let mut conversation = Conversation::with_handshake();
    conversation.flight(100, 4);
    conversation.data(1100, 2);
    let dsack = Packet::new(End::Client, "").sack((2001, 3001), [Some((1001, 4001)), None, None]);
    conversation.add(1200, 1, Some(1), dsack);
    expect(&conversation.row(), &[("unneeded_by_dsack", 1.0)]);
}

/// The copies of a segment have the timestamps 500 and 1500. The retransmission was not needed if
/// the acknowledgment echoes the first one.
#[test]
fn timestamp_echo_identifies_the_acknowledged_copy() {
    for (echo, unneeded) in [(500, 1.0), (1500, 0.0)] {
        let mut conversation = Conversation::new();
        conversation.handshake(&[TcpOptionElement::Timestamp(1, 0)]);
        let data = Packet { payload: 1000, ..Packet::new(End::Server, "") };
        conversation.add(100, 1, Some(1), data.clone().timestamps(500, 1));
        conversation.add(1100, 1, Some(1), data.timestamps(1500, 1));
        conversation.add(1300, 1, Some(1001), Packet::new(End::Client, "").timestamps(9, echo));
        let row = conversation.row();
        assert_eq!(row.timestamps, Some(true));
        expect(&row, &[("tcp_retransmissions", 1.0), ("unneeded_by_timestamps", unneeded)]);
        // The echo also shows the round trip of the copy that arrived.
        expect(&row, &[("max_rtt_timestamps_s", if echo == 500 { 1.2 } else { 0.2 })]);
    }
}

/// A retransmission is acknowledged 20 ms after it left, less than a round trip; or it leaves after
/// its acknowledgment.
#[test]
fn early_acknowledgment_belongs_to_the_first_copy() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).data(1100, 0).ack(1120, 1);
    expect(&conversation.row(), &[("unneeded_by_early_ack", 1.0), ("tcp_retransmissions_unneeded", 1.0)]);
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 1).data(1100, 0);
    expect(&conversation.row(), &[("unneeded_by_early_ack", 1.0), ("tcp_retransmissions", 1.0)]);
}

/// The initial sequence numbers are shortly before the wrap-around of 32 bits.
#[test]
fn sequence_numbers_wrap_around() {
    let mut conversation = Conversation::with_isn([u32::MAX - 10, u32::MAX - 1500]);
    conversation.handshake(&[]);
    for number in 0..5 {
        let at = 100 + u64::from(number) * 100;
        conversation.data(at, number).ack(at + 100, number + 1);
    }
    let row = conversation.row();
    expect(&row, &[("acknowledged_bytes", 5000.0), ("distinct_bytes", 5000.0), ("tcp_retransmissions", 0.0)]);
    expect(&row, &[("max_outstanding_bytes", 1000.0), ("total_packets", 5.0)]);
}

/// The capture begins with segment 7. The end with the lower port counts as the server.
#[test]
fn capture_without_handshake_counts_captured_packets() {
    let mut conversation = Conversation::new();
    conversation.data(0, 7).ack(50, 7).ack(100, 8).data(100, 8).ack(200, 9);
    // A late retransmission of data from before the capture began.
    conversation.data(250, 3);
    let row = conversation.row();
    assert_eq!((row.position, row.mss, row.sack_permitted), (Position::Unknown, None, None));
    assert_eq!((row.client.port(), row.server.port()), (40_000, 80));
    expect(&row, &[("acknowledged_bytes", 2000.0), ("total_packets", 2.0), ("tcp_retransmissions", 1.0)]);
    assert_eq!(row.metrics.value("handshake_rtt_s"), None);
}

#[test]
fn metrics_of_acknowledgments_need_acknowledgments() {
    let mut conversation = Conversation::new();
    conversation.data(0, 0).data(10, 1).data(500, 0);
    let row = conversation.row();
    expect(&row, &[("total_packets", 2.0), ("tcp_retransmissions", 1.0), ("payload_bytes", 3000.0)]);
    for name in [
        "goodput_kbps",
        "mean_rtt_s",
        "mean_outstanding_segments",
        "rto_count",
        "dupack_runs",
        "acks_received",
    ] {
        assert_eq!(row.metrics.value(name), None, "{name}");
    }
}

#[test]
fn acknowledgments_alone_give_the_goodput() {
    let mut conversation = Conversation::new();
    conversation.ack(0, 1).ack(100, 2).ack(200, 4);
    let row = conversation.row();
    assert_eq!(row.sender, "server");
    expect(&row, &[("acknowledged_bytes", 3000.0), ("goodput_kbps", 120.0), ("acks_received", 3.0)]);
    for name in ["total_packets", "tcp_retransmissions", "throughput_kbps", "mean_rtt_s", "dupack_runs"] {
        assert_eq!(row.metrics.value(name), None, "{name}");
    }
}

/// The first connection ends with a FIN of each end at 300 ms. A SYN at 1300 ms begins the second
/// one.
#[test]
fn new_syn_on_the_same_ports_is_a_new_connection() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 1);
    conversation.add(210, 1001, Some(1), Packet::new(End::Server, "F"));
    conversation.add(300, 1, Some(1002), Packet::new(End::Client, "F"));
    conversation.add(300, 1002, Some(2), Packet::new(End::Server, ""));
    conversation.isn = [77_000, 88_000];
    conversation.add(1300, 0, None, Packet::new(End::Client, "S"));
    conversation.add(1300, 0, Some(1), Packet::new(End::Server, "S"));
    conversation.add(1400, 1, Some(1), Packet::new(End::Client, ""));
    conversation.data(1400, 0).ack(1500, 1);
    let analysis = conversation.analysis();
    let [first, second] = &analysis.connections[..] else { panic!("there are two") };
    assert_eq!((first.connection, first.ended, first.closed_s), (0, "finished", Some(0.3)));
    assert_eq!((second.connection, second.ended), (1, "open"));
    expect(first, &[("acknowledged_bytes", 1000.0), ("fin_packets", 2.0), ("connection_off_time_s", 0.0)]);
    expect(second, &[("acknowledged_bytes", 1000.0), ("connection_off_time_s", 1.0)]);
    assert_eq!(analysis.metrics.value("acknowledged_bytes"), Some(2000.0));
}

#[test]
fn repeated_syn_is_a_retransmission_without_round_trip() {
    let mut conversation = Conversation::new();
    let syn = || Packet::new(End::Client, "S");
    conversation.add(0, 0, None, syn());
    conversation.add(1000, 0, None, syn());
    conversation.add(1000, 0, Some(1), Packet::new(End::Server, "S"));
    conversation.add(1100, 1, Some(1), Packet { payload: 500, ..Packet::new(End::Client, "") });
    conversation.add(1100, 1, Some(501), Packet::new(End::Server, ""));
    let row = conversation.row();
    assert_eq!((row.sender, row.position), ("client", Position::Unknown));
    expect(&row, &[("syn_retransmissions", 1.0), ("tcp_retransmissions", 1.0), ("rto_count", 1.0)]);
    assert_eq!(row.metrics.value("handshake_rtt_s"), None);
}

/// At 60 s the server sends a keep-alive: no payload, one number below the next one. The client
/// closes its window until 62 s, and the server probes the window with one octet.
#[test]
fn keep_alives_and_window_probes_are_not_retransmissions() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 1);
    conversation.add(60_000, 1000, Some(1), Packet::new(End::Server, ""));
    conversation.add(60_100, 1, Some(1001), Packet::new(End::Client, "").window(0));
    conversation.add(61_000, 1001, Some(1), Packet { payload: 1, ..Packet::new(End::Server, "") });
    conversation.add(61_100, 1, Some(1001), Packet::new(End::Client, "").window(0));
    conversation.add(62_000, 1, Some(1001), Packet::new(End::Client, ""));
    conversation.data(62_000, 1).ack(62_100, 2);
    expect(
        &conversation.row(),
        &[
            ("keep_alives", 1.0),
            ("zero_windows", 2.0),
            ("zero_window_probes", 1.0),
            ("tcp_retransmissions", 0.0),
            ("dupack_runs", 0.0),
            ("acknowledged_bytes", 2000.0),
        ],
    );
}

/// The window is zero from 200 ms to 3400 ms.
#[test]
fn zero_window_time_ends_when_the_window_opens() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0);
    conversation.add(200, 1, Some(1001), Packet::new(End::Client, "").window(0));
    // The probe of Linux: no new data, below the window.
    conversation.add(1200, 1000, Some(1), Packet::new(End::Server, ""));
    conversation.add(1300, 1, Some(1001), Packet::new(End::Client, "").window(0));
    conversation.add(3300, 1000, Some(1), Packet::new(End::Server, ""));
    conversation.add(3400, 1, Some(1001), Packet::new(End::Client, ""));
    conversation.data(3400, 1).ack(3500, 2);
    expect(
        &conversation.row(),
        &[
            ("zero_windows", 2.0),
            ("zero_window_probes", 2.0),
            ("zero_window_time_s", 3.2),
            ("keep_alives", 0.0),
            ("tcp_retransmissions", 0.0),
        ],
    );
}

/// Segment 1 is captured 1 ms after segment 2, or 300 ms after it.
#[test]
fn segment_filling_a_hole_is_reordered_only_within_3_ms() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).data(100, 2).data(101, 1).ack(200, 3);
    expect(
        &conversation.row(),
        &[("out_of_order_packets", 1.0), ("tcp_retransmissions", 0.0), ("total_packets", 3.0)],
    );
    let mut lossy = Conversation::with_handshake();
    lossy.data(100, 0).data(100, 2).data(400, 1).ack(500, 3);
    expect(&lossy.row(), &[("out_of_order_packets", 0.0), ("tcp_retransmissions", 1.0)]);
}

/// Segments 1 and 2 were not captured, but acknowledged.
#[test]
fn acknowledged_but_unseen_bytes_count_as_goodput() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 3).data(200, 3).ack(300, 4);
    expect(
        &conversation.row(),
        &[
            ("acknowledged_bytes", 4000.0),
            ("distinct_bytes", 2000.0),
            ("unseen_bytes", 2000.0),
            ("tcp_retransmissions", 0.0),
        ],
    );
}

/// Data are outstanding from 100 ms to the reset at 200 ms. Another connection keeps the capture
/// going.
#[test]
fn reset_ends_the_active_time() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0);
    conversation.add(200, 1, Some(1), Packet::new(End::Client, "R"));
    conversation.add(10_000, 1, Some(1), Packet { port: 40_001, ..Packet::new(End::Client, "") });
    let analysis = conversation.analysis();
    let row = &analysis.connections[0];
    assert_eq!((row.ended, row.closed_s), ("reset", Some(0.2)));
    expect(row, &[("rst_packets", 1.0), ("active_time_s", 0.1)]);
}

#[test]
fn windows_are_scaled_only_if_both_ends_offer_it() {
    for (options, expected) in [(&[TcpOptionElement::WindowScale(7)][..], Some(7)), (&[], Some(0))] {
        let mut conversation = Conversation::new();
        conversation.handshake(options);
        conversation.data(100, 0);
        assert_eq!(conversation.row().window_scale, expected);
    }
}

/// The times in which the server answers the SYN, and the client the SYN+ACK, show which end is
/// near.
#[test]
fn handshake_shows_the_capture_position() {
    for (server_ms, client_ms, expected) in [
        (0, 100, Position::Sender),
        (100, 0, Position::Receiver),
        (60, 50, Position::Between),
        (10, 90, Position::Sender),
    ] {
        let mut conversation = Conversation::new();
        conversation.add(0, 0, None, Packet::new(End::Client, "S"));
        conversation.add(server_ms, 0, Some(1), Packet::new(End::Server, "S"));
        conversation.add(server_ms + client_ms, 1, Some(1), Packet::new(End::Client, ""));
        conversation.data(200, 0);
        let row = conversation.row();
        assert_eq!(row.position, expected, "{server_ms} {client_ms}");
        expect(&row, &[("handshake_rtt_s", (server_ms + client_ms) as f64 / 1e3)]);
    }
}

/// The SYN is captured at 0 ms and the last data at 310 ms, at the client or at the server.
#[test]
fn download_time_is_known_only_at_the_receiver() {
    for (server_ms, client_ms, expected) in [(100, 0, Some(0.31)), (0, 100, None)] {
        let mut conversation = Conversation::new();
        conversation.add(0, 0, None, Packet::new(End::Client, "S"));
        conversation.add(server_ms, 0, Some(1), Packet::new(End::Server, "S"));
        conversation.add(server_ms + client_ms, 1, Some(1), Packet::new(End::Client, ""));
        conversation.data(300, 0).data(310, 1).ack(310, 2);
        conversation.add(320, 2001, Some(1), Packet::new(End::Server, "F"));
        assert_eq!(conversation.row().metrics.value("download_time_s"), expected);
    }
}

/// Segment 1 has a time 50 ms before the packet that precedes it, and counts at 200 ms.
#[test]
fn times_that_go_back_are_raised_with_a_warning() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(100, 0).ack(200, 1).data(150, 1).ack(300, 2);
    let analysis = conversation.analysis();
    assert_eq!(analysis.counts.out_of_time, 1);
    assert!(analysis.warnings[0].contains("earlier than the packet before"), "{:?}", analysis.warnings);
    expect(&analysis.connections[0], &[("max_rtt_s", 0.1), ("acknowledged_bytes", 2000.0)]);
}

#[test]
fn packet_captured_on_two_interfaces_counts_once() {
    let mut conversation = Conversation::with_handshake();
    for _ in 0..2 {
        let packet = Packet { payload: 1000, identification: 77, ..Packet::new(End::Server, "") };
        conversation.add(100, 1, Some(1), packet);
    }
    let analysis = conversation.analysis();
    assert_eq!(analysis.counts.captured_twice, 1);
    expect(&analysis.connections[0], &[("tcp_retransmissions", 0.0), ("total_packets", 1.0)]);
}

#[test]
fn closed_connections_are_removed_after_120_s() {
    let mut analyser = Analyser::new();
    let mut rows = 0;
    for number in 0..20_000u64 {
        let port = 1024 + (number % 60_000) as u16;
        let isn = number as u32;
        for (from, flags, seq, ack) in [
            (End::Client, "S", isn, None),
            (End::Server, "S", 9, Some(isn + 1)),
            (End::Client, "F", isn + 1, Some(10)),
            (End::Server, "F", 10, Some(isn + 2)),
            (End::Client, "", isn + 2, Some(11)),
        ] {
            let bytes = Packet { seq, ack, port, ..Packet::new(from, flags) }.ipv4();
            analyser.packet(ms(number * 1000), LinkType::Raw, &bytes, bytes.len() as u32);
        }
        rows += analyser.take_finished().len();
    }
    // One connection per second, each removed after 120 s.
    assert!((19_870..=19_890).contains(&rows), "{rows}");
    assert_eq!(analyser.finish().connection_count, 20_000);
}

#[test]
fn half_open_connections_are_removed() {
    let mut analyser = Analyser::new();
    for number in 0..1000u16 {
        let bytes = Packet { port: number, ..Packet::new(End::Client, "S") }.ipv4();
        analyser.packet(ms(u64::from(number) * 1000), LinkType::Raw, &bytes, bytes.len() as u32);
    }
    // One connection per second, each removed after 300 s.
    assert_eq!(analyser.take_finished().len(), 700);
}

#[test]
fn half_open_connections_with_repeated_syns_are_removed() {
    let mut analyser = Analyser::new();
    let mut add = |port, second: u64| {
        let bytes = Packet { port, ..Packet::new(End::Client, "S") }.ipv4();
        analyser.packet(ms(second * 1000), LinkType::Raw, &bytes, bytes.len() as u32);
    };
    // Port 1: the SYN is repeated once, after 60 s. Port 2: SYNs continue to the end of the
    // capture, at 1000 s.
    add(1, 0);
    add(1, 60);
    (1..=100).for_each(|step| add(2, 10 * step));
    let rows = analyser.take_finished();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0].connection, 0);
}

#[test]
fn flood_of_unanswered_connections_is_bounded_with_a_warning() {
    for flags in ["S", ""] {
        let mut analyser = Analyser::new();
        let limit = 1 << 17;
        for number in 0..limit + 1_000u32 {
            // Each packet comes from another address, at the same time.
            let mut bytes = Packet { ack: Some(1), ..Packet::new(End::Client, flags) }.ipv4();
            bytes[12..16].copy_from_slice(&number.to_be_bytes());
            analyser.packet(ms(0), LinkType::Raw, &bytes, bytes.len() as u32);
        }
        assert_eq!(analyser.take_finished().len(), 1_000, "{flags}");
        let analysis = analyser.finish();
        assert_eq!(analysis.connection_count, u64::from(limit) + 1_000);
        let has_warning = |warning: &String| warning.starts_with("1000 connections with packets of one end");
        assert!(analysis.warnings.iter().any(has_warning), "{:?}", analysis.warnings);
    }
}

/// Returns data from an address that depends on `number`.
fn data_of(number: u32) -> Vec<u8> {
    let mut bytes = Packet { ack: Some(1), payload: 1_000, ..Packet::new(End::Client, "") }.ipv4();
    bytes[12..16].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A thousand connections with one segment each. The first 100 and number 700 have rows.
#[test]
fn connections_beyond_the_limit_are_summed_in_one_row() {
    let analyse = |mut analyser: Analyser| {
        for number in 0..1_000u32 {
            let bytes = data_of(number);
            analyser.packet(ms(u64::from(number)), LinkType::Raw, &bytes, bytes.len() as u32);
        }
        analyser.finish()
    };
    let all = analyse(Analyser::new());
    let limited = analyse(Analyser::new().with_limit(100).with_row_of(700));
    assert_eq!(all.rest, None);
    let rest = limited.rest.expect("there are connections without rows");
    assert_eq!(rest.connections, 899);
    assert_eq!(rest.metrics.value("payload_bytes"), Some(899.0 * 1_000.0));
    let numbers: Vec<u64> = limited.connections.iter().map(|row| row.connection).collect();
    assert_eq!(numbers, (0..100).chain([700]).collect::<Vec<_>>());
    // The sums of the capture include all connections.
    assert_eq!(limited.metrics, all.metrics);
    assert_eq!(limited.connection_count, 1_000);
    let has_warning = |words: &str| limited.warnings.iter().any(|warning| warning.starts_with(words));
    assert!(has_warning("899 connections have no separate rows"), "{:?}", limited.warnings);
    assert!(has_warning("950 connections with packets of one end only"), "{:?}", limited.warnings);
}

/// Eight connections open one after the other, with room for four at a time.
#[test]
fn quietest_connection_is_dropped_at_the_limit() {
    let mut analyser = Analyser::new().with_limit(4);
    let mut add = |at: u64, port: u16, from: End, flags: &'static str, seq: u32, ack: Option<u32>| {
        let bytes = Packet { seq, ack, port, ..Packet::new(from, flags) }.ipv4();
        analyser.packet(ms(at), LinkType::Raw, &bytes, bytes.len() as u32);
    };
    for number in 0..8u16 {
        let at = 1_000 * u64::from(number);
        add(at, 2_000 + number, End::Client, "S", 0, None);
        add(at + 1, 2_000 + number, End::Server, "S", 0, Some(1));
        add(at + 2, 2_000 + number, End::Client, "", 1, Some(1));
        // The first connection is always active.
        add(at + 500, 2_000, End::Client, "", 1, Some(1));
    }
    let analysis = analyser.finish();
    assert_eq!(analysis.connection_count, 8);
    let has_warning =
        |warning: &String| warning.starts_with("4 connections were dropped while they were open");
    assert!(analysis.warnings.iter().any(has_warning), "{:?}", analysis.warnings);
}

/// The window is zero from 300 ms on. The connection is closed at 600 ms.
#[test]
fn zero_window_time_ends_with_the_connection() {
    let mut conversation = Conversation::with_handshake();
    conversation.data(200, 0);
    conversation.add(300, 1, Some(1001), Packet::new(End::Client, "").window(0));
    conversation.add(400, 1001, Some(1), Packet::new(End::Server, "F"));
    conversation.add(500, 1, Some(1002), Packet::new(End::Client, "F").window(0));
    conversation.add(600, 1002, Some(2), Packet::new(End::Server, ""));
    // A late packet of the closed connection. A minute later the capture ends.
    conversation.add(700, 2, Some(1002), Packet::new(End::Client, "").window(0));
    let other = Packet { port: 50_000, ..Packet::new(End::Client, "S") }.ipv4();
    conversation.analyser.packet(ms(60_000), LinkType::Raw, &other, other.len() as u32);
    let rows = conversation.analysis().connections;
    assert_eq!(rows[0].closed_s, Some(0.6));
    expect(&rows[0], &[("zero_window_time_s", 0.3)]);
}

#[test]
fn last_sent_segment_decides_about_the_rtt_sample() {
    let mut conversation = Conversation::with_handshake();
    // The first of two segments is retransmitted, then a third one leaves. One acknowledgment
    // covers all three.
    conversation.flight(110, 2).data(400, 0).data(410, 2).ack(530, 3);
    // Here the retransmission leaves last, so its acknowledgment gives no sample (Karn).
    conversation.data(600, 3).data(610, 4).data(900, 3).ack(1010, 5);
    let row = conversation.row();
    expect(&row, &[("rtt_samples", 2.0), ("min_rtt_every_ack_s", 0.1), ("max_rtt_every_ack_s", 0.12)]);
}

/// The metrics of captures and of the simulation are defined in separate tables. Metrics of a
/// connection must be in both, with the same unit, and no other names may be shared.
#[test]
fn names_and_units_equal_the_simulation() {
    let unit_of = |name: &str| {
        definitions().find(|definition| definition.name == name).map(|definition| definition.unit)
    };
    let mut shared = 0;
    for metric in umts_record::definitions() {
        let is_of_tcp = metric.scope == umts_record::metrics::Scope::Connection;
        assert_eq!(unit_of(metric.name), is_of_tcp.then_some(metric.unit), "{}", metric.name);
        assert_eq!(unit_of(&format!("{}_uplink", metric.name)), None, "{}", metric.name);
        shared += usize::from(is_of_tcp);
    }
    assert!(shared > 40, "{shared}");
    let unique: BTreeSet<_> = definitions().map(|metric| metric.name).collect();
    assert_eq!(unique.len(), definitions().count());
}

#[test]
fn empty_analysis_has_no_values() {
    let analysis = Analyser::new().finish();
    assert_eq!((analysis.connection_count, analysis.first), (0, None));
    assert!(analysis.metrics.iter().all(|(_, value)| value.is_none_or(|value| value == 0.0)));
    let mut conversation = Conversation::new();
    conversation.add(0, 0, None, Packet::new(End::Client, "S"));
    assert_eq!(value(&conversation.row(), "packets"), 1.0);
}
