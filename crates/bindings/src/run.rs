//! Runs of scenarios. The interpreter lock is released meanwhile.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::prelude::*;
use umts_record::TableChunk;
use umts_simulate::{RunError, RunOptions, RunOutput, UserLaws, UserSchedulers};

use crate::columns::Columns;
use crate::control;
use crate::errors::output_error;
use crate::python_class::Failure;
use crate::scenario::Scenario;
use crate::table_files::TableError;
use crate::tables::{Tables, to_python};
use crate::user_scheduler::schedulers;

/// One finished run. `connections` and the values of `series` are Arrow streams.
#[pyclass(frozen, module = "umtslab._core")]
pub struct RunResult {
    /// Seed of the run's random streams.
    #[pyo3(get)]
    seed: u64,
    /// Number of the replication.
    #[pyo3(get)]
    run: u64,
    /// Value of each metric of the network; `None` if the run had no data for it.
    #[pyo3(get)]
    metrics: BTreeMap<String, Option<f64>>,
    /// One row per connection; empty if the table is in a file.
    #[pyo3(get)]
    connections: Py<Columns>,
    /// Time series by name; empty if they were not requested or are in files.
    #[pyo3(get)]
    series: BTreeMap<String, Py<Columns>>,
    /// Captures written.
    #[pyo3(get)]
    files: Vec<OsString>,
    /// Number of events.
    #[pyo3(get)]
    events: u64,
}

/// Run a scenario to its end.
///
/// Other threads run meanwhile. `progress` is called about 100 times with the finished fraction. An
/// exception that it raises, or a pending Ctrl-C, stops the run. Tables go to files below
/// `tables_dir` during the run; without it they are part of the result.
#[pyfunction]
#[pyo3(signature = (scenario, seed, run, *, series=false, pcap_dir=None, tables_dir=None, progress=None))]
pub fn simulate(
    scenario: &Bound<'_, Scenario>,
    seed: u64,
    run: u64,
    series: bool,
    pcap_dir: Option<PathBuf>,
    tables_dir: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let py = scenario.py();
    let scenario = scenario.borrow();
    let scenario = scenario.inner();
    let mut interruption = None;
    let failure = Failure::default();
    let (laws, schedulers) = user_code(py, scenario, &failure)?;
    let mut tables = TableSink { tables: Tables::new(tables_dir, scenario.measure.budget), error: None };
    let finished = py.detach(|| {
        let mut report = |fraction: f64| match failure
            .take()
            .map_or_else(|| report_progress(progress.as_ref(), fraction), Err)
        {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                interruption = Some(raised);
                ControlFlow::Break(())
            }
        };
        let mut add_chunk = |chunk| tables.add(chunk);
        let (progress, finished) = (Some(&mut report as _), Some(&mut add_chunk as _));
        let options = RunOptions { seed, run, series, pcap_dir, progress, laws, schedulers, finished };
        umts_simulate::run(scenario, options)
    });
    let write_error = tables.error.take().map(|error| error.raise(py));
    if let Some(raised) = interruption.or(write_error).or_else(|| failure.take()) {
        return Err(raised);
    }
    match finished {
        Ok(output) => result(py, seed, run, output, tables.tables),
        Err(RunError::Capture(error)) => Err(output_error(py, &error)),
        Err(RunError::Stopped) => {
            unreachable!("only `report` and `tables` stop a run, and then there is an error")
        }
    }
}

/// Loads the congestion control and the schedulers of a scenario that are classes of Python.
pub(crate) fn user_code(
    py: Python<'_>,
    scenario: &umts_scenario::Scenario,
    failure: &Failure,
) -> PyResult<(Option<UserLaws>, Option<UserSchedulers>)> {
    let controls: Vec<_> = scenario.flow.iter().map(|flow| flow.tcp.python_control.clone()).collect();
    let has_python_control = controls.iter().any(Option::is_some);
    let laws = has_python_control.then(|| control::laws(py, controls, failure)).transpose()?;
    Ok((laws, schedulers(py, scenario, failure)?))
}

/// Tables of a run, and the error that stopped their writing.
struct TableSink {
    tables: Tables,
    error: Option<TableError>,
}

impl TableSink {
    fn add(&mut self, chunk: TableChunk) -> ControlFlow<()> {
        match self.tables.add(chunk) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

pub(crate) fn result(
    py: Python<'_>,
    seed: u64,
    run: u64,
    output: RunOutput,
    tables: Tables,
) -> PyResult<RunResult> {
    let series_tables = output.series.map_or_else(Vec::new, |series| series.tables);
    let finished = py.detach(|| tables.finish(output.metrics.connections, series_tables));
    let (connections, series) = to_python(py, finished.map_err(|error| error.raise(py))?)?;
    Ok(RunResult {
        seed,
        run,
        metrics: output.metrics.network.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        connections,
        series,
        files: output.files.into_iter().map(PathBuf::into_os_string).collect(),
        events: output.events,
    })
}

/// Checks for Ctrl-C, then calls `progress` with the finished fraction.
pub(crate) fn report_progress(progress: Option<&Py<PyAny>>, fraction: f64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (fraction,))?;
        }
        Ok(())
    })
}
