//! Checks that imports within the stack point to the same or a lower layer, from the source files.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first. A file belongs to the layer with the longest name that matches its
/// module or a parent module. A file may import from the same layer and from lower layers.
const LAYERS: [&[&str]; 10] = [
    // Values without behaviour, used everywhere.
    &[
        "count",
        "ids",
        "options",
        "packet",
        "radio/mac/transport_channel",
        "radio/phy/lost",
        "radio/rlc/block_set",
        "radio/rlc/sn",
        "radio/rrc_state",
    ],
    // The context of calls, and trace events.
    &["trace", "detail", "context", "event", "event_context"],
    &["aqm"],
    &["environment", "radio", "tcp", "proxy", "core_network"],
    &["traffic", "scheduling"],
    &["ue", "nodeb", "mac", "rnc"],
    &["utran"],
    &["path"],
    &["hosts"],
    &["network"],
];

/// Short names that `lib.rs` exports.
const SHORT: [(&str, &str); 2] = [("Context", "context"), ("EventContext", "event_context")];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The layer of a module path such as `radio/rlc/am`.
fn layer(module: &str) -> Option<usize> {
    // Belongs to the module `name` or to a module in it.
    let is_in = |name: &&str| module == *name || module.starts_with(&format!("{name}/"));
    let longest = |layer: &[&str]| layer.iter().filter(|name| is_in(name)).map(|name| name.len()).max();
    let matches = LAYERS.iter().enumerate().filter_map(|(number, layer)| Some((longest(layer)?, number)));
    matches.max().map(|(_, number)| number)
}

/// Module path of a file: both `radio/rlc/am/mod.rs` and `radio/rlc/am.rs` are `radio/rlc/am`.
fn module_of(file: &Path) -> String {
    let path = file.strip_prefix(sources()).expect("it was found there").with_extension("");
    let path = path.to_str().expect("names of modules").to_owned();
    path.strip_suffix("/mod").unwrap_or(&path).to_owned()
}

/// All files except `lib.rs` and test modules.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names of modules");
        if path.is_dir() {
            if name != "tests" {
                files(&path, into);
            }
        } else if !["lib.rs", "tests.rs", "testing.rs"].contains(&name) {
            into.push(path);
        }
    }
}

/// All paths that begin with `crate::`, with braces expanded. Test modules are left out.
fn imports(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests").next().expect("a split has a first part");
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or(line));
    let code = lines.collect::<Vec<_>>().join(" ");
    let mut imports = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        expand_path("", &code[at + "crate::".len()..], &mut imports);
    }
    imports
}

/// Reads one path from the beginning of `code`, and appends it to `paths` with `prefix` before it.
/// Expands braces to several paths. Returns the code after the path.
fn expand_path<'a>(prefix: &str, code: &'a str, paths: &mut Vec<String>) -> &'a str {
    let word = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
    let (name, mut remaining) = code.split_at(word);
    let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
    let opening = if path.is_empty() { "{" } else { "::{" };
    if let Some(inner) = remaining.strip_prefix(opening) {
        remaining = inner.trim_start();
        while !remaining.starts_with('}') && !remaining.is_empty() {
            remaining = expand_path(&path, remaining, paths).trim_start();
            remaining = remaining.strip_prefix(',').unwrap_or(remaining).trim_start();
        }
        return remaining.strip_prefix('}').unwrap_or(remaining);
    }
    if let Some(inner) =
        remaining.strip_prefix("::").filter(|inner| inner.starts_with(|c: char| c.is_alphabetic()))
    {
        return expand_path(&path, inner, paths);
    }
    paths.push(path);
    remaining
}

/// Imports of `module`, which has this source, from a higher layer.
fn upwards(module: &str, source: &str) -> Vec<String> {
    let from = layer(module).unwrap_or_else(|| panic!("{module} has no layer: name one in this test"));
    let full_path = |path: &String| {
        let short = SHORT.iter().find(|(name, _)| path == name).map(|(_, module)| (*module).to_owned());
        short.unwrap_or_else(|| path.clone())
    };
    let mut upward_imports = Vec::new();
    for path in imports(source) {
        let target = full_path(&path);
        let to =
            layer(&target).unwrap_or_else(|| panic!("{module} imports crate::{path}, which has no layer"));
        if to > from {
            upward_imports.push(format!("{module} (layer {from}) looks up to {target} (layer {to})"));
        }
    }
    upward_imports
}

#[test]
fn stack_has_no_upward_imports() {
    let mut source_files = Vec::new();
    files(&sources(), &mut source_files);
    assert!(source_files.len() > 100, "the sources were found: {}", source_files.len());
    let upward_imports: Vec<_> = source_files
        .iter()
        .flat_map(|file| upwards(&module_of(file), &fs::read_to_string(file).expect("it can be read")))
        .collect();
    assert!(upward_imports.is_empty(), "{}", upward_imports.join("\n"));
}

#[test]
fn upward_imports_are_detected() {
    assert_eq!(upwards("radio/rlc/am", "use crate::utran::Utran;").len(), 1);
    assert_eq!(upwards("trace", "use crate::radio::rlc::Rlc;").len(), 1);
    assert_eq!(upwards("hosts/flow", "fn f(_: &crate::network::Network) {}").len(), 1);
    assert_eq!(upwards("ue/rach", "use crate::{ids::UeId, hosts::{Hosts, flow::Flow}};").len(), 2);
    assert_eq!(
        upwards("utran/rrc_orders", "use crate::rnc::rrc::{Order, Rrc}; use crate::EventContext;"),
        [""; 0]
    );
    assert_eq!(upwards("trace", "use crate::radio::rrc_state::RrcState;"), [""; 0]);
    assert_eq!(upwards("tcp", "// crate::network is above\n"), [""; 0]);
}
