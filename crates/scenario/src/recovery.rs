//! Finds all mistakes of a scenario: removes a wrong key from the tree and checks the rest again.
//!
//! The default of a removed key can make other keys wrong. Such mistakes are not reported.

use crate::error::Problem;
use crate::tree::{Node, Value, join};

/// Maximum number of mistakes that are searched for.
const MAX_MISTAKES: usize = 20;

/// A mistake, and the kind of check that found it.
pub(crate) struct FoundMistake {
    pub problem: Problem,
    /// Whether the mistake concerns one key or one table. Checks of keys against each other set it
    /// to false.
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
        Ok(found) => return Ok(found),
        Err(first) => Some(first),
    };
    let mut found: Vec<Problem> = Vec::new();
    let mut repaired: Vec<Repair> = Vec::new();
    for _ in 0..MAX_MISTAKES {
        let Some(found_mistake) = next.take() else { break };
        let repair = repair(&mut tree, &found_mistake.problem);
        if !repaired.iter().any(|key| key.explains(&found_mistake)) {
            found.push(found_mistake.problem);
        }
        let Some(repair) = repair else { break };
        repaired.push(repair);
        next = check(tree.clone()).err();
    }
    // The first mistake found stays first, because no repair preceded it.
    found[1..].sort_by_key(|problem| problem.origin.map(|origin| (origin.source, origin.start)));
    Err(found)
}

/// A key that was removed, or that got a substitute value.
struct Repair {
    path: String,
    /// Whether other tables may refer to the removed value: a name, or a whole table.
    is_referred_to: bool,
}

impl Repair {
    /// Whether a later mistake may be a consequence of this repair.
    fn explains(&self, later: &FoundMistake) -> bool {
        let FoundMistake { problem, is_of_keys } = later;
        if !is_of_keys {
            return self.is_referred_to || top(&self.path) == top(&problem.path);
        }
        let table = self.path.rsplit_once('.').map_or("", |(table, _)| table);
        let is_in_table = match table {
            "" => !problem.path.contains('.'),
            _ => problem.path == table || is_below(&problem.path, table),
        };
        is_in_table && (problem.depends || problem.missing.is_some())
    }
}

fn is_below(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

fn top(path: &str) -> &str {
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
    if key.is_empty() || path == "version" {
        return None;
    }
    let entries = find_mut(tree, table)?.as_table_mut()?;
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

fn find_mut<'a>(tree: &'a mut Node, path: &str) -> Option<&'a mut Node> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(tree, |node, part| match &mut node.value {
        Value::Table(table) => table.get_mut(part),
        Value::Array(elements) => elements.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A substitute value for a required key.
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
