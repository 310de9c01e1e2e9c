//! The world of an emulation, as its processes make it: namespaces around the emulator, walls around programs.
//!
//! Python forks, which this crate may not; what a process then does is here.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umts_emulate::{NetNamespace, Program};

use crate::errors::NO_PANIC;

/// Leaves the host's namespaces; what this process starts next is process 1 of new ones.
#[pyfunction]
pub fn leave_host(keep_network: bool) -> PyResult<()> {
    Ok(umts_emulate::leave_host(keep_network)?)
}

/// Mounts what fits the new namespaces: ``/proc``, and a resolver that asks `name_server`.
#[pyfunction]
#[pyo3(signature = (name_server=None))]
pub fn settle(name_server: Option<&str>) -> PyResult<()> {
    Ok(umts_emulate::settle(name_server)?)
}

/// The two ends of what a process and the one that it forks tell each other; each takes its own, which closes the other.
struct Ends(Mutex<Option<(UnixStream, UnixStream)>>);

impl Ends {
    fn new() -> PyResult<Self> {
        Ok(Ends(Mutex::new(Some(UnixStream::pair()?))))
    }

    fn take(&self, which: fn((UnixStream, UnixStream)) -> UnixStream) -> PyResult<UnixStream> {
        taken(&self.0, "a process has an end already").map(which)
    }
}

fn taken<T>(from: &Mutex<Option<T>>, otherwise: &'static str) -> PyResult<T> {
    from.lock().expect(NO_PANIC).take().ok_or_else(|| PyValueError::new_err(otherwise))
}

/// A host of its own for programs. A process that was forked builds it around itself with ``build`` and ends; the one that
/// forked it calls ``around`` meanwhile.
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

    /// Builds it around this process.
    fn build(&self) -> PyResult<()> {
        Ok(umts_emulate::build(&self.ends.take(|(builder, _)| builder)?)?)
    }

    /// Takes what process `builder` builds.
    fn around(&self, builder: i32) -> PyResult<()> {
        let stream = self.ends.take(|(_, emulator)| emulator)?;
        let place = umts_emulate::Place::around(builder, &stream)?;
        self.place.lock().expect(NO_PANIC).replace(place);
        Ok(())
    }
}

impl Place {
    /// Its network; nobody enters it afterwards.
    pub fn take_network(&self) -> PyResult<NetNamespace> {
        taken(&self.place, "nothing is around this place").map(|place| place.network)
    }
}

/// A program that waits for the word to begin. A process that was forked becomes it with ``become``; the one that forked it
/// calls ``is_process``, and gives it to ``emulate``.
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
            return Err(PyValueError::new_err("a program has a name"));
        }
        let program = Program { words, environment: variables, has_terminal };
        Ok(Waiting { program, ends: Ends::new()?, waiting: Mutex::new(None) })
    }

    /// Waits in a place, or where this process is, and becomes the program.
    #[pyo3(signature = (place=None))]
    fn r#become(&self, place: Option<&Place>) -> PyResult<()> {
        let stream = self.ends.take(|(program, _)| program)?;
        let place = place.map(|place| place.place.lock().expect(NO_PANIC));
        let place = place.as_ref().and_then(|place| place.as_ref());
        Ok(umts_emulate::wait_and_become(&self.program, place, stream)?)
    }

    /// The forked process is this one.
    fn is_process(&self, process: i32) -> PyResult<()> {
        let stream = self.ends.take(|(_, emulator)| emulator)?;
        let name = self.program.words[0].clone();
        self.waiting.lock().expect(NO_PANIC).replace(umts_emulate::Waiting { process, name, stream });
        Ok(())
    }
}

impl Waiting {
    /// The program; it begins once.
    pub fn take(&self) -> PyResult<umts_emulate::Waiting> {
        taken(&self.waiting, "no process waits to become the program")
    }
}
