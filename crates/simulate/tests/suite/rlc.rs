//! RLC modes and mechanisms in whole networks.

use crate::common::{events, metrics, scenario, value};
use umts_stack::ids::Direction;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// Octets of one RLC window in kB: 512 PDUs of 40 octets.
const WINDOW_KB: f64 = 512.0 * 40.0 / 1000.0;

/// Runs 20 s of the scenario `rlc-deadlock` with the overrides `set`. Returns the delivered payload
/// in kB.
fn delivered_kb(set: &[(&str, &str)]) -> f64 {
    let mut overrides = vec![("duration", "20 s")];
    overrides.extend(set);
    value(&metrics("rlc-deadlock", &overrides), "goodput_delivered_kbps") * 20.0 / 8.0
}

#[test]
fn only_one_window_is_sent_without_a_trigger() {
    // At most one window of PDUs is sent, whatever TCP retransmits, and no more after a day.
    assert!(delivered_kb(&[]) < WINDOW_KB);
    for duration in ["600 s", "24 h"] {
        let whole = metrics("rlc-deadlock", &[("duration", duration)]);
        assert!(value(&whole, "pdu_transmissions") <= 512.0);
        assert_eq!(value(&whole, "status_pdus_sent"), 0.0);
    }
}

#[test]
fn any_trigger_resolves_the_deadlock() {
    // More than the window. A poll or its answer may be lost; Timer_Poll repeats it.
    for (key, setting) in [
        ("rlc.poll_last_pdu", "true"),
        ("rlc.poll_pdu", "16"),
        ("rlc.poll_sdu", "1"),
        ("rlc.poll_window", "50"),
        ("rlc.timer_poll_periodic", "200 ms"),
        ("rlc.timer_status_periodic", "200 ms"),
    ] {
        let kb = delivered_kb(&[(key, setting), ("rlc.timer_poll", "300 ms")]);
        assert!(kb > WINDOW_KB, "{key} = {setting}: {kb} kB");
    }
    // A missing PDU is a trigger if PDUs are lost.
    let kb = delivered_kb(&[("rlc.missing_pdu_indication", "new_gap")]);
    assert!(kb > WINDOW_KB, "missing_pdu_indication: {kb} kB");
    // Polling with the last PDU does not help if the window closes before it: 64 PDUs of 40 octets.
    let small_window_kb = 64.0 * 40.0 / 1000.0;
    assert!(delivered_kb(&[("rlc.poll_last_pdu", "true"), ("rlc.window", "64")]) < small_window_kb);
}

#[test]
fn every_mode_carries_a_download() {
    let mode = |set: &[(&str, &str)]| {
        let mut overrides = vec![("duration", "60 s")];
        overrides.extend(set);
        metrics("ftp-on-dch-384-3gpp", &overrides)
    };
    let am = value(&mode(&[]), "goodput_kbps");
    // One header octet less, no reports and no retransmissions: slightly more than acknowledged
    // mode without losses.
    let um = value(&mode(&[("rlc.mode", "um")]), "goodput_kbps");
    assert!((am..372.0).contains(&um), "{um} against {am}");
    // A packet of 1,500 octets takes 38 of the 48 blocks of a TTI of 40 ms, so one packet is sent
    // per TTI: 1,460 octets of payload in 40 ms are 292 kbit/s.
    let tm = [("rlc.mode", "tm"), ("bearer.0.downlink.tti", "40 ms")];
    let transparent = value(&mode(&tm), "goodput_kbps");
    assert!((280.0..292.1).contains(&transparent), "{transparent}");
    // With losses TCP repairs the packets that RLC does not.
    let lossy = mode(&[("rlc.mode", "um"), ("radio.bler", "0.001")]);
    assert!(value(&lossy, "tcp_retransmissions") > 0.0);
    assert_eq!(value(&lossy, "rlc_retransmissions"), 0.0);
    assert!((50.0..um).contains(&value(&lossy, "goodput_kbps")));
    let with_erroneous_sdus =
        mode(&[tm[0], tm[1], ("radio.bler", "0.001"), ("rlc.tm_erroneous_sdus", "undetected")]);
    assert!(value(&with_erroneous_sdus, "tcp_retransmissions") > 0.0);
}

#[test]
fn a_download_works_with_every_status_format_and_discard_mode() {
    for set in [
        ("rlc.status_format", "list"),
        ("rlc.status_format", "rlist"),
        ("rlc.granted_window", "200"),
        ("rlc.in_sequence", "false"),
        ("rlc.max_dat", "4"),
        ("rlc.max_dat_reading", "ts25322"),
        ("rlc.send_mrw", "true"),
        ("rlc.timer_epc", "200 ms"),
    ] {
        let lossy = [set, ("radio.bler", "0.1"), ("duration", "60 s")];
        let goodput = value(&metrics("ftp-on-dch-384-3gpp", &lossy), "goodput_kbps");
        assert!(goodput > 100.0, "{set:?}: {goodput}");
    }
    for discard in ["timer", "never"] {
        let set = [
            ("rlc.sdu_discard", discard),
            ("rlc.timer_discard", "500 ms"),
            ("rlc.max_dat", "4"),
            ("radio.bler", "0.1"),
            ("duration", "60 s"),
        ];
        let goodput = value(&metrics("ftp-on-dch-384-3gpp", &set), "goodput_kbps");
        assert!(goodput > 100.0, "{discard}: {goodput}");
    }
}

