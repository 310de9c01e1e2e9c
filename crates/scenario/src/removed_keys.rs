//! Keys of earlier versions that now have one fixed value. A file with this value still loads, with
//! a warning: scenarios of stored runs contain all keys.

use crate::error::Problem;
use crate::tree::{Node, Value};

/// Array of tables, table in it, and key. The fixed value is `true`.
const ALWAYS_TRUE: [(&str, &str, &str); 2] =
    [("link", "internet_delay", "keeps_order"), ("flow", "pareto_www", "start_with_pause")];

/// Removes these keys from a scenario. Returns a warning for each.
///
/// # Errors
/// If one has another value than the fixed one.
pub(crate) fn apply(tree: &mut Node) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    for (array, table, key) in ALWAYS_TRUE {
        let elements = tree.as_table_mut().and_then(|top| top.get_mut(array)).map(|node| &mut node.value);
        let Some(Value::Array(elements)) = elements else { continue };
        for element in elements {
            let table = element.as_table_mut().and_then(|element| element.get_mut(table));
            let Some(removed) = table.and_then(Node::as_table_mut).and_then(|table| table.remove(key)) else {
                continue;
            };
            if !matches!(removed.value, Value::Bool(true)) {
                let message = format!("`{key}` can no longer be changed: it is always true");
                return Err(Problem::new(message)
                    .at(removed.at)
                    .label("here")
                    .help("leave it out".to_owned()));
            }
            warnings.push(format!("{} is always true and can be left out", removed.path));
        }
    }
    Ok(warnings)
}
