//! Keys of earlier versions that now have one fixed value. A file with this value still loads, with
//! a warning: scenarios of stored runs contain all keys.

use crate::error::Problem;
use crate::tree::{Node, Value};

/// Array of tables, tables below each element with the key last, and the fixed value.
const REMOVED: [(&str, &[&str], &str); 4] = [
    ("link", &["internet_delay", "keeps_order"], "true"),
    ("flow", &["pareto_www", "start_with_pause"], "true"),
    ("cell", &["dsch", "without_credit"], "one_block"),
    ("cell", &["tdd", "grant", "ends"], "unused_frame"),
];

/// Removes these keys from a scenario. Returns a warning for each.
///
/// # Errors
/// If one has another value than the fixed one.
pub(crate) fn apply(tree: &mut Node) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    for (array, path, fixed) in REMOVED {
        let elements = tree.as_table_mut().and_then(|top| top.get_mut(array)).map(|node| &mut node.value);
        let Some(Value::Array(elements)) = elements else { continue };
        for element in elements {
            let Some(found) = remove(element, path) else { continue };
            if !is_equal(&found.value, fixed) {
                let key = path.last().expect("a path ends with a key");
                let message = format!("`{key}` can no longer be changed: it is always {fixed}");
                let problem = Problem::new(message).path(&found.path).at(found.at);
                return Err(problem.label("here").help("leave it out".to_owned()));
            }
            warnings.push(format!("{} is always {fixed} and can be left out", found.path));
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
