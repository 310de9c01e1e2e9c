//! Overrides (`--set`) and files that extend others (`extends`).

use std::path::{Path, PathBuf};

use umts_scenario::model::{BlockErrors, TcpVariant, Window};
use umts_scenario::{Loaded, Scenario, ScenarioError};
use umts_units::Duration;

use crate::common::load_with as set;

/// Two groups of users, `near` and `far`, with a flow each. `far` has keys of its own.
const TWO_GROUPS: &str = "version = 1\nduration = \"10 s\"\n[tcp]\nvariant = \"reno\"\n[[ue]]\nname = \"near\"\n\
     [[ue]]\nname = \"far\"\nrlc = { window = 512 }\nradio = { model = \"error_free\" }\n\
     [[flow]]\nue = \"near\"\n[[flow]]\nue = \"far\"\ntcp = { segment_payload = \"512 B\" }\n";

/// Returns [`TWO_GROUPS`] with valid overrides.
fn with(overrides: &[(&str, &str)]) -> Scenario {
    set(TWO_GROUPS, overrides).unwrap_or_else(|error| panic!("{}", error.render(false))).scenario
}

#[test]
fn numbers_words_and_quantities_need_no_quotes() {
    let scenario = with(&[
        ("radio.bler", "0.05"),
        ("tcp.variant", "tahoe"),
        ("cell.fach.rate", "64 kbit/s"),
        ("tcp.delayed_ack", "false"),
        ("rlc.timer_poll", "off"),
        ("title", "\"quoted\""),
        ("seed", "18446744073709551615"),
    ]);
    assert!(matches!(scenario.radio.downlink, BlockErrors::Independent { bler, .. } if bler.value() == 0.05));
    assert_eq!(scenario.tcp.variant, TcpVariant::Tahoe);
    assert_eq!(scenario.cell[0].fach.as_ref().unwrap().rate.bps(), 64_000);
    assert!(!scenario.tcp.delayed_ack);
    assert_eq!(scenario.rlc.timer_poll, None);
    assert_eq!((scenario.title.as_str(), scenario.seed), ("quoted", u64::MAX));
    let written = Scenario::parse(&scenario.to_toml(), "w", Path::new(""), &[]).unwrap().scenario;
    assert_eq!(written.seed, u64::MAX, "a seed that exceeds the 63 bits of TOML is written as text");
}

