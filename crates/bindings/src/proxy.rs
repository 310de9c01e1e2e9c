//! The split proxy for real traffic: one function, which returns when a signal has ended it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_proxy::{
    Effective, IfDead, Interception, Least, Manner, Options, Policy, Selection, Slot, Started, Summary,
    at_work, clean, lay_down, left_behind,
};

use crate::errors::NO_PANIC;

pyo3::create_exception!(
    umtslab._core,
    ProxyError,
    pyo3::exceptions::PyException,
    "There is no proxy; ``error.status`` is what to exit with."
);

/// Relays TCP connections until SIGTERM or SIGINT, by options as they are typed: pairs of a name and a value.
///
/// `started` is told, as a dictionary, what there is when clients can connect. What is returned has sums of all connections.
/// With `guard`, the descriptor of a pipe that the parent process holds open, the parent undoes what was set up in the
/// kernel's network, and this one keeps the least of rights.
#[pyfunction]
#[pyo3(signature = (options, started, *, guard=None), text_signature = "(options, started, *, guard=None)")]
pub fn proxy(
    py: Python<'_>,
    options: Vec<(String, String)>,
    started: Py<PyAny>,
    guard: Option<i32>,
) -> PyResult<Py<PyDict>> {
    let raised = Mutex::new(None);
    // Opened again, so that the descriptor that Python knows stays Python's.
    let guard =
        guard.map(|guard| File::open(format!("/proc/self/fd/{guard}")).map(OwnedFd::from)).transpose()?;
    let outcome = py.detach(|| {
        umts_proxy::run(Options::from_pairs(&options)?, guard, |about| {
            *raised.lock().expect(NO_PANIC) = tell(&started, about).err();
        })
    });
    if let Some(raised) = raised.into_inner().expect(NO_PANIC) {
        return Err(raised);
    }
    let summary = outcome.map_err(|error| failure(py, &error))?;
    summed(py, &summary)
}

/// Has this process keep the rights to undo what another one sets up, and no others.
#[pyfunction]
pub fn guard_proxy() -> PyResult<()> {
    Ok(lay_down(Least::Undo)?)
}

/// Removes what proxies left in this network when they were killed, with `keep_refusals` but for tables that refuse what no
/// proxy takes: how many things, and how many proxies have something there still. With `waits`, proxies that are about to
/// end are waited for, for a while at most. It takes root.
#[pyfunction]
pub fn clean_proxies(py: Python<'_>, keep_refusals: bool, waits: bool) -> PyResult<(usize, usize)> {
    let cleaned = py.detach(|| clean(keep_refusals, waits))?;
    Ok((cleaned.removed, cleaned.held))
}

/// Policy rules that proxies left in this network when they were killed.
#[pyfunction]
pub fn rules_left() -> PyResult<usize> {
    Ok(left_behind()?)
}

/// Proxies that intercept connections in this network.
#[pyfunction]
pub fn proxies_at_work() -> PyResult<usize> {
    Ok(at_work()?)
}

/// Sets up an interception in this network, and undoes it: whether the kernel can.
#[pyfunction]
pub fn try_interception(py: Python<'_>, device: String) -> PyResult<()> {
    let selection = Selection {
        devices: vec![device],
        ports: Vec::new(),
        if_dead: IfDead::Pass,
        policy: Policy::default(),
    };
    Interception::new(Arc::new(Slot::free()?), &selection, 1).map(drop).map_err(|error| failure(py, &error))
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
        told.set_item("notices", &about.notices)?;
        for (name, side) in ["client", "server"].into_iter().zip(&about.sides) {
            told.set_item(name, of_side(py, side)?)?;
        }
        started.call1(py, (told,)).map(drop)
    })
}

fn of_side<'py>(py: Python<'py>, side: &Effective) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("receive_buffer", side.receive_buffer)?;
    told.set_item("send_buffer", side.send_buffer)?;
    let manners: Vec<_> = side.manners.iter().map(|manner| of_manner(py, manner)).collect::<PyResult<_>>()?;
    told.set_item("by_routes", manners)?;
    Ok(told)
}

fn of_manner<'py>(py: Python<'py>, manner: &Manner) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("congestion_control", &manner.congestion_control)?;
    told.set_item("initial_window", manner.path.initial_window)?;
    told.set_item("min_rto_s", manner.path.min_rto.map(|time| time.as_secs_f64()))?;
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
    told.set_item("other_ports", summary.other_ports)?;
    told.set_item("lost_lines", summary.lost_lines)?;
    Ok(told.unbind())
}
