//! Tests with folders of a few small scenarios.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use umts_golden::folder::{Goldens, Outcome};

/// Loses blocks occasionally, so that seeds give different results.
const SCENARIO: &str = r#"
version = 1
duration = "3 s"
radio.bler = 0.05

[[ue]]
name = "user"
bearer = "ps-64"

[[flow]]
ue = "user"
traffic = "file"
size = "10 kB"
"#;

/// A temporary folder with scenarios and their goldens, the stored results.
struct Folder {
    goldens: Goldens,
    /// Removes the folder at the end of the test.
    _folder: TempDir,
}

impl Folder {
    /// Creates scenarios with these names and "blesses" them: writes their goldens.
    fn blessed(names: &[&str]) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let (scenarios, goldens) = (root.path().join("scenarios"), root.path().join("tests/golden"));
        fs::create_dir(&scenarios).expect("a folder");
        let goldens = Goldens { scenarios, goldens, names: BTreeSet::new(), threads: 2 };
        let folder = Folder { goldens, _folder: root };
        names.iter().for_each(|name| folder.write_scenario(name, SCENARIO));
        folder.goldens.bless().expect("they run");
        folder
    }

    fn write_scenario(&self, name: &str, text: &str) {
        let file = self.goldens.scenarios.join(format!("{name}.toml"));
        fs::write(file, text).expect("it can be written");
    }

    fn golden(&self, name: &str) -> String {
        fs::read_to_string(self.goldens.goldens.join(format!("{name}.txt"))).expect("it is there")
    }

    /// Changes the last digit of the first line that begins with `line` after `heading` in a golden.
    /// Returns the changed value, which a comparison reports as "was", and the original one, which
    /// it reports as "is".
    fn edit(&self, name: &str, heading: &str, line: &str) -> [String; 2] {
        let text = self.golden(name);
        let from = text.find(heading).expect("there is such a run");
        let start = from + text[from..].find(line).expect("there is such a line");
        let end = start + text[start..].find('\n').expect("every line ends");
        let is = text[start + line.len()..end].to_owned();
        let last = if is.ends_with('7') { "8" } else { "7" };
        let was = format!("{}{last}", &is[..is.len() - 1]);
        let edited = format!("{}{line}{was}{}", &text[..start], &text[end..]);
        fs::write(self.goldens.goldens.join(format!("{name}.txt")), edited).expect("it can be written");
        [was, is]
    }

    /// Compares the results of all scenarios with the goldens. Returns a line per scenario.
    fn report(&self) -> Vec<String> {
        let outcomes = self.goldens.compare().expect("they run");
        outcomes.into_iter().map(|(name, outcome)| format!("{name}: {outcome}")).collect()
    }
}

#[test]
fn goldens_are_independent_of_the_thread_count() {
    let mut folder = Folder::blessed(&["a", "b"]);
    assert_eq!(folder.report(), ["a: equal", "b: equal"]);
    assert_eq!(folder.golden("a"), folder.golden("b"), "a golden does not hold its name");
    let before = folder.golden("a");
    for threads in [1, 3] {
        folder.goldens.threads = threads;
        fs::remove_dir_all(&folder.goldens.goldens).expect("it can be removed");
        folder.goldens.bless().expect("they run");
        assert_eq!(folder.golden("a"), before);
    }
}

#[test]
fn golden_has_all_results_for_two_seeds() {
    let golden = Folder::blessed(&["a"]).golden("a");
    let runs: Vec<&str> = golden.split("\n[").skip(1).collect();
    let headings: Vec<_> = runs.iter().filter_map(|run| run.split(']').next()).collect();
    assert_eq!(
        headings,
        ["seed 1, whole length", "seed 1, recorded", "seed 2, whole length", "seed 2, recorded"]
    );
    let value = |run: usize, line: &str| {
        let value = runs[run].lines().find_map(|text| text.strip_prefix(line));
        value.unwrap_or_else(|| panic!("run {run} has no {line}")).to_owned()
    };
    for line in [
        "duration = ",
        "events = ",
        "trace = ",
        "connections = ",
        "metric.goodput_kbps = ",
        "omitted_metrics = ",
    ] {
        (0..4).for_each(|run| assert_ne!(value(run, line), ""));
    }
    // Only recorded runs have a budget, series and captures.
    for line in [
        "metric.budget_total_s = ",
        "series.cwnd = ",
        "series.budget_intervals = ",
        "series.waterfall = ",
        "series.rlc_pdus = ",
        "capture.server.pcapng = ",
        "capture.rlc-downlink-air.pcapng = ",
    ] {
        [1, 3].iter().for_each(|run| assert!(!value(*run, line).starts_with("0 "), "{line}"));
    }
    assert!(!runs[0].contains("capture.") && !runs[0].contains("series."));
    assert_ne!(value(0, "trace = "), value(2, "trace = "), "the seeds are two");
    assert_eq!(value(0, "trace = "), value(1, "trace = "), "who records changes nothing");
}

