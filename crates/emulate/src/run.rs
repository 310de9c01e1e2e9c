//! Runs an emulation, and replays one. Both create the same network and recorders ([`Setting`]);
//! they differ in the clock and in the source of the packets.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, Phase};
use umts_record::budget::{BudgetConfig, ConnectionOrigin};
use umts_record::capture::{CaptureError, RealPackets};
use umts_record::metrics::RunMetrics;
use umts_record::series::SeriesTables;
use umts_record::{Recorders, Records};
use umts_scenario::Scenario;
use umts_simulate::{ExternalIo, drive, network_config, recorder_config};
use umts_stack::network::{Event, Network, NetworkConfig};
use umts_stack::trace::CapturePoint;
use umts_units::{Duration, Time};

use crate::clock::lateness::Lateness;
use crate::clock::wall_clock::{WallClock, cpu_time};
use crate::devices::port::Behind;
use crate::devices::tcp_settings::Effective;
use crate::devices::wire::Frames;
use crate::error::{EmulationError, system};
use crate::faults::FaultOrder;
use crate::outside::exchange::{Counts, Exchange};
use crate::outside::live::Live;
use crate::outside::recording::{self, Recording};
use crate::outside::replay::Replay;
use crate::packets::packet_store::PacketStore;
use crate::programs::children::{ChildId, Children};
use crate::programs::surroundings::Surroundings;
use crate::programs::waiting::Waiting;
use crate::programs::{Internet, PerProgram, Programs};
use crate::results::digest::Digest;
use crate::results::fidelity::Fidelity;
use crate::results::first_connection::{BeforeConnection, FirstConnection};
use crate::results::live_state::SharedLiveState;
use crate::results::meter::{Meter, Reading};
use crate::results::programs_budget::ProgramsBudget;
use crate::results::programs_datagrams::ProgramsDatagrams;
use crate::results::recorder::EmulationRecorder;
use crate::results::round_trips::RoundTrips;

/// Lateness above which instants are counted, in a network without a channel. With channels it is
/// the shortest TTI.
const DEFAULT_LATENESS_LIMIT: Duration = Duration::from_millis(10);

/// Exit status of a command that was still running at the end: the status of `timeout` and similar
/// programs for an error of their own.
const STILL_RUNNING: i32 = 125;

/// Interval between calls of the meter.
const METER_INTERVAL: Duration = Duration::from_millis(500);

/// Selects the output of a run.
#[derive(Debug, Clone, Default)]
pub struct OutputConfig {
    /// Whether to record time series.
    pub series: bool,
    /// Existing folder for captures, if they are written.
    pub pcap_dir: Option<PathBuf>,
    /// Whether to capture everything: also at the RNC, packets of simulated users, and PDUs if they
    /// have an encoding. Otherwise only packets of programs are captured, at the ends of their TCP
    /// connections.
    pub captures_all: bool,
    /// Whether to compute the fingerprint that is compared with a replay.
    pub digest: bool,
}

/// State of the emulation when the network exists, before the command runs.
#[derive(Debug)]
pub struct Started<'a> {
    /// Effective settings of the kernel's TCP.
    pub tcp: &'a Effective,
    /// Effective settings at the proxy, if there is one: towards the servers, towards the users.
    pub proxy: Option<&'a [Effective; 2]>,
    /// Changes in the host's network. They are undone when the emulation ends.
    pub changes: &'a [String],
}

/// Result of an emulation.
#[derive(Debug)]
pub struct Outcome {
    /// Exit status of the command.
    pub status: i32,
    /// Exit statuses of the programs of the other UEs, of the servers, and of the built-in servers
    /// or the resolver. `None` for programs that were still running when the command ended.
    pub others: PerProgram<Option<i32>>,
    /// Whether the parent process exited or stopped the emulation before the command ended.
    pub is_abandoned: bool,
    /// Effects of the machine on the emulation.
    pub fidelity: Fidelity,
    /// Effective settings of the kernel's TCP in the namespaces.
    pub tcp: Effective,
    /// Effective settings at the proxy, if there was one: towards the servers, towards the users.
    pub proxy_tcp: Option<[Effective; 2]>,
    /// Measurements.
    pub results: Results,
}

