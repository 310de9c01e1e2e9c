//! Captures of simulated runs: the analysis of the packets at the server equals the metrics of the
//! simulation.

use std::path::Path;

use umts_capture::reader::{ReadOptions, analyse_file};
use umts_capture::{Analysis, Position};
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, run};

/// Runs a scenario. Returns the metrics of the simulation, the analysis of the capture at `point`,
/// and the duration of the run in seconds.
fn simulate_and_analyse(name: &str, overrides: &[(&str, &str)], point: &str) -> (MetricSet, Analysis, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let overrides: Vec<_> = overrides.iter().map(|&(key, to)| (key.to_owned(), to.to_owned())).collect();
    let scenario = match Scenario::load(&path, &overrides) {
        Ok(loaded) => loaded.scenario,
        Err(error) => panic!("{}", error.render(false)),
    };
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let options = RunOptions { seed: 1, pcap_dir: Some(folder.path().to_owned()), ..RunOptions::default() };
    let output = run(&scenario, options).expect("nothing stops it");
    let file = folder.path().join(format!("{point}.pcapng"));
    let analysis = analyse_file(&file, ReadOptions::default()).expect("the simulation wrote it");
    assert_eq!(analysis.warnings, Vec::<String>::new());
    (output.metrics.network, analysis, scenario.duration.as_secs())
}

fn window_s(analysis: &Analysis) -> f64 {
    let (Some(first), Some(last)) = (analysis.first, analysis.last) else { panic!("there are packets") };
    (last - first).as_secs()
}

/// Scenarios in which segments are lost and retransmitted for every reason, in one direction and in
/// both.
const SCENARIOS: &[(&str, &[(&str, &str)])] = &[
    ("ftp-on-fach", &[]),
    ("ftp-on-fach", &[("tcp.variant", "tahoe"), ("radio.bler", "0.1"), ("rlc.max_dat", "2")]),
    ("ftp-on-fach", &[("tcp.variant", "reno"), ("radio.bler", "0.1"), ("rlc.max_dat", "2")]),
    ("ftp-on-fach", &[("tcp.variant", "newreno"), ("radio.bler", "0.1"), ("rlc.max_dat", "2")]),
    ("ftp-on-fach-two-users", &[("duration", "2000 s")]),
    ("ftp-on-dch-384-3gpp", &[("radio.bler", "0.1"), ("rlc.max_dat", "3"), ("duration", "300 s")]),
    (
        "ftp-on-dch-384-3gpp",
        &[
            ("tcp.ecn", "true"),
            ("link.1.rate", "300 kbit/s"),
            ("link.1.ecn_threshold", "5 packets"),
            ("duration", "100 s"),
        ],
    ),
    (
        "ftp-on-dch-384-3gpp",
        &[
            ("tcp.ecn", "true"),
            ("link.1.rate", "300 kbit/s"),
            ("link.1.red", "{ w_q = 0.02, ecn = true }"),
            ("duration", "100 s"),
        ],
    ),
    ("twenty-on-dch-64", &[("duration", "60 s")]),
    ("twenty-on-dch-64-3gpp", &[("duration", "60 s"), ("flow.0.traffic", "file"), ("flow.0.size", "200 kB")]),
];

/// A receiver that reads 500 octets per second: its window closes, is probed, and opens again
/// before the end.
const SLOW_READER: &[(&str, &str)] = &[
    ("tcp.read_rate", "4 kbit/s"),
    ("tcp.advertised_window", "20 segments"),
    ("tcp.delayed_ack", "false"),
    ("flow.0.traffic", "file"),
    ("flow.0.size", "60 kB"),
    ("duration", "100 s"),
];

/// Metrics that are equal to the last digit: counts, causes and round-trip times.
const EXACT: &[&str] = &[
    "tcp_retransmissions",
    "tcp_retransmissions_by_dupack",
    "tcp_retransmissions_by_rto",
    "tcp_retransmissions_per_connection",
    "tcp_retransmissions_pct",
    "rto_count",
    "rto_per_connection",
    "rto_per_retransmission",
    "rto_per_segment_pct",
    "total_packets",
    "mean_rtt_s",
    "min_rtt_s",
    "max_rtt_s",
    "p50_rtt_s",
    "p95_rtt_s",
    "p99_rtt_s",
    "max_outstanding_segments",
    "connection_off_time_s",
    "ecn_echoes",
    "ecn_answers",
    "zero_windows",
    "zero_window_probes",
    "zero_window_time_s",
];

#[test]
fn counts_causes_and_round_trips_equal_the_simulation() {
    for &(name, overrides) in SCENARIOS.iter().chain(&[("ftp-on-dch-384-3gpp", SLOW_READER)]) {
        let (simulated, analysis, _) = simulate_and_analyse(name, overrides, "server");
        for metric in EXACT {
            let (found, expected) = (analysis.metrics.value(metric), simulated.value(metric));
            assert_eq!(found, expected, "{metric} of {name} {overrides:?}");
        }
        for row in &analysis.connections {
            // If a SYN was sent twice, it is unknown which one was answered.
            let is_known = row.metrics.value("syn_retransmissions") == Some(0.0);
            let expected = if is_known { Position::Sender } else { Position::Unknown };
            assert_eq!(row.position, expected, "{name} {row:?}");
        }
    }
}

