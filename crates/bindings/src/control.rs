//! Congestion control in Python: adapts a class of the user to the interface of a window law.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_scenario::model::PythonClass;
use umts_simulate::{LawAck, Loss, UserLaw, UserLaws, WindowLaw};
use umts_units::Duration;

use crate::errors::CongestionControlError;
use crate::python_class::{Failure, load};

/// Loads the classes of a scenario, by flow number. Returns a factory of window laws.
pub fn laws(py: Python<'_>, controls: Vec<Option<PythonClass>>, failure: &Failure) -> PyResult<UserLaws> {
    let mut classes = Vec::new();
    for control in controls {
        classes
            .push(control.map(|control| load::<CongestionControlError>(py, &control, failure)).transpose()?);
    }
    let failure = failure.clone();
    Ok(UserLaws::new(move |number, _, _| -> UserLaw {
        let class = classes.get(usize::from(number)).and_then(Option::as_ref);
        let (class, name) = class.expect("each flow of this variant has its class");
        let object = Python::attach(|py| {
            let instance = class
                .call0(py)
                .map_err(|error| failure.record::<CongestionControlError>(py, &format!("{name}()"), error));
            instance.ok()
        });
        Box::new(Control { object, name: name.clone(), failure: failure.clone() })
    }))
}

/// An instance of the user's class.
#[derive(Debug)]
struct Control {
    object: Option<Py<PyAny>>,
    name: String,
    failure: Failure,
}

impl Control {
    /// Calls a method with keyword arguments, unless the constructor or an earlier call has failed.
    fn call<R>(
        &self,
        method: &str,
        arguments: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let object = self.object.as_ref().filter(|_| !self.failure.is_set())?;
        Python::attach(|py| {
            let call = || {
                let arguments = arguments(py)?;
                let arguments = arguments.bind(py).cast::<PyDict>().map_err(PyErr::from)?;
                read(&object.bind(py).getattr(method)?.call((), Some(arguments))?)
            };
            call()
                .map_err(|error| {
                    self.failure.record::<CongestionControlError>(
                        py,
                        &format!("{}.{method}", self.name),
                        error,
                    )
                })
                .ok()
        })
    }

    /// Calls a method that returns a window in segments.
    fn window(&self, method: &str, arguments: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) -> Option<f64> {
        self.call(method, arguments, |answer| {
            let window: f64 = answer.extract()?;
            if window.is_finite() && window >= 1.0 {
                return Ok(window);
            }
            let message = format!("a window must be a number of segments of at least 1, not {window}");
            Err(PyValueError::new_err(message))
        })
    }
}

/// For functions without a meaningful result.
fn ignore_answer(_: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

impl WindowLaw for Control {
    fn on_ack(&mut self, ack: &LawAck) {
        let arguments = |py: Python<'_>| -> PyResult<Py<PyAny>> {
            let values = PyDict::new(py);
            values.set_item("now_s", ack.now.as_secs())?;
            values.set_item("segments", ack.segments)?;
            values.set_item("duplicate", ack.duplicate)?;
            values.set_item("flight", ack.flight)?;
            values.set_item("srtt_s", ack.srtt.as_secs())?;
            Ok(values.into_any().unbind())
        };
        self.call("on_ack", arguments, ignore_answer);
    }

    fn on_round_trip(&mut self, rtt: Duration) {
        let arguments = |py: Python<'_>| -> PyResult<Py<PyAny>> {
            let values = PyDict::new(py);
            values.set_item("rtt_s", rtt.as_secs())?;
            Ok(values.into_any().unbind())
        };
        self.call("on_round_trip", arguments, ignore_answer);
    }

    fn grow(&mut self, cwnd: f64, ssthresh: f64) -> f64 {
        let arguments = |py: Python<'_>| -> PyResult<Py<PyAny>> {
            let values = PyDict::new(py);
            values.set_item("cwnd", cwnd)?;
            values.set_item("ssthresh", ssthresh)?;
            Ok(values.into_any().unbind())
        };
        self.window("grow", arguments).unwrap_or(cwnd)
    }

    fn reduce(&mut self, cwnd: f64, load: f64, loss: Loss) -> f64 {
        let arguments = |py: Python<'_>| -> PyResult<Py<PyAny>> {
            let values = PyDict::new(py);
            values.set_item("cwnd", cwnd)?;
            values.set_item("load", load)?;
            values.set_item("timeout", loss == Loss::Timeout)?;
            Ok(values.into_any().unbind())
        };
        self.window("reduce", arguments).unwrap_or(load / 2.0)
    }

    fn undo(&mut self) {
        self.call("undo", |py| Ok(PyDict::new(py).into_any().unbind()), ignore_answer);
    }
}
