//! What no single key can say: names that must exist, chains that must hold together, rates that must carry a PDU.

mod channels;
mod models;
mod names;
mod network;
mod rlc;
mod rrc;
mod traffic;

use crate::error::Problem;
use crate::model::Scenario;
use crate::tree::Node;

pub(crate) use names::is_name_character;

/// A scenario under inspection, with the tree that tells where its values are written.
struct Inspection<'a> {
    scenario: &'a Scenario,
    tree: &'a Node,
    warnings: Vec<String>,
}

/// The first mistake of `scenario`, or what to look at before its results are trusted.
pub(crate) fn check(scenario: &Scenario, tree: &Node) -> Result<Vec<String>, Problem> {
    let mut inspection = Inspection { scenario, tree, warnings: Vec::new() };
    inspection.times()?;
    inspection.names()?;
    inspection.chain()?;
    inspection.outages()?;
    inspection.red()?;
    inspection.channels()?;
    inspection.rlc()?;
    inspection.rrc()?;
    inspection.radio();
    inspection.capacity()?;
    inspection.traffic()?;
    Ok(inspection.warnings)
}

/// A problem with the value at `path`, or with the table around it where the value is a default.
pub(crate) fn problem(tree: &Node, path: &str, message: impl Into<String>) -> Problem {
    let (node, is_whole) = tree.find(path);
    let written = if is_whole { &node.path } else { path };
    Problem::new(message).at(node.at).path(written)
}

impl Inspection<'_> {
    fn problem(&self, path: &str, message: impl Into<String>) -> Problem {
        problem(self.tree, path, message)
    }

    /// Says it once, however many users it concerns.
    fn warn(&mut self, path: &str, message: &str) {
        let warning = format!("{path}: {message}");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    fn times(&self) -> Result<(), Problem> {
        let Scenario { duration, measure, .. } = self.scenario;
        if measure.from >= *duration {
            return Err(self
                .problem(
                    "measure.from",
                    format!("the metrics begin at {}, after the run's end", measure.from),
                )
                .label("not before the end")
                .help(format!("the run lasts {duration}: choose an earlier time, or a longer run")));
        }
        if measure.waterfall.is_some() && !measure.budget {
            return Err(self
                .problem(
                    "measure.waterfall",
                    "a waterfall is part of the time budget, which is off".to_owned(),
                )
                .help("add measure.budget = true".to_owned()));
        }
        match measure.to {
            Some(to) if to <= measure.from => Err(self
                .problem(
                    "measure.to",
                    format!("the metrics end at {to}, before they begin at {}", measure.from),
                )
                .help("choose a later time, or \"end\"".to_owned())),
            Some(to) if to > *duration => Err(self
                .problem("measure.to", format!("the metrics end at {to}, after the run's end"))
                .help(format!("the run lasts {duration}: choose an earlier time, or \"end\""))),
            _ => Ok(()),
        }
    }
}
