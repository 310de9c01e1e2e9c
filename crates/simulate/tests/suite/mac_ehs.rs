//! MAC-ehs in whole networks: rates, RLC PDUs of fixed and flexible size, and the way of each PDU.

use umts_scenario::Scenario;

use crate::common::{assert_near, value};
use crate::hs_dsch::{accounts, hs_cell, metrics, payload_kbps, saturated, saturated_in};

/// RLC with PDUs of flexible size and the largest window.
const FLEXIBLE: &str = "rlc = { pdu_size = \"flexible\", window = 2047, timer_status_prohibit = \"10 ms\", \
                        poll_window = 50, buffer = \"2 MB\" }";

/// Octets of a block of category 8 at CQI 30: 14,411 bits.
const BLOCK: f64 = 1_801.0;

/// Octets of PDUs of `pdu` octets in a block of `block` octets. The header has 1 octet and 2 for each part.
/// On average a block has one part more than PDUs, because PDUs are divided at its ends.
fn content(block: f64, pdu: f64) -> f64 {
    (block - 3.0) / (1.0 + 2.0 / pdu)
}

fn udp_kbps(scenario: &Scenario) -> f64 {
    value(&metrics(scenario), "udp_goodput_kbps")
}

/// Datagrams of 1,428 octets are PDUs of 1,430 octets. MAC-hs carries 587.8 of them per second with PDUs of
/// 336 bits, MAC-ehs 628.
#[test]
fn flexible_pdus_fill_blocks() {
    let radio = "mac = \"mac_ehs\", cqi = 30, errors = \"none\"";
    let kbps = udp_kbps(&saturated_in("", "hsdpa-7.2", &[radio], FLEXIBLE));
    let datagrams_per_s = content(BLOCK, 1_430.0) / 1_430.0 * 500.0;
    assert_near("goodput", kbps, datagrams_per_s * 1_400.0 * 8.0 / 1e3, 0.005);
}

/// PDUs of 41 octets in unacknowledged mode: no block has room left at its end.
#[test]
fn fixed_pdus_are_divided_to_fill_blocks() {
    let radio = "mac = \"mac_ehs\", cqi = 30, errors = \"none\"";
    let metrics = metrics(&saturated("hsdpa-7.2", &[radio], ""));
    let pdus_per_tti = content(BLOCK, 41.0) / 41.0;
    assert_near("payload", payload_kbps(&metrics), pdus_per_tti * 40.0 * 8.0 / 2.0, 0.005);
}

/// A block of 137 bits has no room for a PDU of MAC-hs. With MAC-ehs a PDU of 41 octets takes three blocks, of
/// 14, 14 and 13 octets.
#[test]
fn the_smallest_block_carries_a_part_of_a_pdu() {
    let kbps = |mac: &str| {
        let radio = format!("mac = \"{mac}\", cqi = 1, errors = \"none\"");
        payload_kbps(&metrics(&saturated("hsdpa-3.6", &[&radio], "")))
    };
    assert_eq!(kbps("mac_hs"), 0.0);
    assert_near("payload", kbps("mac_ehs"), 40.0 * 8.0 / (3.0 * 2.0), 0.005);
}

/// With a round trip of RLC above 400 ms the window of 2,047 PDUs limits PDUs of 40 octets to a fraction of the
/// rate of category 8, and PDUs of flexible size not at all.
#[test]
fn the_window_of_rlc_does_not_bind_with_flexible_pdus() {
    let tables = |rlc: &str| {
        format!(
            "{rlc}\ncell = [{{ name = \"cell\", iub = {{ delay = \"200 ms\" }}, hs_dsch = {{ queue_time = \"20 ms\" }} }}]"
        )
    };
    let radio = "mac = \"mac_ehs\", cqi = 30, errors = \"none\"";
    let fixed = FLEXIBLE.replace("flexible", "fixed");
    let [fixed, flexible] = [fixed.as_str(), FLEXIBLE]
        .map(|rlc| udp_kbps(&saturated_in("", "hsdpa-7.2", &[radio], &tables(rlc))));
    assert!(fixed < 2_000.0, "{fixed} kbit/s");
    assert!(flexible > 6_900.0, "{flexible} kbit/s");
}

