//! `umts-oracle-ns2 DIR [OUT]`: replays every run of a folder and reports which differ.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use umts_oracle_ns2::folder::{Folder, FolderError, Outcome, compare_totals};

/// Exit status: 0 if all are equal, 1 if some are not, 2 for wrong usage or input.
fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), out, None) = (arguments.next(), arguments.next(), arguments.next()) else {
        eprintln!("usage: umts-oracle-ns2 DIR [OUT]");
        return ExitCode::from(2);
    };
    match run(&folder, out.as_deref()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("umts-oracle-ns2: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints a line for each run that differs or is not compared, then the totals. Returns whether all
/// are equal.
fn run(folder: &Path, out: Option<&Path>) -> Result<bool, FolderError> {
    let folder = Folder::read(folder)?;
    let (mut compared, mut equal) = (0, 0);
    let mut count = |name: String, outcome: Outcome| match outcome {
        Outcome::Equal => {
            compared += 1;
            equal += 1;
        }
        Outcome::Unequal(difference) => {
            compared += 1;
            println!("{name}: {difference}");
        }
        Outcome::Shown(totals) => println!("{name}: not counted: {totals}"),
        Outcome::Skipped(reason) => println!("{name}: not compared: {reason}"),
    };
    for entry in &folder.runs {
        count(entry.to_string(), folder.compare(entry, out)?);
    }
    for long in &folder.long_runs {
        count(long.name(), compare_totals(long, &folder.losses));
    }
    println!("{compared} compared, {equal} equal");
    Ok(compared == equal)
}
