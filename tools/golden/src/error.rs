//! Errors that prevent the comparison of goldens.

use std::io;
use std::path::{Path, PathBuf};

use umts_scenario::ScenarioError;
use umts_simulate::RunError;

/// A scenario cannot be run, or a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages explain the fields")]
pub enum GoldenError {
    #[error("{}", .0.render(false))]
    Scenario(#[from] ScenarioError),
    #[error("{}: {error}", scenario.display())]
    Run { scenario: PathBuf, error: RunError },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {problem}", path.display())]
    Golden { path: PathBuf, problem: String },
    #[error("there is no scenario `{name}`: {advice}")]
    UnknownName { name: String, advice: String },
}

/// Returns a function that adds the path of the file to an error.
pub(crate) fn of_file(path: &Path) -> impl FnOnce(io::Error) -> GoldenError {
    |error| GoldenError::Io { path: path.to_owned(), error }
}
