//! Runs a scenario with a seed, from the configuration to the metrics. Every command and binding
//! that simulates calls [`run`]; [`observe`] is for tests and other sinks of the events.

use std::ops::ControlFlow;
use std::path::PathBuf;

use thiserror::Error;
use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, NoTrace, Phase, TraceSink, VirtualClock};
use umts_record::capture::CaptureError;
use umts_record::metrics::RunMetrics;
use umts_record::series::SeriesTables;
use umts_record::{Needs, PlainRecorders, Recorders, Records, TableChunk};
use umts_scenario::Scenario;
use umts_stack::network::{Event, Network, NetworkConfig};
use umts_stack::scheduling::UserSchedulers;
use umts_stack::tcp::congestion::UserLaws;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::build::network_config;
use crate::drive::drive;
use crate::recorder_config::recorder_config;

/// Options of a run, besides its scenario.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of the replication. Each number gives other draws with the same seed.
    pub run: u64,
    /// Whether to record time series.
    pub series: bool,
    /// Folder for captures, which must exist; no captures if absent.
    pub pcap_dir: Option<PathBuf>,
    /// Called about a hundred times with the completed part of the run, from 0 to 1. `Break` stops
    /// the run.
    pub progress: Option<&'a mut dyn FnMut(f64) -> ControlFlow<()>>,
    /// Congestion control of flows with `variant = "python"`, by flow number in the scenario.
    /// Without it these flows use RFC 5681.
    pub laws: Option<UserLaws>,
    /// Schedulers of shared channels that replace the disciplines of the scenario.
    pub schedulers: Option<UserSchedulers>,
    /// Takes the rows of closed connections, and the rows of a series when it has
    /// [`CHUNK_ROWS`](umts_record::CHUNK_ROWS) of them, so that a long run does not keep them.
    /// `Break` stops the run.
    pub finished: Option<&'a mut dyn FnMut(TableChunk) -> ControlFlow<()>>,
}

/// Interval at which finished rows are passed to [`RunOptions::finished`].
const ROW_INTERVAL: Duration = Duration::from_secs(1);

/// Output of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// Metrics, and the rows of connections that were not passed to [`RunOptions::finished`].
    pub metrics: RunMetrics,
    /// Time series, if they were recorded.
    pub series: Option<SeriesTables>,
    /// The captures that were written.
    pub files: Vec<PathBuf>,
    /// Number of events.
    pub events: u64,
}

/// Reason why a run has no results.
#[derive(Debug, Error)]
pub enum RunError {
    /// `progress` or `finished` returned `Break`.
    #[error("the run was stopped")]
    Stopped,
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Runs `scenario`. The same scenario, seed and run number give the same output.
pub fn run(scenario: &Scenario, mut options: RunOptions<'_>) -> Result<RunOutput, RunError> {
    let (network, recorders) = set_up(scenario, &mut options)?;
    // The loop is compiled separately for the common sets of recorders.
    let (events, recorders) = match recorders.needs() {
        Needs::Metrics => {
            let sink = PlainRecorders::<false>(recorders);
            let (events, sink) = run_loop(scenario, network, options, sink, |sink| &mut sink.0)?;
            (events, sink.0)
        }
        Needs::Series => {
            let sink = PlainRecorders::<true>(recorders);
            let (events, sink) = run_loop(scenario, network, options, sink, |sink| &mut sink.0)?;
            (events, sink.0)
        }
        Needs::Everything => run_loop(scenario, network, options, recorders, |sink| sink)?,
    };
    let Records { metrics, series, captures, .. } = recorders.finish(Time::ZERO + scenario.duration);
    // A failed capture discards the run: it can be repeated when there is disk space.
    Ok(RunOutput { metrics, series, files: captures?, events })
}

/// Creates the network and its recorders. The configuration is dropped, because it is large with
/// many users.
fn set_up(scenario: &Scenario, options: &mut RunOptions<'_>) -> Result<(Network, Recorders), CaptureError> {
    let config = network_config(scenario);
    let recorder_config = recorder_config(scenario, &config, options.series, options.pcap_dir.as_deref());
    let recorders = Recorders::new(recorder_config, NoTrace)?;
    Ok((network_of(&config, options), recorders))
}

/// Creates a network with the random streams of its run, and takes the user's classes from the
/// options.
pub(crate) fn network_of(config: &NetworkConfig, options: &mut RunOptions<'_>) -> Network {
    let mut network = Network::new(config, &Streams::new(options.seed, options.run));
    if let Some(laws) = options.laws.take() {
        network.set_laws(laws);
    }
    if let Some(schedulers) = options.schedulers.take() {
        network.set_schedulers(schedulers);
    }
    network
}

/// Runs with `sink`, and passes the finished rows of its recorders to [`RunOptions::finished`].
fn run_loop<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    network: Network,
    options: RunOptions<'_>,
    sink: T,
    recorders_of: impl Fn(&mut T) -> &mut Recorders,
) -> Result<(u64, T), RunError> {
    let RunOptions { mut progress, mut finished, .. } = options;
    let take_rows = |now: Time, sink: &mut T| match &mut finished {
        Some(finished) => recorders_of(sink).take(now).into_iter().try_for_each(finished),
        None => ControlFlow::Continue(()),
    };
    observe_network(scenario, network, sink, take_rows, |done, _| {
        progress.as_mut().map_or(ControlFlow::Continue(()), |progress| progress(done))
    })
}

/// Runs `scenario` with any sink. Returns the number of events and the sink. `progress` is called
/// about a hundred times with the completed part of the run, from 0 to 1; `Break` stops the run.
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

/// Runs the network to its end with the sink `trace`. `take_rows` is called at least every
/// `ROW_INTERVAL` of simulated time, `progress` about a hundred times. Each of them may stop the
/// run.
fn observe_network<T: TraceSink<TraceEvent>>(
    scenario: &Scenario,
    mut network: Network,
    mut trace: T,
    mut take_rows: impl FnMut(Time, &mut T) -> ControlFlow<()>,
    mut progress: impl FnMut(f64, &mut T) -> ControlFlow<()>,
) -> Result<(u64, T), RunError> {
    let mut queue = EventQueue::new();
    let end = Time::ZERO + scenario.duration;
    queue.push(end, Phase::Receive, Event::EndOfRun);
    network.start(&mut queue);
    let step = Duration::from_nanos((scenario.duration.as_nanos() / 100).max(1));
    let mut next_step = Time::ZERO;
    let report = |now: Time, trace: &mut T| {
        take_rows(now, trace)?;
        if now >= next_step {
            progress(now.as_secs() / end.as_secs(), trace)?;
            next_step = now + step;
        }
        ControlFlow::Continue(next_step.min(now + ROW_INTERVAL))
    };
    match drive(&mut network, &mut queue, &mut VirtualClock, &mut trace, report) {
        ControlFlow::Continue(()) => Ok((queue.scheduled(), trace)),
        ControlFlow::Break(()) => Err(RunError::Stopped),
    }
}
