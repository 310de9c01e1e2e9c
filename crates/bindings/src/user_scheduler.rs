//! DSCH schedulers in Python: adapts a class of the user to the scheduler interface of MAC-c/sh.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use umts_scenario::model::PythonClass;
use umts_simulate::{
    DschScheduler, FormatRequest, RankedCandidate, Tti, UeId, UserScheduler, UserSchedulers,
};
use umts_units::Duration;

use crate::errors::SchedulerError;
use crate::python_class::{Failure, load};

/// A transport format of the DSCH.
#[pyclass(frozen, get_all, module = "umtslab._core")]
#[derive(Debug)]
pub struct DschFormat {
    /// Transport blocks per TTI.
    blocks: u32,
    /// Spreading factor of its code.
    spreading_factor: u16,
}

/// A user with data to send.
#[pyclass(frozen, get_all, module = "umtslab._core")]
#[derive(Debug)]
pub struct DschAsk {
    /// Number of the user.
    ue: u16,
    /// Number of waiting blocks.
    backlog: u32,
    /// Arrival time of the oldest waiting block, in seconds.
    since_s: f64,
    /// Path gain from the cell.
    gain: f64,
    /// Transmit power in mW at which the cell is as strong at the user as everything outside the
    /// cell.
    outside_mw: f64,
    /// Increase of the cell's power in mW per format, if only this user has a format; `None` if no
    /// power suffices.
    power_mw: Vec<Option<f64>>,
    /// Service credit in blocks.
    credit: f64,
    /// Recent mean of the user's blocks per TTI.
    mean_blocks: f64,
    /// Service class of the user's bearer: `conversational`, `streaming`, `interactive` or `background`.
    service_class: String,
    /// Whether the user has received its guaranteed rate. `False` without a guaranteed rate.
    is_rate_met: bool,
    /// Transfer delay of the user's bearer in seconds, or `None`.
    transfer_delay_s: Option<f64>,
}

impl DschAsk {
    fn new(tti: &Tti<'_>, candidate: &RankedCandidate) -> Self {
        let RankedCandidate { candidate: user, credit, mean, .. } = candidate;
        let formats = 0..tti.formats.len();
        DschAsk {
            ue: user.ue.0,
            backlog: user.blocks,
            since_s: user.since.unwrap_or(tti.now).as_secs(),
            gain: user.gain,
            outside_mw: tti.outside(candidate),
            power_mw: formats.map(|format| tti.power_for(candidate, format)).collect(),
            credit: *credit,
            mean_blocks: *mean,
            service_class: user.class.keyword().to_owned(),
            is_rate_met: user.is_rate_met,
            transfer_delay_s: user.transfer_delay.map(Duration::as_secs),
        }
    }
}

/// Loads the class of a scenario. Returns a factory of schedulers.
pub fn schedulers(py: Python<'_>, class: &PythonClass, failure: &Failure) -> PyResult<UserSchedulers> {
    let (class, name) = load::<SchedulerError>(py, class, failure)?;
    let failure = failure.clone();
    Ok(UserSchedulers::new(move |cell| -> UserScheduler {
        let object = Python::attach(|py| {
            let instance = class.call0(py);
            instance.map_err(|error| failure.record::<SchedulerError>(py, &format!("{name}()"), error)).ok()
        });
        let (name, failure) = (name.clone(), failure.clone());
        Box::new(Scheduler { object, cell: cell.0, formats: None, name, failure })
    }))
}

/// An instance of the user's class for one cell.
#[derive(Debug)]
struct Scheduler {
    /// `None` if it could not be created.
    object: Option<Py<PyAny>>,
    cell: u16,
    /// Formats of the DSCH, created on first use.
    formats: Option<Py<PyTuple>>,
    /// File and name of the class.
    name: String,
    failure: Failure,
}

