//! Tables of a scenario file that had another name in earlier versions.

use crate::tree::{Node, Source};

/// Former and current names of top-level tables.
const TABLES: [(&str, &str); 1] = [("pep", "proxy")];

/// The current name of top-level table `name`.
pub(crate) fn current(name: &str) -> &str {
    TABLES.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current)
}

/// A warning for each table that stands in a file or an override under its former name.
pub(crate) fn warnings(tree: &Node, sources: &[Source]) -> Vec<String> {
    let is_former = |name: &str, former: &str| {
        tree.get(name).is_some_and(|table| {
            let at = table.key_at;
            let key = sources[at.source].text.get(at.start..at.end).unwrap_or_default();
            key.split('.').next().is_some_and(|key| key.trim_matches(['"', '\'']) == former)
        })
    };
    let found = TABLES.iter().filter(|(former, current)| is_former(current, former));
    found.map(|(former, current)| format!("the table [{former}] is now called [{current}]")).collect()
}
