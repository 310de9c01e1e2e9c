//! Errors of emulations and replays.

use std::io;

use thiserror::Error;
use umts_record::capture::CaptureError;

use crate::programs::children::exit_status_of;

/// Error of an emulation or a replay.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The command could not be started.
    #[error("cannot run {name}: {source}")]
    Command {
        /// Name of the command.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The kernel refused an operation.
    #[error("{action}: {source}")]
    System {
        /// The failed action.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// An option or a device cannot be used on this host. No program has run.
    #[error("{0}")]
    Wrong(String),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// `meter` stopped the emulation.
    #[error("the emulation was stopped")]
    Stopped,
}

impl EmulationError {
    /// Exit status of `umts emulate`: 126 or 127 if the command cannot be started, as with `env`; 2
    /// for invalid options; 125 otherwise.
    pub fn exit_status(&self) -> i32 {
        match self {
            EmulationError::Command { source, .. } => exit_status_of(source),
            EmulationError::Wrong(_) => 2,
            _ => 125,
        }
    }
}

/// Creates an error about invalid options. Unlike errors of the kernel, it has no error number.
pub fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Returns a function that maps an I/O error to [`EmulationError`]: errors of [`wrong`] to `Wrong`,
/// all others to `System` with the failed `action`.
pub fn system(action: &'static str) -> impl Fn(io::Error) -> EmulationError {
    move |source| match (source.kind(), source.raw_os_error()) {
        (io::ErrorKind::InvalidInput, None) => EmulationError::Wrong(source.to_string()),
        _ => EmulationError::System { action, source },
    }
}