#[test]
fn array_tables_are_addressed_by_name_or_index() {
    let scenario = with(&[
        ("ue.far.count", "3"),
        ("ue.0.count", "2"),
        ("link.router.loss", "0.01"),
        ("flow.far.start", "1 s"),
    ]);
    assert_eq!(scenario.ue.iter().map(|ue| ue.count).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(scenario.link[1].loss.value(), 0.01);
    assert_eq!(scenario.flow[1].start, Duration::from_secs(1));
}

/// In `cell.tdd`, `tdd` can be the name of the only cell, or the table `tdd` of that cell.
#[test]
fn ambiguous_table_name_is_resolved_by_the_following_keys() {
    let text = "version = 1\nduration = \"10 s\"\n[[cell]]\nname = \"tdd\"\nduplex = \"tdd\"\n[[ue]]\nname = \"u\"\n\
                bearer = \"granted\"\nrlc = { status_format = \"list\" }\n[[flow]]\nue = \"u\"\n";
    let rho = |key: &str| {
        let scenario =
            set(text, &[(key, "0.25")]).unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
        scenario.cell[0].tdd.as_ref().expect("the cell is a TDD cell").radio.rho.value()
    };
    // Only the table has `radio.rho`, so `cell.tdd.radio.rho` begins with the table. In the second
    // key the name precedes the table.
    for key in ["cell.tdd.radio.rho", "cell.tdd.tdd.radio.rho", "cell.0.tdd.radio.rho"] {
        assert_eq!(rho(key), 0.25, "{key}");
    }
    // The cell and its table both have `rach`. Only `rach` in the table has these keys.
    for (key, value) in [("codes", "16"), ("answer", "40 ms"), ("backoff", "32 frames")] {
        let set_in = |table: &str| set(text, &[(&format!("{table}.rach.{key}"), value)]).unwrap().scenario;
        assert_eq!(set_in("cell.tdd"), set_in("cell.0.tdd"), "{key}");
    }
    // Only the cell has a key `name`, so here `tdd` is the name of the cell.
    assert_eq!(set(text, &[("cell.tdd.name", "other")]).unwrap().scenario.cell[0].name, "other");
}

#[test]
fn user_and_flow_tables_override_top_level_tables() {
    let scenario =
        with(&[("tcp.advertised_window", "10 segments"), ("rlc.window", "256"), ("rlc.max_dat", "3")]);
    let far = &scenario.flow[1].tcp;
    assert_eq!((far.variant, far.segment_payload.0), (TcpVariant::Reno, 512));
    assert_eq!(far.advertised_window, Window::Segments(10), "an override of [tcp] reaches every flow");
    let rlc = scenario.ue[1].rlc.as_ref().unwrap();
    assert_eq!((rlc.window, rlc.max_dat), (512, Some(3)));
    assert_eq!(scenario.ue[1].radio.as_ref().unwrap().downlink, BlockErrors::ErrorFree);
    assert_eq!(scenario.ue[0].rlc, None);
}

#[test]
fn overrides_reach_into_a_written_scenario() {
    let written = with(&[]).to_toml();
    assert_eq!(written.matches("[flow.tcp]").count(), 1, "only where it differs:\n{written}");
    let changed = set(&written, &[("tcp.variant", "tahoe")]).unwrap().scenario;
    assert_eq!(changed.flow[0].tcp.variant, TcpVariant::Tahoe);
}

#[test]
fn overriding_the_error_model_removes_the_old_keys() {
    let text = format!("{TWO_GROUPS}[radio]\nmodel = \"independent\"\nbler = 0.1\n");
    let free = set(&text, &[("radio.model", "error_free")]).unwrap().scenario;
    assert_eq!(free.radio.downlink, BlockErrors::ErrorFree);
    let gilbert =
        [("radio.p_good_to_bad", "0.0087"), ("radio.model", "gilbert"), ("radio.p_bad_to_good", "0.1491")];
    assert!(matches!(set(&text, &gilbert).unwrap().scenario.radio.downlink, BlockErrors::Gilbert { .. }));
}

#[test]
fn wrong_override_is_quoted_in_the_error() {
    let error = set(TWO_GROUPS, &[("tcp.variant", "compound")]).unwrap_err();
    assert_eq!((error.file(), error.key()), ("override", "tcp.variant"));
    assert!(error.render(false).contains("│ tcp.variant=compound"), "{}", error.render(false));
    // Key and value of the override, part of the message.
    for (key, value, message) in [
        ("ue.count", "3", "not one of the 2 tables of `ue`"),
        ("ue.5.count", "3", "not one of the 2 tables"),
        ("ue.near", "3", "is a whole table"),
        ("tcp.variant.x", "3", "has no keys"),
        ("tpc.variant", "reno", "unknown key `tpc`"),
        ("radio..bler", "1", "is not a key"),
        ("", "1", "is not a key"),
        ("version", "2", "reads version 1"),
        ("rlc.window", "4095", "cannot be 4095"),
        ("extends", "x.toml", "unknown key `extends`"),
    ] {
        let error = set(TWO_GROUPS, &[(key, value)]).unwrap_err();
        assert!(error.message().contains(message), "{key}: {}", error.render(false));
        assert_eq!(error.file(), "override", "{key}");
    }
}

#[test]
fn text_instead_of_a_number_gets_a_suggestion() {
    // Value of `radio.bler`, part of the help.
    for (value, help) in [
        ("10%", "write 0.1"),
        ("7 %", "write 0.07"),
        ("0..0.3", "`umts sweep FILE -P KEY=…` varies it, as in 0:0.3:0.05"),
        ("0:0.3:0.1", "only one value is allowed"),
        ("0.1,0.2", "only one value is allowed"),
    ] {
        let error = set(TWO_GROUPS, &[("radio.bler", value)]).unwrap_err();
        let actual_help = error.help().unwrap_or_default();
        assert!(actual_help.contains(help), "{value}: {}", error.render(false));
        assert!(!error.render(false).contains("--set"), "{}", error.render(false));
    }
    let error = set(TWO_GROUPS, &[("radio.bler", "much")]).unwrap_err();
    assert_eq!(error.help(), None);
    let error = set(TWO_GROUPS, &[("tcp.variant", "reno,vegas")]).unwrap_err();
    assert!(error.help().is_some_and(|help| help.starts_with("only one value is allowed")), "{error}");
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = std::env::temp_dir().join(format!("umts-scenario-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn load(&self, file: &str) -> Result<Loaded, ScenarioError> {
        Scenario::load(&self.0.join(file), &[])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).expect("the test's own folder");
    }
}

#[test]
fn file_extends_a_file_in_another_folder() {
    // `mine.toml` extends a file in the folder `study`, which names an error trace in that folder.
    let folder = Folder::new(
        "extends",
        &[
            (
                "study/base.toml",
                &format!("name = \"base\"\ntitle = \"base\"\n{TWO_GROUPS}[radio]\nfile = \"trace.txt\"\n"),
            ),
            ("study/trace.txt", "# from the field\n0010\n"),
            (
                "mine.toml",
                "extends = \"study/base.toml\"\nduration = \"20 s\"\n[[ue]]\nname = \"far\"\ncount = 4\n",
            ),
        ],
    );
    let own_scenario =
        folder.load("mine.toml").unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
    assert_eq!(
        (own_scenario.name.as_str(), own_scenario.title.as_str()),
        ("mine", ""),
        "names are not inherited"
    );
    assert_eq!(own_scenario.duration, Duration::from_secs(20));
    assert_eq!(own_scenario.ue.iter().map(|ue| ue.count).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(own_scenario.ue[1].rlc.as_ref().unwrap().window, 512, "the rest of the group stays");
    let BlockErrors::Trace { file, verdicts } = &own_scenario.radio.downlink else {
        panic!("{:?}", own_scenario.radio)
    };
    assert_eq!(
        (Path::new(file), &verdicts[..]),
        (Path::new("study/trace.txt"), &[false, false, true, false][..])
    );
    let reloaded = Scenario::parse(&own_scenario.to_toml(), "mine.toml", &folder.0, &[]).unwrap().scenario;
    assert_eq!(reloaded, own_scenario, "the written scenario finds the trace from the same folder");
    assert_eq!(reloaded.content_hash(), own_scenario.content_hash());
    std::fs::write(folder.0.join("study/trace.txt"), "0011").unwrap();
    assert_ne!(folder.load("mine.toml").unwrap().scenario.content_hash(), own_scenario.content_hash());
}

#[test]
fn mistakes_in_an_extended_file_are_reported_there() {
    let folder = Folder::new(
        "bases",
        &[
            ("base.toml", "version = 1\nduration = \"10\"\n"),
            ("mine.toml", "extends = \"base.toml\"\n[[ue]]\nname = \"u\"\n"),
            ("a.toml", "extends = \"b.toml\"\n"),
            ("b.toml", "extends = \"./a.toml\"\n"),
            (
                "trace.toml",
                "version = 1\nduration = \"1 s\"\nradio = { file = \"t.txt\" }\n[[ue]]\nname = \"u\"\n",
            ),
            ("t.txt", "0101\n01x1"),
        ],
    );
    let error = folder.load("mine.toml").unwrap_err();
    assert!(error.file().ends_with("base.toml") && error.line() == Some(2), "{error}");
    let circle = folder.load("a.toml").unwrap_err();
    assert!(
        circle.message().contains("extends itself in a circle") && circle.file().ends_with("b.toml"),
        "{circle}"
    );
    let trace = folder.load("trace.toml").unwrap_err();
    assert!(trace.message().contains("t.txt: byte 7 is `x`, not 0 or 1"), "{trace}");
    assert_eq!(trace.line(), Some(3));
}

/// Scenarios of stored runs contain all keys.
#[test]
fn removed_keys_load_with_a_warning() {
    // Scenario file, removed key, its fixed value, another value.
    for (file, key, fixed, other) in [
        ("tdd-ftp-real-network.toml", "link.0.internet_delay.keeps_order", "true", "false"),
        ("fdd-www.toml", "flow.0.pareto_www.start_with_pause", "true", "false"),
        ("dsch-5km.toml", "cell.0.dsch.without_credit", "one_block", "waits"),
        ("tdd-ftp.toml", "cell.0.tdd.grant.ends", "unused_frame", "acknowledged"),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
        let load = |value: &str| Scenario::load(&file, &[(key.to_owned(), value.to_owned())]);
        let loaded = load(fixed).expect("the scenario still loads");
        assert!(
            loaded.scenario == Scenario::load(&file, &[]).expect("the scenario is valid").scenario,
            "{key}"
        );
        assert_eq!(loaded.warnings, [format!("{key} is always {fixed} and can be left out")]);
        let error = load(other).expect_err("another value").render(false);
        assert!(error.contains(&format!("can no longer be changed: it is always {fixed}")), "{error}");
    }
}
