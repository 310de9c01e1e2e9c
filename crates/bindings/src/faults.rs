//! Faults that Python orders for a running emulation, or for its replay.

use std::sync::Mutex;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use umts_emulate::{FaultInbox, FaultOrder, fault_channel};
use umts_units::Time;

use crate::errors::NO_PANIC;
use crate::scenario::Scenario;

/// Sets and removes faults of one emulation, from any thread. Pass it to ``emulate``.
#[pyclass(frozen, module = "umtslab._core")]
pub struct FaultControl {
    control: umts_emulate::FaultControl,
    inbox: Mutex<Option<FaultInbox>>,
}

#[pymethods]
impl FaultControl {
    #[new]
    fn new() -> PyResult<Self> {
        let (control, inbox) = fault_channel()?;
        Ok(FaultControl { control, inbox: Mutex::new(Some(inbox)) })
    }

    /// Add a fault, or replace the values of the fault with this name. `values` is an inline table of
    /// TOML, as `set` in ``[[at]]`` of `scenario`. Wait until the fault is in force, and return the
    /// time of the emulation in nanoseconds.
    ///
    /// Raises ``ScenarioError`` if the values are invalid, and ``RuntimeError`` if the emulation has
    /// ended.
    fn set(&self, py: Python<'_>, scenario: &Scenario, name: String, values: &str) -> PyResult<u64> {
        let order = order(py, scenario, name, Some(values))?;
        self.execute(py, order)
    }

    /// Remove a fault, which restores the values before it. Return the time as ``set``.
    fn remove(&self, py: Python<'_>, name: String) -> PyResult<u64> {
        self.execute(py, FaultOrder::Remove { name })
    }
}

impl FaultControl {
    /// Takes the end of the emulation. Later calls return `None`.
    pub fn take_inbox(&self) -> Option<FaultInbox> {
        self.inbox.lock().expect(NO_PANIC).take()
    }

    fn execute(&self, py: Python<'_>, order: FaultOrder) -> PyResult<u64> {
        let executed = py.detach(|| self.control.execute(order));
        executed.map(Time::as_nanos).map_err(|ended| PyRuntimeError::new_err(ended.to_string()))
    }
}

/// An executed order: time of the emulation in nanoseconds, name of the fault, and its values as an
/// inline table. Without values the fault was removed.
pub type Executed = (u64, String, Option<String>);

/// The orders of an emulation of `scenario`, for its replay.
pub fn orders(
    py: Python<'_>,
    scenario: &Scenario,
    executed: Vec<Executed>,
) -> PyResult<Vec<(Time, FaultOrder)>> {
    let read = |(at, name, values): Executed| {
        Ok((Time::from_nanos(at), order(py, scenario, name, values.as_deref())?))
    };
    executed.into_iter().map(read).collect()
}

fn order(py: Python<'_>, scenario: &Scenario, name: String, values: Option<&str>) -> PyResult<FaultOrder> {
    match values {
        Some(values) => Ok(FaultOrder::set(name, scenario.with_change(py, values)?.inner())),
        None => Ok(FaultOrder::Remove { name }),
    }
}
