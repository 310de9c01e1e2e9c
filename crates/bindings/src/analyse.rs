//! Analysis of captures for Python: of single files, and of two captures at the ends of a network.
//! The interpreter lock is released meanwhile.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use pyo3::prelude::*;
use umts_capture::reader::{ReadError, ReadOptions, Reason, analyse_file};
use umts_capture::{Analysis as Analysed, Counts, ListingRange, ListingStart, MetricSet, PacketListing};
use umts_capture::{ProgressStep, StreamProgress, definitions};
use umts_units::Time;

use crate::columns::{Columns, Rows, packet_list, udp_flows};
use crate::errors::input_error;
use crate::lines::write_row;
use crate::run::report_progress;

/// Bytes that Python receives as `bytes`.
type Octets = Cow<'static, [u8]>;

/// Times in seconds at which a number of bytes was first reached, and that number.
type Steps = Vec<(f64, i64)>;

/// The place of a connection's row in the table of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RowPlace {
    connection: u64,
    /// Index of the batch of rows.
    batch: u32,
    /// Index of the row in the batch.
    row: u32,
}

/// One analysed capture. `connections` and the values of `series` are Arrow streams.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Analysis {
    /// Path of the file as it was given.
    #[pyo3(get)]
    file: OsString,
    /// Value of each metric over all connections; `None` if the capture does not determine it.
    #[pyo3(get)]
    metrics: BTreeMap<String, Option<f64>>,
    /// One row per connection.
    #[pyo3(get)]
    connections: Py<Columns>,
    /// Number of connections.
    #[pyo3(get)]
    connection_count: u64,
    /// Number of connections without rows, and each metric over all of them; `None` if all have
    /// rows.
    #[pyo3(get)]
    rest: Option<(u64, BTreeMap<String, Option<f64>>)>,
    /// Number of packets by kind.
    #[pyo3(get)]
    counts: BTreeMap<&'static str, u64>,
    /// Time of the first packet in seconds since 1970; `None` without packets.
    #[pyo3(get)]
    start_s: Option<f64>,
    /// Time from the first packet to the last, in seconds.
    #[pyo3(get)]
    duration_s: f64,
    /// Warnings to read before the numbers are trusted.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// `sent`, `acked` and `sacked` of the requested connection; empty if none was requested.
    #[pyo3(get)]
    series: BTreeMap<&'static str, Py<Columns>>,
    /// Packets of a connection, if they were requested.
    #[pyo3(get)]
    packets: Option<Py<Columns>>,
    /// Counts of all packets of that connection, and the numbers of the nearest retransmissions
    /// outside `packets`.
    #[pyo3(get)]
    packet_counts: BTreeMap<&'static str, Option<u64>>,
    /// One row per UDP flow.
    #[pyo3(get)]
    udp_flows: Py<Columns>,
    /// Datagrams, and bytes of payload, of UDP flows without rows.
    #[pyo3(get)]
    udp_rest: (u64, u64),
    /// Number of packets that are neither TCP nor UDP, by protocol.
    #[pyo3(get)]
    passed_over: BTreeMap<String, u64>,
    /// Progress of connections in the order of their numbers, if it was requested.
    stream_progress: Vec<StreamProgress>,
    /// Place of each row, sorted by connection number. The rows themselves are in the order in
    /// which connections closed.
    row_index: Vec<RowPlace>,
}

#[pymethods]
impl Analysis {
    /// JSON rows of at most `count` connections with numbers from `first` on, one object per line.
    fn connection_lines(&self, first: u64, count: usize) -> String {
        let batches = self.connections.get().batches();
        let mut text = String::new();
        let start = self.row_index.partition_point(|place| place.connection < first);
        for place in self.row_index[start..].iter().take(count) {
            write_row(&mut text, &batches[place.batch as usize], place.row as usize);
        }
        text
    }

    /// Numbers of the connections that have rows.
    fn connection_numbers(&self) -> Vec<u64> {
        self.row_index.iter().map(|place| place.connection).collect()
    }

    /// JSON rows of at most `count` UDP flows with numbers from `first` on, one object per line.
    fn udp_flow_lines(&self, first: usize, count: usize) -> String {
        let mut text = String::new();
        // All flows are in one batch.
        for batch in self.udp_flows.get().batches() {
            for row in (first..batch.num_rows()).take(count) {
                write_row(&mut text, batch, row);
            }
        }
        text
    }

    /// Progress of the first `most` bytes of the connection's sender: the times in seconds since
    /// 1970 at which each number of bytes was first sent, and first acknowledged. Empty if
    /// progress was not recorded.
    fn course(&self, connection: u64, most: i64) -> (Steps, Steps) {
        let steps = |progress: &[ProgressStep]| {
            // The first step that reaches `most` is the last one.
            let below_most = progress.partition_point(|&(_, octets)| octets < most);
            let up_to_most = progress[..progress.len().min(below_most + 1)].iter();
            let steps = up_to_most.map(|&(at, octets)| (at.as_secs(), octets.min(most)));
            steps.filter(|&(_, octets)| octets > 0).collect()
        };
        self.stream_progress_of(connection)
            .map_or_else(Default::default, |progress| (steps(&progress.sent), steps(&progress.acked)))
    }

