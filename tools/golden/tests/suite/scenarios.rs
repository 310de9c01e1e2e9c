//! The part of `make golden` that `make test` runs.

use umts_golden::folder::{Goldens, Outcome};

#[test]
fn shipped_scenarios_match_their_goldens() {
    let outcomes = Goldens::of_repository().compare().unwrap_or_else(|error| panic!("{error}"));
    assert!(!outcomes.is_empty(), "there are scenarios");
    let differ = outcomes.iter().filter(|(_, outcome)| *outcome != Outcome::Equal);
    let report: String = differ.map(|(name, outcome)| format!("\n{name}: {outcome}")).collect();
    assert!(report.is_empty(), "see Goldens in CONTRIBUTING.md{report}");
}
