//! Measured and flat radios: delivery times and queueing delays.

use std::path::Path;

use crate::common::{load, metrics, output, value};
use umts_record::series::{SeriesTables, Values};
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, run};

/// Links without delay.
const CHAIN: &str = "link = [{ from = \"server\", to = \"ggsn\" }, { from = \"ggsn\", to = \"sgsn\" }, \
                     { from = \"sgsn\", to = \"rnc\" }]\n";

/// One user whose radio is `trace` in both directions, with `flow` over it. Each line of the trace
/// is the time in ms of an opportunity to send 1,500 octets. The trace repeats with the period of
/// its last line.
fn measured(trace: &str, flow: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    std::fs::write(folder.path().join("trace"), trace).expect("the folder is writable");
    let text = format!(
        "version = 1\nduration = \"20 s\"\n{CHAIN}[[ue]]\nname = \"user\"\n\
         capacity = {{ downlink = \"trace\", uplink = \"trace\" }}\n[[flow]]\nue = \"user\"\n{flow}\n"
    );
    let path = folder.path().join("measured.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    Scenario::load(&path, &[]).map(|loaded| loaded.scenario).map_err(|error| error.render(false))
}

fn series(scenario: &Scenario) -> SeriesTables {
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    run(scenario, options).expect("no callback stops the run").series.expect("enabled above")
}

/// Times of packet deliveries in milliseconds.
fn deliveries(series: &SeriesTables) -> Vec<u64> {
    match series.table("rlc_delivered").and_then(|table| table.column("time_s")) {
        Some(Values::Float(times)) => times.iter().map(|time| (time * 1e3).round() as u64).collect(),
        other => panic!("{other:?}"),
    }
}

/// Packets of 1,500 octets, at a rate above the capacity of the traces.
const SATURATING: &str =
    "traffic = \"cbr\"\ncbr = { payload = \"1472 B\", interval = \"1 ms\", random_phase = false }";

#[test]
fn saturating_sender_uses_every_opportunity() {
    let trace = [3, 10, 10, 11, 40, 700, 701, 1000];
    let text: String = trace.iter().map(|at| format!("{at}\n")).collect();
    let actual = deliveries(&series(&measured(&text, SATURATING).unwrap()));
    // The trace repeats every second during the run of 20 s.
    let expected: Vec<u64> = (0..20)
        .flat_map(|n| trace.iter().map(move |at| n * 1000 + at))
        .take_while(|at| *at < 20_000)
        .collect();
    assert_eq!(actual, expected);
}

#[test]
fn idle_radio_causes_no_events_and_a_packet_waits_for_the_next_opportunity() {
    let every_ms: String = (1..=1000).map(|at| format!("{at}\n")).collect();
    // Four packets in 20 s. Each waits half a millisecond.
    let lone = "traffic = \"cbr\"\ncbr = { payload = \"100 B\", interval = \"5 s\", random_phase = false }\nstart = \"500 us\"";
    let result = output(&measured(&every_ms, lone).unwrap());
    assert_eq!(value(&result.metrics.network, "udp_received"), 4.0);
    assert!((value(&result.metrics.network, "udp_delay_ms") - 0.5).abs() < 1e-9);
    assert!(result.events < 30, "{}", result.events);
}

#[test]
fn tcp_fills_a_measured_radio() {
    let metrics = metrics("measured-radio", &[]);
    // The trace of one minute has 1,621 opportunities of 1,500 octets. 1,460 of these are payload:
    // 315.8 kbit/s.
    let goodput = value(&metrics, "goodput_kbps");
    assert!((0.8 * 315.8..315.8).contains(&goodput), "{goodput}");
    assert!(value(&metrics, "udp_max_delay_ms") > 3000.0, "the trace has a gap of three seconds");
    assert_eq!(metrics.value("link_utilization_pct"), None);
}

#[test]
fn invalid_trace_is_refused_with_its_line() {
    for (trace, expected) in [
        ("1\n2\nx\n", "line 3: `x` is not a number of milliseconds"),
        ("5\n4\n", "line 2: 4 is before 5"),
        ("", "line 1: the file is empty"),
        ("0\n", "the trace ends at 0"),
    ] {
        let error = measured(trace, SATURATING).unwrap_err();
        assert!(error.contains(expected) && error.contains("capacity"), "{error}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/measured-radio.toml");
    let with_bearer = [("ue.0.bearer".to_owned(), "ps-64".to_owned())];
    let error = Scenario::load(&path, &with_bearer).unwrap_err().render(false);
    assert!(error.contains("both the bearer `ps-64` and a capacity trace"), "{error}");
    // Without the override the file is valid.
    assert!(
        load(&path, &[]).ue[0].capacity.is_some()
            && crate::common::scenario("measured-radio", &[]).ue.len() == 1
    );
}

/// One user with a flat radio, with `flow` over it.
fn flat(keys: &str, flow: &str) -> Result<Scenario, String> {
    let text = format!(
        "version = 1\nduration = \"20 s\"\n{CHAIN}[[ue]]\nname = \"user\"\nflat = {{ {keys} }}\n\
         [[flow]]\nue = \"user\"\n{flow}\n"
    );
    let loaded = Scenario::parse(&text, "flat", Path::new("."), &[]);
    loaded.map(|loaded| loaded.scenario).map_err(|error| error.render(false))
}

#[test]
fn a_flat_radio_sends_at_its_rate_and_adds_half_its_round_trip_time() {
    let keys = "downlink = \"1200 kbit/s\", uplink = \"64 kbit/s\", rtt = \"100 ms\", queue = \"4 packets\"";
    // At 1200 kbit/s 1,500 octets take 10 ms. Half of the round-trip time is 50 ms.
    let actual = deliveries(&series(&flat(keys, SATURATING).unwrap()));
    let expected: Vec<u64> = (1..).map(|n| 10 * n + 50).take_while(|at| *at < 20_000).collect();
    assert_eq!(actual, expected);
}

#[test]
fn flat_profile_sets_unwritten_keys() {
    let named = flat("profile = \"wpt-3g-fast\", rtt = \"20 ms\"", "").unwrap();
    let flat_of = |scenario: &Scenario| scenario.ue[0].flat.clone().expect("it was given");
    let radio = flat_of(&named);
    assert_eq!([radio.downlink, radio.uplink].map(|rate| rate.bps()), [1_600_000, 768_000]);
    assert_eq!(radio.rtt, umts_units::Duration::from_millis(20));
    let written = Scenario::parse(&named.to_toml(), "again", Path::new("."), &[]).unwrap();
    assert_eq!(flat_of(&written.scenario), radio);
    let by_hand = "downlink = \"1600 kbit/s\", uplink = \"768 kbit/s\", rtt = \"20 ms\"";
    assert_eq!(flat(by_hand, "").unwrap().content_hash(), named.content_hash());
    for profile in umts_scenario::flat_profiles() {
        flat(&format!("profile = \"{}\"", profile.name), "").unwrap();
    }
}

#[test]
fn unknown_or_additional_flat_radio_is_refused() {
    let unknown = flat("profile = \"wpt-3g-fats\"", "").unwrap_err();
    assert!(unknown.contains("did you mean \"wpt-3g-fast\"?"), "{unknown}");
    let missing = flat("downlink = \"1 Mbit/s\"", "").unwrap_err();
    assert!(missing.contains("uplink"), "{missing}");
    // The text closes the table `flat`, adds the key `bearer`, and opens a table that the format
    // string closes.
    let both = flat("profile = \"wpt-3g\" }\nbearer = \"ps-64\"\nrlc = {", "").unwrap_err();
    assert!(both.contains("the bearer `ps-64` and a flat radio"), "{both}");
}

#[test]
fn tcp_retransmits_packets_lost_by_a_flat_radio() {
    let keys = "profile = \"wpt-3g-fast\", loss = 0.02";
    let metrics = output(&flat(keys, "traffic = \"file\"\nsize = \"1 MB\"").unwrap()).metrics.network;
    assert!(value(&metrics, "goodput_kbps") > 100.0);
    assert!(value(&metrics, "tcp_retransmissions") > 5.0);
}
