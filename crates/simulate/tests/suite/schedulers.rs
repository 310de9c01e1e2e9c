//! Shared channels and their schedulers.

use crate::common::{metrics, scenario, value};
use umts_simulate::{capture_notes, network_config};

const SCHEDULER: &str = "bearer.0.downlink.scheduler";

#[test]
fn users_of_a_shared_downlink_have_its_rate_together() {
    let of = |overrides: &[(&str, &str)]| {
        let all = [&[("duration", "60 s")], overrides].concat();
        let metrics = metrics("twenty-on-dsch", &all);
        value(&metrics, "goodput_kbps") + value(&metrics, "udp_goodput_kbps")
    };
    let shared = of(&[]);
    assert!((300.0..384.0).contains(&shared), "{shared}");
    // With a channel for each user, the messages' 64 kbit/s delay no other user.
    let own = of(&[("bearer.0.downlink.shared", "false")]);
    assert!(own > 3.0 * shared, "{own} beside {shared}");
}

#[test]
fn a_block_on_a_shared_downlink_names_its_user() {
    let bits = |overrides: &[(&str, &str)]| {
        network_config(&scenario("twenty-on-dsch", overrides)).ues[0].channels.map(|of| of.block_bits)
    };
    // 320 bits of payload and 16 of RLC; 2 + 16 of MAC on the DSCH, none on a DCH (TS 25.321
    // §9.2.1).
    assert_eq!(bits(&[]), [354, 336]);
    assert_eq!(bits(&[("bearer.0.downlink.shared", "false")]), [336, 336]);
}

#[test]
fn scheduler_determines_message_delay_and_fairness() {
    let of = |scheduler: &str| {
        let metrics = metrics("twenty-on-dsch", &[("duration", "60 s"), (SCHEDULER, scheduler)]);
        (value(&metrics, "udp_delay_ms"), value(&metrics, "jain_fairness"))
    };
    let (turns, ages, backlogs) = (of("round_robin"), of("oldest_first"), of("largest_backlog"));
    assert!(turns.0 < ages.0 && ages.0 < backlogs.0, "{turns:?}, {ages:?}, {backlogs:?}");
    assert!(turns.1 > ages.1 && ages.1 > backlogs.1, "{turns:?}, {ages:?}, {backlogs:?}");
}

#[test]
fn the_fach_obeys_its_scheduler_too() {
    let delay = |scheduler: &str| {
        let overrides = [
            ("duration", "60 s"),
            ("ue.0.bearer", "common"),
            ("ue.1.bearer", "common"),
            ("bearer.0.downlink.shared", "false"),
            ("cell.fach.rate", "384 kbit/s"),
            ("cell.fach.scheduler", scheduler),
        ];
        value(&metrics("twenty-on-dsch", &overrides), "udp_delay_ms")
    };
    let (turns, ages) = (delay("round_robin"), delay("oldest_first"));
    assert!(ages > 2.0 * turns, "{turns} and {ages} ms");
}

#[test]
fn two_bearers_of_one_cell_share_two_channels() {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/twenty-on-dsch.toml"),
    );
    let text = text.expect("it is shipped");
    let second = "[[bearer]]\nname = \"other\"\n\
                  downlink = { rate = \"384 kbit/s\", tti = \"10 ms\", shared = true }\n\
                  uplink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n\n[[bearer]]";
    let last = text.rfind("bearer = \"shared-384\"").expect("the listeners have one");
    let text =
        format!("{}bearer = \"other\"{}", &text[..last], &text[last + "bearer = \"shared-384\"".len()..]);
    let text = text.replacen("[[bearer]]", second, 1).replace("\"120 s\"", "\"60 s\"");
    let loaded = umts_scenario::Scenario::parse(&text, "two.toml", std::path::Path::new(""), &[]);
    let scenario = loaded.unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
    let metrics = crate::common::output(&scenario).metrics.network;
    // A TTI, the links and a retransmission: the downloads are on the other channel.
    let delay = value(&metrics, "udp_delay_ms");
    assert!(delay < 150.0, "{delay} ms");
}

#[test]
fn captures_of_rlc_say_why_there_are_none() {
    let scenario = scenario("twenty-on-dsch", &[]);
    let notes = capture_notes(&scenario);
    assert!(notes.len() == 2 && notes[0].contains("DSCH frames cannot be captured"), "{notes:?}");
}
