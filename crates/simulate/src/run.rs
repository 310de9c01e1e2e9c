//! Runs a scenario with a seed, from the configuration to the metrics.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::slice::from_mut;

use thiserror::Error;
use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, NoTrace, Phase, TraceSink, VirtualClock};
use umts_record::capture::CaptureError;
use umts_record::metrics::RunMetrics;
use umts_record::series::SeriesTables;
use umts_record::{MetricsAlone, MetricsAndSeries, MultiRecorder, Recorders, Records, TableChunk};
use umts_scenario::Scenario;
use umts_stack::network::{Event, Network};
use umts_stack::scheduling::UserSchedulers;
use umts_stack::tcp::congestion::UserLaws;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use crate::build::network_config;
use crate::drive::drive;
use crate::wanted::wanted;

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
    /// Scheduler of the DSCHs of a layout, instead of the scenario's requirement and priority.
    pub schedulers: Option<UserSchedulers>,
    /// Takes the rows of closed connections, and the rows of a series when it has
    /// [`CHUNK_ROWS`](umts_record::CHUNK_ROWS) of them, so that a long run does not keep them.
    /// `Break` stops the run.
    pub finished: Option<&'a mut dyn FnMut(TableChunk) -> ControlFlow<()>>,
}

/// Inputs of a run besides its scenario, and its progress. Fields are as in [`RunOptions`].
pub struct RunControl<'a> {
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of the replication.
    pub run: u64,
    /// Called with the completed part of the run.
    pub progress: Option<&'a mut dyn FnMut(f64) -> ControlFlow<()>>,
    /// Congestion control of flows with `variant = "python"`.
    pub laws: Option<UserLaws>,
    /// Scheduler of the DSCHs of a layout.
    pub schedulers: Option<UserSchedulers>,
}

/// Configuration of the recording of a run, which does not influence the run. Fields are as in
/// [`RunOptions`].
pub struct Recording<'a> {
    /// Whether to record time series.
    pub series: bool,
    /// Folder for captures.
    pub pcap_dir: Option<PathBuf>,
    /// Takes the rows that no longer change.
    pub finished: Option<&'a mut dyn FnMut(TableChunk) -> ControlFlow<()>>,
}

/// Interval at which rows are handed out.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Output of a run.
#[derive(Debug)]
pub struct RunOutput {
    /// Metrics, and the rows of connections that were not handed out before.
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
pub fn run(scenario: &Scenario, options: RunOptions<'_>) -> Result<RunOutput, RunError> {
    let RunOptions { seed, run, series, pcap_dir, progress, laws, schedulers, finished } = options;
    let recording = Recording { series, pcap_dir, finished };
    let control = RunControl { seed, run, progress, laws, schedulers };
    run_together(vec![(scenario, recording)], control).map(|mut outputs| outputs.remove(0))
}

/// Runs scenarios that differ only in `[measure]` in one pass, because the same happens in all.
/// Each output is bit by bit the output of [`run`]. `alike` must not be empty.
pub fn run_together(
    alike: Vec<(&Scenario, Recording<'_>)>,
    mut control: RunControl<'_>,
) -> Result<Vec<RunOutput>, RunError> {
    let scenario = alike[0].0;
    debug_assert!(alike.iter().all(|(other, _)| other.network_hash() == scenario.network_hash()));
    let (network, mut recorders) = set_up(&alike, &mut control)?;
    let (events, recorders) = if recorders.len() > 1 {
        let (events, all) = run_loop(alike, network, control, MultiRecorder(recorders), |all| &mut all.0)?;
        (events, all.0)
    } else {
        let (events, one) = run_one(alike, network, control, recorders.remove(0))?;
        (events, vec![one])
    };
    let end = Time::ZERO + scenario.duration;
    recorders.into_iter().map(|recorders| output(recorders, events, end)).collect()
}

/// Creates the network and its recorders. The configuration is dropped, because it is large with
/// many users.
fn set_up(
    alike: &[(&Scenario, Recording<'_>)],
    control: &mut RunControl<'_>,
) -> Result<(Network, Vec<Recorders>), CaptureError> {
    let config = network_config(alike[0].0);
    let recorders = alike.iter().map(|(scenario, recording)| {
        let wanted = wanted(scenario, &config, recording.series, recording.pcap_dir.as_deref());
        Recorders::new(wanted, NoTrace)
    });
    let recorders = recorders.collect::<Result<_, _>>()?;
    let mut network = Network::new(&config, &Streams::new(control.seed, control.run));
    if let Some(laws) = control.laws.take() {
        network.set_laws(laws);
    }
    if let Some(schedulers) = control.schedulers.take() {
        network.set_schedulers(&schedulers);
    }
    Ok((network, recorders))
}

/// Runs with one set of recorders. The loop is compiled separately for the common sets.
fn run_one(
    of: Vec<(&Scenario, Recording<'_>)>,
    network: Network,
    control: RunControl<'_>,
    recorders: Recorders,
) -> Result<(u64, Recorders), RunError> {
    if recorders.are_metrics_alone() {
        let alone = MetricsAlone(recorders);
        let (events, alone) = run_loop(of, network, control, alone, |alone| from_mut(&mut alone.0))?;
        Ok((events, alone.0))
    } else if recorders.are_metrics_and_series() {
        let both = MetricsAndSeries(recorders);
        let (events, both) = run_loop(of, network, control, both, |both| from_mut(&mut both.0))?;
        Ok((events, both.0))
    } else {
        run_loop(of, network, control, recorders, from_mut)
    }
}

/// Runs with `sink`. Each of its recorders hands out its own finished rows.
fn run_loop<T: TraceSink<TraceEvent>>(
    alike: Vec<(&Scenario, Recording<'_>)>,
    network: Network,
    control: RunControl<'_>,
    sink: T,
    recorders_of: impl Fn(&mut T) -> &mut [Recorders],
) -> Result<(u64, T), RunError> {
    let scenario = alike[0].0;
    let mut finished: Vec<_> = alike.into_iter().map(|(_, recording)| recording.finished).collect();
    let mut progress = control.progress;
    let look = |now: Time, sink: &mut T| {
        for (recorders, finished) in recorders_of(sink).iter_mut().zip(&mut finished) {
            if let Some(finished) = finished {
                recorders.take(now).into_iter().try_for_each(finished)?;
            }
        }
        ControlFlow::Continue(())
    };
    observe_network(scenario, network, sink, look, |done, _| {
        progress.as_mut().map_or(ControlFlow::Continue(()), |progress| progress(done))
    })
}

fn output(recorders: Recorders, events: u64, end: Time) -> Result<RunOutput, RunError> {
    let Records { metrics, series, captures, .. } = recorders.finish(end);
    // A failed capture discards the run: it can be repeated when there is disk space.
    Ok(RunOutput { metrics, series, files: captures?, events })
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