impl Scheduler {
    /// Calls a method in a TTI, unless an earlier call has failed.
    fn call<R>(
        &mut self,
        (method, tti): (&str, u64),
        call: impl FnOnce(&mut Self, &Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        if self.failure.is_set() {
            return None;
        }
        Python::attach(|py| {
            let object = self.object.as_ref()?.clone_ref(py);
            let answer = object.bind(py).getattr(method).and_then(|method| call(self, &method));
            let location = || format!("{}.{method}, in cell {} and TTI {tti},", self.name, self.cell);
            answer.map_err(|error| self.failure.record::<SchedulerError>(py, &location(), error)).ok()
        })
    }

    /// Returns the formats as Python objects.
    fn formats(&mut self, py: Python<'_>, tti: &Tti<'_>) -> PyResult<Py<PyTuple>> {
        if self.formats.is_none() {
            let formats = tti.formats.iter().map(|format| {
                let (blocks, spreading_factor) = (format.blocks, format.spreading_factor);
                Py::new(py, DschFormat { blocks, spreading_factor })
            });
            let formats = formats.collect::<PyResult<Vec<_>>>()?;
            self.formats = Some(PyTuple::new(py, formats)?.unbind());
        }
        Ok(self.formats.as_ref().expect("created above").clone_ref(py))
    }

    /// Returns the arguments of `schedule`.
    fn arguments<'py>(
        &mut self,
        py: Python<'py>,
        tti: &Tti<'_>,
        candidates: &[RankedCandidate],
    ) -> PyResult<Bound<'py, PyDict>> {
        let candidates = candidates.iter().map(|candidate| Py::new(py, DschAsk::new(tti, candidate)));
        let headroom = tti.load.total(tti.power.common).map_or(0.0, |used| (tti.power.max - used).max(0.0));
        let values = PyDict::new(py);
        values.set_item("cell", self.cell)?;
        values.set_item("tti", tti.number)?;
        values.set_item("now_s", tti.now.as_secs())?;
        values.set_item("room_mw", headroom)?;
        values.set_item("formats", self.formats(py, tti)?)?;
        values.set_item("asks", candidates.collect::<PyResult<Vec<_>>>()?)?;
        Ok(values)
    }
}

impl DschScheduler for Scheduler {
    fn decide(&mut self, tti: &Tti<'_>, candidates: &[RankedCandidate], order: &mut Vec<FormatRequest>) {
        let answer = self.call(("schedule", tti.number), |scheduler, method| {
            let arguments = scheduler.arguments(method.py(), tti, candidates)?;
            requests(&method.call((), Some(&arguments))?, candidates, tti.formats.len())
        });
        order.extend(answer.unwrap_or_default());
    }

    fn served(&mut self, tti: u64, ue: UeId, sent: u32, received: u32) {
        self.call(("served", tti), |_, method| {
            let values = PyDict::new(method.py());
            values.set_item("tti", tti)?;
            values.set_item("ue", ue.0)?;
            values.set_item("sent", sent)?;
            values.set_item("received", received)?;
            method.call((), Some(&values)).map(drop)
        });
    }
}

/// Reads the answer of `schedule`: pairs of user number and format number.
fn requests(
    answer: &Bound<'_, PyAny>,
    candidates: &[RankedCandidate],
    formats: usize,
) -> PyResult<Vec<FormatRequest>> {
    let mut requests: Vec<FormatRequest> = Vec::new();
    for pair in answer.try_iter()? {
        let (ue, format): (i64, i64) = pair?.extract()?;
        let Some(index) = candidates.iter().position(|candidate| i64::from(candidate.candidate.ue.0) == ue)
        else {
            return Err(PyValueError::new_err(format!("user {ue} has no request in this TTI")));
        };
        if requests.iter().any(|request| request.candidate == index) {
            return Err(PyValueError::new_err(format!("user {ue} occurs twice")));
        }
        let number = usize::try_from(format).ok().filter(|number| *number < formats).ok_or_else(|| {
            PyValueError::new_err(format!(
                "a format must be a number from 0 to {}, not {format}",
                formats - 1
            ))
        })?;
        requests.push(FormatRequest { candidate: index, format: number });
    }
    Ok(requests)
}
