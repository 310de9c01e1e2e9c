//! Programs that are ready before the clock starts. Each is a process that waits in its sandbox for
//! the order to run.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;

use nix::errno::Errno;
use nix::sys::signal::SigSet;

use crate::programs::children::Program;
use crate::programs::sandbox::Place;

/// A waiting program, as the emulator sees it.
#[derive(Debug)]
pub struct Waiting {
    /// Process number of this child.
    pub process: i32,
    /// Name of the program.
    pub name: OsString,
    /// Connection to the process. The other end is closed when the program runs.
    pub stream: UnixStream,
}

impl Waiting {
    /// Lets the program run. Returns its process number.
    ///
    /// # Errors
    /// An error if the program does not exist or cannot be executed, or if its process has ended.
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

/// Enters `place`, if there is one, waits for the order at the other end of `emulator`, and
/// executes the program. Returns only on failure, and the process must then end. The process must
/// have a single thread.
///
/// # Errors
/// The reason of the failure. The other end receives it too.
pub fn wait_and_become(program: &Program, place: Option<&Place>, mut emulator: UnixStream) -> io::Result<()> {
    let error = match place.map_or(Ok(()), Place::enter).and_then(|()| emulator.read_exact(&mut [0])) {
        // The emulator has ended without starting the program.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
        Err(error) => error,
        // The program starts without blocked signals, whatever this process blocks.
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
    fn started_program_closes_its_end() {
        let (waiting, other) = waiting();
        drop(other.try_clone().unwrap());
        let begun = std::thread::spawn(move || waiting.begin());
        let mut other = other;
        other.read_exact(&mut [0]).unwrap();
        drop(other);
        assert_eq!(begun.join().unwrap().unwrap(), 7);
    }

    #[test]
    fn failed_execution_is_reported_with_its_error() {
        let (waiting, other) = waiting();
        let program = Program { words: vec!["/no/such/program".into()], ..Program::default() };
        let becoming = std::thread::spawn(move || wait_and_become(&program, None, other));
        assert_eq!(waiting.begin().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(becoming.join().unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
