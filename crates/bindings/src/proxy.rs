//! The split proxy for real traffic: one function, which returns when a signal has ended it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_proxy::{Effective, Options, Started, Summary};

use crate::errors::NO_PANIC;

pyo3::create_exception!(
    umtslab._core,
    ProxyError,
    pyo3::exceptions::PyException,
    "There is no proxy; ``error.status`` is what to exit with."
);

/// Relays TCP connections until SIGTERM, SIGINT or SIGHUP, by options as they are typed: pairs of a name and a value.
///
/// `started` is told, as a dictionary, what there is when clients can connect. What is returned has sums of all connections.
#[pyfunction]
#[pyo3(signature = (options, started), text_signature = "(options, started)")]
pub fn proxy(py: Python<'_>, options: Vec<(String, String)>, started: Py<PyAny>) -> PyResult<Py<PyDict>> {
    let raised = Mutex::new(None);
    let outcome = py.detach(|| {
        umts_proxy::run(Options::from_pairs(&options)?, |about| {
            *raised.lock().expect(NO_PANIC) = tell(&started, about).err();
        })
    });
    if let Some(raised) = raised.into_inner().expect(NO_PANIC) {
        return Err(raised);
    }
    let summary = outcome.map_err(|error| failure(py, &error))?;
    summed(py, &summary)
}

fn failure(py: Python<'_>, error: &umts_proxy::ProxyError) -> PyErr {
    let exception = ProxyError::new_err(error.to_string());
    match exception.value(py).setattr("status", error.exit_status()) {
        Ok(()) => exception,
        Err(unexpected) => unexpected,
    }
}

fn tell(started: &Py<PyAny>, about: &Started) -> PyResult<()> {
    Python::attach(|py| {
        let told = PyDict::new(py);
        told.set_item("listen", about.listen.to_string())?;
        told.set_item("metrics", about.metrics.map(|address| address.to_string()))?;
        told.set_item("connections", about.room.connections)?;
        told.set_item("buffer", about.room.buffer)?;
        for (name, side) in ["client", "server"].into_iter().zip(&about.sides) {
            told.set_item(name, of_side(py, side)?)?;
        }
        started.call1(py, (told,)).map(drop)
    })
}

fn of_side<'py>(py: Python<'py>, side: &Effective) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("congestion_control", &side.congestion_control)?;
    told.set_item("receive_buffer", side.receive_buffer)?;
    told.set_item("send_buffer", side.send_buffer)?;
    Ok(told)
}

fn summed(py: Python<'_>, summary: &Summary) -> PyResult<Py<PyDict>> {
    let totals = &summary.totals;
    let told = PyDict::new(py);
    told.set_item("accepted", totals.accepted)?;
    told.set_item("refused", totals.refused)?;
    let ended: BTreeMap<&str, u64> =
        totals.ended.iter().map(|(ended, count)| (ended.name(), *count)).collect();
    told.set_item("ended", ended)?;
    for (name, way) in ["up", "down"].into_iter().zip(&totals.ways) {
        told.set_item(format!("octets_{name}"), way.octets)?;
    }
    told.set_item("lost_lines", summary.lost_lines)?;
    Ok(told.unbind())
}
