//! Shared channels and their schedulers.

use crate::common::{metrics, output, parse_in, scenario, scenarios, value};
use umts_simulate::{capture_notes, network_config};

const SCHEDULER: &str = "bearer.0.downlink.scheduler";

#[test]
fn users_of_a_shared_downlink_have_its_rate_together() {
    let metrics_with = |overrides: &[(&str, &str)]| {
        let all = [&[("duration", "60 s")], overrides].concat();
        let metrics = metrics("twenty-on-dsch", &all);
        value(&metrics, "goodput_kbps") + value(&metrics, "udp_goodput_kbps")
    };
    let shared = metrics_with(&[]);
    assert!((300.0..384.0).contains(&shared), "{shared}");
    // With its own channel for each user the goodput is several times as high.
    let unshared = metrics_with(&[("bearer.0.downlink.shared", "false")]);
    assert!(unshared > 3.0 * shared, "{unshared} and {shared} kbit/s");
}

#[test]
fn a_block_on_a_shared_downlink_has_the_id_of_its_ue() {
    let bits = |overrides: &[(&str, &str)]| {
        network_config(&scenario("twenty-on-dsch", overrides)).ues[0]
            .channels
            .map(|channel| channel.block_bits)
    };
    // 320 bits of payload and 16 of RLC header. The MAC header on the DSCH has 2 bits of UE-Id type
    // and 16 bits of UE-Id; on a DCH there is none (TS 25.321 §9.2.1).
    assert_eq!(bits(&[]), [354, 336]);
    assert_eq!(bits(&[("bearer.0.downlink.shared", "false")]), [336, 336]);
}

#[test]
fn scheduler_determines_message_delay_and_fairness() {
    let metrics = ["round_robin", "oldest_first", "largest_backlog"]
        .map(|scheduler| metrics("twenty-on-dsch", &[("duration", "60 s"), (SCHEDULER, scheduler)]));
    let delays_ms = metrics.each_ref().map(|metrics| value(metrics, "udp_delay_ms"));
    assert!(delays_ms.is_sorted_by(|one, next| one < next), "{delays_ms:?}");
    let fairness = metrics.each_ref().map(|metrics| value(metrics, "jain_fairness"));
    assert!(fairness.is_sorted_by(|one, next| one > next), "{fairness:?}");
}

/// Both groups of users move to the common channels. The bearer then has no user, so it must not be
/// shared: a shared downlink without a user is an error.
#[test]
fn fach_scheduler_determines_message_delay() {
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
    let (round_robin, oldest_first) = (delay("round_robin"), delay("oldest_first"));
    assert!(oldest_first > 2.0 * round_robin, "{round_robin} and {oldest_first} ms");
}

/// The users of messages get a shared bearer of their own.
#[test]
fn two_bearers_of_one_cell_share_two_channels() {
    let text = r#"
        extends = "twenty-on-dsch.toml"
        duration = "60 s"

        [[bearer]]
        name = "other"
        downlink = { rate = "384 kbit/s", tti = "10 ms", shared = true }
        uplink = { rate = "64 kbit/s", tti = "20 ms" }

        [[ue]]
        name = "listener"
        bearer = "other"
    "#;
    let metrics = output(&parse_in(&scenarios(), text, &[])).metrics.network;
    // The bound is a TTI, the links and a retransmission. The downloads use the other channel, so
    // messages do not wait for them.
    let delay = value(&metrics, "udp_delay_ms");
    assert!(delay < 150.0, "{delay} ms");
}

#[test]
fn notes_give_the_reason_for_missing_rlc_captures() {
    let scenario = scenario("twenty-on-dsch", &[]);
    let notes = capture_notes(&scenario);
    let reason = "only IP packets are captured, no RLC PDUs: DSCH frames cannot be captured";
    assert_eq!(notes, [format!("downloader: {reason}"), format!("listener: {reason}")]);
}
