//! Tables of a scenario file that had another name in earlier versions.

use crate::tree::{Node, Source};

/// Former and current names of top-level tables.
const TABLES: [(&str, &str); 1] = [("pep", "proxy")];

/// The current name of top-level table `name`.
pub(crate) fn current(name: &str) -> &str {
    TABLES.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current)
}

/// A warning for each table that a file or an override calls by its former name.
pub(crate) fn warnings(tree: &Node, sources: &[Source], overrides: &[(String, String)]) -> Vec<String> {
    let first = |key: &str| key.split('.').next().unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    // The tree has only current names. The text of the file at `key_at` is the key as it is
    // written, perhaps in quotes.
    let is_in_file = |name: &str, former: &str| {
        tree.get(name).is_some_and(|table| {
            let at = table.key_at;
            first(sources[at.source].text.get(at.start..at.end).unwrap_or_default()) == former
        })
    };
    let is_in_override = |former: &str| overrides.iter().any(|(key, _)| first(key) == former);
    let found =
        TABLES.iter().filter(|(former, current)| is_in_file(current, former) || is_in_override(former));
    found.map(|(former, current)| format!("the table [{former}] is now called [{current}]")).collect()
}
