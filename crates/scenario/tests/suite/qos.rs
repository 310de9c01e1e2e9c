//! Quality of service of bearers: invalid and doubtful values, and their repairs.

use umts_scenario::{Loaded, ScenarioError};

use crate::common::{self, assert_mistakes, assert_warnings, fill, scenario_of};

/// A cell with one group of users. Placeholders: `HEAD` before the tables, `CELL` in the cell, `USER` in
/// the group.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nHEAD\n[[cell]]\nname = \"cell\"\nCELL\n\
                     [[ue]]\nname = \"user\"\nUSER\n[[flow]]\nue = \"user\"\n";

/// Loads [`SMALL`] with these keys.
fn load(cell: &str, user: &str) -> Result<Loaded, ScenarioError> {
    common::load(&fill(SMALL, &format!("CELL {cell}\nUSER {user}")))
}

const MISTAKES: &str = r#"
    USER qos = { class = "gold" } => ue.0.qos.class: gold | streaming
    USER qos = { priority = 1 } => ue.0.qos.priority: priority
    USER qos = { class = "streaming", guaranteed = "500 bit/s" } => ue.0.qos.guaranteed: cannot be | 1 kbit/s
    USER qos = { class = "streaming", transfer_delay = "5 s" }
        => ue.0.qos.transfer_delay: cannot be 5 s | 10 ms to 4 s
    USER qos = { guaranteed = "16 kbit/s" }
        => ue.0.qos.guaranteed: class interactive has no `guaranteed` | class = "conversational" or "streaming"
    USER qos = { class = "background", transfer_delay = "1 s" }
        => ue.0.qos.transfer_delay: class background has no `transfer_delay` | leave it out
    USER qos = { class = "streaming", guaranteed = "64 kbit/s" }
        => ue.0.qos.guaranteed: 64 kbit/s cannot be guaranteed on a channel of 32 kbit/s | at most 32 kbit/s
    HEAD layout.sites = [1, 2]
    USER bearer = "dsch"
        qos = { class = "streaming", transfer_delay = "10 ms" }
        => ue.0.qos.transfer_delay: a transfer delay of 10 ms is shorter than a TTI of 20 ms | 20 ms or more
    CELL fach = { scheduler = "timeout" }
        => cell.0.fach.scheduler: no user of the channel has one | "round_robin"
    CELL fach = { scheduler = "max_ci" } => cell.0.fach.scheduler: credits or path gains | "timeout"
    CELL admission = { preemption = "all" } => cell.0.admission.preemption: all | lower_class
"#;

#[test]
fn invalid_values_are_refused_with_a_repair() {
    assert_mistakes(SMALL, MISTAKES);
}

const WARNINGS: &str = r#"
    USER qos = { class = "streaming", transfer_delay = "300 ms" } => only schedulers of the kind `timeout` use the transfer delay
    USER bearer = "ps-64"
        qos.class = "background"
        => no scheduler serves these users
"#;

#[test]
fn doubtful_values_give_warnings() {
    assert_warnings(SMALL, WARNINGS);
    let streaming = "qos = { class = \"streaming\", transfer_delay = \"300 ms\" }";
    let valid = load("fach = { scheduler = \"timeout\" }", streaming).expect("a user has a deadline");
    assert!(valid.warnings.is_empty(), "{:?}", valid.warnings);
}

#[test]
fn quality_of_service_is_written_and_read_again() {
    let user = "qos = { class = \"conversational\", guaranteed = \"12.2 kbit/s\" }";
    let first = scenario_of(&fill(SMALL, &format!("USER {user}")));
    assert_eq!(scenario_of(&first.to_toml()), first);
    assert_ne!(first.content_hash(), scenario_of(&fill(SMALL, "")).content_hash());
}
