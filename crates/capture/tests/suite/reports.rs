//! Small captures that are easily misinterpreted, with the correct values and the reasons.

use std::path::{Path, PathBuf};

use umts_capture::reader::{ReadOptions, analyse_file};
use umts_capture::{Analysis, ConnectionRow};

use crate::common::{expect, value};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports").join(name)
}

fn analysis_of(name: &str) -> Analysis {
    analyse_file(&file(name), ReadOptions::default()).expect("the bytes are a capture")
}

fn only_row(analysis: &Analysis) -> &ConnectionRow {
    let [row] = &analysis.connections[..] else { panic!("{} connections", analysis.connections.len()) };
    row
}

fn has_warning(analysis: &Analysis, text: &str) -> bool {
    analysis.warnings.iter().any(|warning| warning.contains(text))
}

/// A server that still has an old connection answers a SYN with that connection's numbers (RFC 5961
/// §4). The client resets it (RFC 9293 §3.10.7.3) and repeats its SYN. Then the server sends 10
/// segments of 1,000 bytes: 80,000 bits in 3.2 s are 25 kbit/s.
#[test]
fn challenge_ack_of_an_old_connection_is_rejected() {
    let analysis = analysis_of("challenge.pcap");
    let row = only_row(&analysis);
    assert_eq!((row.sender, row.ended), ("server", "open"));
    expect(
        row,
        &[
            ("total_packets", 10.0),
            ("tcp_retransmissions", 0.0),
            ("syn_retransmissions", 1.0),
            ("reverse_tcp_retransmissions", 1.0),
            ("acknowledged_bytes", 10_000.0),
            ("goodput_kbps", 25.0),
            ("throughput_kbps", 25.0),
        ],
    );
    // The ACK of the old connection and the RST.
    assert_eq!(analysis.counts.not_believed, 2);
    assert!(has_warning(
        &analysis,
        "2 segments acknowledge or reset data that their connection cannot have sent"
    ));
}

/// Three copies of a segment have the same IP identification. The second follows after 0.45 s, the
/// third after another 0.9 s: too late for a mirror port. The timeout doubles (RFC 6298 §5.5), so
/// neither copy is a tail loss probe.
#[test]
fn equal_identification_after_half_a_second_is_a_retransmission() {
    let analysis = analysis_of("same-id.pcap");
    assert_eq!(analysis.counts.captured_twice, 0);
    expect(
        only_row(&analysis),
        &[
            ("tcp_retransmissions", 2.0),
            ("rto_count", 2.0),
            ("tcp_retransmissions_by_rto", 2.0),
            ("tail_loss_probes", 0.0),
        ],
    );
}

/// A mirror port repeats each of the 24 packets 0.2 ms later. Data segments leave every 0.1 ms, so
/// other packets are between most copies.
#[test]
fn mirror_copies_are_found_between_other_packets() {
    let analysis = analysis_of("mirror.pcap");
    assert_eq!(analysis.counts.captured_twice, 24);
    expect(
        only_row(&analysis),
        &[
            ("total_packets", 20.0),
            ("tcp_retransmissions", 0.0),
            ("rto_count", 0.0),
            ("payload_bytes", 20_000.0),
        ],
    );
}

/// The IP header of the last of four segments indicates 30,000 bytes. Its frame had only 1,054
/// bytes and holds 1,000 bytes of payload.
#[test]
fn length_beyond_the_frame_is_reduced_to_the_frame() {
    let analysis = analysis_of("iplen.pcap");
    expect(only_row(&analysis), &[("payload_bytes", 4000.0), ("total_packets", 4.0)]);
    assert_eq!(analysis.counts.beyond_frame, 1);
    assert!(has_warning(&analysis, "1 packets have headers with a length beyond the end of the frame"));
}

