//! What can keep goldens from being compared.

use std::io;
use std::path::{Path, PathBuf};

use umts_scenario::ScenarioError;
use umts_simulate::RunError;

/// There is nothing to compare, or it cannot be read or written.
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
}

/// Names the file that `error` is about.
pub(crate) fn of_file(path: &Path) -> impl FnOnce(io::Error) -> GoldenError {
    |error| GoldenError::Io { path: path.to_owned(), error }
}
