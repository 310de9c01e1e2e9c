//! The scenarios of Dubois (2005), chapter 6, compared with measurements of the original simulator:
//! ns-2.29 with EURANE, its extension for UMTS, built from source. Goodput is acknowledged payload
//! over the length of the run. The minimum RTO is irrelevant, because no packet is lost.

use crate::common::{metrics, scenario, value};

#[track_caller]
fn assert_within(case: &str, ours: f64, theirs: f64, relative: f64) {
    let difference = (ours - theirs) / theirs;
    assert!(difference.abs() <= relative, "{case}: {ours} against {theirs}, {:+.2} %", difference * 100.0);
}

/// A run of the original with one user on the FACH.
struct OneUser {
    /// Payload of a segment.
    payload: &'static str,
    /// Block error ratio.
    bler: &'static str,
    goodput_kbps: f64,
    /// Mean round-trip time.
    rtt_s: f64,
}

const ONE_USER: [OneUser; 7] = [
    OneUser { payload: "1000 B", bler: "0", goodput_kbps: 30.57, rtt_s: 5.208 },
    OneUser { payload: "1000 B", bler: "0.01", goodput_kbps: 30.245, rtt_s: 5.262 },
    OneUser { payload: "1000 B", bler: "0.1", goodput_kbps: 27.52, rtt_s: 5.780 },
    OneUser { payload: "1000 B", bler: "0.3", goodput_kbps: 21.30, rtt_s: 7.448 },
    OneUser { payload: "512 B", bler: "0.01", goodput_kbps: 29.02, rtt_s: 2.814 },
    OneUser { payload: "512 B", bler: "0.1", goodput_kbps: 26.41, rtt_s: 3.089 },
    OneUser { payload: "512 B", bler: "0.3", goodput_kbps: 20.39, rtt_s: 3.993 },
];

#[test]
fn one_user_on_fach_has_the_goodput_and_the_round_trip_of_the_original() {
    for OneUser { payload, bler, goodput_kbps, rtt_s } in ONE_USER {
        let overrides = [("tcp.segment_payload", payload), ("radio.bler", bler)];
        let metrics = metrics("ftp-on-fach", &overrides);
        let case = format!("{payload}, BLER {bler}");
        // One run of the original is compared with one run here. At 0.3, runs differ by 0.2 % from
        // each other.
        let tolerance = if bler == "0.3" { 0.008 } else { 0.004 };
        assert_within(&case, value(&metrics, "goodput_kbps"), goodput_kbps, tolerance);
        // The original sampled its RTT at 4 Hz. This RTT is a time average of the last sample.
        assert_within(&case, value(&metrics, "mean_rtt_time_avg_s"), rtt_s, 0.006);
        assert_eq!(value(&metrics, "tcp_retransmissions"), 0.0, "{case}");
        assert_within(&case, value(&metrics, "mean_outstanding_segments"), 19.96, 0.01);
    }
}

#[test]
fn shipped_scenario_agrees_with_the_original_and_with_the_thesis() {
    let metrics = metrics("ftp-on-fach", &[]);
    assert_within("goodput", value(&metrics, "goodput_kbps"), 30.25, 0.01);
    let rtt = value(&metrics, "mean_rtt_time_avg_s");
    assert!((5.2..5.3).contains(&rtt), "{rtt}");
    // The thesis counts sent payload: 30.36 kbit/s.
    assert_within("sent", value(&metrics, "goodput_sent_kbps"), 30.36, 0.005);
}

#[test]
fn the_five_loss_based_variants_are_equal_when_rlc_hides_every_loss() {
    let goodput = |variant| value(&metrics("ftp-on-fach", &[("tcp.variant", variant)]), "goodput_kbps");
    let reno = goodput("reno");
    assert_eq!(["tahoe", "newreno", "sack", "fack"].map(goodput), [reno; 4]);
}

/// A run of the original with Vegas, which has no headers in ns-2, and its mean number of
/// outstanding segments.
struct VegasRun {
    run: OneUser,
    outstanding: f64,
}

const fn vegas(
    payload: &'static str,
    bler: &'static str,
    goodput_kbps: f64,
    rtt_s: f64,
    outstanding: f64,
) -> VegasRun {
    VegasRun { run: OneUser { payload, bler, goodput_kbps, rtt_s }, outstanding }
}

