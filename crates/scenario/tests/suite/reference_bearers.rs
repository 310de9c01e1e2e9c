//! Named reference bearers.

use std::path::Path;

use umts_scenario::{Scenario, ScenarioError};
use umts_stack::trace::Channel;
use umts_units::{BitRate, Duration};

fn loaded(bearer: &str, more: &str) -> Result<umts_scenario::Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"user\"\nbearer = \"{bearer}\"\n[[flow]]\nue = \"user\"\n{more}"
    );
    Scenario::parse(&text, "test.toml", Path::new(""), &[])
}

#[test]
fn a_reference_bearer_needs_no_declaration() {
    let loaded = loaded("ps-384", "").expect("it is known");
    assert!(loaded.warnings.is_empty());
    let [downlink, uplink] = loaded.scenario.plan().groups[0].channels;
    assert_eq!((downlink.kind, uplink.kind), (Channel::Dch, Channel::Dch));
    assert_eq!((downlink.rate, downlink.format.tti), (rate(384_000), Duration::from_millis(10)));
    assert_eq!((uplink.rate, uplink.format.tti), (rate(64_000), Duration::from_millis(20)));
    let common = self::loaded("common", "").expect("it is known").scenario;
    let kinds = common.plan().groups[0].channels.map(|channel| channel.kind);
    assert_eq!(kinds, [Channel::Fach, Channel::Rach]);
    // The written file keeps the name.
    assert!(loaded.scenario.bearer.is_empty());
}

fn rate(bps: u64) -> BitRate {
    BitRate::from_bps(bps).expect("more than zero")
}

#[test]
fn a_declared_bearer_of_the_same_name_wins() {
    let declared = "[[bearer]]\nname = \"ps-384\"\ndownlink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n\
                    uplink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n";
    let scenario = loaded("ps-384", declared).expect("it is declared").scenario;
    assert_eq!(scenario.plan().groups[0].channels[0].rate, rate(64_000));
}

#[test]
fn unknown_bearer_is_reported_with_a_suggestion() {
    let error = loaded("ps-383", "").expect_err("there is none").render(false);
    assert!(
        error.contains("there is no bearer `ps-383`") && error.contains("did you mean \"ps-384\"?"),
        "{error}"
    );
    let error = loaded("srb-3.4", "").expect_err("it carries no packets").render(false);
    assert!(error.contains("there is no bearer `srb-3.4`"), "{error}");
}

#[test]
fn other_pdu_size_gives_a_warning() {
    let small = loaded("ps-384", "[rlc]\npdu_payload = \"20 B\"").expect("it can be");
    assert!(small.warnings[0].contains("PDUs with 40 B of payload, not 20 B"), "{:?}", small.warnings);
    assert!(loaded("ps-64-li15", "").expect("it can be").warnings.len() > 1);
    let large = loaded("ps-64-li15", "[rlc]\npdu_payload = \"166 B\"").expect("it can be");
    assert!(large.warnings.is_empty(), "{:?}", large.warnings);
    let error = loaded("ps-8", "[rlc]\npdu_payload = \"41 B\"").expect_err("no PDU fits").render(false);
    assert!(error.contains("the downlink of bearer `ps-8` carries no PDU"), "{error}");
}
