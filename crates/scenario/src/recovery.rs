//! Finds all mistakes of a scenario, so that one run reports them together. A check stops at its
//! first mistake. This module removes the wrong key from the tree, or adds the missing one, and
//! checks again, until there is no mistake left.
//!
//! The removed key gets its default, which can make other keys wrong. Mistakes that may be such
//! consequences of a repair are not reported.

use crate::error::Problem;
use crate::tree::{Node, Value, join};

/// Maximum number of mistakes that are searched for.
const MAX_MISTAKES: usize = 20;

/// A mistake, and the kind of check that found it.
pub(crate) struct FoundMistake {
    pub problem: Problem,
    /// Whether the check concerned one key or the keys of one table: their spelling, types and
    /// ranges. False for checks of different tables against each other.
    pub is_of_keys: bool,
}

impl From<Problem> for FoundMistake {
    fn from(problem: Problem) -> Self {
        FoundMistake { problem, is_of_keys: false }
    }
}

/// Returns the result of `check` for a tree without mistakes. Otherwise returns the first mistake
/// found, then the others in the order of the files.
pub(crate) fn all_mistakes<T>(
    mut tree: Node,
    mut check: impl FnMut(Node) -> Result<T, FoundMistake>,
) -> Result<T, Vec<Problem>> {
    let mut next = match check(tree.clone()) {
        Ok(result) => return Ok(result),
        Err(first) => Some(first),
    };
    let mut mistakes: Vec<Problem> = Vec::new();
    let mut repairs: Vec<Repair> = Vec::new();
    for _ in 0..MAX_MISTAKES {
        let Some(found_mistake) = next.take() else { break };
        let repair = repair(&mut tree, &found_mistake.problem);
        if !repairs.iter().any(|repair| repair.may_have_caused(&found_mistake)) {
            mistakes.push(found_mistake.problem);
        }
        let Some(repair) = repair else { break };
        repairs.push(repair);
        next = check(tree.clone()).err();
    }
    // The first mistake found stays first: it is certain, because no repair preceded it.
    mistakes[1..].sort_by_key(|problem| problem.origin.map(|origin| (origin.source, origin.start)));
    Err(mistakes)
}

/// A key that was removed, or that got a substitute value.
struct Repair {
    path: String,
    /// Whether other tables may refer to the removed value: it was a name, or a whole table.
    is_referred_to: bool,
}

impl Repair {
    /// Whether a later mistake may be a consequence of this repair. A check of one table fails only
    /// because of repairs in the same table; a check of several tables also because a name or a
    /// table is missing elsewhere.
    fn may_have_caused(&self, later: &FoundMistake) -> bool {
        let FoundMistake { problem, is_of_keys } = later;
        if !is_of_keys {
            return self.is_referred_to || top_level_key(&self.path) == top_level_key(&problem.path);
        }
        let table = self.path.rsplit_once('.').map_or("", |(table, _)| table);
        let is_in_table = match table {
            "" => !problem.path.contains('.'),
            _ => problem.path == table || is_below(&problem.path, table),
        };
        is_in_table && (problem.depends || problem.missing.is_some())
    }
}

/// Whether `path` is an entry of `table`, or an entry of one of its tables.
fn is_below(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

fn top_level_key(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

/// Removes the wrong key from the tree, or adds the missing one. Returns `None` if that is
/// impossible.
fn repair(tree: &mut Node, problem: &Problem) -> Option<Repair> {
    let path = match problem.missing {
        Some(key) => join(&problem.path, key),
        None => problem.path.clone(),
    };
    let (table, key) = path.rsplit_once('.').unwrap_or(("", &path));
    // Without its version a scenario cannot be checked further.
    if key.is_empty() || path == "version" {
        return None;
    }
    let entries = find_mut(tree, table)?.as_table_mut()?;
    // A key that is neither there nor missing cannot be repaired.
    let is_table = match entries.remove(key) {
        Some(node) => matches!(node.value, Value::Table(_) | Value::Array(_)),
        None => {
            problem.missing?;
            false
        }
    };
    if let (Some(_), Some(value)) = (problem.missing, substitute_for(key)) {
        let at = problem.origin?;
        let value = Value::Text(value.to_owned());
        entries.insert(key.to_owned(), Node { value, at, key_at: at, path: path.clone() });
    } else if problem.missing.is_some() {
        return None;
    }
    let is_referred_to = is_table || key == "name";
    Some(Repair { path, is_referred_to })
}

/// Finds a node by its path: keys of tables and indices of arrays, separated by dots.
fn find_mut<'a>(tree: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(tree, |node, part| match &mut node.value {
        Value::Table(table) => table.get_mut(part),
        Value::Array(elements) => elements.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns a valid value for a required key that is missing. The value is never used for a run.
fn substitute_for(key: &str) -> Option<&'static str> {
    match key {
        "duration" => Some("1000000 s"),
        "rate" | "downlink" | "uplink" => Some("64 kbit/s"),
        "tti" => Some("10 ms"),
        "rtt" => Some("100 ms"),
        "x" | "y" => Some("1 km"),
        "name" => Some("stand-in"),
        _ => None,
    }
}
