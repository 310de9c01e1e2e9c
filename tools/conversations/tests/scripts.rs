//! Every script beside this crate passes, and errors in scripts are reported with their line.

use std::path::{Path, PathBuf};

use umts_conversations::{play_text, play_with_model};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the scripts are there")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn every_script_passes() {
    let files = scripts();
    let problems: Vec<String> = files
        .iter()
        .filter_map(|file| play_with_model(file).err())
        .map(|problem| problem.to_string())
        .collect();
    assert!(files.len() >= 8, "{files:?}");
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), files.len(), problems.join("\n"));
}

/// A handshake without data.
const OPEN: &str = "set segment_payload = 1000 B\n0 ms open\n> syn\n100 ms < syn ack 1\n> ack 1\n";

/// Plays a handshake and further lines. Returns the problem.
fn wrong(more: &str) -> String {
    play_text("s.txt", &format!("{OPEN}{more}")).expect_err(more).to_string()
}

#[test]
fn syntax_errors_are_reported_with_their_line() {
    for (more, expected) in [
        ("200 ms shout", "s.txt:6: `shout` is not one of open, write, close, <, > and is"),
        ("200 write 5", "s.txt:6: "),
        ("200 ms write five", "s.txt:6: `write` needs a number, not `five`"),
        ("200 ms < data 5..5", "s.txt:6: the range 5..5 is empty"),
        ("200 ms < data 5", "s.txt:6: `data` needs a range, as in `1..1001`"),
        ("200 ms > ack 1 again", "s.txt:6: an acknowledgment without data is never retransmitted"),
        ("200 ms is happy 3", "s.txt:6: `happy` is not one of cwnd, ssthresh"),
        ("200 ms is cwnd large", "s.txt:6: `cwnd` is a number, not `large`"),
        ("200 ms open now", "s.txt:6: unexpected word `now`"),
        ("set variant = reno", "s.txt:6: `set` must come before the first event"),
    ] {
        let problem = wrong(more);
        assert!(problem.starts_with(expected), "{problem}");
    }
    let setting = play_text("s.txt", "# one\nset variant = renoo\n0 ms open\n").expect_err("no such variant");
    assert!(setting.to_string().starts_with("s.txt:2: `renoo` is not a known"), "{setting}");
    assert_eq!(play_text("s.txt", "# nothing\n").expect_err("empty").line, 1);
}

#[test]
fn unmet_lines_are_reported_with_the_actual_segment() {
    for (more, expected) in [
        ("> data 1..1001", "s.txt:6: expected at 100 ms: data 1..1001; no segment leaves"),
        (
            "write 1000\n200 ms > data 1..1001",
            "s.txt:7: expected at 200 ms: data 1..1001; leaves data 1..1001 ack 1 at 100 ms",
        ),
        ("write 1000\n> data 1..1001 again", "s.txt:7: expected at 100 ms: data 1..1001 again; leaves"),
        ("write 1000", "s.txt:6: unexpected segment at the end: data 1..1001 ack 1 at 100 ms"),
        ("write 1000\n200 ms < ack 1001", "s.txt:7: unexpected segment before this line: data 1..1001"),
        ("is cwnd 4", "s.txt:6: cwnd is 3, not 4"),
        ("is state closed", "s.txt:6: state is established, not closed"),
        ("50 ms close", "s.txt:6: 50 ms has already passed"),
    ] {
        let problem = wrong(more);
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn times_are_compared_to_half_of_the_last_digit() {
    let script = |at: &str| {
        format!("set rto_initial = 1400 ms\nset rto_granularity = 1 us\n0 ms open\n> syn\n{at} > syn again\n")
    };
    for at in ["1.4 s", "1400 ms", "1 s", "1.36 s"] {
        let result = play_text("s.txt", &script(at));
        assert_eq!(result.is_ok(), at != "1.36 s", "{at}: {result:?}");
    }
}
