//! One run: a scenario under a seed, from nothing to its metrics.

use std::ops::ControlFlow;
use std::path::PathBuf;

use thiserror::Error;
use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase, TraceSink, VirtualClock};
use umts_record::budget::Budget;
use umts_record::capture::{CaptureConfig, CaptureError, Captures};
use umts_record::metrics::{ConnectionRow, Metrics, RunMetrics};
use umts_record::series::{Series, SeriesTables, Table};
use umts_scenario::Scenario;
use umts_stack::network::{Event, Network};
use umts_stack::tcp::congestion::UserLaws;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::bearers::encodings;
use crate::build::{budget_config, metrics_config, network_config, series_config};
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
    /// Takes the rows of connections that are closed, and those of series as soon as there are [`PIECE_ROWS`] of one, so
    /// that a long run does not keep them; `Break` stops the run.
    pub finished: Option<&'a mut dyn FnMut(Piece) -> ControlFlow<()>>,
}

/// So many rows of a series are handed out together, and what one more second of the model's time adds to them.
pub const PIECE_ROWS: usize = 1_024;

/// How often it is looked whether there are rows to hand out.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Rows of a run that goes on. They do not change any more, and follow those of earlier pieces in their tables.
#[derive(Debug)]
pub enum Piece {
    /// Connections that closed.
    Connections(Vec<ConnectionRow>),
    /// Of one time series.
    Series(Table),
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
    let series = options.series.then(|| Series::new(series_config(scenario)));
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
        let (events, metrics) = run_loop(scenario, &mut options, metrics, |metrics, _, pieces| {
            let rows = metrics.take_finished();
            if !rows.is_empty() {
                pieces.push(Piece::Connections(rows));
            }
        })?;
        return Ok(RunOutput { metrics: metrics.finish(end), series: None, files: Vec::new(), events });
    }
    let sinks = (metrics, (budget, (series, captures)));
    let (events, (metrics, (budget, (series, captures)))) =
        run_loop(scenario, &mut options, sinks, |(metrics, (budget, (series, _))), now, pieces| {
            let mut rows = metrics.take_finished();
            if let Some(budget) = budget {
                budget.tell(&mut rows);
            }
            if !rows.is_empty() {
                pieces.push(Piece::Connections(rows));
            }
            let budgets = budget.as_mut().map_or_else(Vec::new, |budget| budget.take(now, PIECE_ROWS));
            let series = series.as_mut().map_or_else(Vec::new, |series| series.take(now, PIECE_ROWS));
            pieces.extend(series.into_iter().chain(budgets).map(Piece::Series));
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

/// Runs into `sinks`, of which `take` takes the rows that change no more, and hands them out.
fn run_loop<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    options: &mut RunOptions<'_>,
    sinks: T,
    take: impl Fn(&mut T, Time, &mut Vec<Piece>),
) -> Result<(u64, T), RunError> {
    let mut network = Network::new(&network_config(scenario), &Streams::new(options.seed, options.run));
    if let Some(laws) = options.laws.take() {
        network.set_laws(laws);
    }
    let (finished, progress) = (&mut options.finished, &mut options.progress);
    let mut pieces = Vec::new();
    let look = |now: Time, sinks: &mut T| {
        let Some(finished) = finished.as_mut() else { return ControlFlow::Continue(()) };
        take(sinks, now, &mut pieces);
        pieces.drain(..).try_for_each(finished)
    };
    observe_network(scenario, network, sinks, look, |done, _| {
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
    observe_network(scenario, network, trace, |_, _| ControlFlow::Continue(()), progress)
}

fn observe_network<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    mut network: Network,
    mut trace: T,
    mut look: impl FnMut(Time, &mut T) -> ControlFlow<()>,
    mut progress: impl FnMut(f64, &mut T) -> ControlFlow<()>,
) -> Result<(u64, T), RunError> {
    let mut queue = EventQueue::new();
    let end = Time::ZERO + scenario.duration;
    queue.push(end, Phase::Receive, Event::EndOfRun);
    network.start(&mut queue);
    let step = Duration::from_nanos((scenario.duration.as_nanos() / 100).max(1));
    let mut next_step = Time::ZERO;
    let report = |now: Time, trace: &mut T| {
        look(now, trace)?;
        if now >= next_step {
            progress(now.as_secs() / end.as_secs(), trace)?;
            next_step = now + step;
        }
        ControlFlow::Continue(next_step.min(now + LOOK_EVERY))
    };
    match drive(&mut network, &mut queue, &mut VirtualClock, &mut trace, report) {
        ControlFlow::Continue(()) => Ok((queue.scheduled(), trace)),
        ControlFlow::Break(()) => Err(RunError::Stopped),
    }
}
