//! Why an emulation fails.

use std::io;

use thiserror::Error;
use umts_record::capture::CaptureError;

use crate::programs::children::exit_status_of;

/// Why there is no emulation, or no result of one.
#[derive(Debug, Error)]
pub enum EmulationError {
    /// The command could not be started.
    #[error("cannot run {name}: {source}")]
    Command {
        /// The command.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel refused something.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for makes no sense on this host; nothing has run.
    #[error("{0}")]
    Wrong(String),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// `meter` asked for it.
    #[error("the emulation was stopped")]
    Stopped,
}

impl EmulationError {
    /// What to exit with: as `env` has it for commands, 2 for what was asked for, 125 for the rest.
    pub fn exit_status(&self) -> i32 {
        match self {
            EmulationError::Command { source, .. } => exit_status_of(source),
            EmulationError::Wrong(_) => 2,
            _ => 125,
        }
    }
}

/// An error about what was asked for; the kernel's own have a number.
pub fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// An error of the kernel's, with `what` was to be done; or one about what was asked for.
pub fn system(what: &'static str) -> impl Fn(io::Error) -> EmulationError {
    move |source| match (source.kind(), source.raw_os_error()) {
        (io::ErrorKind::InvalidInput, None) => EmulationError::Wrong(source.to_string()),
        _ => EmulationError::System { what, source },
    }
}
