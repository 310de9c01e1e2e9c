//! An emulation from its start to its end, and its replay.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use thiserror::Error;
use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase};
use umts_record::capture::{CaptureConfig, CaptureError, Captures};
use umts_record::metrics::{Metrics, RunMetrics};
use umts_record::series::{Series, SeriesConfig, SeriesTables};
use umts_scenario::Scenario;
use umts_simulate::{Outside, drive, metrics_config, network_config};
use umts_stack::network::{Event, Network};
use umts_units::{Duration, Time};

use crate::cargo::Cargo;
use crate::children::{Children, Program, exit_status_of};
use crate::digest::Digest;
use crate::exchange::{Counts, Exchange};
use crate::fidelity::Fidelity;
use crate::gauge::{Gauge, Reading};
use crate::live::Live;
use crate::recording::{self, Recording};
use crate::replay::Replay;
use crate::topology::{self, SERVER_PORT, TcpSettings, ue_port};
use crate::wall_clock::WallClock;

/// Why there is no emulation, or no result of one.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The command could not be started.
    #[error("cannot run {name}: {source}")]
    Command {
        /// The command.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel refused something.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// `meter` asked for it.
    #[error("the emulation was stopped")]
    Stopped,
}

impl EmulationError {
    /// What to exit with: as `env` has it for commands, 125 for the rest.
    pub fn exit_status(&self) -> i32 {
        match self {
            EmulationError::Command { source, .. } => exit_status_of(source),
            _ => 125,
        }
    }
}

fn system(what: &'static str) -> impl Fn(io::Error) -> EmulationError {
    move |source| EmulationError::System { what, source }
}

/// What is kept of a run.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    /// Whether to record time series.
    pub series: bool,
    /// Where to write captures, if anywhere; the folder exists.
    pub pcap_dir: Option<PathBuf>,
}

/// The programs of an emulation and what is around them.
pub struct Programs {
    /// Runs in the first UE; the emulation ends with it.
    pub command: Program,
    /// Run in the second UE and those after it.
    pub ues: Vec<Program>,
    /// Answers names and HTTP at the server side; says a line on standard output when it does.
    pub internet: Option<Program>,
    /// Run at the server side.
    pub servers: Vec<Program>,
    /// What the kernel's TCP is told.
    pub tcp: TcpSettings,
    /// Its other end is open while the emulation is wanted.
    pub parent: OwnedFd,
    /// Where packets are noted for a replay, if anywhere.
    pub recording: Option<PathBuf>,
    /// The process has a real-time priority.
    pub is_real_time: bool,
}

/// What an emulation leaves.
#[derive(Debug)]
pub struct Outcome {
    /// Exit status of the command.
    pub status: i32,
    /// Whoever wanted the emulation went away before the command ended.
    pub is_abandoned: bool,
    /// What the machine did to it.
    pub fidelity: Fidelity,
    /// What was measured.
    pub results: Results,
}

/// What was measured, of an emulation or its replay.
#[derive(Debug)]
pub struct Results {
    /// Metrics of the radio network, from its beginning to its end.
    pub metrics: RunMetrics,
    /// Time series, if they were asked for.
    pub series: Option<SeriesTables>,
    /// Captures written.
    pub files: Vec<PathBuf>,
    /// Events handled.
    pub events: u64,
    /// When it ended.
    pub end: Time,
    /// Fingerprint of all that happened in the network.
    pub digest: String,
}

type Sinks = (Cargo, (Gauge, (Digest, (Metrics, (Option<Series>, Option<Captures>)))));

