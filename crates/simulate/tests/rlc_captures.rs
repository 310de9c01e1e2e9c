//! tshark reads the captures of RLC PDUs: every header without complaint, and in the view of delivery as many packets as
//! our RLC handed up. Skipped, with a message, where tshark is not installed.

mod common;

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use common::scenario;
use tempfile::TempDir;
use umts_simulate::{RunOptions, observe, run};
use umts_stack::ids::Direction;
use umts_stack::trace::TraceEvent;

/// Complaints of any dissector from warnings on, and frames without a PDU.
const COMPLAINTS: &str = "_ws.malformed || _ws.expert.severity >= 0x600000 || !rlc";

/// Frames of `file` that match `filter`, with the values of `fields`; `None` where there is no tshark.
fn tshark(file: &Path, options: &[&str], filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.args(["-2", "-Y", filter, "-T", "fields", "-E", "separator=|", "-r"]).arg(file).args(options);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: tshark cannot be run ({error}), so nobody judges this capture");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
}

/// As the page on captures says.
const AIR: &[&str] = &["-o", "rlc.perform_reassembly:FALSE", "--enable-heuristic", "rlc_udp"];
const DELIVERY: &[&str] = &["--enable-heuristic", "rlc_udp"];

struct Captured {
    folder: TempDir,
    /// SDUs that RLC handed up, and blocks that arrived, by direction.
    delivered: [usize; 2],
    blocks: [u64; 2],
    initial_states: usize,
}

fn capture(name: &str, overrides: &[(&str, &str)]) -> Captured {
    let scenario = scenario(name, overrides);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let options = RunOptions { seed: 1, pcap_dir: Some(folder.path().to_owned()), ..RunOptions::default() };
    run(&scenario, options).expect("nothing stops it");
    let (_, trace) =
        observe(&scenario, 1, 0, Vec::new(), |_, _| ControlFlow::Continue(())).expect("nothing stops it");
    let (mut delivered, mut blocks, mut initial_states) = ([0; 2], [0; 2], 0);
    for (_, event) in trace {
        match event {
            TraceEvent::SduDelivered { direction, .. } => delivered[direction.index()] += 1,
            TraceEvent::BlocksReceived { direction, blocks: count, .. } => {
                blocks[direction.index()] += u64::from(count);
            }
            TraceEvent::RlcInitialState { .. } => initial_states += 1,
            _ => {}
        }
    }
    Captured { folder, delivered, blocks, initial_states }
}

impl Captured {
    /// Both views of both directions are without complaint; blocks and packets are as many as there were.
    fn is_judged(&self, what: &str) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let name = format!("{direction:?}").to_lowercase();
            let file = |view: &str| self.folder.path().join(format!("rlc-{name}-{view}.pcapng"));
            let (air, delivery) = (file("air"), file("delivery"));
            let complaints = ["frame.number", "_ws.expert.message", "frame.comment"];
            for (file, options) in [(&air, AIR), (&delivery, DELIVERY)] {
                let Some(complaints) = tshark(file, options, COMPLAINTS, &complaints) else { return };
                let first = complaints.first();
                assert_eq!(first, None, "{what}, {}: {} complaints", file.display(), complaints.len());
            }
            let Some(frames) = tshark(&air, AIR, "frame", &["frame.comment"]) else { return };
            let blocks: usize = frames.iter().map(|frame| frame[0].matches("UE ").count()).sum();
            assert_eq!(blocks as u64, self.blocks[direction.index()], "{what}, {name}: blocks on the air");
            let Some(frames) = tshark(&delivery, DELIVERY, "tcp", &["tcp.seq_raw"]) else { return };
            let segments: usize = frames.iter().map(|frame| frame[0].split(',').count()).sum();
            assert_eq!(segments, self.delivered[direction.index()], "{what}, {name}: segments put together");
        }
    }
}

#[test]
fn a_lossy_download_at_384_kbit_s_is_read_without_complaint() {
    // 4096 PDUs take 3.4 s: several rounds.
    let captured = capture("ftp-on-dch-384-3gpp", &[("radio.bler", "0.1"), ("duration", "20 s")]);
    assert!(captured.delivered[0] > 400, "{:?}", captured.delivered);
    captured.is_judged("AM");
}
