//! Functions of the split proxy for real traffic.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_proxy::{
    Effective, IfDead, Interception, KeptPrivileges, Options, Policy, RouteSettings, Selection, Slot,
    Started, Summary, active_slots, clean, drop_privileges, leftover_slots,
};

use crate::errors::NO_PANIC;

pyo3::create_exception!(
    umtslab._core,
    ProxyError,
    pyo3::exceptions::PyException,
    "The proxy could not start or failed; ``error.status`` is the exit status for the command."
);

/// Relay TCP connections until SIGTERM or SIGINT. `options` are pairs of option and value as on the
/// command line.
///
/// `started` is called with a dictionary of settings when clients can connect. The result has the
/// totals of all connections. `guard` is the descriptor of a pipe that the parent process holds
/// open: the parent then removes the network settings at the end, and this process drops its
/// privileges.
#[pyfunction]
#[pyo3(signature = (options, started, *, guard=None), text_signature = "(options, started, *, guard=None)")]
pub fn proxy(
    py: Python<'_>,
    options: Vec<(String, String)>,
    started: Py<PyAny>,
    guard: Option<i32>,
) -> PyResult<Py<PyDict>> {
    let exception = Mutex::new(None);
    // Opened again, because the original descriptor belongs to Python.
    let guard =
        guard.map(|guard| File::open(format!("/proc/self/fd/{guard}")).map(OwnedFd::from)).transpose()?;
    let outcome = py.detach(|| {
        umts_proxy::run(Options::from_pairs(&options)?, guard, |settings| {
            *exception.lock().expect(NO_PANIC) = call_started(&started, settings).err();
        })
    });
    if let Some(exception) = exception.into_inner().expect(NO_PANIC) {
        return Err(exception);
    }
    let summary = outcome.map_err(|error| failure(py, &error))?;
    summary_dict(py, &summary)
}

/// Drop all privileges of this process except those to remove the network settings of a proxy.
#[pyfunction]
pub fn guard_proxy() -> PyResult<()> {
    Ok(drop_privileges(KeptPrivileges::Undo)?)
}

/// Remove what killed proxies left in this network namespace. With `keep_refusals`, keep the tables
/// that refuse connections instead of a proxy. With `waits`, wait a limited time for proxies that
/// are ending. Return the number of removed items, and the number of proxies that still use theirs.
/// Requires root.
#[pyfunction]
pub fn clean_proxies(py: Python<'_>, keep_refusals: bool, waits: bool) -> PyResult<(usize, usize)> {
    let cleaned = py.detach(|| clean(keep_refusals, waits))?;
    Ok((cleaned.removed, cleaned.held))
}

/// Number of killed proxies with a policy rule left in this network namespace.
#[pyfunction]
pub fn rules_left() -> PyResult<usize> {
    Ok(leftover_slots()?)
}

/// Number of proxies that intercept connections in this network namespace.
#[pyfunction]
pub fn proxies_at_work() -> PyResult<usize> {
    Ok(active_slots()?)
}

/// Set up an interception in this network namespace and remove it. Raises an error if the kernel
/// cannot.
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

/// Creates the exception for a failed proxy.
fn failure(py: Python<'_>, error: &umts_proxy::ProxyError) -> PyErr {
    let exception = ProxyError::new_err(error.to_string());
    match exception.value(py).setattr("status", error.exit_status()) {
        Ok(()) => exception,
        Err(unexpected) => unexpected,
    }
}

/// Calls the Python function `started` with the proxy's settings.
fn call_started(started: &Py<PyAny>, settings: &Started) -> PyResult<()> {
    Python::attach(|py| {
        let row = PyDict::new(py);
        row.set_item("listen", settings.listen.to_string())?;
        row.set_item("metrics", settings.metrics.map(|address| address.to_string()))?;
        row.set_item("connections", settings.limits.connections)?;
        row.set_item("buffer", settings.limits.buffer)?;
        row.set_item("notices", &settings.notices)?;
        for (name, side) in ["client", "server"].into_iter().zip(&settings.sides) {
            row.set_item(name, side_dict(py, side)?)?;
        }
        started.call1(py, (row,)).map(drop)
    })
}

fn side_dict<'py>(py: Python<'py>, side: &Effective) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("receive_buffer", side.receive_buffer)?;
    row.set_item("send_buffer", side.send_buffer)?;
    let by_routes: Vec<_> =
        side.route_settings.iter().map(|settings| route_dict(py, settings)).collect::<PyResult<_>>()?;
    row.set_item("by_routes", by_routes)?;
    Ok(row)
}

fn route_dict<'py>(py: Python<'py>, settings: &RouteSettings) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("congestion_control", &settings.congestion_control)?;
    row.set_item("initial_window", settings.path.initial_window)?;
    row.set_item("min_rto_s", settings.path.min_rto.map(|time| time.as_secs_f64()))?;
    Ok(row)
}

fn summary_dict(py: Python<'_>, summary: &Summary) -> PyResult<Py<PyDict>> {
    let totals = &summary.totals;
    let row = PyDict::new(py);
    row.set_item("accepted", totals.accepted)?;
    row.set_item("refused", totals.refused)?;
    let ended: BTreeMap<&str, u64> =
        totals.ended.iter().map(|(ended, count)| (ended.name(), *count)).collect();
    row.set_item("ended", ended)?;
    for (name, direction) in ["up", "down"].into_iter().zip(&totals.directions) {
        row.set_item(format!("octets_{name}"), direction.octets)?;
    }
    row.set_item("other_ports", summary.other_ports)?;
    row.set_item("lost_lines", summary.lost_lines)?;
    Ok(row.unbind())
}
