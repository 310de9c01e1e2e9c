//! TCP profiles: the keys that they set, and keys that take precedence.

use umts_scenario::model::{TcpProfile, TcpVariant, Window};
use umts_scenario::{Scenario, profiles};
use umts_units::{Bytes, Duration, Octets};

use crate::common::{self, load_with, scenario_of};

/// Returns a scenario with two flows. `tcp`: tables at the end of the file.
fn load(tcp: &str, overrides: &[(&str, &str)]) -> Scenario {
    let text = format!(
        "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"u\"\n[[flow]]\nue = \"u\"\n[[flow]]\nue = \"u\"\n{tcp}"
    );
    load_with(&text, overrides).expect(tcp).scenario
}

#[test]
fn profile_sets_unwritten_keys() {
    let scenario = load("[tcp]\nprofile = \"linux-2.4\"\nadvertised_window = \"16 kB\"\n", &[]);
    let tcp = &scenario.flow[0].tcp;
    assert_eq!((tcp.variant, tcp.segment_payload), (TcpVariant::Fack, Octets(530)));
    assert_eq!((tcp.rto_min, tcp.rto_max), (Duration::from_millis(200), Duration::from_secs(120)));
    assert_eq!((tcp.timestamps, tcp.dsack, tcp.window_scaling), (true, false, false));
    assert_eq!(tcp.advertised_window, Window::Bytes(Bytes(16_000)));
}

#[test]
fn an_override_can_name_a_profile_and_change_a_key_of_it() {
    let scenario = load("", &[("tcp.variant", "vegas"), ("tcp.profile", "ns2-2.35")]);
    let tcp = &scenario.flow[0].tcp;
    assert_eq!((tcp.variant, tcp.ns2_vegas_no_header), (TcpVariant::Vegas, true));
    assert_eq!(tcp.initial_ssthresh, Some(Window::Segments(20)));
}

#[test]
fn flow_profile_replaces_the_top_level_profile() {
    let text = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"u\"\n[[flow]]\nue = \"u\"\n[[flow]]\nue = \"u\"\n\
                tcp = { profile = \"rfc-2026\" }\n[tcp]\nprofile = \"seed-004\"\n";
    let scenario = scenario_of(text);
    assert_eq!(scenario.flow[0].tcp.segment_payload, Octets(536));
    assert_eq!(scenario.flow[1].tcp.variant, TcpVariant::Cubic);
    assert_eq!(scenario.flow[1].tcp.segment_payload, Octets(1460));
}

#[test]
fn profile_and_its_values_have_one_hash() {
    for profile in profiles() {
        let named = load(&format!("[tcp]\nprofile = \"{}\"\n", profile.name), &[]);
        assert_ne!(named.tcp.profile, TcpProfile::None);
        let spelled: String =
            profile.keys().iter().map(|row| format!("{} = {}\n", row.key, row.value)).collect();
        let spelled = load(&format!("[tcp]\n{spelled}"), &[]);
        assert_eq!(named.content_hash(), spelled.content_hash(), "{}", profile.name);
        assert_eq!(scenario_of(&named.to_toml()).content_hash(), named.content_hash(), "{}", profile.name);
    }
}

#[test]
fn unknown_profile_is_reported_at_its_key() {
    let text = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"u\"\n[tcp]\nprofile = \"linux-2.5\"\n";
    let error = common::load(text).expect_err("unknown");
    assert_eq!((error.key(), error.line()), ("tcp.profile", Some(6)));
    assert!(error.help().is_some_and(|help| help.contains("linux-2.4")), "{:?}", error.help());
}
