//! Digests of a run's files, with the interpreter free for other threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use pyo3::prelude::*;
use umts_record::seal::{self, Flaw};

/// What is wrong with the folder of a run: names of files, and what is wrong with each; empty if nothing is.
#[pyfunction]
pub fn check_run(py: Python<'_>, folder: PathBuf) -> Vec<(String, String)> {
    told(py.detach(|| seal::check(&folder)))
}

fn told(flaws: Vec<Flaw>) -> Vec<(String, String)> {
    flaws.into_iter().map(|flaw| (flaw.file, flaw.wrong)).collect()
}

/// The same of any number of folders, on all processors.
#[pyfunction]
pub fn check_runs(py: Python<'_>, folders: Vec<PathBuf>) -> Vec<Vec<(String, String)>> {
    let found = py.detach(|| seal::check_all(&folders));
    found.into_iter().map(told).collect()
}

/// What shows that nobody wrote to the files of a run since it was the same, for each of some folders; none where it cannot
/// be told.
#[pyfunction]
pub fn states(py: Python<'_>, folders: Vec<PathBuf>) -> Vec<Option<String>> {
    py.detach(|| seal::states(&folders, SystemTime::now()))
}

/// The digest of every file below a folder but its `run.json`, by name.
#[pyfunction]
pub fn digests(py: Python<'_>, folder: PathBuf) -> PyResult<BTreeMap<String, String>> {
    Ok(py.detach(|| seal::digests(&folder))?)
}

/// The digest of some octets, in hexadecimal.
#[pyfunction]
pub fn digest(content: &[u8]) -> String {
    seal::digest(content)
}