/// Measurements of an emulation or its replay.
#[derive(Debug)]
pub struct Results {
    /// Metrics of the radio network over the whole run.
    pub metrics: RunMetrics,
    /// Time series, if they are recorded.
    pub series: Option<SeriesTables>,
    /// Captures written.
    pub files: Vec<PathBuf>,
    /// Messages about files that could not be written. These files are removed; the other results
    /// are complete.
    pub lost: Vec<String>,
    /// Number of events that were scheduled.
    pub events: u64,
    /// Time at which the run ended.
    pub end: Time,
    /// Time before the command's first connection.
    pub before_connection: Option<BeforeConnection>,
    /// Fingerprint of all events in the network, if it is computed.
    pub digest: Option<String>,
}

/// Runs `programs` over the network of `scenario` on the wall clock. `started` is called once
/// before the command runs. `meter` is called every 500 ms of the run and may stop it. `notice`
/// receives messages about problems during the run.
///
/// # Errors
/// An error if the kernel refuses an operation, the command cannot be started, or results cannot be
/// written.
pub fn emulate(
    scenario: &Scenario,
    seed: u64,
    mut programs: Programs,
    output: &OutputConfig,
    started: impl FnOnce(Started<'_>) -> Result<(), EmulationError>,
    meter: &mut dyn FnMut(&Reading) -> ControlFlow<()>,
    notice: &mut dyn FnMut(&str),
) -> Result<Outcome, EmulationError> {
    let silent = if programs.keeps_flows { 0 } else { 1 + programs.ues.len() };
    let setting = Setting::new(scenario, seed, output, programs.proxy.is_some(), silent);
    let state = programs.viewers.is_some().then(|| SharedLiveState::new(&setting.network));
    let surroundings = Surroundings::new(&mut programs)?;
    started(Started {
        tcp: &surroundings.tcp,
        proxy: surroundings.proxy_tcp.as_ref(),
        changes: surroundings.changes(),
    })?;
    // Before the clock starts: creating a network with many UEs takes tens of milliseconds and
    // would make the clock late.
    let ready = setting.create(state.clone())?;
    let limit = setting.lateness_limit();
    let behind = surroundings.behind;
    let recording = programs.recording.as_deref().map(|path| Recording::create(path, behind));
    let recording = recording.transpose().map_err(system("cannot write the recording"))?;
    let mut children = Children::default();
    let mut others = surroundings.start_servers(&mut children, &mut programs)?;
    let Surroundings { ports, tcp, proxy_tcp, uplink, .. } = surroundings;
    let clock = WallClock::new(ports, programs.parent, programs.faults, programs.viewers, limit);
    let clock = clock.map_err(system("cannot start the clock"))?;
    let command = begin_command(&mut children, programs.command)?;
    others.ues = begin_programs(&mut children, programs.ues)?;
    let waited_for = if programs.waits { others.ues.clone() } else { Vec::new() };
    let every_address = accepts_every_address(behind, matches!(programs.internet, Internet::Host { .. }));
    let exchange = Exchange::new(behind, every_address, setting.packet_store.clone());
    let cpu_before = cpu_time().map_err(system("cannot read the clock"))?;
    let mut live = Live {
        clock,
        exchange,
        children,
        command,
        waited_for,
        interrupts_before: None,
        end: Time::ZERO,
        reported_gone: 0,
        notice,
        recording,
        is_abandoned: false,
        released: Lateness::new(limit),
        state,
        cpu_before,
        is_real_time: programs.is_real_time,
    };
    let mut results = ready.run(&mut live, meter, |live| live.end.max(live.exchange.last_entry))?;
    let fidelity = live.fidelity(results.end).map_err(system("cannot read the clock"))?;
    if let Some(Err(error)) = live.recording.take().map(Recording::finish) {
        results.lost.push(format!("cannot write the recording: {error}"));
    }
    let status = live.children.status(live.command).unwrap_or(STILL_RUNNING);
    let proxy = others.proxy;
    let others = others.map(|child| live.children.status(child));
    if let Some(proxy) = proxy {
        // SIGTERM makes the proxy log the connections that are still open.
        live.children.end(proxy);
    }
    drop(uplink);
    Ok(Outcome { status, others, is_abandoned: live.is_abandoned, fidelity, tcp, proxy_tcp, results })
}

fn begin_command(children: &mut Children, command: Waiting) -> Result<ChildId, EmulationError> {
    let name = command.name.to_string_lossy().into_owned();
    children.begin(command).map_err(|source| EmulationError::Command { name, source })
}

/// Begins the programs of the second UE and later ones.
fn begin_programs(children: &mut Children, programs: Vec<Waiting>) -> Result<Vec<ChildId>, EmulationError> {
    let begin = |program| children.begin(program).map_err(system("cannot run the program of a UE"));
    programs.into_iter().map(begin).collect()
}

/// The recorded inputs of an emulation.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// File with the packets that entered the network.
    pub packets: &'a Path,
    /// Orders about faults, and the times at which they were executed.
    pub faults: &'a [(Time, FaultOrder)],
    /// Time at which the emulation ended.
    pub end: Time,
    /// Hosts behind the ports.
    pub behind: Behind,
    /// Whether the host's network was reachable from the server side.
    pub has_internet: bool,
    /// See [`Programs::keeps_flows`].
    pub keeps_flows: bool,
}

