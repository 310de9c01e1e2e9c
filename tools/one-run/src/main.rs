//! Runs a scenario once, without other work: `make bench` counts the instructions of this program.
//!
//! `one-run SCENARIO.toml metrics|null|series [KEY=VALUE …]`: with metrics, with the null sink, or
//! with metrics and series (rows are dropped as they come).

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use umts_kernel::NoTrace;
use umts_record::TableChunk;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, observe, run};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, sink, overrides @ ..] = arguments.as_slice() else {
        eprintln!("usage: one-run SCENARIO.toml metrics|null|series [KEY=VALUE …]");
        return ExitCode::from(2);
    };
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .filter_map(|text| text.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let scenario = match Scenario::load(Path::new(path), &overrides) {
        Ok(loaded) => loaded.scenario,
        Err(error) => {
            eprint!("{}", error.render(false));
            return ExitCode::from(2);
        }
    };
    let seed = scenario.seed;
    let events = match sink.as_str() {
        "null" => {
            observe(&scenario, seed, 0, NoTrace, |_, _| ControlFlow::Continue(())).map(|(events, _)| events)
        }
        "series" => {
            let mut drop_rows = |piece| {
                drop(piece);
                ControlFlow::Continue(())
            };
            let finished: Option<&mut dyn FnMut(TableChunk) -> ControlFlow<()>> = Some(&mut drop_rows);
            run(&scenario, RunOptions { seed, series: true, finished, ..RunOptions::default() })
                .map(|output| output.events)
        }
        _ => run(&scenario, RunOptions { seed, ..RunOptions::default() }).map(|output| output.events),
    };
    match events {
        Ok(events) => println!("{events} events"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