const VEGAS: [VegasRun; 7] = [
    vegas("1000 B", "0", 31.77, 1.257, 5.0),
    vegas("1000 B", "0.01", 31.445, 1.016, 4.0),
    vegas("1000 B", "0.1", 28.54, 1.113, 4.0),
    vegas("1000 B", "0.3", 22.12, 1.428, 4.0),
    vegas("512 B", "0.01", 31.29, 0.653, 5.0),
    vegas("512 B", "0.1", 27.77, 0.613, 4.2),
    vegas("512 B", "0.3", 12.94, 0.729, 2.4),
];

#[test]
fn vegas_has_as_few_segments_outstanding_as_the_original() {
    for original in &VEGAS {
        // The first round trips, and thus the seed, decide whether four or five segments stay in
        // flight. The run of the original must match one of ten seeds.
        let seeds = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
        let OneUser { payload, bler, .. } = original.run;
        let case = format!("{payload}, BLER {bler}");
        assert!(seeds.iter().any(|seed| agrees_with_the_original(original, seed)), "{case}");
    }
}

fn agrees_with_the_original(original: &VegasRun, seed: &str) -> bool {
    let VegasRun { run: OneUser { payload, bler, goodput_kbps, rtt_s }, outstanding } = *original;
    let metrics = metrics(
        "ftp-on-fach",
        &[("tcp.variant", "vegas"), ("tcp.segment_payload", payload), ("radio.bler", bler), ("seed", seed)],
    );
    let is_within = |ours: f64, theirs: f64, relative: f64| ((ours - theirs) / theirs).abs() <= relative;
    let our_outstanding = value(&metrics, "mean_outstanding_segments");
    // Each segment waits for the segments before it, so the RTT is proportional to their number.
    let rtt_per_segment = value(&metrics, "mean_rtt_time_avg_s") / our_outstanding;
    is_within(value(&metrics, "goodput_kbps"), goodput_kbps, 0.02)
        && (our_outstanding - outstanding).abs() < 0.5
        && is_within(rtt_per_segment, rtt_s / outstanding, 0.02)
}

#[test]
fn vegas_gains_goodput_only_by_its_missing_header() {
    let goodput = |variant, no_header| {
        let overrides = [("tcp.variant", variant), ("tcp.ns2_vegas_no_header", no_header)];
        value(&metrics("ftp-on-fach", &overrides), "goodput_kbps")
    };
    let reno = goodput("reno", "false");
    assert_within("with headers", goodput("vegas", "false"), reno, 0.005);
    assert_within("without", goodput("vegas", "true"), 1.04 * reno, 0.005);
}

/// Variant, block error ratio, and goodput in kbit/s of the phase with two users.
const TWO_USERS: [(&str, &str, f64); 10] = [
    ("reno", "0", 24.79),
    ("reno", "0.01", 24.57),
    ("reno", "0.1", 22.46),
    ("reno", "0.3", 17.85),
    ("sack", "0.01", 24.57),
    ("fack", "0.01", 24.58),
    ("vegas", "0", 25.78),
    ("vegas", "0.01", 25.54),
    ("vegas", "0.1", 23.24),
    ("vegas", "0.3", 18.34),
];

#[test]
fn second_user_costs_as_much_goodput_as_in_the_original() {
    for (variant, bler, goodput) in TWO_USERS {
        let run = |seed| {
            let overrides =
                [("tcp.variant", variant), ("radio.bler", bler), ("measure.from", "1500 s"), ("seed", seed)];
            metrics("ftp-on-fach-two-users", &overrides)
        };
        let first = run("1");
        let case = format!("{variant}, BLER {bler}");
        // Vegas at 0.3 differs: 18.08 kbit/s in six runs, of which none exceeds 18.17.
        let tolerance = if (variant, bler) == ("vegas", "0.3") { 0.02 } else { 0.003 };
        assert_within(&case, value(&first, "goodput_kbps"), goodput, tolerance);
        if variant == "vegas" {
            // In the original the second user had 53 to 57 % of the channel. The seed decides which
            // user has the larger part.
            let fairness = [first, run("2"), run("3")].map(|run| value(&run, "jain_fairness"));
            assert!(fairness.iter().sum::<f64>() / 3.0 > 0.9, "{case}: {fairness:?}");
        } else {
            assert!(value(&first, "jain_fairness") > 0.999, "{case}");
        }
    }
}

