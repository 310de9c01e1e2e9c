//! The state of a running emulation, for Python.

use std::sync::Mutex;
use std::time::Duration as RealTime;

use pyo3::exceptions::{PyRuntimeError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use umts_emulate::{LiveInbox, LiveReading, NoReading, live_channel};
use umts_record::live::SnapshotSize;

use crate::emulate::fidelity;
use crate::errors::NO_PANIC;
use crate::live::content;
use crate::scenario::Scenario;

/// Reads the state of one emulation, from any thread. Pass it to ``emulate``.
#[pyclass(frozen, module = "umtslab._core")]
pub struct LiveViewer {
    viewer: umts_emulate::LiveViewer,
    inbox: Mutex<Option<LiveInbox>>,
}

#[pymethods]
impl LiveViewer {
    #[new]
    fn new() -> PyResult<Self> {
        let (viewer, inbox) = live_channel()?;
        Ok(LiveViewer { viewer, inbox: Mutex::new(Some(inbox)) })
    }

    /// Return the state as JSON: ``time_s``, ``state`` as ``LiveRuns.state``, ``fidelity`` as
    /// ``EmulationResult.fidelity``, the packets that the kernel ``refused``, and ``degraded``. Wait for
    /// at most `patience_s`.
    ///
    /// Raises ``RuntimeError`` if the emulation has ended, and ``TimeoutError`` if it does not answer.
    fn read(
        &self,
        py: Python<'_>,
        scenario: &Scenario,
        ues: usize,
        bins: usize,
        points: usize,
        patience_s: f64,
    ) -> PyResult<String> {
        if bins == 0 {
            return Err(PyValueError::new_err("a point has at least one bin"));
        }
        let patience = RealTime::try_from_secs_f64(patience_s)
            .map_err(|_| PyValueError::new_err("patience_s must be a number of seconds of at least 0"))?;
        let size = SnapshotSize { ues, bins, points };
        let scenario = scenario.inner();
        let found = py.detach(|| self.viewer.read(size, patience).map(|reading| text(scenario, &reading)));
        found.map_err(|error| match error {
            NoReading::Ended => PyRuntimeError::new_err(error.to_string()),
            NoReading::Late => PyTimeoutError::new_err(error.to_string()),
        })
    }
}

impl LiveViewer {
    /// Takes the end of the emulation. Later calls return `None`.
    pub fn take_inbox(&self) -> Option<LiveInbox> {
        self.inbox.lock().expect(NO_PANIC).take()
    }
}

fn text(scenario: &umts_scenario::Scenario, reading: &LiveReading) -> String {
    let content = json!({
        "time_s": reading.at.as_secs(),
        "state": content(scenario, &reading.view),
        "fidelity": fidelity(&reading.fidelity),
        "refused": reading.fidelity.counts.refused + reading.fidelity.counts.frames.bypass_lost,
        "degraded": reading.fidelity.is_degraded(),
    });
    content.to_string()
}
