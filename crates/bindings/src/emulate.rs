//! Python functions that run and replay emulations.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_emulate::{
    Behind, Counts, Effective, Fidelity, Internet, OutputConfig, Program, Programs, Proxy, Reading, Recorded,
    Results, Started, TcpSettings,
};
use umts_units::{Duration, Time};

use crate::columns::Columns;
use crate::errors::NO_PANIC;
use crate::faults::{Executed, FaultControl, orders};
use crate::readings::LiveViewer;
use crate::sandbox::{Place, Waiting};
use crate::scenario::Scenario;
use crate::tables::{Tables, to_python};

pyo3::create_exception!(
    umtslab._core,
    EmulationError,
    pyo3::exceptions::PyException,
    "An emulation failed; ``error.status`` is the exit status for the command."
);

/// Measure how late a bare timer with period `period_s` is, for `duration_s`. Return the lateness
/// in seconds: (p50, p99, maximum).
#[pyfunction]
pub fn measure_lateness(py: Python<'_>, period_s: f64, duration_s: f64) -> PyResult<(f64, f64, f64)> {
    let (period, duration) = (Duration::from_secs_f64(period_s), Duration::from_secs_f64(duration_s));
    let lateness = py.detach(|| umts_emulate::measure_lateness(period, duration))?;
    let quantile = |share: f64| lateness.quantile(share).as_secs();
    Ok((quantile(0.5), quantile(0.99), quantile(1.0)))
}

/// Result of an emulation or its replay. `connections` and the values of `series` are Arrow
/// streams.
#[pyclass(frozen, module = "umtslab._core", get_all)]
pub struct EmulationResult {
    /// Exit status of the command; `None` for a replay.
    status: Option<i32>,
    /// Exit statuses of the programs of the second UE and later ones; `None` for programs that were
    /// still running when the command ended.
    ues: Vec<Option<i32>>,
    /// Exit statuses of the user's servers, likewise.
    servers: Vec<Option<i32>>,
    /// Exit status of the built-in servers or the name server, likewise.
    internet: Option<i32>,
    /// Exit status of the proxy, likewise.
    proxy: Option<i32>,
    /// Whether the parent process exited, or stopped the emulation, before the command ended.
    abandoned: bool,
    /// Duration of the emulation in seconds.
    duration_s: f64,
    /// Metrics of the network.
    metrics: BTreeMap<String, Option<f64>>,
    /// One row per simulated connection.
    connections: Py<Columns>,
    /// Time series by name; empty if they were not requested.
    series: BTreeMap<String, Py<Columns>>,
    /// Captures written.
    files: Vec<OsString>,
    /// Messages about captures and recordings that could not be written. These files are removed.
    lost: Vec<String>,
    /// Number of events that were scheduled.
    events: u64,
    /// Time before the command's first connection, from the first packet of its UE on: seconds to
    /// the SYN or to the first datagram that is not DNS, seconds of these in which RRC promoted the
    /// UE, and whether names were looked up. `None` if no packet preceded the connection.
    before_connection: Option<(f64, f64, bool)>,
    /// Fingerprint of all events in the network: equal for an emulation and its replay. `None` for
    /// an emulation without recording.
    digest: Option<String>,
    /// Counters of packets and bytes that entered, left and were lost.
    packets: BTreeMap<&'static str, u64>,
    /// Lateness and other effects of the machine; empty for a replay.
    fidelity: BTreeMap<&'static str, f64>,
    /// Whether the machine was too slow for the results to be trusted.
    degraded: bool,
    /// Effective settings of the kernel's TCP; empty for a replay.
    tcp: BTreeMap<String, String>,
    /// Effective settings at the proxy, towards the servers and towards the users; empty without a
    /// proxy and for a replay.
    proxy_tcp: Vec<BTreeMap<String, String>>,
}