#[test]
fn bytes_per_measurement_window_equal_the_simulation() {
    for &(name, overrides) in SCENARIOS {
        let (simulated, analysis, duration_s) = simulate_and_analyse(name, overrides, "server");
        for metric in ["goodput_kbps", "goodput_sent_kbps", "throughput_kbps"] {
            // The capture lasts from its first packet to its last, the run as long as its scenario
            // specifies.
            let found = analysis.metrics.value(metric).expect("data were sent") * window_s(&analysis);
            let expected = simulated.value(metric).expect("data were sent") * duration_s;
            assert!((found / expected - 1.0).abs() < 1e-9, "{metric} of {name}: {found}, {expected}");
        }
    }
}

#[test]
fn time_averages_are_close_to_the_simulation() {
    for &(name, overrides) in SCENARIOS {
        let (simulated, analysis, _) = simulate_and_analyse(name, overrides, "server");
        for (metric, tolerance) in [
            // The simulation also counts data that wait for the handshake, and silence after the
            // last packet.
            ("mean_outstanding_segments", 0.06),
            ("mean_rtt_time_avg_s", 0.06),
        ] {
            let (found, expected) = (analysis.metrics.value(metric), simulated.value(metric));
            let (Some(found), Some(expected)) = (found, expected) else { panic!("{metric} of {name}") };
            assert!((found / expected - 1.0).abs() < tolerance, "{metric} of {name}: {found}, {expected}");
        }
    }
}

#[test]
fn duplicate_runs_and_acknowledgments_equal_the_simulation() {
    for &(name, overrides) in SCENARIOS {
        let (simulated, analysis, _) = simulate_and_analyse(name, overrides, "server");
        let found = |metric| analysis.metrics.value(metric).expect("there are acknowledgments");
        let expected = |metric| simulated.value(metric).expect("there are acknowledgments");
        assert_eq!(found("dupack_runs"), expected("dupack_runs"), "{name} {overrides:?}");
        // Without "-3gpp" the scenarios have one-way connections: their first acknowledgment is a
        // SYN+ACK in the capture.
        let handshakes = if name.ends_with("-3gpp") { 0.0 } else { analysis.connection_count as f64 };
        assert_eq!(found("acks_received") + handshakes, expected("acks_received"), "{name}");
        // The simulation knows what arrived, but a capture has only the acknowledgments.
        let unneeded = "tcp_retransmissions_unneeded";
        assert!(found(unneeded) <= expected(unneeded), "{name}");
    }
}

/// Transfers of 10 to 59 segments over a lossy bearer, so that some lose their last segments.
#[test]
fn causes_of_linux_tcp_equal_the_simulation() {
    let mut probes = 0.0;
    for size in (10..60).map(|segments| format!("{} B", 1448 * segments)) {
        let overrides = [("radio.bler", "0.1"), ("flow.0.size", size.as_str())];
        let (simulated, analysis, _) = simulate_and_analyse("download-linux-6", &overrides, "server");
        for metric in [
            "tcp_retransmissions",
            "tcp_retransmissions_by_dupack",
            "tcp_retransmissions_by_rto",
            "rto_count",
            "tail_loss_probes",
            "tail_loss_probe_repairs",
            "keep_alives",
        ] {
            assert_eq!(analysis.metrics.value(metric), simulated.value(metric), "{metric} of {size}");
        }
        probes += simulated.value("tail_loss_probes").expect("the metric exists");
    }
    assert!(probes > 5.0, "{probes}");
}

/// Routers mark packets on the path: the receiver's capture contains the marks, and the sender's
/// capture only their echoes.
#[test]
fn marks_are_seen_at_the_receiver() {
    let overrides = [
        ("tcp.ecn", "true"),
        ("link.1.rate", "300 kbit/s"),
        ("link.1.ecn_threshold", "5 packets"),
        ("duration", "100 s"),
    ];
    let (simulated, analysis, _) = simulate_and_analyse("ftp-on-dch-384-3gpp", &overrides, "ue");
    let (marks, echoes) = (simulated.value("ecn_marks"), simulated.value("ecn_echoes"));
    let reductions = simulated.value("ecn_reductions");
    assert!(
        marks > Some(0.0) && echoes > Some(0.0) && reductions > Some(0.0),
        "{marks:?} {echoes:?} {reductions:?}"
    );
    assert_eq!(analysis.metrics.value("ecn_marks"), marks);
    let (_, at_server, _) = simulate_and_analyse("ftp-on-dch-384-3gpp", &overrides, "server");
    assert_eq!(at_server.metrics.value("ecn_marks"), Some(0.0));
}

#[test]
fn slow_reader_closes_its_window() {
    let (simulated, _, _) = simulate_and_analyse("ftp-on-dch-384-3gpp", SLOW_READER, "server");
    let [windows, probes, time] = ["zero_windows", "zero_window_probes", "zero_window_time_s"]
        .map(|name| simulated.value(name).expect("the metric exists"));
    assert!(windows >= probes && probes > 10.0 && (10.0..100.0).contains(&time), "{windows} {probes} {time}");
}

#[test]
fn receiver_capture_has_position_receiver() {
    let (_, analysis, _) = simulate_and_analyse("ftp-on-dch-384-3gpp", &[("duration", "20 s")], "ue");
    assert!(analysis.connections.iter().all(|row| row.position == Position::Receiver));
}
