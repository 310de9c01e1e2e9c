//! Sandboxes of emulations: namespaces around the emulator and around programs.
//!
//! Python forks the processes, because this crate may not. This module contains the actions of
//! these processes.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umts_emulate::{NetNamespace, Program};

use crate::errors::NO_PANIC;

/// Leave the host's namespaces. The next child of this process is process 1 of the new ones.
#[pyfunction]
pub fn leave_host(keep_network: bool) -> PyResult<()> {
    Ok(umts_emulate::leave_host(keep_network)?)
}

/// Adapt the mounts to the new namespaces: mount ``/proc``, and let `name_server` resolve names.
#[pyfunction]
#[pyo3(signature = (name_server=None))]
pub fn settle(name_server: Option<&str>) -> PyResult<()> {
    Ok(umts_emulate::settle(name_server)?)
}

/// Both ends of the connection between a process and its fork. Each process takes its own end,
/// which closes the other end in that process.
struct Ends(Mutex<Option<(UnixStream, UnixStream)>>);

impl Ends {
    fn new() -> PyResult<Self> {
        Ok(Ends(Mutex::new(Some(UnixStream::pair()?))))
    }

    /// Takes the end that `select` chooses: the first or the second.
    fn take(&self, select: fn((UnixStream, UnixStream)) -> UnixStream) -> PyResult<UnixStream> {
        take_once(&self.0, "this process has already taken an end of the connection").map(select)
    }
}

/// Takes a value that can be taken only once. Raises ``ValueError`` with `message` otherwise.
fn take_once<T>(from: &Mutex<Option<T>>, message: &'static str) -> PyResult<T> {
    from.lock().expect(NO_PANIC).take().ok_or_else(|| PyValueError::new_err(message))
}

/// The sandbox of a host, in which programs run. A forked process builds it around itself with
/// ``build`` and exits. The parent calls ``around`` meanwhile.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Place {
    ends: Ends,
    place: Mutex<Option<umts_emulate::Place>>,
}

#[pymethods]
impl Place {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Place { ends: Ends::new()?, place: Mutex::new(None) })
    }

    /// Build the place around this process.
    fn build(&self) -> PyResult<()> {
        Ok(umts_emulate::build(&self.ends.take(|(builder, _)| builder)?)?)
    }

    /// Complete the place that the process with number `builder` builds.
    fn around(&self, builder: i32) -> PyResult<()> {
        let stream = self.ends.take(|(_, emulator)| emulator)?;
        let place = umts_emulate::Place::around(builder, &stream)?;
        self.place.lock().expect(NO_PANIC).replace(place);
        Ok(())
    }
}

impl Place {
    /// Takes the network namespace. The place cannot be entered afterwards.
    pub fn take_network(&self) -> PyResult<NetNamespace> {
        take_once(&self.place, "the place was not built, or the network was already taken")
            .map(|place| place.network)
    }
}

/// A program that waits for the order to run. A forked process becomes it with ``become``. The
/// parent calls ``is_process`` and passes the object to ``emulate``.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Waiting {
    program: Program,
    ends: Ends,
    waiting: Mutex<Option<umts_emulate::Waiting>>,
}

#[pymethods]
impl Waiting {
    #[new]
    #[pyo3(signature = (words, variables, *, has_terminal))]
    fn new(words: Vec<OsString>, variables: Vec<(OsString, OsString)>, has_terminal: bool) -> PyResult<Self> {
        if words.is_empty() {
            return Err(PyValueError::new_err("the command of a program is empty"));
        }
        let program = Program { words, environment: variables, has_terminal };
        Ok(Waiting { program, ends: Ends::new()?, waiting: Mutex::new(None) })
    }

    /// Wait in a place, or in the namespaces of this process, and then execute the program.
    #[pyo3(signature = (place=None))]
    fn r#become(&self, place: Option<&Place>) -> PyResult<()> {
        let stream = self.ends.take(|(program, _)| program)?;
        let place = place.map(|place| place.place.lock().expect(NO_PANIC));
        let place = place.as_ref().and_then(|place| place.as_ref());
        Ok(umts_emulate::wait_and_become(&self.program, place, stream)?)
    }

    /// Set the number of the forked process.
    fn is_process(&self, process: i32) -> PyResult<()> {
        let stream = self.ends.take(|(_, emulator)| emulator)?;
        let name = self.program.words[0].clone();
        self.waiting.lock().expect(NO_PANIC).replace(umts_emulate::Waiting { process, name, stream });
        Ok(())
    }
}

impl Waiting {
    /// Takes the program, which can run only once.
    pub fn take(&self) -> PyResult<umts_emulate::Waiting> {
        take_once(
            &self.waiting,
            "no process waits to execute the program, or the program was already started",
        )
    }
}
