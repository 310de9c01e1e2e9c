//! Captures, analysed, with the interpreter free for other threads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use pyo3::prelude::*;
use umts_capture::reader::{ReadError, ReadOptions, Reason, analyse_file};
use umts_capture::{Analysis as Analysed, Counts, definitions};
use umts_units::Time;

use crate::columns::{Columns, Rows};
use crate::errors::input_error;
use crate::lines::write_row;
use crate::run::tell;

/// One analysed capture. `connections` and the values of `series` are Arrow streams.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Analysis {
    /// The file, as it was named.
    #[pyo3(get)]
    file: OsString,
    /// Value of each metric for all connections together; none where a capture does not tell.
    #[pyo3(get)]
    metrics: BTreeMap<String, Option<f64>>,
    /// One row per connection.
    #[pyo3(get)]
    connections: Py<Columns>,
    /// What was captured: packets by kind.
    #[pyo3(get)]
    counts: BTreeMap<&'static str, u64>,
    /// Time of the first packet in seconds since 1970; none if there is no packet.
    #[pyo3(get)]
    start_s: Option<f64>,
    /// Seconds from the first packet to the last.
    #[pyo3(get)]
    duration_s: f64,
    /// What to look at before the numbers are trusted.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// `sent`, `acked` and `sacked` of the connection that was asked for; empty if none was.
    #[pyo3(get)]
    series: BTreeMap<&'static str, Py<Columns>>,
    /// Batch and row of each connection, by its number: rows are in the order in which connections closed.
    places: Vec<(u32, u32)>,
}

#[pymethods]
impl Analysis {
    /// The rows of the connections with the numbers from `first` on, at most `count`, as JSON: an object a line.
    fn connection_lines(&self, first: usize, count: usize) -> String {
        let batches = self.connections.get().batches();
        let mut text = String::new();
        for &(batch, row) in self.places.iter().skip(first).take(count) {
            write_row(&mut text, &batches[batch as usize], row as usize);
        }
        text
    }
}

/// Analyses captures, each for itself.
///
/// Other threads run meanwhile. `progress` is told the part of all files that is read; what it raises, or a pending
/// Ctrl-C, ends the work.
#[pyfunction]
#[pyo3(signature = (paths, *, time_sequence=None, progress=None))]
pub fn analyse(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    time_sequence: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Analysis>> {
    let count = paths.len();
    let one = |(index, path): (usize, PathBuf)| {
        let part = |fraction: f64| (index as f64 + fraction) / count as f64;
        analyse_one(py, path, time_sequence, |fraction| tell(progress.as_ref(), part(fraction)))
    };
    paths.into_iter().enumerate().map(one).collect()
}

/// Analyses the captures of an emulation at the two ends of its network: the connections of programs, each as its sender of
/// data saw it.
///
/// Times are those of the run that wrote them. With `courses`, ``series`` has `sent`, `acked` and `sacked` of every connection.
#[pyfunction]
#[pyo3(signature = (here, there, *, courses=false))]
pub fn analyse_both_ends(py: Python<'_>, here: PathBuf, there: PathBuf, courses: bool) -> PyResult<Analysis> {
    let is_of_programs = |a, b| !umts_record::capture::are_simulated(a, b);
    let analysed = py.detach(|| umts_capture::analyse_both_ends([&here, &there], courses, is_of_programs));
    let mut analysed = analysed.map_err(|error| input_error(py, &error))?;
    let since = umts_record::capture::TIME_ZERO;
    for time in [&mut analysed.first, &mut analysed.last].into_iter().flatten() {
        *time = Time::from_nanos(time.as_nanos().saturating_sub(since.as_nanos() as u64));
    }
    result(py, here, analysed, Rows::new())
}

fn analyse_one(
    py: Python<'_>,
    file: PathBuf,
    time_sequence: Option<u64>,
    tell: impl Fn(f64) -> PyResult<()> + Sync,
) -> PyResult<Analysis> {
    let mut interruption = None;
    let mut rows = Rows::new();
    let analysed = py.detach(|| {
        let mut report = |fraction: f64| match tell(fraction) {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                interruption = Some(raised);
                ControlFlow::Break(())
            }
        };
        let options = ReadOptions {
            time_sequence,
            progress: Some(&mut report),
            finished: Some(&mut |finished| rows.add(&finished)),
        };
        analyse_file(&file, options)
    });
    match (interruption, analysed) {
        (Some(raised), _) => Err(raised),
        (None, Ok(analysed)) => result(py, file, analysed, rows),
        (None, Err(ReadError { reason: Reason::Stopped, .. })) => {
            unreachable!("only `report` stops the work, and then it was interrupted")
        }
        (None, Err(error)) => Err(input_error(py, &error)),
    }
}

fn result(py: Python<'_>, file: PathBuf, analysed: Analysed, mut rows: Rows) -> PyResult<Analysis> {
    rows.add(&analysed.connections);
    let mut series = BTreeMap::new();
    if !analysed.time_sequences.is_empty() {
        for (name, columns) in Columns::of_time_sequences(&analysed.time_sequences) {
            series.insert(name, Py::new(py, columns)?);
        }
    }
    let rows = rows.finish();
    let places = places(rows.batches(), analysed.connection_count as usize);
    Ok(Analysis {
        file: file.into_os_string(),
        metrics: analysed.metrics.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        connections: Py::new(py, rows)?,
        places,
        counts: counts(&analysed.counts),
        start_s: analysed.first.map(Time::as_secs),
        duration_s: match (analysed.first, analysed.last) {
            (Some(first), Some(last)) => last.saturating_since(first).as_secs(),
            _ => 0.0,
        },
        warnings: analysed.warnings,
        series,
    })
}

/// Where the row of each connection is: each has exactly one.
fn places(batches: &[RecordBatch], connections: usize) -> Vec<(u32, u32)> {
    let mut places = vec![(0, 0); connections];
    for (index, batch) in batches.iter().enumerate() {
        let numbers = batch.column(0).as_primitive::<UInt64Type>();
        for (row, &number) in numbers.values().iter().enumerate() {
            places[number as usize] = (index as u32, row as u32);
        }
    }
    places
}

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
        ("captured_twice", counts.captured_twice),
        ("out_of_time", counts.out_of_time),
    ]
    .into()
}

/// Name, unit and meaning of every metric of a capture.
#[pyfunction]
pub fn capture_metric_definitions() -> Vec<BTreeMap<&'static str, &'static str>> {
    definitions()
        .map(|metric| [("name", metric.name), ("unit", metric.unit), ("meaning", metric.meaning)].into())
        .collect()
}
