//! All scenarios of a folder against all goldens of another.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::difference::{Difference, difference};
use crate::error::{GoldenError, of_file};
use crate::golden::Golden;
use crate::runs::{SEEDS, runs};

/// Two folders: scenarios, and what they give.
#[derive(Debug, Clone)]
pub struct Goldens {
    /// `NAME.toml`.
    pub scenarios: PathBuf,
    /// `NAME.txt`.
    pub goldens: PathBuf,
    /// Runs at once; their number changes nothing but the time.
    pub threads: usize,
}

/// How a scenario and its golden compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// To the bit.
    Equal,
    /// They differ.
    Differs(Difference),
    /// There is no golden.
    NoGolden,
    /// There is no scenario.
    NoScenario,
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
    /// Those of this repository, on all cores.
    pub fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        Goldens { scenarios: root.join("scenarios"), goldens: root.join("tests/golden"), threads }
    }

    /// Runs every scenario and compares it with its golden: all names in order, with how they compare.
    ///
    /// # Errors
    /// A scenario cannot be run, or a golden not be read.
    pub fn compare(&self) -> Result<Vec<(String, Outcome)>, GoldenError> {
        Ok(self.outcomes()?.into_iter().map(|(name, _, outcome)| (name, outcome)).collect())
    }

    /// As [`compare`](Self::compare), and then makes the goldens what the scenarios give now.
    ///
    /// # Errors
    /// As there, before anything is written; or a golden cannot be written.
    pub fn bless(&self) -> Result<Vec<(String, Outcome)>, GoldenError> {
        fs::create_dir_all(&self.goldens).map_err(of_file(&self.goldens))?;
        let mut blessed = Vec::new();
        for (name, golden, outcome) in self.outcomes()? {
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

    /// By name: what the scenario gives now, none if there is no scenario, and how that compares.
    fn outcomes(&self) -> Result<Vec<(String, Option<Golden>, Outcome)>, GoldenError> {
        let scenarios = names(&self.scenarios, "toml")?;
        let goldens = if self.goldens.is_dir() { names(&self.goldens, "txt")? } else { BTreeSet::new() };
        let mut outcomes = Vec::new();
        for name in goldens.difference(&scenarios) {
            outcomes.push((name.clone(), None, Outcome::NoScenario));
        }
        for (name, is) in self.run(scenarios)? {
            let was = goldens.contains(&name).then(|| self.read(&name)).transpose()?;
            let outcome = match was {
                None => Outcome::NoGolden,
                Some(was) => difference(&was, &is).map_or(Outcome::Equal, Outcome::Differs),
            };
            outcomes.push((name, Some(is), outcome));
        }
        outcomes.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(outcomes)
    }

    /// Runs all scenarios, each seed on its own.
    fn run(&self, names: BTreeSet<String>) -> Result<Vec<(String, Golden)>, GoldenError> {
        let names: Vec<String> = names.into_iter().collect();
        let jobs: Vec<(usize, u64)> =
            (0..names.len()).flat_map(|name| (0..SEEDS).map(move |seed| (name, seed))).collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(jobs.len()));
        let work = || {
            while let Some(&(name, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let file = self.scenarios.join(format!("{}.toml", names[name]));
                let golden = runs(&file, seed);
                done.lock().expect("no thread panics with it").push(((name, seed), golden));
            }
        };
        thread::scope(|scope| (0..self.threads.max(1)).for_each(|_| drop(scope.spawn(work))));
        let mut done = done.into_inner().expect("no thread panicked with it");
        done.sort_by_key(|(job, _)| *job);
        let mut goldens: Vec<_> = names.into_iter().map(|name| (name, Golden::default())).collect();
        for ((name, _), golden) in done {
            goldens[name].1.lines.extend(golden?.lines);
        }
        Ok(goldens)
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

/// Names of the files with this ending.
fn names(folder: &Path, ending: &str) -> Result<BTreeSet<String>, GoldenError> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(of_file(folder))? {
        let path = entry.map_err(of_file(folder))?.path();
        if path.extension().is_some_and(|found| found == ending) {
            names.insert(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}
