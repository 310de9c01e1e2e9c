//! The profile `linux-6` and the TCP of this machine's kernel pass the same conversations:
//! `scripts/linux-6`.
//!
//! The second test needs root, a TUN device and a network namespace, and takes some seconds of real
//! time. It does not fail on a busy machine: times are compared with a wide upper bound, and a
//! failed conversation is repeated on its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use umts_conversations::{play_with_model, why_kernel_is_out_of_reach};

/// Minimum number of conversations.
const CONVERSATIONS: usize = 40;

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/linux-6");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the scripts are there")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() >= CONVERSATIONS, "{} conversations", files.len());
    files
}

#[test]
fn model_passes_the_conversations_of_linux() {
    let problems: Vec<String> = scripts()
        .iter()
        .filter_map(|file| play_with_model(file).err())
        .map(|problem| problem.to_string())
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn kernel_passes_the_same_conversations() {
    if let Some(reason) = why_kernel_is_out_of_reach() {
        eprintln!("skipped: no conversation can be held with the kernel: {reason}");
        return;
    }
    let program = env!("CARGO_BIN_EXE_umts-conversations");
    // With a real-time priority, segments arrive in time even on a busy machine.
    let mut command =
        if Command::new("chrt").args(["-f", "1", "true"]).output().is_ok_and(|out| out.status.success()) {
            let mut command = Command::new("chrt");
            command.args(["-f", "1", program]);
            command
        } else {
            Command::new(program)
        };
    let output = command.arg("--kernel").args(scripts()).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
