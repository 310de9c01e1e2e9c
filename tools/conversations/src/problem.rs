//! Problems in scripts, with their location.

use thiserror::Error;

/// A line that cannot be parsed, or that was not met.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct Problem {
    /// Name of the script.
    pub file: String,
    /// Number of the line, from 1. It is 0 if the file could not be read.
    pub line: usize,
    /// Description of the problem.
    pub message: String,
}

/// A [`Problem`] without the name of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub line: usize,
    pub message: String,
}

impl Mistake {
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Mistake { line, message: message.into() }
    }

    pub fn in_file(self, file: &str) -> Problem {
        Problem { file: file.to_owned(), line: self.line, message: self.message }
    }
}