#[test]
fn differences_are_reported_by_run_and_name() {
    for (heading, line) in [
        ("seed 1, whole length", "metric.goodput_kbps"),
        ("seed 2, whole length", "trace"),
        ("seed 1, recorded", "events"),
        ("seed 2, recorded", "connections"),
        ("seed 2, whole length", "omitted_metrics"),
        ("seed 2, recorded", "series.cwnd"),
        ("seed 1, recorded", "capture.ue.pcapng"),
    ] {
        let folder = Folder::blessed(&["a", "b"]);
        let [was, is] = folder.edit("b", heading, &format!("{line} = "));
        assert_ne!(was, is);
        assert_eq!(
            folder.report(),
            ["a: equal".to_owned(), format!("b: {heading}: {line} was {was}, is {is}")]
        );
    }
}

#[test]
fn changed_scenario_differs_until_blessed() {
    let folder = Folder::blessed(&["a", "b"]);
    folder.write_scenario("b", &SCENARIO.replace("0.05", "0.06"));
    let report = folder.report();
    assert_eq!(report[0], "a: equal");
    assert!(report[1].starts_with("b: seed 1, whole length: events was "), "{report:?}");
    assert!(report[1].ends_with(" other lines differ"), "{report:?}");
    assert_eq!(folder.report(), report, "a comparison writes nothing");
    folder.goldens.bless().expect("they run");
    assert_eq!(folder.report(), ["a: equal", "b: equal"]);
}

#[test]
fn only_named_scenarios_are_compared_and_blessed() {
    let mut folder = Folder::blessed(&["a", "b", "c"]);
    let before = folder.golden("a");
    ["a", "b"].iter().for_each(|name| folder.write_scenario(name, &SCENARIO.replace("0.05", "0.06")));
    folder.goldens.names = ["b", "c"].map(str::to_owned).into();
    let report = folder.report();
    assert_eq!(report.len(), 2, "{report:?}");
    assert!(report[0].starts_with("b: seed 1"), "{report:?}");
    assert_eq!(report[1], "c: equal");
    folder.goldens.bless().expect("they run");
    assert_eq!(folder.report(), ["b: equal", "c: equal"]);
    assert_eq!(folder.golden("a"), before);
}

#[test]
fn unknown_names_are_errors_with_the_nearest_names() {
    let mut folder = Folder::blessed(&["web-cell", "web-cell-3gpp", "hspa"]);
    for (name, advice) in [
        ("web-cel", "the nearest names are web-cell, web-cell-3gpp"),
        ("hspda", "the nearest names are hspa"),
        ("fach", "the names are hspa, web-cell, web-cell-3gpp"),
    ] {
        folder.goldens.names = ["hspa", name].map(str::to_owned).into();
        let error = folder.goldens.bless().expect_err("it is unknown").to_string();
        assert_eq!(error, format!("there is no scenario `{name}`: {advice}"));
    }
}

#[test]
fn unpaired_scenarios_and_goldens_are_reported_with_the_command() {
    let folder = Folder::blessed(&["a", "b"]);
    fs::remove_file(folder.goldens.scenarios.join("a.toml")).expect("it was there");
    folder.write_scenario("c", SCENARIO);
    assert_eq!(
        folder.report(),
        [
            "a: a golden without a scenario; UMTS_BLESS=1 make golden removes it",
            "b: equal",
            "c: a scenario without a golden; UMTS_BLESS=1 make golden writes it",
        ]
    );
    let blessed = folder.goldens.bless().expect("they run");
    let outcomes: Vec<_> = blessed.into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, [Outcome::NoScenario, Outcome::Equal, Outcome::NoGolden]);
    assert_eq!(folder.report(), ["b: equal", "c: equal"]);
}

#[test]
fn invalid_files_are_reported_and_nothing_is_blessed() {
    let folder = Folder::blessed(&["a", "b"]);
    folder.write_scenario("a", &SCENARIO.replace("0.05", "0.06"));
    folder.write_scenario("b", "version = 7");
    let before = folder.golden("a");
    let error = folder.goldens.bless().expect_err("b is no scenario").to_string();
    assert!(error.contains("b.toml"), "{error}");
    assert_eq!(folder.golden("a"), before);
    folder.write_scenario("b", SCENARIO);
    fs::write(folder.goldens.goldens.join("b.txt"), "[seed 1]\n=======\n").expect("it can be written");
    let error = folder.goldens.compare().expect_err("b.txt is no golden").to_string();
    assert!(error.ends_with("b.txt: line 2: \"=======\" is not of the form NAME = VALUE"), "{error}");
}

#[test]
fn golden_is_independent_of_the_scenarios_path() {
    let folder = Folder::blessed(&[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("scenarios/three-losses.toml")).expect("it is there");
    let golden = fs::read_to_string(root.join("tests/golden/three-losses.txt")).expect("it is there");
    folder.write_scenario("renamed", &text);
    folder.goldens.bless().expect("it runs");
    assert_eq!(folder.golden("renamed"), golden);
}
