//! A folder of golden runs: replays each run and compares it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::losses::{LongRun, LossList};
use crate::replay::{Totals, rows};
use crate::row::{HEADER, Row, first_difference};
use crate::run::{Entry, Skip};

/// Result of the comparison of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All rows, or all totals, are equal.
    Equal,
    /// Description of the first difference.
    Unequal(String),
    /// Totals of both, for a run that is not expected to be equal.
    Shown(String),
    /// The reason why the run was not compared.
    Skipped(Skip),
}

/// The folder cannot be read, or a result cannot be written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages explain the fields")]
pub enum FolderError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Json { path: PathBuf, error: serde_json::Error },
    #[error("{}: {line:?} cannot be read", path.display())]
    Line { path: PathBuf, line: String },
}

/// Compares a run with the text of its event file. Also returns our rows, which are none for a run
/// that is skipped.
///
/// # Errors
///
/// The first line of the event file that is invalid.
pub fn compare(entry: &Entry, events: &str, losses: &[LossList]) -> Result<(Outcome, Vec<Row>), String> {
    let expected: Vec<Row> = events
        .lines()
        .skip(1)
        .map(|line| line.parse().map_err(|_| line.to_owned()))
        .collect::<Result<_, _>>()?;
    let run = match entry.run(losses) {
        Ok(run) => run,
        Err(skip) => return Ok((Outcome::Skipped(skip), Vec::new())),
    };
    let ours = rows(&run);
    if entry.is_of_linux() {
        let (totals, ns2_totals) = (Totals::of(&ours), Totals::of(&expected));
        let end_s = |rows: &[Row]| rows.last().map_or(0.0, |row| row.at_s);
        let text = format!(
            "{totals} by {:.2} s; ns-2's copy of Linux: {ns2_totals} by {:.2} s",
            end_s(&ours),
            end_s(&expected)
        );
        return Ok((Outcome::Shown(text), ours));
    }
    let outcome = first_difference(&ours, &expected).map_or(Outcome::Equal, Outcome::Unequal);
    Ok((outcome, ours))
}

/// Compares the totals of a long transfer. If they differ, reports how a tie would have to be
/// broken to make them equal.
pub fn compare_totals(long: &LongRun, losses: &[LossList]) -> Outcome {
    outcome_of_totals(long, losses).unwrap_or_else(Outcome::Skipped)
}

fn outcome_of_totals(long: &LongRun, losses: &[LossList]) -> Result<Outcome, Skip> {
    let totals = long.totals(losses)?;
    if totals == long.expected {
        return Ok(Outcome::Equal);
    }
    let reason = match long.tie(losses)? {
        Some(nudge) => format!("a tie: equal with {nudge}"),
        None => "reason unknown".to_owned(),
    };
    Ok(Outcome::Unequal(format!("got {totals} instead of {}; {reason}", long.expected)))
}

/// A folder of golden runs. Everything except the event files is in memory.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The runs of `runs.json`.
    pub runs: Vec<Entry>,
    /// The runs of `f3_runs.csv`; empty without this file.
    pub long_runs: Vec<LongRun>,
    /// The lists of `f3_losslists.csv`; empty without this file.
    pub losses: Vec<LossList>,
}

impl Folder {
    /// Reads the tables of the folder.
    ///
    /// # Errors
    ///
    /// If `runs.json` is missing, or a file is invalid.
    pub fn read(path: &Path) -> Result<Self, FolderError> {
        let file = path.join("runs.json");
        let runs =
            serde_json::from_str(&text(&file)?).map_err(|error| FolderError::Json { path: file, error })?;
        Ok(Folder {
            path: path.to_owned(),
            runs,
            long_runs: table(&path.join("f3_runs.csv"), LongRun::parse_all)?,
            losses: table(&path.join("f3_losslists.csv"), LossList::parse_all)?,
        })
    }

    /// Replays a run and compares it with its event file. With `out`, also writes our events there
    /// under the same name.
    ///
    /// # Errors
    ///
    /// If the event file cannot be read, or ours cannot be written.
    pub fn compare(&self, entry: &Entry, out: Option<&Path>) -> Result<Outcome, FolderError> {
        // A run that cannot be replayed needs no event file.
        if let Err(skip) = entry.run(&self.losses) {
            return Ok(Outcome::Skipped(skip));
        }
        let path = self.path.join(&entry.file);
        let events = text(&path)?;
        let (outcome, ours) =
            compare(entry, &events, &self.losses).map_err(|line| FolderError::Line { path, line })?;
        if let Some(out) = out {
            let path = out.join(&entry.file);
            write(&path, &ours).map_err(|error| FolderError::Io { path, error })?;
        }
        Ok(outcome)
    }
}

/// Reads a file.
fn text(path: &Path) -> Result<String, FolderError> {
    fs::read_to_string(path).map_err(|error| FolderError::Io { path: path.to_owned(), error })
}

/// Reads an optional table. `parse` returns a line that it cannot parse as the error.
fn table<T>(path: &Path, parse: impl Fn(&str) -> Result<Vec<T>, String>) -> Result<Vec<T>, FolderError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    parse(&text(path)?).map_err(|line| FolderError::Line { path: path.to_owned(), line })
}

fn write(path: &Path, rows: &[Row]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "{HEADER}")?;
    rows.iter().try_for_each(|row| writeln!(file, "{row}"))?;
    file.flush()
}