/// Runs the network of an emulation again, as fast as possible. Feeds the recorded packets in and
/// executes the orders about faults at their times. The same code, scenario and seed give the same
/// events; compare [`Results::digest`].
///
/// # Errors
/// An error if the recording cannot be read or results cannot be written.
pub fn replay(
    scenario: &Scenario,
    seed: u64,
    recorded: &Recorded<'_>,
    output: &OutputConfig,
) -> Result<(Results, Counts), EmulationError> {
    let Recorded { packets, faults, end, behind, has_internet, keeps_flows } = *recorded;
    let arrivals = recording::read(packets, behind.ports()).map_err(system("cannot read the recording"))?;
    let silent = if keeps_flows { 0 } else { behind.count() };
    let setting = Setting::new(scenario, seed, output, behind.proxy().is_some(), silent);
    let exchange =
        Exchange::new(behind, accepts_every_address(behind, has_internet), setting.packet_store.clone());
    let mut outside = Replay::new(arrivals, faults, end, exchange);
    let ready = setting.create(None)?;
    let end_of = |replay: &Replay| replay.end.max(replay.exchange.last_entry);
    let results = ready.run(&mut outside, &mut |_| ControlFlow::Continue(()), end_of)?;
    Ok((results, outside.exchange.counts(Frames::default())))
}

/// Whether the server side accepts packets to every address.
fn accepts_every_address(behind: Behind, has_internet: bool) -> bool {
    behind != Behind::OneUe && !has_internet
}

/// Whether the network has simulated users in addition to programs.
fn has_simulated_users(network: &NetworkConfig) -> bool {
    network.flows.iter().any(|flow| flow.start < Time::NEVER)
}

/// A network and its output. Identical in an emulation and its replay.
struct Setting<'a> {
    scenario: &'a Scenario,
    network: NetworkConfig,
    seed: u64,
    output: &'a OutputConfig,
    packet_store: PacketStore,
}

impl<'a> Setting<'a> {
    /// Flows of the first `silent` UEs, which run programs, never start. The flows of the other UEs
    /// start as in a simulation.
    fn new(
        scenario: &'a Scenario,
        seed: u64,
        output: &'a OutputConfig,
        splits_programs: bool,
        silent: usize,
    ) -> Self {
        let mut network = NetworkConfig { programs: true, splits_programs, ..network_config(scenario) };
        for flow in network.flows.iter_mut().filter(|flow| flow.ue.index() < silent) {
            flow.start = Time::NEVER;
        }
        let packet_store = PacketStore::new(&network);
        Setting { scenario, network, seed, output, packet_store }
    }

    /// Lateness above which instants are counted.
    fn lateness_limit(&self) -> Duration {
        let channels = self.network.ues.iter().flat_map(|ue| ue.channels);
        channels.map(|channel| channel.format.tti).min().unwrap_or(DEFAULT_LATENESS_LIMIT)
    }

    /// Creates the network and its recorders. `live` is the state for viewers, if there may be some.
    fn create(&self, live: Option<SharedLiveState>) -> Result<Ready, EmulationError> {
        let mut network = Network::new(&self.network, &Streams::new(self.seed, 0));
        let mut queue = EventQueue::new();
        queue.push(Time::ZERO + self.scenario.duration, Phase::Receive, Event::EndOfRun);
        network.start(&mut queue);
        Ok(Ready { network, queue, recorders: self.recorders(live)? })
    }