/// Runs `programs` over the network of `scenario`, on the wall clock. `meter` is told the state about twice a second and
/// may stop everything.
///
/// # Errors
/// If the kernel refuses something, the command cannot be started, or results cannot be written.
pub fn emulate(
    scenario: &Scenario,
    seed: u64,
    programs: Programs,
    keep: &Keep,
    meter: &mut dyn FnMut(&Reading) -> ControlFlow<()>,
) -> Result<Outcome, EmulationError> {
    let config = network_config(scenario);
    let real_ues = 1 + programs.ues.len();
    let tuns = topology::build(real_ues, &programs.tcp).map_err(system("cannot make the namespaces"))?;
    let limit = config.ues.iter().flat_map(|ue| ue.channels).map(|channel| channel.format.tti).min();
    let limit = limit.unwrap_or(Duration::from_millis(10));
    let recording = programs.recording.as_deref().map(|path| Recording::create(path, tuns.len()));
    let recording = recording.transpose().map_err(system("cannot write the recording"))?;
    let mut children = Children::default();
    let server_side = tuns[SERVER_PORT].namespace();
    if let Some(internet) = &programs.internet {
        children.start_and_wait(server_side, internet).map_err(system("cannot start the servers inside"))?;
    }
    for server in &programs.servers {
        children.start_server(server_side, server).map_err(system("cannot run a server"))?;
    }
    let clock = WallClock::new(tuns, programs.parent, limit).map_err(system("cannot start the clock"))?;
    let command = children.start(clock.tuns()[ue_port(0)].namespace(), &programs.command);
    let command = command.map_err(|source| EmulationError::Command {
        name: programs.command.words[0].to_string_lossy().into_owned(),
        source,
    })?;
    for (ue, program) in programs.ues.iter().enumerate() {
        let namespace = clock.tuns()[ue_port(ue + 1)].namespace();
        children.start(namespace, program).map_err(system("cannot run the program of a UE"))?;
    }
    let cargo = Cargo::default();
    let exchange = Exchange::new(real_ues, cargo.clone());
    let mut live =
        Live { clock, exchange, children, command, recording, is_abandoned: false, released_late: 0 };
    let results = run(scenario, seed, &mut live, cargo, keep, meter, |live| &live.exchange)?;
    if let Some(recording) = live.recording.take() {
        recording.finish().map_err(system("cannot write the recording"))?;
    }
    let mut tun_drops = 0;
    for tun in live.clock.tuns() {
        tun_drops += tun.dropped().map_err(system("cannot ask for drops"))?;
    }
    let fidelity = Fidelity {
        lateness: live.clock.lateness().clone(),
        released_late: live.released_late,
        tun_drops,
        counts: live.exchange.counts,
        is_real_time: programs.is_real_time,
    };
    let status = live.children.status(live.command).unwrap_or(125);
    Ok(Outcome { status, is_abandoned: live.is_abandoned, fidelity, results })
}

/// The network of an emulation again, with the packets of its recording at their times, as fast as possible. The same
/// code, scenario and seed give the same events: [`Results::digest`] tells.
///
/// # Errors
/// If the recording cannot be read or results cannot be written.
pub fn replay(
    scenario: &Scenario,
    seed: u64,
    real_ues: usize,
    recording: &Path,
    end: Time,
    keep: &Keep,
) -> Result<(Results, Counts), EmulationError> {
    let arrivals =
        recording::read(recording, ue_port(real_ues)).map_err(system("cannot read the recording"))?;
    let cargo = Cargo::default();
    let mut outside = Replay::new(arrivals, end, Exchange::new(real_ues, cargo.clone()));
    let results =
        run(scenario, seed, &mut outside, cargo, keep, &mut |_| ControlFlow::Continue(()), |replay| {
            &replay.exchange
        })?;
    Ok((results, outside.exchange.counts))
}

/// How often the meter is read.
const METER_EVERY: Duration = Duration::from_millis(500);

fn run<O: Outside>(
    scenario: &Scenario,
    seed: u64,
    outside: &mut O,
    cargo: Cargo,
    keep: &Keep,
    meter: &mut dyn FnMut(&Reading) -> ControlFlow<()>,
    exchange_of: impl Fn(&O) -> &Exchange,
) -> Result<Results, EmulationError> {
    let mut network = Network::new(&network_config(scenario), &Streams::new(seed, 0));
    let mut queue = EventQueue::new();
    queue.push(Time::ZERO + scenario.duration, Phase::Receive, Event::EndOfRun);
    network.start(&mut queue);
    let captures = match &keep.pcap_dir {
        Some(folder) => {
            let cargo = cargo.clone();
            let config = CaptureConfig::default();
            Some(Captures::of_real_packets(folder, &config, Box::new(move |id| cargo.look(id)))?)
        }
        None => None,
    };
    let series = keep.series.then(|| Series::new(SeriesConfig::default()));
    let metrics = Metrics::new(metrics_config(scenario));
    let mut sinks: Sinks = (cargo, (Gauge::default(), (Digest::default(), (metrics, (series, captures)))));
    let mut progress = |now: Time, sinks: &mut Sinks| {
        meter(&sinks.1.0.read(now))?;
        ControlFlow::Continue(now + METER_EVERY)
    };
    let stopped = drive(&mut network, &mut queue, outside, &mut sinks, &mut progress).is_break();
    // A packet may have come in after the last event.
    let end = queue.now().max(exchange_of(outside).last_entry);
    if stopped {
        return Err(EmulationError::Stopped);
    }
    let (_, (_, (digest, (metrics, (series, captures))))) = sinks;
    Ok(Results {
        metrics: metrics.finish_early(end),
        series: series.map(|series| series.finish(end)),
        files: captures.map(Captures::finish).transpose()?.unwrap_or_default(),
        events: queue.scheduled(),
        end,
        digest: digest.finish(),
    })
}
