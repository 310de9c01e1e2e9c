//! One run: a scenario under a seed, from nothing to its metrics.

use std::ops::ControlFlow;
use std::path::PathBuf;

use thiserror::Error;
use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase, TraceSink, VirtualClock};
use umts_record::budget::Budget;
use umts_record::capture::{CaptureConfig, CaptureError, Captures};
use umts_record::metrics::{ConnectionRow, Metrics, RunMetrics};
use umts_record::series::{Series, SeriesConfig, SeriesTables};
use umts_scenario::Scenario;
use umts_stack::network::{Event, Network};
use umts_stack::tcp::congestion::UserLaws;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::bearers::encodings;
use crate::build::{budget_config, metrics_config, network_config};
use crate::drive::drive;

/// What a run is asked for, besides its scenario.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Seed of all its random streams.
    pub seed: u64,
    /// Number of the replication: another one has other draws under the same seed.
    pub run: u64,
    /// Whether to record time series.
    pub series: bool,
    /// Where to write captures, if anywhere; the folder exists.
    pub pcap_dir: Option<PathBuf>,
    /// Told the part of the run that is done, from 0 to 1, about a hundred times; `Break` stops the run.
    pub progress: Option<&'a mut dyn FnMut(f64) -> ControlFlow<()>>,
    /// The laws of flows with `variant = "python"`, by their number in the scenario; without it they have that of RFC 5681.
    pub laws: Option<UserLaws>,
    /// Takes the rows of connections that are closed, so that a long run does not keep them.
    pub finished: Option<&'a mut dyn FnMut(Vec<ConnectionRow>)>,
}

/// What a run leaves.
#[derive(Debug)]
pub struct RunOutput {
    /// Its metrics, and the rows of the connections that were not handed out before.
    pub metrics: RunMetrics,
    /// Time series, if they were asked for.
    pub series: Option<SeriesTables>,
    /// The captures that were written.
    pub files: Vec<PathBuf>,
    /// How many events it took.
    pub events: u64,
}

/// Why a run has no results.
#[derive(Debug, Error)]
pub enum RunError {
    /// `progress` asked for it.
    #[error("the run was stopped")]
    Stopped,
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Runs `scenario`. The same scenario, seed and run number give the same output.
pub fn run(scenario: &Scenario, mut options: RunOptions<'_>) -> Result<RunOutput, RunError> {
    let metrics = Metrics::new(metrics_config(scenario));
    let series = options.series.then(|| Series::new(SeriesConfig::default()));
    let captures = match &options.pcap_dir {
        Some(folder) => {
            let config = CaptureConfig { bearers: encodings(scenario), ..CaptureConfig::default() };
            Some(Captures::create(folder, &config)?)
        }
        None => None,
    };
    let budget =
        budget_config(scenario, options.series).map(|config| Budget::new(config, &network_config(scenario)));
    let end = Time::ZERO + scenario.duration;
    // Metrics alone are the common case, and then nothing else is looked at in the loop.
    if series.is_none() && captures.is_none() && budget.is_none() {
        let (events, metrics) = run_loop(scenario, &mut options, metrics, Metrics::take_finished)?;
        return Ok(RunOutput { metrics: metrics.finish(end), series: None, files: Vec::new(), events });
    }
    let sinks = (metrics, (budget, (series, captures)));
    let (events, (metrics, (budget, (series, captures)))) =
        run_loop(scenario, &mut options, sinks, |(metrics, (budget, _))| {
            let mut rows = metrics.take_finished();
            if let Some(budget) = budget {
                budget.tell(&mut rows);
            }
            rows
        })?;
    let mut metrics = metrics.finish(end);
    let budget = budget.map(|budget| budget.finish(end, &mut metrics)).unwrap_or_default();
    let mut series = series.map(|series| series.finish(end));
    if let Some(series) = &mut series {
        series.tables.extend(budget);
    }
    let files = captures.map(Captures::finish).transpose()?.unwrap_or_default();
    Ok(RunOutput { metrics, series, files, events })
}

/// Runs into `sinks`, of which `take_finished` takes the rows of connections that are closed, and hands them out.
fn run_loop<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    options: &mut RunOptions<'_>,
    sinks: T,
    take_finished: impl Fn(&mut T) -> Vec<ConnectionRow>,
) -> Result<(u64, T), RunError> {
    let mut network = Network::new(&network_config(scenario), &Streams::new(options.seed, options.run));
    if let Some(laws) = options.laws.take() {
        network.set_laws(laws);
    }
    let (finished, progress) = (&mut options.finished, &mut options.progress);
    observe_network(scenario, network, sinks, |done, sinks| {
        if let Some(finished) = finished.as_mut() {
            finished(take_finished(sinks));
        }
        progress.as_mut().map_or(ControlFlow::Continue(()), |progress| progress(done))
    })
}

/// Runs `scenario` into any sink and gives it back with the number of events. `progress` is told the part that is done,
/// from 0 to 1, about a hundred times; `Break` stops the run.
pub fn observe<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    trace: T,
    progress: impl FnMut(f64, &mut T) -> ControlFlow<()>,
) -> Result<(u64, T), RunError> {
    let network = Network::new(&network_config(scenario), &Streams::new(seed, run));
    observe_network(scenario, network, trace, progress)
}

fn observe_network<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    mut network: Network,
    mut trace: T,
    mut progress: impl FnMut(f64, &mut T) -> ControlFlow<()>,
) -> Result<(u64, T), RunError> {
    let mut queue = EventQueue::new();
    let end = Time::ZERO + scenario.duration;
    queue.push(end, Phase::Receive, Event::EndOfRun);
    network.start(&mut queue);
    let step = Duration::from_nanos((scenario.duration.as_nanos() / 100).max(1));
    let report = |now: Time, trace: &mut T| {
        progress(now.as_secs() / end.as_secs(), trace)?;
        ControlFlow::Continue(now + step)
    };
    match drive(&mut network, &mut queue, &mut VirtualClock, &mut trace, report) {
        ControlFlow::Continue(()) => Ok((queue.scheduled(), trace)),
        ControlFlow::Break(()) => Err(RunError::Stopped),
    }
}