#[test]
fn compressed_headers_leave_room_for_payload() {
    let goodput = |set: &[(&str, &str)]| {
        let mut overrides = vec![("duration", "60 s"), ("tcp.segment_payload", "500 B")];
        overrides.extend(set);
        value(&metrics("ftp-on-dch-384-3gpp", &overrides), "goodput_kbps")
    };
    // A packet of 540 octets becomes one of 504 octets.
    let gain = goodput(&[("pdcp.header_compression", "ideal")]) / goodput(&[]);
    assert!((1.06..540.0 / 504.0 + 0.005).contains(&gain), "{gain}");
}

/// Cases for the comparison below: losses with every kind of recovery, on every channel, with the
/// options of TS 25.322. In wire mode entities exchange octets instead of descriptions of PDUs.
const WIRE_MODE: &[(&str, &[(&str, &str)])] = &[
    ("ftp-on-dch-384-3gpp", &[("radio.bler", "0.1"), ("rlc.max_dat", "3")]),
    (
        "ftp-on-dch-384-3gpp",
        &[("radio.bler", "0.05"), ("rlc.pdu_payload", "160 B"), ("rlc.in_sequence", "false")],
    ),
    ("ftp-on-dch-384-3gpp", &[("radio.bler", "0.01"), ("rlc.mode", "um")]),
    (
        "ftp-on-dch-384-3gpp",
        &[("radio.bler", "0.2"), ("rlc.sdu_discard", "timer"), ("rlc.timer_discard", "500 ms")],
    ),
    ("ftp-on-dch-384-3gpp", &[("radio.bler", "0.3"), ("rlc.sdu_discard", "never"), ("rlc.max_dat", "2")]),
    ("ftp-on-fach-two-users-3gpp", &[("radio.bler", "0.1"), ("rlc.status_format", "rlist")]),
    ("twenty-on-dch-64-3gpp", &[("radio.bler", "0.1"), ("rlc.status_format", "list"), ("duration", "10 s")]),
    ("dsch-5km", &[("duration", "4 s"), ("measure.from", "0 s")]),
];

fn events_of(name: &str, overrides: &[(&str, &str)], wire_mode: &'static str) -> Vec<(Time, TraceEvent)> {
    let mut all = vec![("duration", "20 s"), ("rlc.wire_mode", wire_mode)];
    all.extend(overrides);
    events(&scenario(name, &all))
}

#[test]
fn wire_mode_gives_the_same_run_event_for_event() {
    for &(name, overrides) in WIRE_MODE {
        let (described, wired) = (events_of(name, overrides, "false"), events_of(name, overrides, "true"));
        assert!(described.len() > 300, "{name} {overrides:?}: {} events", described.len());
        let differ = described.iter().zip(&wired).find(|(described, wired)| described != wired);
        assert_eq!(differ, None, "{name} {overrides:?}");
        assert_eq!(described.len(), wired.len(), "{name} {overrides:?}");
    }
}

/// Compares the loss metrics with SDUs that entered RLC and were never delivered, counted from
/// events. SDUs whose last PDU is under way at the end are neither delivered nor lost.
#[test]
fn loss_metrics_count_undelivered_sdus_in_every_mode() {
    for (mode, bler) in [("um", "0.1"), ("tm", "0.05"), ("am", "0.3")] {
        let set = [
            ("rlc.mode", mode),
            ("radio.bler", bler),
            ("rlc.max_dat", "2"),
            ("duration", "60 s"),
            ("measure.to", "end"),
        ];
        let scenario = scenario("voice-beside-download", &set);
        let events = events(&scenario);
        let mut delivered = std::collections::BTreeSet::new();
        let mut discarded = std::collections::BTreeSet::new();
        for (_, event) in &events {
            match *event {
                TraceEvent::SduDelivered { direction: Direction::Downlink, sdu, .. } => {
                    delivered.insert(sdu);
                }
                TraceEvent::SduLost { direction: Direction::Downlink, sdu, .. }
                | TraceEvent::SduDiscarded { direction: Direction::Downlink, sdu, .. } => {
                    discarded.insert(sdu);
                }
                _ => {}
            }
        }
        let entered = |(_, event): &&(Time, TraceEvent)| {
            matches!(event, TraceEvent::SduQueued { direction: Direction::Downlink, .. })
        };
        let entered = events.iter().filter(entered).count();
        let lost = discarded.difference(&delivered).count();
        assert!(
            lost > 0 && entered - delivered.len() - lost < 100,
            "{mode}: {entered}, {}, {lost}",
            delivered.len()
        );
        let metrics = crate::common::output(&scenario).metrics.network;
        let expected = 100.0 * lost as f64 / entered as f64;
        assert!((value(&metrics, "sdu_error_pct") - expected).abs() < 1e-9, "{mode}");
        let expected = 100.0 * lost as f64 / (delivered.len() + lost) as f64;
        assert!((value(&metrics, "residual_loss_pct") - expected).abs() < 1e-9, "{mode}");
    }
}