/// Run programs over the network of a scenario until `command` ends. They wait in their `places`:
/// first the place of the server side, then the place of the first UE, and onwards. The call uses
/// up places and programs.
///
/// `internet` is the program that answers DNS and every address at the server side. With
/// `resolver`, the host's network is behind the server side instead; that program answers DNS, and
/// its two last arguments are the descriptors of its UDP and TCP sockets. `wires` names two devices
/// instead of places: towards the UE, towards the network. `proxy` is the program that splits the
/// programs' TCP connections; it intercepts packets of the devices `PROXY_DEVICES`. `proxy_sides`
/// are the TCP settings there, towards the servers and towards the users. `faults` sets faults during
/// the run, and `viewers` reads its state.
///
/// `started` is called with the effective TCP settings, the settings of both sides of the proxy,
/// and the changes in the host's network. About twice a second `meter` is called with a dictionary:
/// ``at_s``, ``down_bps``, ``up_bps``, bytes in the RLC buffers ``buffer_down`` and ``buffer_up``,
/// and if they are known ``rlc_delay_s``, ``rtt_s`` (of the programs' packets), ``state`` and
/// ``towards`` (RRC, of the first UE). `notice` is called with messages about problems during the
/// run.
///
/// With `waits`, the emulation ends when the programs of all UEs have ended, instead of with the
/// command. Without `keep_flows`, flows of the programs' UEs never start.
#[pyfunction]
#[pyo3(
    signature = (
        scenario, seed, command, *, parent, places=vec![], ues=vec![], servers=vec![], internet=None, resolver=None,
        host_services=false, tcp=vec![], wires=None, proxy=None, proxy_sides=(vec![], vec![]), faults=None, viewers=None, recording=None, real_time=false, waits=false, keep_flows=false, series=false, pcap_dir=None, pdus=false, started=None, meter=None, notice=None
    ),
    text_signature = "(scenario, seed, command, *, parent, places=[], ues=[], servers=[], internet=None, resolver=None, host_services=False, \
                      tcp=[], wires=None, proxy=None, proxy_sides=([], []), faults=None, viewers=None, recording=None, real_time=False, waits=False, keep_flows=False, series=False, pcap_dir=None, pdus=False, started=None, \
                      meter=None, notice=None)"
)]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn emulate(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    command: PyRef<'_, Waiting>,
    parent: i32,
    places: Vec<PyRef<'_, Place>>,
    ues: Vec<PyRef<'_, Waiting>>,
    servers: Vec<PyRef<'_, Waiting>>,
    internet: Option<Vec<OsString>>,
    resolver: Option<Vec<OsString>>,
    host_services: bool,
    tcp: Vec<(String, String)>,
    wires: Option<(String, String)>,
    proxy: Option<Vec<OsString>>,
    proxy_sides: (Pairs, Pairs),
    faults: Option<PyRef<'_, FaultControl>>,
    viewers: Option<PyRef<'_, LiveViewer>>,
    recording: Option<PathBuf>,
    real_time: bool,
    waits: bool,
    keep_flows: bool,
    series: bool,
    pcap_dir: Option<PathBuf>,
    pdus: bool,
    started: Option<Py<PyAny>>,
    meter: Option<Py<PyAny>>,
    notice: Option<Py<PyAny>>,
) -> PyResult<EmulationResult> {
    let own_program = |words| Program { words, ..Program::default() };
    let programs = Programs {
        networks: places.iter().map(|place| place.take_network()).collect::<PyResult<_>>()?,
        command: command.take()?,
        ues: ues.iter().map(|program| program.take()).collect::<PyResult<_>>()?,
        waits,
        internet: match (internet, resolver) {
            (_, Some(words)) => Internet::Host { resolver: own_program(words), services: host_services },
            (Some(words), None) => Internet::Hermetic(own_program(words)),
            (None, None) => Internet::None,
        },
        servers: servers.iter().map(|program| program.take()).collect::<PyResult<_>>()?,
        tcp: settings(&tcp)?,
        proxy: match proxy {
            Some(words) => Some(Proxy {
                program: own_program(words),
                sides: [settings(&proxy_sides.0)?, settings(&proxy_sides.1)?],
            }),
            None => None,
        },
        wires: wires.map(|(ue, net)| [ue, net]),
        // Opened again, because the original descriptor belongs to Python.
        parent: OwnedFd::from(File::open(format!("/proc/self/fd/{parent}"))?),
        faults: faults.and_then(|control| control.take_inbox()),
        viewers: viewers.and_then(|viewer| viewer.take_inbox()),
        recording,
        is_real_time: real_time,
        keeps_flows: keep_flows,
    };
    let is_recorded = programs.recording.is_some();
    let exception = Mutex::new(None);
    let outcome = py.detach(|| {
        let on_start = |info: Started<'_>| {
            call_started(started.as_ref(), &info).map_err(|error| {
                exception.lock().expect(NO_PANIC).replace(error);
                umts_emulate::EmulationError::Stopped
            })
        };
        let mut report = |reading: &Reading| match call_meter(meter.as_ref(), reading) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                exception.lock().expect(NO_PANIC).replace(error);
                ControlFlow::Break(())
            }
        };
        let output = OutputConfig { series, pcap_dir, captures_all: pdus, digest: is_recorded };
        let mut on_notice = |message: &str| call_notice(notice.as_ref(), message);
        umts_emulate::emulate(
            scenario.inner(),
            seed,
            programs,
            &output,
            on_start,
            &mut report,
            &mut on_notice,
        )
    });
    if let Some(exception) = exception.into_inner().expect(NO_PANIC) {
        return Err(exception);
    }
    let outcome = outcome.map_err(|error| failure(py, &error))?;
    let mut result = emulation_result(py, scenario, outcome.results, outcome.fidelity.counts)?;
    result.status = Some(outcome.status);
    result.ues = outcome.others.ues;
    result.servers = outcome.others.servers;
    result.internet = outcome.others.internet.flatten();
    result.proxy = outcome.others.proxy.flatten();
    result.abandoned = outcome.is_abandoned;
    result.degraded = outcome.fidelity.is_degraded();
    result.fidelity = fidelity(&outcome.fidelity);
    result.tcp = outcome.tcp.into_iter().collect();
    result.proxy_tcp =
        outcome.proxy_tcp.into_iter().flatten().map(|side| side.into_iter().collect()).collect();
    Ok(result)
}

