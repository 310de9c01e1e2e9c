//! The two runs of a scenario with one seed: its whole length, and a short part with every series
//! and capture.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use umts_record::TableChunk;
use umts_record::metrics::RunMetrics;
use umts_scenario::Scenario;
use umts_simulate::{RunError, RunOptions, RunOutput, observe, run};
use umts_units::Duration;

use crate::capture::octets;
use crate::error::{GoldenError, of_file};
use crate::golden::Golden;
use crate::metrics;
use crate::tables::{Connections, Series};
use crate::trace::TraceDigest;

/// Maximum length of a recorded run.
const MAX_RECORDED: Duration = Duration::from_secs(60);

/// Settings of a recorded run, in addition to series and captures.
const RECORDED_KEYS: [(&str, &str); 3] =
    [("measure.budget", "true"), ("measure.waterfall", "0"), ("measure.rlc_pdus", "true")];

/// Number of seeds of a scenario: its own and the next one.
pub const SEED_COUNT: u64 = 2;

/// Returns the results of both runs of the scenario in `file` with its `number`-th seed, counted
/// from 0.
///
/// # Errors
/// If the scenario is invalid, or a run fails, for example because its captures cannot be written.
pub fn runs(file: &Path, number: u64) -> Result<Golden, GoldenError> {
    let whole = Scenario::load(file, &[])?.scenario;
    let seed = whole.seed.wrapping_add(number);
    let mut golden = Golden::default();
    golden.lines.extend(Run { file, seed, scenario: &whole, is_recorded: false }.golden()?.lines);
    let mut overrides = RECORDED_KEYS.to_vec();
    let max_recorded = MAX_RECORDED.to_string();
    if whole.duration > MAX_RECORDED {
        overrides.push(("duration", &max_recorded));
    }
    let overrides: Vec<_> =
        overrides.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let recorded = Scenario::load(file, &overrides)?.scenario;
    golden.lines.extend(Run { file, seed, scenario: &recorded, is_recorded: true }.golden()?.lines);
    Ok(golden)
}

struct Run<'a> {
    file: &'a Path,
    seed: u64,
    scenario: &'a Scenario,
    /// Whether the run has series and captures.
    is_recorded: bool,
}

impl Run<'_> {
    /// Runs the scenario and describes the results: metrics line by line, digests of everything
    /// else.
    fn golden(&self) -> Result<Golden, GoldenError> {
        let name = if self.is_recorded { "recorded" } else { "whole length" };
        let heading = format!("seed {}, {name}", self.seed);
        let mut golden = Golden::default();
        golden.add(&heading, "duration", self.scenario.duration.to_string());
        let captures = self.is_recorded.then(tempfile::tempdir).transpose();
        let captures = captures.map_err(of_file(&std::env::temp_dir()))?;
        let folder = captures.as_ref().map(|folder| folder.path().to_owned());
        let (mut connections, mut series) = (Connections::default(), Series::default());
        let mut take = |chunk: TableChunk| {
            match chunk {
                TableChunk::Connections(rows) => connections.add(&rows),
                TableChunk::Series(table) => series.add(&table),
            }
            ControlFlow::Continue(())
        };
        let output = self.output(folder, &mut take)?;
        let RunOutput { metrics: RunMetrics { network, connections: rows }, series: tables, files, events } =
            output;
        // The run keeps the rows that it has not passed to `take`.
        connections.add(&rows);
        tables.iter().flat_map(|tables| &tables.tables).for_each(|table| series.add(table));
        golden.add(&heading, "events", events.to_string());
        golden.add(&heading, "trace", self.trace()?);
        golden.add(&heading, "connections", connections.finish());
        for (name, value) in metrics::lines(network.iter()) {
            golden.add(&heading, name, value);
        }
        for (name, digest) in series.finish() {
            golden.add(&heading, format!("series.{name}"), digest);
        }
        for file in &files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            golden.add(&heading, format!("capture.{name}"), octets(file)?);
        }
        Ok(golden)
    }

    /// Runs the scenario, and passes finished rows to `take`.
    fn output(
        &self,
        pcap_dir: Option<PathBuf>,
        take: &mut dyn FnMut(TableChunk) -> ControlFlow<()>,
    ) -> Result<RunOutput, GoldenError> {
        let options = RunOptions {
            seed: self.seed,
            series: self.is_recorded,
            pcap_dir,
            finished: Some(take),
            ..RunOptions::default()
        };
        run(self.scenario, options).map_err(|error| self.failed(error))
    }

    /// Runs the scenario again and returns the digest of its trace.
    fn trace(&self) -> Result<String, GoldenError> {
        let go_on = |_, _: &mut TraceDigest| ControlFlow::Continue(());
        let observed = observe(self.scenario, self.seed, 0, TraceDigest::default(), go_on);
        observed.map(|(_, trace)| trace.finish()).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: RunError) -> GoldenError {
        GoldenError::Run { scenario: self.file.to_owned(), error }
    }
}
