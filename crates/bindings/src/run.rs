//! One run of a scenario, with the interpreter free for other threads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::prelude::*;
use umts_simulate::{RunError, RunOptions, RunOutput};

use crate::columns::{Columns, Connections};
use crate::control::{self, Failure};
use crate::errors::output_error;
use crate::scenario::Scenario;

/// One finished run. `connections` and the values of `series` are Arrow streams.
#[pyclass(frozen, module = "umtslab._core")]
pub struct RunResult {
    /// The seed of the run's random streams.
    #[pyo3(get)]
    seed: u64,
    /// Which replication of the seed it is.
    #[pyo3(get)]
    run: u64,
    /// Value of each metric for the network; none where the run had nothing to measure it on.
    #[pyo3(get)]
    metrics: BTreeMap<String, Option<f64>>,
    /// One row per connection.
    #[pyo3(get)]
    connections: Py<Columns>,
    /// Time series by name; empty if they were not asked for.
    #[pyo3(get)]
    series: BTreeMap<String, Py<Columns>>,
    /// Captures written.
    #[pyo3(get)]
    files: Vec<OsString>,
    /// Events that the kernel handled.
    #[pyo3(get)]
    events: u64,
}

/// Runs a scenario to its end.
///
/// Other threads run meanwhile. About 100 times `progress` is told the finished fraction; what it raises, or a
/// pending Ctrl-C, ends the run.
#[pyfunction]
#[pyo3(signature = (scenario, seed, run, *, series=false, pcap_dir=None, progress=None))]
pub fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    run: u64,
    series: bool,
    pcap_dir: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let mut interruption = None;
    let failure = Failure::default();
    let controls: Vec<_> = scenario.inner().flow.iter().map(|flow| flow.tcp.python_control.clone()).collect();
    let written = controls.iter().any(Option::is_some);
    let laws = written.then(|| control::laws(py, controls, &failure)).transpose()?;
    let mut connections = Connections::new(scenario.inner().measure.budget);
    let finished = py.detach(|| {
        let mut report =
            |fraction: f64| match failure.take().map_or_else(|| tell(progress.as_ref(), fraction), Err) {
                Ok(()) => ControlFlow::Continue(()),
                Err(raised) => {
                    interruption = Some(raised);
                    ControlFlow::Break(())
                }
            };
        let options = RunOptions {
            seed,
            run,
            series,
            pcap_dir,
            laws,
            progress: Some(&mut report),
            finished: Some(&mut |rows| connections.add(rows)),
        };
        umts_simulate::run(scenario.inner(), options)
    });
    if let Some(raised) = interruption.or_else(|| failure.take()) {
        return Err(raised);
    }
    match finished {
        Ok(output) => result(py, seed, run, output, connections),
        Err(RunError::Capture(error)) => Err(output_error(py, &error)),
        Err(RunError::Stopped) => unreachable!("only `report` stops a run, and then it was interrupted"),
    }
}

fn result(
    py: Python<'_>,
    seed: u64,
    run: u64,
    output: RunOutput,
    mut connections: Connections,
) -> PyResult<RunResult> {
    connections.add(output.metrics.connections);
    let mut series = BTreeMap::new();
    for table in output.series.map_or_else(Vec::new, |series| series.tables) {
        series.insert(table.name.to_owned(), Py::new(py, Columns::of_series(table))?);
    }
    Ok(RunResult {
        seed,
        run,
        metrics: output.metrics.network.iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        connections: Py::new(py, connections.finish())?,
        series,
        files: output.files.into_iter().map(PathBuf::into_os_string).collect(),
        events: output.events,
    })
}

/// Passes the finished fraction on, after looking for Ctrl-C.
pub(crate) fn tell(progress: Option<&Py<PyAny>>, fraction: f64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1(py, (fraction,))?;
        }
        Ok(())
    })
}
