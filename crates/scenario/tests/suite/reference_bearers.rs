//! Named reference bearers: users name them without a `[[bearer]]` and get their rates, TTIs and
//! transport format sets.

use umts_scenario::{Loaded, ScenarioError};
use umts_stack::trace::Channel;
use umts_units::{BitRate, Duration};

use crate::common::load;

/// Loads a scenario with one user of this bearer. `more`: further tables.
fn loaded(bearer: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"user\"\nbearer = \"{bearer}\"\n[[flow]]\nue = \"user\"\n{more}"
    );
    load(&text)
}

#[test]
fn a_reference_bearer_needs_no_declaration() {
    let loaded = loaded("ps-384", "").expect("the bearer is known");
    assert!(loaded.warnings.is_empty());
    let [downlink, uplink] = loaded.scenario.plan().groups[0].channels;
    assert_eq!((downlink.kind, uplink.kind), (Channel::Dch, Channel::Dch));
    assert_eq!((downlink.rate, downlink.format.tti), (rate(384_000), Duration::from_millis(10)));
    assert_eq!((uplink.rate, uplink.format.tti), (rate(64_000), Duration::from_millis(20)));
    let common = self::loaded("common", "").expect("the bearer is known").scenario;
    let kinds = common.plan().groups[0].channels.map(|channel| channel.kind);
    assert_eq!(kinds, [Channel::Fach, Channel::Rach]);
    // The written file keeps the name.
    assert!(loaded.scenario.bearer.is_empty());
}

fn rate(bps: u64) -> BitRate {
    BitRate::from_bps(bps).expect("more than zero")
}

/// The numbers of blocks that MAC sends of 7 and of 12 ready PDUs, for downlink and uplink.
fn formats(loaded: &Loaded) -> [[u32; 2]; 2] {
    loaded.scenario.plan().groups[0]
        .channels
        .map(|channel| [7, 12].map(|ready| channel.format.blocks_for(ready)))
}

#[test]
fn a_reference_bearer_has_its_transport_format_set() {
    assert_eq!(formats(&loaded("ps-384", "").expect("the bearer is known")), [[4, 12], [4, 4]]);
    // PDUs of another size: another bearer of this rate, with any number of blocks.
    let small = loaded("ps-384", "[rlc]\npdu_payload = \"20 B\"").expect("the scenario is valid");
    assert_eq!(formats(&small)[0], [7, 12]);
}

#[test]
fn a_declared_bearer_has_any_number_of_blocks_or_its_own_formats() {
    let declared = |formats: &str| {
        let bearer = format!(
            "[[bearer]]\nname = \"own\"\ndownlink = {{ rate = \"384 kbit/s\", tti = \"10 ms\"{formats} }}\n\
             uplink = {{ rate = \"64 kbit/s\", tti = \"20 ms\" }}\n"
        );
        loaded("own", &bearer)
    };
    assert_eq!(formats(&declared("").expect("the bearer is declared"))[0], [7, 12]);
    let own = declared(", transport_formats = [0, 3, 6, 12]").expect("the bearer is declared");
    assert_eq!(formats(&own)[0], [6, 12]);
    let render = |formats| declared(formats).expect_err("it cannot be").render(false);
    let error = render(", transport_formats = [0, 8]");
    let expected =
        "the largest format of the downlink of bearer `own` has 8 blocks, but 384 kbit/s carries 12 PDUs";
    assert!(error.contains(expected) && error.contains("end the set with 12"), "{error}");
    let error = render(", transport_formats = \"any\"");
    assert!(error.contains("a list, as in [1, 2]"), "{error}");
    let error = render(", shared = true, transport_formats = [0, 12]");
    assert!(error.contains("only dedicated channels have a transport format set"), "{error}");
}

#[test]
fn a_declared_bearer_of_the_same_name_wins() {
    let declared = "[[bearer]]\nname = \"ps-384\"\ndownlink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n\
                    uplink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n";
    let scenario = loaded("ps-384", declared).expect("the bearer is declared").scenario;
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
    let small = loaded("ps-384", "[rlc]\npdu_payload = \"20 B\"").expect("the scenario is valid");
    assert!(small.warnings[0].contains("PDUs with 40 B of payload, not 20 B"), "{:?}", small.warnings);
    assert!(loaded("ps-64-li15", "").expect("the scenario is valid").warnings.len() > 1);
    let large = loaded("ps-64-li15", "[rlc]\npdu_payload = \"166 B\"").expect("the scenario is valid");
    assert!(large.warnings.is_empty(), "{:?}", large.warnings);
    let error = loaded("ps-8", "[rlc]\npdu_payload = \"41 B\"").expect_err("no PDU fits").render(false);
    assert!(error.contains("the downlink of bearer `ps-8` carries no PDU"), "{error}");
}
