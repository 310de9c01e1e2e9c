//! Python classes that make decisions in a run, and their exceptions.

use std::sync::{Arc, Mutex};

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyNameError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umts_scenario::model::PythonClass;

use crate::errors::NO_PANIC;

/// The first exception of a run. After it no Python code is called.
#[derive(Debug, Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Removes and returns the exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().expect(NO_PANIC).take()
    }

    /// Whether there is an exception.
    pub fn is_set(&self) -> bool {
        self.0.lock().expect(NO_PANIC).is_some()
    }

    /// Records an error of type `E` at `location` with the given cause, unless an error is already
    /// recorded.
    pub fn record<E: PyTypeInfo>(&self, py: Python<'_>, location: &str, cause: PyErr) {
        let error = PyErr::new::<E, _>(format!("{location} raised {cause}"));
        error.set_cause(py, Some(cause));
        self.0.lock().expect(NO_PANIC).get_or_insert(error);
    }
}

/// Loads the class. Returns it with its name for errors of type `E`.
pub fn load<E: PyTypeInfo>(
    py: Python<'_>,
    python_class: &PythonClass,
    failure: &Failure,
) -> PyResult<(Py<PyAny>, String)> {
    let file = python_class.file.display().to_string();
    let name = format!("{file}:{}", python_class.class);
    // With separate globals: two files, or two runs of a file, share nothing.
    let run = || -> PyResult<Bound<'_, PyAny>> {
        let builtins = py.import("builtins")?;
        let code = builtins.call_method1("compile", (&python_class.text, &file, "exec"))?;
        let globals = PyDict::new(py);
        globals.set_item("__name__", "umtslab_control")?;
        builtins.call_method1("exec", (code, &globals))?;
        let class = globals.get_item(&python_class.class)?;
        class.ok_or_else(|| PyNameError::new_err(format!("the file has no class {:?}", python_class.class)))
    };
    let loaded = run();
    loaded.map(|class| (class.unbind(), name.clone())).map_err(|error| {
        failure.record::<E>(py, &name, error);
        failure.take().expect("recorded in the line before")
    })
}
