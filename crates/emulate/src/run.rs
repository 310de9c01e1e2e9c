//! An emulation from its start to its end, and its replay.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase};
use umts_record::budget::{Budget, BudgetConfig};
use umts_record::capture::{CaptureConfig, Captures};
use umts_record::metrics::{Metrics, RunMetrics};
use umts_record::series::{Series, SeriesTables, Table};
use umts_scenario::Scenario;
use umts_simulate::{
    Outside, budget_config, drive, encodings, metrics_config, network_config, series_config,
};
use umts_stack::network::{Event, Network};
use umts_units::{Duration, Time};

use crate::clock::wall_clock::{WallClock, cpu_time};
use crate::devices::port::Behind;
use crate::devices::tcp_settings::Effective;
use crate::devices::topology::ue_port;
use crate::devices::wire::Frames;
use crate::error::{EmulationError, system};
use crate::outside::exchange::{Counts, Exchange};
use crate::outside::live::Live;
use crate::outside::recording::{self, Recording};
use crate::outside::replay::Replay;
use crate::packets::cargo::Cargo;
use crate::programs::Programs;
use crate::programs::children::Children;
use crate::programs::surroundings::{Surroundings, start_in_ue};
use crate::results::digest::Digest;
use crate::results::fidelity::Fidelity;
use crate::results::gauge::{Gauge, Reading};
use crate::results::programs_budget::ProgramsBudget;
use crate::results::round_trips::RoundTrips;

/// What is kept of a run.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    /// Whether to record time series.
    pub series: bool,
    /// Where to write captures, if anywhere; the folder exists.
    pub pcap_dir: Option<PathBuf>,
    /// Whether PDUs are captured too, where they have an encoding.
    pub pdus: bool,
    /// Whether to take the fingerprint by which a replay is held against its emulation: it costs as much time as all
    /// the rest of the loop.
    pub digest: bool,
}

/// What is told when the network is there, before a program runs.
#[derive(Debug)]
pub struct Started<'a> {
    /// What the kernel's TCP says of itself.
    pub tcp: &'a Effective,
    /// What was changed in the host's network; it ends with the emulation.
    pub changes: &'a [String],
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
    /// What the kernel's TCP did, as the namespaces told.
    pub tcp: Effective,
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
    /// Fingerprint of all that happened in the network, if it was asked for.
    pub digest: Option<String>,
}

/// Of the programs' connections, and of the simulated users' beside them.
type Budgets = (Option<ProgramsBudget>, Option<Budget>);
type Recorders = (Metrics, (Budgets, (Option<Series>, Option<Captures>)));
type Sinks = (Cargo, ((Gauge, RoundTrips), (Option<Digest>, Recorders)));

