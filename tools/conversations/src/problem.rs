//! What is wrong, and where.

use thiserror::Error;

/// A line that cannot be read, or that did not come true.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct Problem {
    /// The script.
    pub file: String,
    /// Its line, from 1; 0 if the file could not be read.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// As [`Problem`], before the file is known.
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