/// Under any loss and any error of the feedback, each PDU that the RNC sent waits, is on the air, is delivered,
/// or is lost for a known cause; delivered PDUs are in order and none is delivered twice; the queue of the
/// Node B keeps its limit. PDUs of 41 octets and of up to 1,430.
#[test]
fn every_pdu_is_delivered_once_in_order_or_lost_for_a_cause() {
    let feedback = "missed_hs_scch = 0.05, nack_to_ack = 0.1, ack_to_nack = 0.1, dtx_to_ack = 0.1";
    let discards = "process_scope = \"cell\", ack_delay = \"4 ms\", discard_timer = \"20 ms\", credit_rule = \"queue_room\"";
    // Keys of the cell and of the users, and the causes that must occur.
    let cases: [(&str, &str, &[&str]); 4] = [
        ("t1 = \"50 ms\"", "attempt_errors = [0.3, 0.1, 0.0]", &[]),
        ("t1 = \"10 ms\", max_transmissions = 4", "attempt_errors = [0.3, 0.3, 0.3]", &["T1", "late"]),
        ("window = 8, t1 = \"20 ms\"", &format!("attempt_errors = [0.4], {feedback}"), &["T1", "false ACKs"]),
        (discards, &format!("attempt_errors = [0.5, 0.2], {feedback}"), &["false ACKs", "discarded"]),
    ];
    let flexible = FLEXIBLE.replace("flexible\"", "flexible\", max_dat = 1");
    for rlc in ["rlc = { mode = \"um\" }", flexible.as_str()] {
        for (cell, user, causes) in cases {
            let case = format!("{rlc} {cell} {user}");
            let radio = format!("mac = \"mac_ehs\", cqi = 15, errors = \"per_attempt\", {user}");
            let cell = hs_cell(&format!("nodeb_queue = 200, {cell}"));
            let pdus = accounts(&saturated_in(rlc, "hsdpa-3.6", &[&radio], &cell));
            // 8 blocks of 11 PDUs in HARQ, and a window of them in the reordering queue.
            let on_air = pdus.sent - pdus.before_air - pdus.delivered - pdus.lost - pdus.dropped;
            assert!(on_air <= (8 + 32) * 11, "{case}: {on_air} PDUs on the air");
            // 200 PDUs of the largest size (210 of 1,430 octets), and one of which a part has left the queue.
            assert!(pdus.max_before_air <= 211, "{case}: {} PDUs at the Node B", pdus.max_before_air);
            assert!(pdus.delivered > 500, "{case}: {}", pdus.delivered);
            assert!(pdus.order.is_sorted_by(|before, after| before < after), "{case}");
            let count = |cause: &str| pdus.count(cause);
            assert_eq!(pdus.dropped, count("discarded") + count("flushed"), "{case}");
            assert_eq!(count("misread"), 0, "{case}");
            for cause in causes {
                assert!(count(cause) > 0, "{case}: {cause} of {:?}", pdus.events);
            }
            if causes.is_empty() {
                assert_eq!((pdus.lost, count("T1"), count("late")), (0, 0, 0), "{case}");
            }
        }
    }
}

/// The octets of all PDUs are encoded, sent and decoded, with the same results.
#[test]
fn wire_mode_gives_the_results_of_described_pdus() {
    let radio = "mac = \"mac_ehs\", snr = \"12 dB\", fading = \"rayleigh\"";
    let goodput = |rlc: &str| udp_kbps(&saturated_in("", "hsdpa-3.6", &[radio], rlc));
    for polls in ["", ", poll_sufi = true, timer_poll = \"20 ms\""] {
        let described = FLEXIBLE.replace("flexible\"", &format!("flexible\"{polls}"));
        let wired = described.replace("flexible\"", "flexible\", wire_mode = true");
        assert_eq!(goodput(&described), goodput(&wired), "{polls}");
    }
}
