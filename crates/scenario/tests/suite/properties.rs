//! No bytes and no keys make the loader panic, and every accepted scenario can be written and
//! loaded again.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use umts_scenario::{Scenario, params};

/// The folder of the shipped scenarios.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Texts of the shipped scenarios.
fn valid_files() -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Loads a scenario. Renders the error, or writes out the scenario.
fn exercise(text: &str, overrides: &[(String, String)]) -> Result<(), TestCaseError> {
    match Scenario::parse(text, "any.toml", &folder(), overrides) {
        Err(error) => prop_assert!(error.render(true).contains('×') && !error.message().is_empty()),
        Ok(loaded) => {
            let text = loaded.scenario.to_toml();
            let reloaded = Scenario::parse(&text, "any.toml", &folder(), &[]);
            let reloaded =
                reloaded.map_err(|error| TestCaseError::fail(format!("{}\n{text}", error.render(false))))?;
            prop_assert_eq!(&reloaded.scenario, &loaded.scenario, "{}", text);
            prop_assert_eq!(reloaded.scenario.content_hash(), loaded.scenario.content_hash());
        }
    }
    Ok(())
}

/// Values that are valid for some keys, and some that never are.
const VALUES: [&str; 46] = [
    "\"best\"",
    "\"50 km/h\"",
    "\"1.5 km\"",
    "\"45 deg\"",
    "\"2 GHz\"",
    "[3, 4]",
    "[\"1 km\", \"2 km\"]",
    "\"tdd\"",
    "\"granted\"",
    "\"dynamic\"",
    "\"64 frames\"",
    "\"5 SDUs\"",
    "\"6.8 dB\"",
    "[1, 2, 4]",
    "0",
    "1",
    "-1",
    "3",
    "4294967295",
    "9223372036854775807",
    "0.5",
    "1e300",
    "nan",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"off\"",
    "\"none\"",
    "\"unlimited\"",
    "\"end\"",
    "\"10 ms\"",
    "\"0 s\"",
    "\"18446744073.709551615 s\"",
    "\"1 kB\"",
    "\"18446744073709551615 B\"",
    "\"2 segments\"",
    "\"4294967295 segments\"",
    "\"7 packets\"",
    "\"9 PDUs\"",
    "\"18446744073709551615 bit/s\"",
    "\"64 kbit/s\"",
    "\"independent\"",
    "\"gilbert\"",
    "\"common\"",
    "2024-01-01",
];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,80}|[ -~\\n]{0,200}") {
        exercise(&text, &[])?;
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&String::from_utf8_lossy(&bytes), &[])?;
    }

    #[test]
    fn mutated_files_never_panic(
        file_index in any::<prop::sample::Index>(),
        position in any::<prop::sample::Index>(),
        removed in 0usize..12,
        inserted in "[ -~\\n]{0,6}",
    ) {
        let files = valid_files();
        let mut chars: Vec<char> = file_index.get(&files).chars().collect();
        let at = position.index(chars.len());
        let end = (at + removed).min(chars.len());
        chars.splice(at..end, inserted.chars());
        exercise(&chars.into_iter().collect::<String>(), &[])?;
    }

    #[test]
    fn arbitrary_values_of_any_key_never_panic(
        file_index in any::<prop::sample::Index>(),
        keys in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let (files, params) = (valid_files(), params());
        let set = keys.iter().map(|(key, value)| (key.get(&params).key.clone(), value.get(&VALUES).to_string()));
        exercise(file_index.get(&files[..]).as_str(), &set.collect::<Vec<_>>())?;
    }

    #[test]
    fn arbitrary_overrides_never_panic(key in "[a-z0-9_.]{0,12}|\\PC{0,8}", value in "\\PC{0,12}") {
        exercise(&valid_files()[0], &[(key, value)])?;
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("a = {}1", "{b=".repeat(100_000)),
        "[a.a.a.a.a.a]\n".repeat(10_000),
        format!("x = {}1{}", "[".repeat(70), "]".repeat(70)),
    ] {
        assert!(Scenario::parse(&text, "deep.toml", Path::new(""), &[]).is_err());
    }
}
