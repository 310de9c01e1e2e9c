//! `make golden`: runs the scenarios with these names, or all, and compares each with its golden.
//! `UMTS_BLESS=1 make golden` replaces the goldens by the results.

use std::collections::BTreeSet;
use std::process::ExitCode;

use umts_golden::folder::{Goldens, Outcome};

const ADVICE: &str = "\
If results are meant to move, name them under Results in CHANGELOG.md and bless them: UMTS_BLESS=1 make golden";

/// Exit status: 0 if all are equal or blessed, 1 if some differ, 2 for wrong usage or input.
fn main() -> ExitCode {
    let names: BTreeSet<String> =
        std::env::args_os().skip(1).map(|name| name.to_string_lossy().into_owned()).collect();
    if names.iter().any(|name| name.starts_with('-')) {
        eprintln!("usage: umts-golden [NAME]...; UMTS_BLESS=1 in the environment blesses");
        return ExitCode::from(2);
    }
    let blesses = std::env::var_os("UMTS_BLESS").is_some();
    let goldens = Goldens { names, ..Goldens::of_repository() };
    let outcomes = match if blesses { goldens.bless() } else { goldens.compare() } {
        Ok(outcomes) => outcomes,
        Err(error) => {
            eprintln!("umts-golden: {error}");
            return ExitCode::from(2);
        }
    };
    let differ: Vec<_> = outcomes.iter().filter(|(_, outcome)| *outcome != Outcome::Equal).collect();
    for (name, outcome) in &differ {
        println!("{name}: {outcome}");
    }
    println!("{} compared, {} equal", outcomes.len(), outcomes.len() - differ.len());
    match (differ.is_empty(), blesses) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => {
            println!("blessed");
            ExitCode::SUCCESS
        }
        (false, false) => {
            println!("{ADVICE}");
            ExitCode::FAILURE
        }
    }
}