#[test]
fn two_users_overload_the_fach_and_retransmit_every_pdu() {
    let whole = metrics("ftp-on-fach-two-users", &[]);
    assert_within("total", value(&whole, "goodput_kbps"), 25.71, 0.003);
    let overrides = metrics("ftp-on-fach-two-users", &[("measure.from", "1500 s")]);
    assert_within("PDUs on the Iub", value(&overrides, "iub_pdus_per_s"), 199.6, 0.01);
    assert_within("transmissions", value(&overrides, "mean_transmissions_per_pdu"), 2.4, 0.05);
    // The queue drops every second block.
    assert_within("drops", value(&overrides, "fach_queue_drops"), 600_000.0, 0.01);
}

#[test]
fn second_user_costs_nothing_with_mac_c_scheduling() {
    let shared = [("cell.fach.scheduling", "pull"), ("measure.from", "1500 s")];
    let two = metrics("ftp-on-fach-two-users", &shared);
    let one = metrics("ftp-on-fach", &[("cell.fach.scheduling", "pull")]);
    assert_within("total", value(&two, "goodput_kbps"), value(&one, "goodput_kbps"), 0.02);
    assert!(value(&two, "mean_transmissions_per_pdu") < 1.02);
}

/// Timer_Status_Prohibit of 150 ms ends in the middle of a TTI of 20 ms, and the report's wait of
/// 10 ms ends at a TTI boundary. A report piggybacked on the data of this TTI arrives one TTI
/// earlier than a separate one.
#[test]
fn report_is_piggybacked_at_the_end_of_its_wait() {
    let metrics = metrics("ftp-on-dch-64", &[]);
    assert_within("64 kbit/s, 20 ms", value(&metrics, "goodput_kbps"), 61.07, 0.001);
    let separate = self::metrics("ftp-on-dch-64", &[("rlc.piggyback_wait", "9.9 ms")]);
    assert_within("separate reports", value(&separate, "goodput_kbps"), 59.41, 0.001);
}

#[test]
fn dch_goodput_agrees_with_the_closed_form() {
    // 384 kbit/s, of which 1,000 of 1,040 octets are payload. The rest is length indicators and
    // reports.
    let fast = metrics("ftp-on-dch-384", &[]);
    assert_within("384 kbit/s", value(&fast, "goodput_kbps"), 366.6, 0.01);
    assert_eq!(value(&fast, "rlc_retransmissions"), 0.0);
    // 20 users, 64 kbit/s, one PDU of ten lost: 64 x 0.9 x 1000/1040 x 0.993 each. The last factor
    // is length indicators and reports.
    let twenty = metrics("twenty-on-dch-64", &[]);
    assert_within("64 kbit/s", value(&twenty, "goodput_kbps") / 20.0, 55.0, 0.02);
    assert_within("BLER", value(&twenty, "bler_pct"), 10.0, 0.01);
    assert_within("transmissions", value(&twenty, "mean_transmissions_per_pdu"), 1.0 / 0.9, 0.01);
}

/// EURANE's buffer of 100 kB holds 96 packets of 1,040 bytes. A larger window overflows it.
#[test]
fn a_window_larger_than_the_rlc_buffer_loses_segments() {
    // The initial threshold of ns-2 is the window.
    let window = |segments| {
        let overrides = [("tcp.advertised_window", segments), ("tcp.initial_ssthresh", segments)];
        metrics("ftp-on-fach", &overrides)
    };
    let inside = window("90 segments");
    assert_eq!(value(&inside, "rlc_buffer_sdu_drops"), 0.0);
    assert_within("RTT at 90", value(&inside, "mean_rtt_time_avg_s"), 23.0, 0.05);
    let beyond = window("150 segments");
    assert!(value(&beyond, "rlc_buffer_sdu_drops") > 0.0);
    // The original: 143 retransmissions, 29.22 kbit/s.
    assert!((50.0..300.0).contains(&value(&beyond, "tcp_retransmissions")));
    assert_within("goodput at 150", value(&beyond, "goodput_kbps"), 29.22, 0.03);
}

#[test]
fn losses_with_maxdat_2_agree_with_the_closed_form() {
    // A segment has 26 PDUs. Each is discarded if both of its transmissions are lost: 0.01 squared.
    let metrics = metrics("ftp-on-fach", &[("rlc.max_dat", "2"), ("duration", "20000 s")]);
    let expected = 100.0 * (1.0 - (1.0f64 - 1e-4).powi(26));
    // About 70,000 segments: the standard deviation of the ratio is 7 %.
    assert_within("SDU errors", value(&metrics, "sdu_error_pct"), expected, 0.25);
    assert!(scenario("ftp-on-fach", &[]).rlc.max_dat == Some(9000));
}
