//! Programs that are ready before the clock starts: each is a process that waits in its place for the word to begin.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;

use nix::errno::Errno;
use nix::sys::signal::SigSet;

use crate::programs::children::Program;
use crate::programs::sandbox::Place;

/// One of them, as the emulator knows it.
#[derive(Debug)]
pub struct Waiting {
    /// Its number; a child of this process.
    pub process: i32,
    /// The first of its words.
    pub name: OsString,
    /// How it is told. The other end closes when the program runs.
    pub stream: UnixStream,
}

impl Waiting {
    /// Lets it begin.
    ///
    /// # Errors
    /// If the program is not there or cannot be executed; or its process is gone.
    pub fn begin(mut self) -> io::Result<i32> {
        self.stream.write_all(&[1])?;
        let mut code = Vec::new();
        self.stream.read_to_end(&mut code)?;
        match code.first_chunk() {
            None => Ok(self.process),
            Some(code) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(*code))),
        }
    }
}

/// Waits in `place`, or where this process is, for the word at the other end of `emulator`, and becomes the program. It
/// returns if that goes wrong; the process, which has one thread, ends then.
///
/// # Errors
/// Why there is no program; the other end is told.
pub fn wait_and_become(program: &Program, place: Option<&Place>, mut emulator: UnixStream) -> io::Result<()> {
    let error = match place.map_or(Ok(()), Place::enter).and_then(|()| emulator.read_exact(&mut [0])) {
        // The emulator has ended without it.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
        Err(error) => error,
        // It has no signal blocked, whatever this process has.
        Ok(()) => SigSet::empty().thread_set_mask().map_or_else(Into::into, |()| program.command().exec()),
    };
    emulator.write_all(&error.raw_os_error().unwrap_or(Errno::EIO as i32).to_ne_bytes())?;
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> (Waiting, UnixStream) {
        let (stream, other) = UnixStream::pair().unwrap();
        (Waiting { process: 7, name: "x".into(), stream }, other)
    }

    #[test]
    fn a_program_that_runs_has_closed_its_end() {
        let (waiting, other) = waiting();
        drop(other.try_clone().unwrap());
        let begun = std::thread::spawn(move || waiting.begin());
        let mut other = other;
        other.read_exact(&mut [0]).unwrap();
        drop(other);
        assert_eq!(begun.join().unwrap().unwrap(), 7);
    }

    #[test]
    fn what_cannot_be_executed_says_why() {
        let (waiting, other) = waiting();
        let program = Program { words: vec!["/no/such/program".into()], ..Program::default() };
        let becoming = std::thread::spawn(move || wait_and_become(&program, None, other));
        assert_eq!(waiting.begin().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(becoming.join().unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
