//! Comparison of all scenarios of a folder with all goldens of another.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use umts_scenario::suggest::nearest;

use crate::difference::{Difference, difference};
use crate::error::{GoldenError, of_file};
use crate::golden::Golden;
use crate::runs::{SEED_COUNT, runs};

/// A folder of scenarios and a folder of their goldens.
#[derive(Debug, Clone)]
pub struct Goldens {
    /// Folder of files `NAME.toml`.
    pub scenarios: PathBuf,
    /// Folder of files `NAME.txt`.
    pub goldens: PathBuf,
    /// Names of the scenarios to compare or bless; all if empty.
    pub names: BTreeSet<String>,
    /// Number of runs at a time. It affects only the time taken.
    pub threads: usize,
}

/// Result of comparing a scenario with its golden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every line is equal.
    Equal,
    /// Some lines differ.
    Differs(Difference),
    /// The scenario has no golden.
    NoGolden,
    /// The golden has no scenario.
    NoScenario,
}

/// A scenario's current result and its comparison.
struct Compared {
    name: String,
    /// The current result. `None` without a scenario.
    golden: Option<Golden>,
    outcome: Outcome,
}

/// A run of one scenario with one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    /// Index of the scenario in the order of names.
    scenario: usize,
    /// Number of the seed, from 0.
    seed: u64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Equal => f.write_str("equal"),
            Outcome::Differs(difference) => difference.fmt(f),
            Outcome::NoGolden => {
                f.write_str("a scenario without a golden; UMTS_BLESS=1 make golden writes it")
            }
            Outcome::NoScenario => {
                f.write_str("a golden without a scenario; UMTS_BLESS=1 make golden removes it")
            }
        }
    }
}

impl Goldens {
    /// Returns the folders of this repository, with a thread for each core.
    pub fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let (scenarios, goldens) = (root.join("scenarios"), root.join("tests/golden"));
        Goldens { scenarios, goldens, names: BTreeSet::new(), threads }
    }

    /// Runs the scenarios and compares each with its golden. Returns the outcomes in the order of
    /// names.
    ///
    /// # Errors
    /// If a name is unknown, a scenario cannot be run, or a golden cannot be read.
    pub fn compare(&self) -> Result<Vec<(String, Outcome)>, GoldenError> {
        Ok(self.outcomes()?.into_iter().map(|compared| (compared.name, compared.outcome)).collect())
    }

    /// As [`compare`](Self::compare), but then replaces the goldens by the current results.
    ///
    /// # Errors
    /// As [`compare`](Self::compare), before any golden is written, or if a golden cannot be
    /// written.
    pub fn bless(&self) -> Result<Vec<(String, Outcome)>, GoldenError> {
        fs::create_dir_all(&self.goldens).map_err(of_file(&self.goldens))?;
        let mut blessed = Vec::new();
        for Compared { name, golden, outcome } in self.outcomes()? {
            let path = self.golden(&name);
            match (&outcome, golden) {
                (Outcome::Equal, _) => {}
                (_, Some(golden)) => fs::write(&path, golden.to_string()).map_err(of_file(&path))?,
                (_, None) => fs::remove_file(&path).map_err(of_file(&path))?,
            }
            blessed.push((name, outcome));
        }
        Ok(blessed)
    }

    /// Compares the chosen scenarios and goldens, in the order of names.
    fn outcomes(&self) -> Result<Vec<Compared>, GoldenError> {
        let mut scenarios = names(&self.scenarios, "toml")?;
        let mut goldens = if self.goldens.is_dir() { names(&self.goldens, "txt")? } else { BTreeSet::new() };
        if !self.names.is_empty() {
            check_known(&self.names, &(&scenarios | &goldens))?;
            scenarios = &scenarios & &self.names;
            goldens = &goldens & &self.names;
        }
        let mut outcomes = Vec::new();
        for name in goldens.difference(&scenarios) {
            outcomes.push(Compared { name: name.clone(), golden: None, outcome: Outcome::NoScenario });
        }
        for (name, is) in self.run(scenarios)? {
            let was = goldens.contains(&name).then(|| self.read(&name)).transpose()?;
            let outcome = match was {
                None => Outcome::NoGolden,
                Some(was) => difference(&was, &is).map_or(Outcome::Equal, Outcome::Differs),
            };
            outcomes.push(Compared { name, golden: Some(is), outcome });
        }
        outcomes.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(outcomes)
    }

    /// Runs these scenarios, with a job for each seed. Returns the results in the order of names.
    fn run(&self, names: BTreeSet<String>) -> Result<Vec<(String, Golden)>, GoldenError> {
        let names: Vec<String> = names.into_iter().collect();
        let jobs: Vec<Job> = (0..names.len())
            .flat_map(|scenario| (0..SEED_COUNT).map(move |seed| Job { scenario, seed }))
            .collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(jobs.len()));
        let work = || {
            while let Some(&job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let file = self.scenarios.join(format!("{}.toml", names[job.scenario]));
                let golden = runs(&file, job.seed);
                done.lock().expect("no thread panics with the lock").push((job, golden));
            }
        };
        thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        let mut done = done.into_inner().expect("no thread panicked with the lock");
        done.sort_by_key(|(job, _)| *job);
        let mut goldens = vec![Golden::default(); names.len()];
        for (job, golden) in done {
            goldens[job.scenario].lines.extend(golden?.lines);
        }
        Ok(names.into_iter().zip(goldens).collect())
    }

    fn read(&self, name: &str) -> Result<Golden, GoldenError> {
        let path = self.golden(name);
        let text = fs::read_to_string(&path).map_err(of_file(&path))?;
        Golden::parse(&text).map_err(|problem| GoldenError::Golden { path, problem })
    }

    fn golden(&self, name: &str) -> PathBuf {
        self.goldens.join(format!("{name}.txt"))
    }
}

/// Returns an error for the first name that is not known, with names that could be meant.
fn check_known(names: &BTreeSet<String>, known: &BTreeSet<String>) -> Result<(), GoldenError> {
    let Some(name) = names.difference(known).next() else { return Ok(()) };
    let nearest = nearest(name, known.iter().map(String::as_str));
    let longer = known.iter().map(String::as_str).filter(|known| known.contains(name.as_str()));
    let meant: BTreeSet<&str> = nearest.into_iter().chain(longer).collect();
    let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let advice = if meant.is_empty() {
        format!("the names are {}", list(&mut known.iter().map(String::as_str)))
    } else {
        format!("the nearest names are {}", list(&mut meant.into_iter()))
    };
    Err(GoldenError::UnknownName { name: name.clone(), advice })
}

/// Returns the names of the files with this extension, without the extension.
fn names(folder: &Path, extension: &str) -> Result<BTreeSet<String>, GoldenError> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(of_file(folder))? {
        let path = entry.map_err(of_file(folder))?.path();
        if path.extension().is_some_and(|actual| actual == extension) {
            names.insert(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}
