//! Quality of service of bearers: invalid and doubtful values, and their repairs.

use std::path::Path;

use umts_scenario::{Loaded, Scenario, ScenarioError};

/// A cell with one group of users. `cell`: keys of the cell; `user`: keys of the group; `more`: further
/// tables.
fn load(cell: &str, user: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n{more}\n[[cell]]\nname = \"cell\"\n{cell}\n\
         [[ue]]\nname = \"user\"\n{user}\n[[flow]]\nue = \"user\"\n"
    );
    Scenario::parse(&text, "test.toml", Path::new(""), &[])
}

/// A layout of two sites.
const LAYOUT: &str = "[layout]\nsites = [1, 2]\n";

#[test]
fn invalid_values_are_refused_with_a_repair() {
    // Keys of the cell, of the users, further tables; part of the message, part of the help.
    let cases = [
        ("", "qos = { class = \"gold\" }", "", "gold", "streaming"),
        ("", "qos = { priority = 1 }", "", "priority", ""),
        ("", "qos = { class = \"streaming\", guaranteed = \"500 bit/s\" }", "", "cannot be", "1 kbit/s"),
        (
            "",
            "qos = { class = \"streaming\", transfer_delay = \"5 s\" }",
            "",
            "cannot be 5 s",
            "10 ms to 4 s",
        ),
        (
            "",
            "qos = { guaranteed = \"16 kbit/s\" }",
            "",
            "class interactive has no `guaranteed`",
            "class = \"conversational\" or \"streaming\"",
        ),
        (
            "",
            "qos = { class = \"background\", transfer_delay = \"1 s\" }",
            "",
            "class background has no `transfer_delay`",
            "leave it out",
        ),
        (
            "",
            "qos = { class = \"streaming\", guaranteed = \"64 kbit/s\" }",
            "",
            "64 kbit/s cannot be guaranteed on a channel of 32 kbit/s",
            "at most 32 kbit/s",
        ),
        (
            "",
            "bearer = \"dsch\"\nqos = { class = \"streaming\", transfer_delay = \"10 ms\" }",
            LAYOUT,
            "a transfer delay of 10 ms is shorter than a TTI of 20 ms",
            "20 ms or more",
        ),
        ("fach = { scheduler = \"timeout\" }", "", "", "no user of the channel has one", "\"round_robin\""),
        ("fach = { scheduler = \"max_ci\" }", "", "", "credits or path gains", "\"timeout\""),
        ("admission = { preemption = \"all\" }", "", "", "all", "lower_class"),
    ];
    for (cell, user, more, message, help) in cases {
        let error = load(cell, user, more).expect_err(&format!("{cell}{user}{more} is invalid"));
        let text = error.render(false);
        assert!(text.contains(message) && text.contains(help), "{cell}{user}{more}:\n{text}");
    }
}

#[test]
fn doubtful_values_give_warnings() {
    let streaming = "qos = { class = \"streaming\", transfer_delay = \"300 ms\" }";
    // Keys of the users, part of the warning.
    let cases = [
        (streaming.to_owned(), "only schedulers of the kind `timeout` use the transfer delay"),
        (
            "bearer = \"ps-64\"\nqos = { class = \"background\" }".to_owned(),
            "no scheduler serves these users",
        ),
    ];
    for (user, warning) in cases {
        let loaded = load("", &user, "").unwrap_or_else(|error| panic!("{}", error.render(false)));
        let is_warned = loaded.warnings.iter().any(|text| text.contains(warning));
        assert!(is_warned, "{user}: {:?}", loaded.warnings);
    }
    let valid = load("fach = { scheduler = \"timeout\" }", streaming, "").expect("a user has a deadline");
    assert!(valid.warnings.is_empty(), "{:?}", valid.warnings);
}

#[test]
fn quality_of_service_is_written_and_read_again() {
    let user = "qos = { class = \"conversational\", guaranteed = \"12.2 kbit/s\" }";
    let loaded = load("", user, "").unwrap_or_else(|error| panic!("{}", error.render(false)));
    let written = loaded.scenario.to_toml();
    let again =
        Scenario::parse(&written, "again.toml", Path::new(""), &[]).expect("the scenario loads again");
    assert_eq!(again.scenario, loaded.scenario);
    assert_ne!(
        loaded.scenario.content_hash(),
        load("", "", "").expect("the scenario is valid").scenario.content_hash()
    );
}
