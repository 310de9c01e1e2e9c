//! `umts-conversations FILE…`: holds each conversation and says which do not come true.

use std::path::PathBuf;
use std::process::ExitCode;

/// Exit status: all true, some not, wrong usage.
fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: umts-conversations FILE…");
        return ExitCode::from(2);
    }
    let mut held = 0;
    for file in &files {
        match umts_conversations::hold(file) {
            Ok(()) => held += 1,
            Err(problem) => println!("{problem}"),
        }
    }
    println!("{} conversations, {held} as written", files.len());
    if held == files.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
