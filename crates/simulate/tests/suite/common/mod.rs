//! Runs the scenarios of the repository with overrides.

#![allow(dead_code, reason = "no test uses all of it")]

use std::path::Path;

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, RunOutput, run};

pub fn scenario(name: &str, overrides: &[(&str, &str)]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    load(&path, overrides)
}

pub fn load(path: &Path, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    match Scenario::load(path, &overrides) {
        Ok(loaded) => loaded.scenario,
        Err(error) => panic!("{}", error.render(false)),
    }
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
