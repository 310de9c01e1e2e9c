//! Python exceptions of this module.

use std::io;
use std::path::Path;

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umts_record::capture::CaptureError;

pyo3::create_exception!(
    umtslab._core,
    ScenarioError,
    PyValueError,
    "A scenario is invalid; ``str(error)`` renders every mistake, ``mistakes`` has an error for each; other attributes describe the first."
);

pyo3::create_exception!(
    umtslab._core,
    CongestionControlError,
    PyRuntimeError,
    "Congestion control in Python failed; ``str(error)`` names file, class and method, ``__cause__`` is the original exception."
);

pyo3::create_exception!(
    umtslab._core,
    SchedulerError,
    PyRuntimeError,
    "A scheduler in Python failed; ``str(error)`` names file, class, method, cell and TTI, ``__cause__`` is the original exception."
);

pyo3::create_exception!(umtslab._core, OutputError, PyOSError, "The captures could not be written.");

pyo3::create_exception!(
    umtslab._core,
    CaptureReadError,
    PyOSError,
    "A capture could not be read; ``str(error)`` names the file, the byte and the reason."
);

/// Message for locking a mutex: the reason why it is not poisoned.
pub const NO_PANIC: &str = "no code panics while it holds the lock";

/// The exception for a capture that could not be read, with file and offset as attributes.
pub fn input_error(py: Python<'_>, error: &umts_capture::reader::ReadError) -> PyErr {
    let exception = CaptureReadError::new_err(error.to_string());
    let value = exception.value(py);
    let attributes = || {
        value.setattr("file", error.path.clone().into_os_string())?;
        value.setattr("offset", error.offset)
    };
    match attributes() {
        Ok(()) => exception,
        Err(unexpected) => unexpected,
    }
}

/// The exception for an invalid scenario: the message, the location and help of the first mistake as
/// attributes, and an exception for each mistake in `mistakes`.
pub fn scenario_error(py: Python<'_>, error: &umts_scenario::ScenarioError) -> PyErr {
    let all = || {
        let mistakes = error.mistakes().map(|mistake| single_error(py, &mistake, PyTuple::empty(py)));
        let mistakes = PyTuple::new(py, mistakes.collect::<PyResult<Vec<_>>>()?)?;
        single_error(py, error, mistakes)
    };
    all().unwrap_or_else(|unexpected| unexpected)
}

/// Creates the exception for one error of a scenario. `mistakes` are all of its mistakes.
fn single_error(
    py: Python<'_>,
    error: &umts_scenario::ScenarioError,
    mistakes: Bound<'_, PyTuple>,
) -> PyResult<PyErr> {
    let exception = ScenarioError::new_err(error.render(false));
    let value = exception.value(py);
    value.setattr("message", error.message())?;
    value.setattr("file", error.file())?;
    value.setattr("line", error.line())?;
    value.setattr("column", error.column())?;
    value.setattr("key", Some(error.key()).filter(|key| !key.is_empty()))?;
    value.setattr("help", error.help())?;
    value.setattr("mistakes", mistakes)?;
    Ok(exception)
}

/// The exception for a capture that could not be written, with `errno` and `filename` like Python's
/// own.
pub fn output_error(py: Python<'_>, error: &CaptureError) -> PyErr {
    os_error::<OutputError>(py, Some(&error.source), &error.path, || error.to_string())
}

/// An exception of a subclass of `OSError` with `errno` and file name. Without an error of the
/// system, its message is `message`.
pub fn os_error<T: PyTypeInfo>(
    py: Python<'_>,
    io_error: Option<&io::Error>,
    path: &Path,
    message: impl FnOnce() -> String,
) -> PyErr {
    let Some(errno) = io_error.and_then(io::Error::raw_os_error) else {
        return PyErr::new::<T, _>(message());
    };
    let reason = py.import("os").and_then(|os| os.call_method1("strerror", (errno,))?.extract::<String>());
    match reason {
        Ok(reason) => PyErr::new::<T, _>((errno, reason, path.as_os_str().to_owned())),
        Err(unexpected) => unexpected,
    }
}
