//! Checks captures of RLC PDUs with tshark: it must decode every header without complaint, and
//! reassemble as many packets in the delivery view as RLC delivered. Skipped with a message if
//! tshark is not installed.

use std::path::Path;

use crate::common::{self, scenario};
use tempfile::TempDir;
use umts_simulate::{RunOptions, run};
use umts_stack::ids::Direction;
use umts_stack::trace::TraceEvent;

/// Lowest severity that counts as a complaint: a warning.
const WARNING: u32 = 0x60_0000;

/// A frame as decoded by tshark.
struct DecodedFrame {
    number: String,
    comments: String,
    /// Expert messages from warnings on, and "malformed".
    complaints: String,
    has_pdu: bool,
    segments: usize,
}

/// Decodes the frames of `file`. `None` if tshark is not installed.
fn decode(file: &Path, options: &[&str]) -> Option<Vec<DecodedFrame>> {
    let fields = [
        "frame.number",
        "frame.comment",
        "frame.protocols",
        "_ws.expert.severity",
        "_ws.expert.message",
        "tcp.seq_raw",
    ];
    let lines = common::tshark(file, options, &fields)?;
    Some(lines.iter().map(|line| DecodedFrame::read(line)).collect())
}

impl DecodedFrame {
    fn read(line: &str) -> Self {
        let values: Vec<_> = line.split('|').collect();
        let [number, comments, protocols, severities, messages, sequence] = values[..] else {
            panic!("six fields: {line}")
        };
        let is_warning = |severity: &str| severity.parse::<u32>().is_ok_and(|severity| severity >= WARNING);
        let complains = severities.split(',').any(is_warning) || protocols.contains("malformed");
        DecodedFrame {
            number: number.to_owned(),
            comments: comments.to_owned(),
            complaints: if complains { format!("{protocols} {messages}") } else { String::new() },
            has_pdu: protocols.contains("rlc"),
            segments: sequence.split(',').filter(|number| !number.is_empty()).count(),
        }
    }
}

/// Options from docs/guide.md. TCP's view of losses is not checked here.
const AIR: &[&str] = &["--enable-heuristic", "rlc_udp", "-o", "rlc.perform_reassembly:FALSE"];
const DELIVERY: &[&str] =
    &["--enable-heuristic", "rlc_udp", "-2", "-o", "tcp.analyze_sequence_numbers:FALSE"];

struct Captured {
    folder: TempDir,
    /// SDUs delivered by RLC, and blocks that arrived, by direction.
    delivered: [usize; 2],
    blocks: [usize; 2],
    discarded: usize,
    initial_states: usize,
}

/// Runs a scenario twice: once with captures, once to count the events that they must contain.
fn capture(name: &str, overrides: &[(&str, &str)]) -> Captured {
    let scenario = scenario(name, overrides);
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let options = RunOptions { seed: 1, pcap_dir: Some(folder.path().to_owned()), ..RunOptions::default() };
    run(&scenario, options).expect("no callback stops the run");
    let (mut delivered, mut blocks) = ([0; 2], [0; 2]);
    let (mut discarded, mut initial_states) = (0, 0);
    for (_, event) in common::events(&scenario) {
        match event {
            TraceEvent::SduDelivered { direction, .. } => delivered[direction.index()] += 1,
            TraceEvent::BlocksReceived { direction, blocks: count, .. } => {
                blocks[direction.index()] += count as usize;
            }
            TraceEvent::SduDiscarded { .. } => discarded += 1,
            TraceEvent::RlcInitialState { .. } => initial_states += 1,
            _ => {}
        }
    }
    Captured { folder, delivered, blocks, discarded, initial_states }
}

impl Captured {
    /// Checks that both views of both directions have no complaints, and the right numbers of
    /// blocks and packets.
    fn assert_no_complaints(&self, case: &str) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let name = format!("{direction:?}").to_lowercase();
            let file = |view: &str| self.folder.path().join(format!("rlc-{name}-{view}.pcapng"));
            let Some(air) = decode(&file("air"), AIR) else { return };
            let Some(delivery) = decode(&file("delivery"), DELIVERY) else { return };
            for (view, frames) in [("air", &air), ("delivery", &delivery)] {
                for frame in frames {
                    let DecodedFrame { number, comments, complaints, has_pdu, .. } = frame;
                    let case_and_frame = format!("{case}, {name} {view}, frame {number}: {comments}");
                    assert!(*has_pdu, "{case_and_frame}: no RLC PDU is decoded");
                    assert!(complaints.is_empty(), "{case_and_frame}: {complaints}");
                }
            }
            let blocks: usize = air.iter().map(|frame| frame.comments.matches("UE ").count()).sum();
            assert_eq!(blocks, self.blocks[direction.index()], "{case}, {name}: blocks on the air");
            let segments: usize = delivery.iter().map(|frame| frame.segments).sum();
            assert_eq!(segments, self.delivered[direction.index()], "{case}, {name}: reassembled segments");
        }
    }
}

#[test]
fn a_lossy_download_at_384_kbit_s_is_decoded_without_complaint() {
    // 150 packets of 38 PDUs are more than one round of the sequence numbers.
    let captured = capture("ftp-on-dch-384-3gpp", &[("radio.bler", "0.1"), ("duration", "8 s")]);
    assert!(captured.delivered[0] > 150, "{:?}", captured.delivered);
    captured.assert_no_complaints("AM");
}