    /// Creates the recorders of a simulation, extended to real packets, and the recorders of
    /// emulations.
    fn recorders(&self, live: Option<SharedLiveState>) -> Result<Recorders<EmulationRecorder>, CaptureError> {
        let Setting { network, output, packet_store, .. } = self;
        let mut config = recorder_config(self.scenario, network, output.series, output.pcap_dir.as_deref());
        if let Some((_, captures)) = &mut config.captures {
            let packet_store = packet_store.clone();
            captures.real = Some(RealPackets(Rc::new(move |id| packet_store.copy_of(id))));
            captures.simulated = output.captures_all;
            if !output.captures_all {
                captures.bearers.clear();
                captures.points.retain(|point| *point != CapturePoint::Rnc);
            }
        }
        let programs = config.budget.map(|config| ProgramsBudget::new(packet_store.clone(), config, network));
        // Waterfall and timeline, if they are requested, show the connections of programs.
        let origin = ConnectionOrigin::BesidePrograms;
        let simulated = |config| BudgetConfig { origin, waterfall: None, timeline: false, ..config };
        config.budget = config.budget.map(simulated).filter(|_| has_simulated_users(network));
        let watch = EmulationRecorder {
            packet_store: packet_store.clone(),
            meter: Meter::default(),
            round_trips: RoundTrips::new(packet_store.clone(), output.series),
            datagrams: ProgramsDatagrams::new(packet_store.clone(), config.metrics.clone()),
            first_connection: FirstConnection::new(packet_store.clone()),
            digest: output.digest.then(Digest::default),
            live,
            programs,
        };
        Recorders::new(config, watch)
    }
}

/// A network before its first event, and its recorders.
struct Ready {
    network: Network,
    queue: EventQueue<Event>,
    recorders: Recorders<EmulationRecorder>,
}

impl Ready {
    /// Runs the network to its end. `end_of` returns the end of the last action outside.
    fn run<O: ExternalIo>(
        self,
        outside: &mut O,
        meter: &mut dyn FnMut(&Reading) -> ControlFlow<()>,
        end_of: impl Fn(&O) -> Time,
    ) -> Result<Results, EmulationError> {
        let Ready { mut network, mut queue, mut recorders } = self;
        let mut progress = |now: Time, recorders: &mut Recorders<EmulationRecorder>| {
            meter(&recorders.beside.read(now))?;
            ControlFlow::Continue(now + METER_INTERVAL)
        };
        let stopped = drive(&mut network, &mut queue, outside, &mut recorders, &mut progress).is_break();
        // The command may have ended, or a packet may have arrived, after the last event.
        let end = queue.now().max(end_of(outside));
        if stopped {
            return Err(EmulationError::Stopped);
        }
        let Records { mut metrics, mut series, captures, beside } = recorders.finish(end);
        // An emulation cannot be repeated: keep the captures that could be written.
        let (files, lost) = match captures {
            Ok(files) => (files, Vec::new()),
            Err(error) => (Vec::new(), vec![error.to_string()]),
        };
        let before_connection = beside.first_connection.found();
        let (tables, digest) = beside.finish(end, &mut metrics);
        // The figures of the time budget need the programs' connections even without recorded
        // series.
        let kept = tables.into_iter().filter(|table| series.is_some() || table.name == "budget_connections");
        let kept: Vec<_> = kept.collect();
        if series.is_some() || !kept.is_empty() {
            series.get_or_insert_with(|| SeriesTables { tables: Vec::new() }).tables.extend(kept);
        }
        Ok(Results {
            metrics,
            series,
            files,
            lost,
            events: queue.scheduled(),
            end,
            before_connection,
            digest,
        })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One UE with a program and access to the host's network; all flows of the scenario run.
    pub fn recorded(packets: &Path, end: Time) -> Recorded<'_> {
        Recorded { packets, faults: &[], end, behind: Behind::ues(1), has_internet: true, keeps_flows: true }
    }

    /// Of three UEs with one flow each, the first ones run programs.
    #[test]
    fn only_flows_of_ues_with_programs_never_start() {
        let text = "version = 1\nduration = \"9 s\"\n[[ue]]\nname = \"u\"\ncount = 3\n[[flow]]\nue = \"u\"\ntraffic = \"ftp\"\nstart = \"1 s\"";
        let scenario = Scenario::parse(text, "x", Path::new(""), &[]).unwrap().scenario;
        let output = OutputConfig::default();
        let starts = |silent: usize| -> Vec<Time> {
            let setting = Setting::new(&scenario, 1, &output, false, silent);
            assert_eq!(has_simulated_users(&setting.network), silent < 3);
            setting.network.flows.iter().map(|flow| flow.start).collect()
        };
        let second = Time::ZERO + Duration::from_secs(1);
        assert_eq!(starts(0), [second; 3]);
        assert_eq!(starts(2), [Time::NEVER, Time::NEVER, second]);
        assert_eq!(starts(3), [Time::NEVER; 3]);
    }
}