/// Runs `programs` over the network of `scenario`, on the wall clock. `meter` is told the state about twice a second and
/// may stop everything; `started` is told before that what the kernel's TCP does.
///
/// # Errors
/// If the kernel refuses something, the command cannot be started, or results cannot be written.
pub fn emulate(
    scenario: &Scenario,
    seed: u64,
    programs: Programs,
    keep: &Keep,
    started: impl FnOnce(Started<'_>) -> Result<(), EmulationError>,
    meter: &mut dyn FnMut(&Reading) -> ControlFlow<()>,
) -> Result<Outcome, EmulationError> {
    let config = network_config(scenario);
    let surroundings = Surroundings::new(&programs)?;
    started(Started { tcp: &surroundings.tcp, changes: surroundings.changes() })?;
    let limit = config.ues.iter().flat_map(|ue| ue.channels).map(|channel| channel.format.tti).min();
    let limit = limit.unwrap_or(Duration::from_millis(10));
    let ports = surroundings.ports.len();
    let recording = programs.recording.as_deref().map(|path| Recording::create(path, ports));
    let recording = recording.transpose().map_err(system("cannot write the recording"))?;
    let mut children = Children::default();
    surroundings.start_servers(&mut children, &programs)?;
    let Surroundings { ports, behind, tcp, uplink } = surroundings;
    let clock = WallClock::new(ports, programs.parent, limit).map_err(system("cannot start the clock"))?;
    let command = start_in_ue(&mut children, clock.ports(), 0, &programs.command);
    let command = command.map_err(|source| EmulationError::Command {
        name: programs.command.words[0].to_string_lossy().into_owned(),
        source,
    })?;
    for (ue, program) in programs.ues.iter().enumerate() {
        let started = start_in_ue(&mut children, clock.ports(), ue + 1, program);
        started.map_err(system("cannot run the program of a UE"))?;
    }
    let cargo = Cargo::new(&config);
    let exchange = Exchange::new(behind, cargo.clone());
    let mut live =
        Live { clock, exchange, children, command, recording, is_abandoned: false, released_late: 0 };
    let cpu_before = cpu_time().map_err(system("cannot read the clock"))?;
    let results = run(scenario, seed, &mut live, cargo, keep, meter, |live| &live.exchange)?;
    let cpu = cpu_time().map_err(system("cannot read the clock"))? - cpu_before;
    if let Some(recording) = live.recording.take() {
        recording.finish().map_err(system("cannot write the recording"))?;
    }
    let (mut tun_drops, mut devices_lost, mut frames) = (0, 0, Frames::default());
    for port in live.clock.ports() {
        frames += port.frames();
        match port.dropped() {
            Ok(dropped) => tun_drops += dropped,
            Err(_) => devices_lost += 1,
        }
    }
    let fidelity = Fidelity {
        lateness: live.clock.lateness().clone(),
        released_late: live.released_late,
        tun_drops,
        devices_lost,
        counts: live.exchange.counts(frames),
        cpu,
        duration: results.end - Time::ZERO,
        is_real_time: programs.is_real_time,
    };
    let status = live.children.status(live.command).unwrap_or(125);
    drop(uplink);
    Ok(Outcome { status, is_abandoned: live.is_abandoned, fidelity, tcp, results })
}

/// The network of an emulation again, with the packets of its recording at their times, as fast as possible. The same
/// code, scenario and seed give the same events: [`Results::digest`] tells. Without `real_ues` it was one between given
/// devices.
///
/// # Errors
/// If the recording cannot be read or results cannot be written.
pub fn replay(
    scenario: &Scenario,
    seed: u64,
    real_ues: Option<usize>,
    recording: &Path,
    end: Time,
    keep: &Keep,
) -> Result<(Results, Counts), EmulationError> {
    let behind = real_ues.map_or(Behind::Anybody, Behind::Ues);
    let arrivals = recording::read(recording, ue_port(real_ues.unwrap_or(1)))
        .map_err(system("cannot read the recording"))?;
    let cargo = Cargo::new(&network_config(scenario));
    let mut outside = Replay::new(arrivals, end, Exchange::new(behind, cargo.clone()));
    let results =
        run(scenario, seed, &mut outside, cargo, keep, &mut |_| ControlFlow::Continue(()), |replay| {
            &replay.exchange
        })?;
    Ok((results, outside.exchange.counts(Frames::default())))
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
            let bearers = if keep.pdus { encodings(scenario) } else { Vec::new() };
            let config = CaptureConfig { bearers, ..CaptureConfig::default() };
            Some(Captures::of_real_packets(folder, &config, Box::new(move |id| cargo.look(id)))?)
        }
        None => None,
    };
    let series = keep.series.then(|| Series::new(series_config(scenario)));
    let metrics = Metrics::new(metrics_config(scenario));
    let gauges = (Gauge::default(), RoundTrips::new(cargo.clone(), keep.series));
    let recorders = (metrics, (budgets(scenario, keep, &cargo), (series, captures)));
    let digest = keep.digest.then(Digest::default);
    let mut sinks: Sinks = (cargo, (gauges, (digest, recorders)));
    let mut progress = |now: Time, sinks: &mut Sinks| {
        let (gauge, round_trips) = &mut sinks.1.0;
        meter(&gauge.read(now, round_trips.take_mean()))?;
        ControlFlow::Continue(now + METER_EVERY)
    };
    let stopped = drive(&mut network, &mut queue, outside, &mut sinks, &mut progress).is_break();
    // A packet may have come in after the last event.
    let end = queue.now().max(exchange_of(outside).last_entry);
    if stopped {
        return Err(EmulationError::Stopped);
    }
    let (_, ((_, round_trips), (digest, (metrics, (budgets, (series, captures)))))) = sinks;
    let mut metrics = metrics.finish_early(end);
    let tables = finish_budgets(budgets, end, &mut metrics);
    let mut series = series.map(|series| series.finish(end));
    if let Some(series) = &mut series {
        series.tables.extend(tables);
    }
    if let (Some(series), Some(table)) = (&mut series, round_trips.into_table()) {
        series.tables.push(table);
    }
    Ok(Results {
        metrics,
        series,
        files: captures.map(Captures::finish).transpose()?.unwrap_or_default(),
        events: queue.scheduled(),
        end,
        digest: digest.as_ref().map(Digest::finish),
    })
}

fn budgets(scenario: &Scenario, keep: &Keep, cargo: &Cargo) -> Budgets {
    let Some(config) = budget_config(scenario, keep.series) else { return (None, None) };
    let network = network_config(scenario);
    // A waterfall is of a program's connection.
    let simulated = BudgetConfig { waterfall: None, ..config };
    let simulated = (!network.flows.is_empty()).then(|| Budget::new(simulated, &network));
    (Some(ProgramsBudget::new(cargo.clone(), config, &network)), simulated)
}

/// Completes them: the tables. The metrics of the network are those of the programs' connections; each simulated
/// connection has its own in its row.
fn finish_budgets((programs, simulated): Budgets, end: Time, metrics: &mut RunMetrics) -> Vec<Table> {
    let mut tables = Vec::new();
    if let Some(simulated) = simulated {
        let network = metrics.network.clone();
        tables = simulated.finish(end, metrics);
        metrics.network = network;
        for table in &mut tables {
            // Their connections are numbered apart from the programs'.
            table.name = match table.name {
                "budget_intervals" => "simulated_budget_intervals",
                "budget_rtos" => "simulated_budget_rtos",
                other => other,
            };
        }
    }
    if let Some(programs) = programs {
        tables.extend(programs.finish(end, metrics));
    }
    tables
}