#[test]
fn discarded_sdus_leave_no_gap() {
    let discard = [("radio.bler", "0.2"), ("rlc.max_dat", "2"), ("duration", "5 s")];
    let captured = capture("ftp-on-dch-384-3gpp", &discard);
    assert!(captured.discarded > 5, "{}", captured.discarded);
    captured.assert_no_complaints("discard after MaxDAT");
    let timer = [
        ("radio.bler", "0.2"),
        ("rlc.sdu_discard", "timer"),
        ("rlc.timer_discard", "300 ms"),
        ("duration", "5 s"),
    ];
    let captured = capture("ftp-on-dch-384-3gpp", &timer);
    assert!(captured.discarded > 5, "{}", captured.discarded);
    captured.assert_no_complaints("discard by timer");
}

#[test]
fn a_reset_starts_a_new_bearer() {
    let never =
        [("radio.bler", "0.1"), ("rlc.sdu_discard", "never"), ("rlc.max_dat", "3"), ("duration", "10 s")];
    let captured = capture("ftp-on-dch-384-3gpp", &never);
    assert!(captured.initial_states > 4, "{}", captured.initial_states);
    captured.assert_no_complaints("RESET");
}

#[test]
fn other_modes_widths_and_channels_are_decoded() {
    let um = [("rlc.mode", "um"), ("radio.bler", "0.01"), ("duration", "10 s")];
    let captured = capture("ftp-on-dch-384-3gpp", &um);
    assert!(captured.delivered[0] > 30, "{:?}", captured.delivered);
    captured.assert_no_complaints("UM");
    let wide = [
        ("rlc.pdu_payload", "160 B"),
        ("radio.bler", "0.05"),
        ("rlc.status_format", "rlist"),
        ("duration", "5 s"),
    ];
    capture("ftp-on-dch-384-3gpp", &wide).assert_no_complaints("15-bit length indicators");
    let common = [("radio.bler", "0.1"), ("rlc.status_format", "list"), ("duration", "20 s")];
    capture("ftp-on-fach-two-users-3gpp", &common).assert_no_complaints("FACH and RACH");
}

/// Data of a TDD cell looks like data of a DCH. Control PDUs of its common channels have comments
/// with channel, frame and fate.
#[test]
fn pdus_of_a_tdd_cell_are_decoded() {
    // The common ACK channel carries the reports of the direction opposite to the data.
    for (name, direction_of_reports) in [("tdd-ftp-3gpp", "downlink"), ("tdd-www-3gpp", "uplink")] {
        let captured = capture(name, &[("duration", "6 s"), ("measure.from", "0 s")]);
        captured.assert_no_complaints(name);
        let file = captured.folder.path().join(format!("rlc-{direction_of_reports}-air.pcapng"));
        let Some(frames) = decode(&file, AIR) else { return };
        let is_report =
            |frame: &&DecodedFrame| frame.comments.contains("STATUS PDU, common ACK channel, frame ");
        let reports: Vec<_> = frames.iter().filter(is_report).collect();
        assert!(reports.len() > 50, "{name}: {}", reports.len());
        let lost = reports.iter().filter(|frame| frame.comments.ends_with(", lost")).count();
        assert!((1..reports.len() / 2).contains(&lost), "{name}: {lost}");
    }
}

#[test]
fn bearers_without_mac_headers_are_decoded() {
    let um = [("rlc.mode", "um"), ("radio.bler", "0.01"), ("duration", "20 s")];
    capture("ftp-on-fach-3gpp", &um).assert_no_complaints("UM on FACH");
    let tm = [
        ("rlc.mode", "tm"),
        ("bearer.0.downlink.tti", "40 ms"),
        ("radio.bler", "0.001"),
        ("duration", "5 s"),
    ];
    let captured = capture("ftp-on-dch-384-3gpp", &tm);
    assert!(captured.delivered[0] > 15, "{:?}", captured.delivered);
    captured.assert_no_complaints("TM");
}

/// The air view has the PDUs of an HS-DSCH and of an E-DCH without MAC headers. Wireshark reassembles the
/// delivery view, with PDUs that HARQ lost and RLC sent again.
#[test]
fn bearers_over_hs_dsch_and_e_dch_are_reassembled() {
    let short = [("duration", "4 s"), ("measure.from", "0 s")];
    let captured = capture("hsdpa", &short);
    assert!(captured.delivered[0] > 300, "{:?}", captured.delivered);
    captured.assert_no_complaints("HS-DSCH");
    let captured = capture("hspa", &short);
    assert!(captured.delivered.iter().all(|delivered| *delivered > 300), "{:?}", captured.delivered);
    captured.assert_no_complaints("E-DCH");
}

/// PDUs of flexible size over MAC-ehs. Timer_Poll expires before the report on a poll can arrive, so that
/// POLL SUFIs are sent while no data waits.
#[test]
fn poll_sufis_are_decoded() {
    let keys = [
        ("duration", "4 s"),
        ("measure.from", "0 s"),
        ("ue.user.hs_dsch.mac", "mac_ehs"),
        ("rlc.pdu_size", "flexible"),
        ("rlc.poll_sufi", "true"),
        ("rlc.timer_poll", "20 ms"),
    ];
    let captured = capture("hsdpa", &keys);
    captured.assert_no_complaints("PDUs of flexible size");
    let Some(frames) = decode(&captured.folder.path().join("rlc-downlink-air.pcapng"), AIR) else { return };
    let is_poll = |frame: &&DecodedFrame| frame.comments.contains("STATUS PDU, polls up to PDU ");
    let polls = frames.iter().filter(is_poll).count();
    assert!(polls > 5, "{polls} POLL SUFIs");
}
