//! Loads scenarios, runs them, and observes their events.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use umts_kernel::TraceSink;
use umts_record::metrics::MetricSet;
use umts_scenario::{Loaded, Scenario, ScenarioError};
use umts_simulate::{RunOptions, RunOutput, observe, run};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// The folder of the scenarios of the repository.
pub fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// A scenario of the repository.
pub fn scenario(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    load(&scenarios().join(format!("{name}.toml")), overrides)
}

pub fn load(path: &Path, overrides: &[(&str, &str)]) -> Scenario {
    valid(Scenario::load(path, &owned(overrides)))
}

/// The scenario of this text, which names no files.
pub fn parse(text: &str) -> Scenario {
    parse_in(Path::new(""), text, &[])
}

/// The scenario of this text, which names files in `folder`.
pub fn parse_in(folder: &Path, text: &str, overrides: &[(&str, &str)]) -> Scenario {
    valid(Scenario::parse(text, "test.toml", folder, &owned(overrides)))
}

fn owned(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn valid(loaded: Result<Loaded, ScenarioError>) -> Scenario {
    loaded.unwrap_or_else(|error| panic!("{}", error.render(false))).scenario
}

/// Runs a scenario with `sink`. Returns the sink.
pub fn observed<T: TraceSink<TraceEvent>>(scenario: &Scenario, sink: T) -> T {
    observed_run(scenario, scenario.seed, 0, sink)
}

/// Runs a scenario with this seed and number of the run. Returns the sink.
pub fn observed_run<T: TraceSink<TraceEvent>>(scenario: &Scenario, seed: u64, run: u64, sink: T) -> T {
    observe(scenario, seed, run, sink, |_, _| ControlFlow::Continue(())).expect("nothing stops it").1
}

/// All events of a run.
pub fn events(scenario: &Scenario) -> Vec<(Time, TraceEvent)> {
    observed(scenario, Vec::new())
}

/// All events of a run as text.
pub fn event_texts(scenario: &Scenario) -> Vec<(Time, String)> {
    events(scenario).iter().map(|(at, event)| (*at, format!("{event:?}"))).collect()
}

/// Returns a line for each frame of `file`, with these fields, separated by `|`. `None` if tshark is not
/// installed.
pub fn tshark(file: &Path, options: &[&str], fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-T", "fields", "-E", "separator=|", "-r"]).arg(file).args(options);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: tshark cannot be run ({error}), so this capture is not checked");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

pub fn output(scenario: &Scenario) -> RunOutput {
    run(scenario, RunOptions { seed: scenario.seed, ..RunOptions::default() }).expect("nothing stops it")
}

/// Network metrics of a scenario in `scenarios/`.
pub fn metrics(name: &str, overrides: &[(&str, &str)]) -> MetricSet {
    output(&scenario(name, overrides)).metrics.network
}

pub fn value(metrics: &MetricSet, name: &str) -> f64 {
    metrics.value(name).unwrap_or_else(|| panic!("{name} has no value"))
}

/// Checks that a value has the expected one, with this relative tolerance.
pub fn assert_near(name: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value / expected - 1.0).abs();
    assert!(error <= tolerance, "{name}: {value}, not {expected} within {tolerance}");
}