/// The packets are in Packet Blocks. This block type is obsolete (draft-ietf-opsawg-pcapng,
/// appendix A), but it has a timestamp. Only Simple Packet Blocks have none.
#[test]
fn packet_blocks_have_times() {
    let analysis = analysis_of("old.pcapng");
    assert_eq!((analysis.counts.packets, analysis.warnings.len()), (13, 0));
    expect(only_row(&analysis), &[("payload_bytes", 5000.0), ("handshake_rtt_s", 0.1)]);
}

/// Captured at the receiver. Five segments are lost before the capture point. Then an empty ACK
/// with a sequence number 5,000 bytes higher shows that they had left. 0.58 s later the server
/// repeats them, one by one after each ACK: one timeout and five retransmissions.
#[test]
fn empty_segment_shows_an_earlier_loss() {
    let analysis = analysis_of("hole.pcap");
    expect(
        only_row(&analysis),
        &[("tcp_retransmissions", 5.0), ("rto_count", 1.0), ("tcp_retransmissions_by_rto", 5.0)],
    );
    assert!(has_warning(&analysis, "5 segments filled holes more than 3 ms late"));
}

/// Each ACK was captured 25 us before the data that it acknowledges, as with two capture points.
/// Each segment occurs once.
#[test]
fn first_copy_after_its_acknowledgment_is_not_a_retransmission() {
    let analysis = analysis_of("ack-first.pcap");
    expect(
        only_row(&analysis),
        &[
            ("total_packets", 5.0),
            ("tcp_retransmissions", 0.0),
            ("unneeded_by_early_ack", 0.0),
            ("unseen_bytes", 0.0),
            ("distinct_bytes", 5000.0),
            ("acknowledged_bytes", 5000.0),
        ],
    );
}

/// Some pairs of neighbours are swapped in the file. Their timestamps are right.
#[test]
fn swapped_neighbours_are_sorted_by_time() {
    let analysis = analysis_of("swapped.pcap");
    let row = only_row(&analysis);
    expect(row, &[("handshake_rtt_s", 0.1), ("out_of_order_packets", 0.0), ("tcp_retransmissions", 0.0)]);
    for name in ["min_rtt_s", "mean_rtt_s", "max_rtt_s"] {
        // The SYN+ACK leaves 10 us after the SYN.
        assert!((value(row, name) - 0.1).abs() < 1.1e-5, "{name} is {}", value(row, name));
    }
    assert_eq!(analysis.counts.out_of_time, 0);
    assert!(has_warning(&analysis, "packets were not in the order of their times in the file"));
}

/// One connection of 13 packets is plain, and one is in GTP-U with TEID 1 in both directions.
#[test]
fn gtp_u_connections_have_their_teids() {
    let analysis = analysis_of("gn.pcap");
    assert_eq!((analysis.counts.packets, analysis.counts.tcp), (26, 26));
    let [plain, tunnelled] = &analysis.connections[..] else { panic!("there are two") };
    assert_eq!((plain.teid, tunnelled.teid), ([None; 2], [Some(1); 2]));
    for row in [plain, tunnelled] {
        expect(row, &[("payload_bytes", 5000.0), ("handshake_rtt_s", 0.1), ("packets", 13.0)]);
    }
}

/// The option `if_tsresol` of the interface sets the unit of the timestamps to 10^-127 s. No clock
/// counts in this unit.
#[test]
fn absurd_clock_unit_error_names_the_interface() {
    let error =
        analyse_file(&file("tsresol.pcapng"), ReadOptions::default()).expect_err("no clock is so fine");
    assert!(error.to_string().contains("interface 0 counts time in units of 10^-127 s"), "{error}");
}

/// After a download the client sends five keep-alives: each has one byte before the next sequence
/// number of the client. The client sent less data than the server, so they are of the reverse
/// direction.
#[test]
fn reverse_keep_alives_are_counted() {
    let analysis = analysis_of("keep-alive.pcap");
    expect(
        only_row(&analysis),
        &[("reverse_keep_alives", 5.0), ("keep_alives", 0.0), ("reverse_tcp_retransmissions", 0.0)],
    );
}
