//! Loads scenarios of tests, and checks tables of mistakes and of warnings.

use std::collections::BTreeMap;
use std::path::Path;

use umts_scenario::{Loaded, Scenario, ScenarioError};

/// Loads a scenario. Files that it names are relative to the current folder.
pub fn load(text: &str) -> Result<Loaded, ScenarioError> {
    load_with(text, &[])
}

/// Loads a scenario with overrides.
pub fn load_with(text: &str, overrides: &[(&str, &str)]) -> Result<Loaded, ScenarioError> {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Scenario::parse(text, "test.toml", Path::new(""), &overrides)
}

/// Loads a valid scenario.
#[track_caller]
pub fn load_valid(text: &str) -> Loaded {
    load(text).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// Loads a valid scenario without its warnings.
#[track_caller]
pub fn scenario_of(text: &str) -> Scenario {
    load_valid(text).scenario
}

/// Returns `base` with `keys` instead of its placeholders, which are lines of capital letters. Keys
/// follow the name of their placeholder, on the same line and the next ones. Placeholders without
/// keys are removed.
pub fn fill(base: &str, keys: &str) -> String {
    let is_placeholder = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut filled: BTreeMap<_, _> =
        base.lines().filter(is_placeholder).map(|line| (line, String::new())).collect();
    let mut place = "";
    for mut line in keys.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if filled.contains_key(word) {
            (place, line) = (word, rest);
        }
        let keys = filled.get_mut(place).expect("keys begin with the name of a placeholder");
        keys.push_str(line);
        keys.push('\n');
    }
    base.lines().map(|line| filled.get(line).map_or(line, String::as_str)).collect::<Vec<_>>().join("\n")
}

/// Returns the cases of a table: `base` filled with the keys before each `=> `, and the text after it.
fn cases<'a>(base: &str, table: &'a str) -> Vec<(String, &'a str)> {
    let (mut cases, mut keys) = (Vec::new(), String::new());
    for line in table.lines().map(str::trim) {
        let Some((last, expected)) = line.split_once("=> ") else {
            keys.push_str(line);
            keys.push('\n');
            continue;
        };
        keys.push_str(last);
        cases.push((fill(base, &keys), expected));
        keys.clear();
    }
    assert!(keys.trim().is_empty() && !cases.is_empty(), "a case without `=> `: {keys}");
    cases
}

/// Checks that each case of a table is refused. A case is `KEYS => KEY: MESSAGE | HELP`, with keys for
/// [`fill`], the key of the error, a part of its message and a part of its help, which may be left
/// out.
#[track_caller]
pub fn assert_mistakes(base: &str, table: &str) {
    for (text, expected) in cases(base, table) {
        let error = load(&text).map(|loaded| loaded.warnings).expect_err(&text);
        let rendered = error.render(false);
        let (key, expected) = expected.split_once(": ").expect("a key and a message");
        let (message, help) = expected.split_once(" | ").unwrap_or((expected, ""));
        assert_eq!(error.key(), key, "{rendered}");
        assert!(error.message().contains(message), "expected `{message}`:\n{rendered}");
        assert!(error.help().unwrap_or_default().contains(help), "expected `{help}`:\n{rendered}");
        assert!(error.line().is_some() && error.file() == "test.toml", "{rendered}");
    }
}

/// Checks that each case of a table is valid and has one warning. A case is `KEYS => WARNING`, with
/// keys for [`fill`] and a part of the warning.
#[track_caller]
pub fn assert_warnings(base: &str, table: &str) {
    for (text, expected) in cases(base, table) {
        let warnings = load_valid(&text).warnings;
        let is_expected = warnings.len() == 1 && warnings[0].contains(expected);
        assert!(is_expected, "expected `{expected}`, got {warnings:?}:\n{text}");
    }
}