/// Run the network of an emulation again with its recorded packets, until `end_s`. `faults` are the
/// orders about faults: time in nanoseconds, name, and values as an inline table or ``None`` for a
/// removal. `has_internet` states whether the host's network was behind the server side, `splits`
/// whether there was a proxy for the programs, and `keep_flows` whether flows of their UEs were
/// simulated too.
#[pyfunction]
#[pyo3(signature = (scenario, seed, recording, *, real_ues, end_s, faults=vec![], has_internet=false, splits=false, keep_flows=false, series=false, pcap_dir=None, pdus=false), text_signature = "(scenario, seed, recording, *, real_ues, end_s, faults=[], has_internet=False, splits=False, keep_flows=False, series=False, pcap_dir=None, pdus=False)")]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn replay(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    recording: PathBuf,
    real_ues: Option<usize>,
    end_s: f64,
    faults: Vec<Executed>,
    has_internet: bool,
    splits: bool,
    keep_flows: bool,
    series: bool,
    pcap_dir: Option<PathBuf>,
    pdus: bool,
) -> PyResult<EmulationResult> {
    let end = Time::ZERO + Duration::from_secs_f64(end_s);
    let output = OutputConfig { series, pcap_dir, captures_all: pdus, digest: true };
    let radio_side = real_ues.map_or(Behind::OneUe, |count| Behind::Ues { count, are_split: splits });
    let faults = orders(py, scenario, faults)?;
    let recorded = Recorded {
        packets: &recording,
        faults: &faults,
        end,
        behind: radio_side,
        has_internet,
        keeps_flows: keep_flows,
    };
    let replayed = py.detach(|| umts_emulate::replay(scenario.inner(), seed, &recorded, &output));
    let (results, counts) = replayed.map_err(|error| failure(py, &error))?;
    emulation_result(py, scenario, results, counts)
}

/// Pairs of name and value.
type Pairs = Vec<(String, String)>;

/// Parses TCP settings. An invalid one raises ``ValueError``.
fn settings(pairs: &Pairs) -> PyResult<TcpSettings> {
    TcpSettings::from_pairs(pairs).map_err(PyValueError::new_err)
}

/// Creates the exception for a failed emulation.
fn failure(py: Python<'_>, error: &umts_emulate::EmulationError) -> PyErr {
    let exception = EmulationError::new_err(error.to_string());
    match exception.value(py).setattr("status", error.exit_status()) {
        Ok(()) => exception,
        Err(unexpected) => unexpected,
    }
}

/// Calls the Python function that displays the meter, with a dictionary of the current values.
/// Unknown values have no entry.
fn call_meter(meter: Option<&Py<PyAny>>, reading: &Reading) -> PyResult<()> {
    let Some(meter) = meter else { return Ok(()) };
    Python::attach(|py| {
        let row = PyDict::new(py);
        let [down_bps, up_bps] = reading.rate_bps;
        let [buffer_down, buffer_up] = reading.rlc_buffer;
        row.set_item("at_s", reading.at.as_secs())?;
        row.set_item("down_bps", down_bps)?;
        row.set_item("up_bps", up_bps)?;
        row.set_item("buffer_down", buffer_down)?;
        row.set_item("buffer_up", buffer_up)?;
        for (name, time) in [("rlc_delay_s", reading.rlc_delay), ("rtt_s", reading.rtt)] {
            if let Some(time) = time {
                row.set_item(name, time.as_secs())?;
            }
        }
        if let Some((state, towards)) = reading.state {
            row.set_item("state", state.name())?;
            if let Some(towards) = towards {
                row.set_item("towards", towards.name())?;
            }
        }
        meter.call1(py, (row,)).map(drop)
    })
}