    /// First bytes of the client's data and of the server's data; empty if progress was not
    /// recorded.
    fn beginnings(&self, connection: u64) -> (Octets, Octets) {
        let Some(progress) = self.stream_progress_of(connection) else { return Default::default() };
        let [client, server] = &progress.prefixes;
        (Cow::Owned(client.clone()), Cow::Owned(server.clone()))
    }
}

impl Analysis {
    /// The recorded progress of a connection, if any.
    fn stream_progress_of(&self, connection: u64) -> Option<&StreamProgress> {
        let index = self.stream_progress.binary_search_by_key(&connection, |progress| progress.connection);
        Some(&self.stream_progress[index.ok()?])
    }
}

/// Analyse captures, each separately.
///
/// `time_sequence` is the number of the connection with recorded `series`. `packets` lists packets
/// instead: the number of the connection, the first packet or the time in seconds at which the list
/// begins, and the maximum number of packets. With more than
/// `most_connections` connections, the first ones have rows; `connection` always has one. Other
/// threads run meanwhile. `progress` is called with the fraction of all files that is read. An
/// exception that it raises, or a pending Ctrl-C, stops the analysis.
#[pyfunction]
#[pyo3(signature = (paths, *, time_sequence=None, packets=None, connection=None, most_connections=None, progress=None))]
pub fn analyse(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    time_sequence: Option<u64>,
    packets: Option<(u64, Option<u64>, Option<f64>, usize)>,
    connection: Option<u64>,
    most_connections: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Analysis>> {
    let count = paths.len();
    let packets = packets.map(|(connection, number, time_s, most)| {
        let from_number = ListingStart::Packet(number.unwrap_or(1));
        ListingRange { connection, start: time_s.map_or(from_number, ListingStart::Time), most }
    });
    let options =
        || ReadOptions { time_sequence, packets, connection, most_connections, ..Default::default() };
    let analyse_path = |(index, path): (usize, PathBuf)| {
        let overall = |fraction: f64| (index as f64 + fraction) / count as f64;
        analyse_one(py, path, options(), |fraction| report_progress(progress.as_ref(), overall(fraction)))
    };
    paths.into_iter().enumerate().map(analyse_path).collect()
}

/// Analyse a capture in one pass, with the progress of the streams and the first bytes of the first
/// `most_connections` connections. Only these have rows.
#[pyfunction]
pub fn analyse_courses(py: Python<'_>, path: PathBuf, most_connections: usize) -> PyResult<Analysis> {
    let mut interruption = Interruption::default();
    let analysed = py.detach(|| {
        umts_capture::analyse_stream_progress(&path, most_connections, &mut |fraction| {
            interruption.check(report_progress(None, fraction))
        })
    });
    match interruption.raised {
        Some(raised) => Err(raised),
        None => result(py, path, analysed.map_err(|error| input_error(py, &error))?, Rows::new()),
    }
}

/// Analyse the captures of an emulation at the two ends of its network: the connections of
/// programs, each as its data sender saw it.
///
/// Times are in the time of the run. With `series`, ``series`` has `sent`, `acked` and `sacked` of
/// every connection.
#[pyfunction]
#[pyo3(signature = (here, there, *, series=false))]
pub fn analyse_both_ends(py: Python<'_>, here: PathBuf, there: PathBuf, series: bool) -> PyResult<Analysis> {
    let is_of_programs = |a, b| !umts_record::capture::are_simulated(a, b);
    let analysed = py.detach(|| umts_capture::analyse_both_ends([&here, &there], series, is_of_programs));
    let mut analysed = analysed.map_err(|error| input_error(py, &error))?;
    let time_zero = umts_record::capture::TIME_ZERO;
    for time in [&mut analysed.first, &mut analysed.last].into_iter().flatten() {
        *time = Time::from_nanos(time.as_nanos().saturating_sub(time_zero.as_nanos() as u64));
    }
    result(py, here, analysed, Rows::new())
}

/// Analyses one file without the interpreter's lock. An exception in `report_progress` stops the
/// analysis and is raised.
fn analyse_one(
    py: Python<'_>,
    file: PathBuf,
    options: ReadOptions<'_>,
    report_progress: impl Fn(f64) -> PyResult<()> + Sync,
) -> PyResult<Analysis> {
    let mut interruption = Interruption::default();
    let mut rows = Rows::new();
    let analysed = py.detach(|| {
        let mut report = |fraction: f64| interruption.check(report_progress(fraction));
        let options = ReadOptions {
            progress: Some(&mut report),
            finished: Some(&mut |finished| rows.add(&finished)),
            ..options
        };
        analyse_file(&file, options)
    });
    match (interruption.raised, analysed) {
        (Some(raised), _) => Err(raised),
        (None, Ok(analysed)) => result(py, file, analysed, rows),
        (None, Err(ReadError { reason: Reason::Stopped, .. })) => {
            unreachable!("only `report` stops the work, and then it was interrupted")
        }
        (None, Err(error)) => Err(input_error(py, &error)),
    }
}

/// The exception that a report of progress raised, if one did. It stops the analysis.
#[derive(Default)]
struct Interruption {
    raised: Option<PyErr>,
}

impl Interruption {
    /// Returns whether the analysis continues after a report. Keeps the exception otherwise.
    fn check(&mut self, reported: PyResult<()>) -> ControlFlow<()> {
        match reported {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }
}

/// Converts an analysis for Python. `rows` holds the connections that were finished during the
/// analysis; the others are added here.
fn result(py: Python<'_>, file: PathBuf, analysed: Analysed, mut rows: Rows) -> PyResult<Analysis> {
    rows.add(&analysed.connections);
    let mut series = BTreeMap::new();
    if !analysed.time_sequences.is_empty() {
        for (name, columns) in Columns::of_time_sequences(&analysed.time_sequences) {
            series.insert(name, Py::new(py, columns)?);
        }
    }
    let packet_counts = analysed.listing.as_ref().map(packet_counts).unwrap_or_default();
    let packets = analysed.listing.map(|listing| Py::new(py, packet_list(&listing.packets))).transpose()?;
    let rows = rows.finish();
    let row_index = row_index(rows.batches());
    Ok(Analysis {
        file: file.into_os_string(),
        metrics: values_by_name(&analysed.metrics),
        connection_count: analysed.connection_count,
        rest: analysed.rest.map(|rest| (rest.connections, values_by_name(&rest.metrics))),
        connections: Py::new(py, rows)?,
        udp_flows: Py::new(py, udp_flows(&analysed.udp_flows))?,
        udp_rest: (analysed.udp_rest.packets, analysed.udp_rest.payload_bytes),
        passed_over: analysed.passed_over,
        stream_progress: analysed.stream_progress,
        row_index,
        counts: counts(&analysed.counts),
        start_s: analysed.first.map(Time::as_secs),
        duration_s: match (analysed.first, analysed.last) {
            (Some(first), Some(last)) => last.saturating_since(first).as_secs(),
            _ => 0.0,
        },
        warnings: analysed.warnings,
        series,
        packets,
        packet_counts,
    })
}

/// Metrics as a dictionary for Python.
fn values_by_name(metrics: &MetricSet) -> BTreeMap<String, Option<f64>> {
    metrics.iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Numbers of a listing as a dictionary for Python.
fn packet_counts(listing: &PacketListing) -> BTreeMap<&'static str, Option<u64>> {
    [
        ("packets", Some(listing.count)),
        ("retransmissions", Some(listing.retransmissions)),
        ("duplicate_acks", Some(listing.duplicate_acks)),
        ("retransmission_before", listing.retransmission_before),
        ("retransmission_after", listing.retransmission_after),
    ]
    .into()
}

/// Place of each row, sorted by connection number.
fn row_index(batches: &[RecordBatch]) -> Vec<RowPlace> {
    let index_batch = |(index, batch): (usize, &RecordBatch)| {
        let numbers = batch.column(0).as_primitive::<UInt64Type>().values().iter().enumerate();
        let place =
            |(row, &connection): (usize, &u64)| RowPlace { connection, batch: index as u32, row: row as u32 };
        numbers.map(place).collect::<Vec<_>>()
    };
    let mut row_index: Vec<_> = batches.iter().enumerate().flat_map(index_batch).collect();
    row_index.sort_unstable();
    row_index
}

/// Numbers of packets as a dictionary for Python.
fn counts(counts: &Counts) -> BTreeMap<&'static str, u64> {
    let Counts { packets, bytes, tcp, unknown_link, not_ip, fragments, not_tcp, unreadable, .. } = *counts;
    [
        ("packets", packets),
        ("bytes", bytes),
        ("tcp", tcp),
        ("unknown_link", unknown_link),
        ("not_ip", not_ip),
        ("fragments", fragments),
        ("not_tcp", not_tcp),
        ("unreadable", unreadable),
        ("udp", counts.udp),
        ("too_deep", counts.too_deep),
        ("beyond_frame", counts.beyond_frame),
        ("captured_twice", counts.captured_twice),
        ("not_believed", counts.not_believed),
        ("out_of_time", counts.out_of_time),
    ]
    .into()
}

/// Name, unit and meaning of each metric of a capture.
#[pyfunction]
pub fn capture_metric_definitions() -> Vec<BTreeMap<&'static str, &'static str>> {
    definitions()
        .map(|metric| [("name", metric.name), ("unit", metric.unit), ("meaning", metric.meaning)].into())
        .collect()
}
