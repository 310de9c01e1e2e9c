//! Fuzzes the parsers of external data, RLC's procedures, scenario files and captures, for a
//! limited time: `make fuzz`.
//!
//! An execution is determined by a target and a number. Executions are numbered from `--seed` on,
//! so equal arguments give the same executions, as many as the time permits. A failed execution is
//! printed with the arguments that repeat it; it should become a test beside the code, named after
//! the error.

mod capture_file;
mod capture_packets;
mod decoder;
mod draw;
mod frames;
mod hostile;
mod pair;
mod scenario;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use draw::Draw;

/// A target: its name, and a function for one execution, which panics on an error.
type Target = (&'static str, fn(&mut Draw));

const TARGETS: [Target; 12] = [
    ("decoder", decoder::random_bytes),
    ("mutation", decoder::mutated_pdus),
    ("frames", frames::random_frames),
    ("am", pair::acknowledged),
    ("um", pair::unacknowledged),
    ("tm", pair::transparent),
    ("hostile", hostile::entity),
    ("scenario", scenario::settings),
    ("capture-headers", capture_packets::nested_headers),
    ("capture-conversation", capture_packets::conversations),
    ("capture-file", capture_file::files),
    ("capture-compressed", capture_file::compressed),
];

const USAGE: &str = "usage: umts-fuzz [--seconds N] [--seed N] [--runs N] [--target NAME]
  --seconds N   stop after N seconds (60), shared by the targets
  --seed N      number of the first execution (1)
  --runs N      stop after N executions of each target
  --target NAME decoder, mutation, frames, am, um, tm, hostile, scenario,
                capture-headers, capture-conversation, capture-file or capture-compressed: this one only";

/// The options of [`USAGE`].
struct Options {
    seconds: u64,
    seed: u64,
    runs: u64,
    target: Option<String>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("umts-fuzz: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let targets =
        TARGETS.iter().filter(|(name, _)| options.target.as_deref().is_none_or(|only| only == *name));
    let targets: Vec<&Target> = targets.collect();
    let share = Duration::from_secs(options.seconds) / targets.len() as u32;
    let mut all_succeeded = true;
    for target in targets {
        all_succeeded &= fuzz(target, &options, share);
    }
    if all_succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seconds: 60, seed: 1, runs: u64::MAX, target: None };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not {value:?}"));
        match name.as_str() {
            "--seconds" => options.seconds = number()?,
            "--seed" => options.seed = number()?,
            "--runs" => options.runs = number()?,
            "--target" if TARGETS.iter().any(|(name, _)| *name == value) => options.target = Some(value),
            "--target" => return Err(format!("there is no target {value:?}")),
            _ => return Err(format!("unknown option {name:?}")),
        }
    }
    Ok(options)
}

/// Runs one target until its time is over. Returns whether all executions succeeded.
fn fuzz(&(name, execute): &Target, options: &Options, share: Duration) -> bool {
    let start = Instant::now();
    let mut executions = 0;
    while executions < options.runs && start.elapsed() < share {
        let number = options.seed.wrapping_add(executions);
        executions += 1;
        // The message of the panic is already on standard error.
        if catch_unwind(AssertUnwindSafe(|| execute(&mut Draw::new(name, number)))).is_err() {
            println!("{name}: execution {number} failed; again: --target {name} --seed {number} --runs 1");
            return false;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name}: {executions} executions from number {} on in {seconds:.1} s, none failed",
        options.seed
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_executions_of_every_target_succeed() {
        for (name, execute) in TARGETS {
            // A scenario is parsed, built and run, which takes about a hundred times as long.
            let count = if name == "scenario" { 60 } else { 300 };
            for number in 1..=count {
                execute(&mut Draw::new(name, number));
            }
        }
    }

    #[test]
    fn wrong_arguments_are_reported() {
        let message = |line: &str| options(line.split(' ').map(str::to_owned)).err();
        assert_eq!(message("--seconds"), Some("--seconds needs a value".to_owned()));
        assert_eq!(message("--seed x"), Some("--seed needs a number, not \"x\"".to_owned()));
        assert_eq!(message("--target nas"), Some("there is no target \"nas\"".to_owned()));
        assert_eq!(message("--runs 3"), None);
    }
}
