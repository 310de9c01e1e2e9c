//! Digests of a run's files. The interpreter lock is released meanwhile.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use pyo3::prelude::*;
use umts_record::seal::{self, Flaw};

/// Check the folder of a run. Return pairs of file and error; the list is empty if there are no
/// errors.
#[pyfunction]
pub fn check_run(py: Python<'_>, folder: PathBuf) -> Vec<(String, String)> {
    pairs(py.detach(|| seal::check(&folder)))
}

fn pairs(flaws: Vec<Flaw>) -> Vec<(String, String)> {
    flaws.into_iter().map(|flaw| (flaw.file, flaw.description)).collect()
}

/// Check several folders on all processors.
#[pyfunction]
pub fn check_runs(py: Python<'_>, folders: Vec<PathBuf>) -> Vec<Vec<(String, String)>> {
    let flaws = py.detach(|| seal::check_all(&folders));
    flaws.into_iter().map(pairs).collect()
}

/// State of each folder of a run: equal states show that the files were not changed in between.
/// `None` if the state cannot show that.
#[pyfunction]
pub fn states(py: Python<'_>, folders: Vec<PathBuf>) -> Vec<Option<String>> {
    py.detach(|| seal::states(&folders, SystemTime::now()))
}

/// Digest of each file below a folder except its `run.json`, by name.
#[pyfunction]
pub fn digests(py: Python<'_>, folder: PathBuf) -> PyResult<BTreeMap<String, String>> {
    Ok(py.detach(|| seal::digests(&folder))?)
}

/// Digest of some bytes in hexadecimal.
#[pyfunction]
pub fn digest(content: &[u8]) -> String {
    seal::digest(content)
}