/// Calls `notice`. An exception does not stop the emulation.
fn call_notice(notice: Option<&Py<PyAny>>, message: &str) {
    if let Some(notice) = notice {
        Python::attach(|py| {
            notice.call1(py, (message,)).map_or_else(|error| error.write_unraisable(py, None), drop)
        });
    }
}

/// Calls the Python function `started` with the effective settings and the changes.
fn call_started(started: Option<&Py<PyAny>>, info: &Started<'_>) -> PyResult<()> {
    let Some(started) = started else { return Ok(()) };
    let settings_map = |tcp: &Effective| -> BTreeMap<String, String> { tcp.iter().cloned().collect() };
    let proxy: Vec<_> = info.proxy.into_iter().flatten().map(settings_map).collect();
    Python::attach(|py| started.call1(py, (settings_map(info.tcp), proxy, info.changes)).map(drop))
}

/// Converts the results for Python. The fields that are empty here are filled in by the caller.
fn emulation_result(
    py: Python<'_>,
    scenario: &Scenario,
    results: Results,
    counts: Counts,
) -> PyResult<EmulationResult> {
    let tables = Tables::new(None, scenario.inner().measure.budget);
    let series = results.series.map_or_else(Vec::new, |series| series.tables);
    let finished = tables.finish(results.metrics.connections, series).map_err(|error| error.raise(py))?;
    let (connections, series) = to_python(py, finished)?;
    Ok(EmulationResult {
        status: None,
        ues: Vec::new(),
        servers: Vec::new(),
        internet: None,
        proxy: None,
        abandoned: false,
        duration_s: results.end.as_secs(),
        metrics: results.metrics.network.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        connections,
        series,
        lost: results.lost,
        files: results.files.into_iter().map(PathBuf::into_os_string).collect(),
        events: results.events,
        before_connection: results
            .before_connection
            .map(|before| (before.waited.as_secs(), before.promotion.as_secs(), before.has_lookup)),
        digest: results.digest,
        packets: BTreeMap::from([
            ("packets_in", counts.packets_in),
            ("bytes_in", counts.bytes_in),
            ("packets_out", counts.packets_out),
            ("bytes_out", counts.bytes_out),
            ("malformed", counts.malformed),
            ("unroutable", counts.unroutable),
            ("refused", counts.refused),
            ("lost_in_core", counts.losses.core),
            ("buffer_full", counts.losses.buffer),
            ("lost_on_air", counts.losses.air),
            ("inside_at_end", counts.losses.inside),
            ("too_large", counts.frames.too_large),
            ("frames_aside", counts.frames.bypassed),
            ("frames_aside_lost", counts.frames.bypass_lost),
        ]),
        fidelity: BTreeMap::new(),
        degraded: false,
        tcp: BTreeMap::new(),
        proxy_tcp: Vec::new(),
    })
}

/// How well the emulation kept real time, by name.
pub fn fidelity(fidelity: &Fidelity) -> BTreeMap<&'static str, f64> {
    let lateness = &fidelity.lateness;
    BTreeMap::from([
        ("lateness_p50_s", lateness.quantile(0.5).as_secs()),
        ("lateness_p99_s", lateness.quantile(0.99).as_secs()),
        ("lateness_max_s", lateness.quantile(1.0).as_secs()),
        ("lateness_limit_s", lateness.limit().as_secs()),
        ("instants", lateness.count() as f64),
        ("late_instants", lateness.beyond_limit() as f64),
        ("released_p50_s", fidelity.released.quantile(0.5).as_secs()),
        ("released_p99_s", fidelity.released.quantile(0.99).as_secs()),
        ("released_max_s", fidelity.released.quantile(1.0).as_secs()),
        ("released_late", fidelity.released.beyond_limit() as f64),
        ("work_p99_s", fidelity.work.quantile(0.99).as_secs()),
        ("work_max_s", fidelity.work.quantile(1.0).as_secs()),
        ("tun_drops", fidelity.tun_drops as f64),
        ("devices_lost", fidelity.devices_lost as f64),
        ("cpu_s", fidelity.cpu.as_secs()),
        ("duration_s", fidelity.duration.as_secs()),
        ("real_time", f64::from(u8::from(fidelity.is_real_time))),
    ])
}
