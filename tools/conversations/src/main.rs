//! `umts-conversations [--kernel] [--protocol] FILE…`: plays each conversation and prints the ones
//! that fail.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use umts_conversations::{Implementation, Problem};

const USAGE: &str = "usage: umts-conversations [--kernel] [--protocol] FILE…
  --kernel    play the conversations with the TCP of this machine's kernel, not with the model (needs root)
  --protocol  print all that happens and compare nothing";

/// Exit status: 0 if all succeed, 1 if not, 2 for wrong usage.
fn main() -> ExitCode {
    let (mut implementation, mut prints, mut files) = (Implementation::Model, false, Vec::new());
    for argument in std::env::args_os().skip(1) {
        match argument.to_str() {
            Some("--kernel") => implementation = Implementation::Kernel,
            Some("--protocol") => prints = true,
            Some(option) if option.starts_with('-') => return usage(),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    if files.is_empty() {
        return usage();
    }
    if implementation == Implementation::Kernel && !prints {
        let problems = umts_conversations::play_all_with_kernel(&files);
        for problem in &problems {
            println!("{problem}");
        }
        println!(
            "{} conversations with the kernel, {} as written",
            files.len(),
            files.len() - problems.len()
        );
        return if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let mut passed = 0;
    for file in &files {
        let result = if prints {
            print(implementation, file)
        } else {
            umts_conversations::play_with(implementation, file)
        };
        match result {
            Ok(()) => passed += 1,
            Err(problem) => println!("{problem}"),
        }
    }
    if !prints {
        println!("{} conversations, {passed} as written", files.len());
    }
    if passed == files.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints all that happens in a conversation.
fn print(implementation: Implementation, file: &Path) -> Result<(), Problem> {
    for line in umts_conversations::protocol(implementation, file)? {
        println!("{line}");
    }
    Ok(())
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
