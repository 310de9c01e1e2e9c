//! Keys of earlier versions that now have one fixed value. A file with this value still loads, with
//! a warning: scenarios of stored runs contain all keys.

use crate::error::Problem;
use crate::tree::{Node, Value};

/// A key of an earlier version.
struct RemovedKey {
    /// The array of tables that had the key.
    array: &'static str,
    /// The tables below each element of the array, and the key.
    path: &'static [&'static str],
    /// The value that now always applies.
    fixed: &'static str,
}

const REMOVED: [RemovedKey; 4] = [
    RemovedKey { array: "link", path: &["internet_delay", "keeps_order"], fixed: "true" },
    RemovedKey { array: "flow", path: &["pareto_www", "start_with_pause"], fixed: "true" },
    RemovedKey { array: "cell", path: &["dsch", "without_credit"], fixed: "one_block" },
    RemovedKey { array: "cell", path: &["tdd", "grant", "ends"], fixed: "unused_frame" },
];

/// Removes these keys from a scenario. Returns a warning for each.
///
/// # Errors
/// If one has another value than the fixed one.
pub(crate) fn apply(tree: &mut Node) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    for RemovedKey { array, path, fixed } in REMOVED {
        let elements = tree.as_table_mut().and_then(|top| top.get_mut(array)).map(|node| &mut node.value);
        let Some(Value::Array(elements)) = elements else { continue };
        for element in elements {
            let Some(removed) = remove(element, path) else { continue };
            if !is_equal(&removed.value, fixed) {
                let key = path.last().expect("a path ends with a key");
                let message = format!("`{key}` can no longer be changed: it is always {fixed}");
                let problem = Problem::new(message).path(&removed.path).at(removed.at);
                return Err(problem.label("here").help("leave it out"));
            }
            warnings.push(format!("{} is always {fixed} and can be left out", removed.path));
        }
    }
    Ok(warnings)
}

/// Removes the key at `path` below a table.
fn remove(node: &mut Node, path: &[&str]) -> Option<Node> {
    let (first, rest) = path.split_first()?;
    let table = node.as_table_mut()?;
    if rest.is_empty() { table.remove(*first) } else { remove(table.get_mut(*first)?, rest) }
}

fn is_equal(value: &Value, fixed: &str) -> bool {
    match value {
        Value::Bool(value) => value.to_string() == fixed,
        Value::Text(value) => value == fixed,
        _ => false,
    }
}
