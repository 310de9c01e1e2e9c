//! A proxy that splits connections: closed forms, conservation of octets, set-ups, failures,
//! memory.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{metrics, observed_run, output, parse_in, scenario, scenarios, value};
use umts_kernel::TraceSink;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_simulate::{network_config, recorder_config};
use umts_stack::ids::{ConnectionId, Direction, End, ProxyLeg};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

const PLAIN: [(&str, &str); 2] = [("radio.bler", "0"), ("link.0.loss", "0")];

fn split(overrides: &[(&str, &str)]) -> MetricSet {
    metrics("split-download", overrides)
}

fn join<'a>(base: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [base, more].concat()
}

#[test]
fn a_proxy_takes_connections_to_its_ports() {
    for (ports, is_split) in [("[80]", true), ("[443]", false)] {
        let mut text = scenario("split-download", &[]).to_toml();
        text += "[[flow]]\nue = \"user\"\nport = 443\n";
        let changes = [("flow.0.port", "80"), ("proxy.ports", ports)];
        let with_two_ports = parse_in(Path::new(""), &text, &changes);
        let network = network_config(&with_two_ports);
        let splits: Vec<_> = network.flows.iter().map(|flow| flow.split.is_some()).collect();
        assert_eq!(splits, [is_split, !is_split]);
        let config = recorder_config(&with_two_ports, &network, false, Some(Path::new("")));
        let (_, captures) = config.captures.expect("a folder for captures is given");
        assert_eq!(captures.server_ports, [80, 443]);
    }
}

/// If the server's side is never the limit, a transfer over the proxy takes as long as one from a
/// server at the proxy, plus the delay from the server to the proxy.
#[test]
fn transfer_time_equals_a_server_at_the_proxy_plus_the_path_delay() {
    for (size, bearer, window) in [
        ("50 kB", "ps-64", "3 segments"),
        ("300 kB", "ps-64", "3 segments"),
        ("50 kB", "ps-128", "10 segments"),
    ] {
        let set = [("flow.0.size", size), ("ue.0.bearer", bearer), ("link.0.delay", "20 ms")];
        let radio = [("proxy.radio_side.initial_window", window)];
        let proxied = value(&split(&join(&join(&PLAIN, &set), &radio)), "transfer_time_s");
        let near = [("link.0.delay", "0 s"), ("tcp.initial_window", window), ("proxy.mode", "pass")];
        let near = value(&split(&join(&join(&PLAIN, &set), &near)), "transfer_time_s");
        let path_delay = 0.02;
        let difference = proxied - path_delay - near;
        assert!(
            difference.abs() <= 0.01,
            "{size} on {bearer}: {proxied} s, and {near} s from a server at the proxy"
        );
    }
}

/// The rate is one window per round trip. With a split it is the round trip of the slower side,
/// otherwise of the whole path.
#[test]
fn windows_limit_each_side_by_its_own_round_trip() {
    let greedy = [
        ("flow.0.size", "2 MB"),
        ("duration", "400 s"),
        ("link.0.delay", "200 ms"),
        ("tcp.advertised_window", "8 segments"),
        ("tcp.segment_payload", "1000 B"),
        ("ue.0.bearer", "ps-384"),
    ];
    let rate = |mode| {
        let metrics = split(&join(&join(&PLAIN, &greedy), &[("proxy.mode", mode)]));
        (2e6 * 8.0 / value(&metrics, "transfer_time_s"), metrics)
    };
    let (whole, passed) = rate("pass");
    let rtt = value(&passed, "mean_rtt_s");
    let window_bits = 8.0 * 1000.0 * 8.0;
    assert!((whole / (window_bits / rtt) - 1.0).abs() < 0.03, "{whole} bit/s, round trip {rtt} s");
    let (both, _) = rate("split");
    // 0.4 s round-trip time on the server's side, which is the slower one: 160 kbit/s, minus the
    // first round trips.
    assert!((both / 160e3 - 1.0).abs() < 0.02, "{both} bit/s");
    assert!(both / whole > 1.15);
}

/// Trace sink that counts octets at the proxy and at the UE, and failures.
#[derive(Default)]
struct Octets {
    /// Leg and transfer of each connection.
    legs: BTreeMap<ConnectionId, (ProxyLeg, ConnectionId)>,
    /// Octets that arrived, by transfer.
    arrived: BTreeMap<ConnectionId, Arrived>,
    /// Maximum number of octets in a buffer of the proxy.
    max_buffered: u64,
    /// Octets in the buffer of each transfer.
    buffered: BTreeMap<ConnectionId, u64>,
    /// Octets that the proxy lost.
    lost: u64,
    /// Legs that failed, with the end that found it.
    failed: Vec<(ProxyLeg, End)>,
    /// Number of connections that closed.
    closed: u32,
}

/// Octets of a transfer that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Arrived {
    at_proxy: u64,
    at_ue: u64,
}

impl TraceSink<TraceEvent> for Octets {
    /// Counts the octets of each transfer that arrive at the proxy, leave it, and are in its
    /// buffer.
    fn record(&mut self, _at: Time, event: &TraceEvent) {
        match *event {
            TraceEvent::ConnectionOpened { connection, transfer, leg, .. } => {
                self.legs.insert(connection, (leg, transfer));
            }
            TraceEvent::SegmentReceived { segment, delivered, .. }
                if segment.direction == Direction::Downlink =>
            {
                let (leg, transfer) = self.legs[&segment.connection];
                let arrived = self.arrived.entry(transfer).or_default();
                match leg {
                    ProxyLeg::Server => arrived.at_proxy += delivered,
                    ProxyLeg::Radio | ProxyLeg::Whole => arrived.at_ue += delivered,
                }
            }
            TraceEvent::ProxyBuffer { octets, direction: Direction::Downlink, transfer, .. } => {
                self.max_buffered = self.max_buffered.max(octets);
                self.buffered.insert(transfer, octets);
            }
            TraceEvent::ProxyLost { octets, direction: Direction::Downlink, transfer } => {
                self.lost += octets;
                self.buffered.remove(&transfer);
            }
            TraceEvent::ConnectionFailed { connection, end, .. } => {
                let (leg, _) = self.legs[&connection];
                self.failed.push((leg, end));
            }
            TraceEvent::ConnectionClosed { .. } => self.closed += 1,
            _ => {}
        }
    }
}

impl Octets {
    /// Runs the scenario with this run number.
    fn observe(scenario: &Scenario, run: u64) -> Self {
        observed_run(scenario, scenario.seed, run, Octets::default())
    }
}

/// With losses on both sides, small buffers, and slow and fast readers, every octet arrives once
/// and in order, no buffer exceeds its capacity, and both connections close.
#[test]
fn octets_are_conserved_under_any_loss_and_buffer() {
    let mut run = 0;
    for setup in ["early", "accepted", "server_first"] {
        for buffer in ["1460 B", "4 kB", "64 kB", "unlimited"] {
            for (at, loss, bler) in [("ggsn", "0.1", "0.3"), ("rnc", "0.05", "0.1"), ("sgsn", "0", "0.5")] {
                run += 1;
                let set = [
                    ("proxy.setup", setup),
                    ("proxy.buffer", buffer),
                    ("proxy.at", at),
                    ("link.0.loss", loss),
                    ("radio.bler", bler),
                    ("duration", "3000 s"),
                ];
                let observed = Octets::observe(&scenario("split-download", &set), run);
                let arrived: Vec<_> = observed.arrived.values().copied().collect();
                let all = Arrived { at_proxy: 50_000, at_ue: 50_000 };
                assert_eq!(arrived, [all], "{set:?}, run {run}");
                assert_eq!((observed.closed, observed.failed.len()), (2, 0), "{set:?}, run {run}");
                let capacity = if buffer == "unlimited" { u64::MAX } else { buffer_octets(buffer) };
                assert!(observed.max_buffered <= capacity, "{set:?}: {}", observed.max_buffered);
                assert_eq!(observed.buffered.values().sum::<u64>(), 0);
            }
        }
    }
}

fn buffer_octets(text: &str) -> u64 {
    match text.split_once(' ') {
        Some((number, "B")) => number.parse().expect("octets"),
        Some((number, _)) => 1000 * number.parse::<u64>().expect("kilobytes"),
        None => panic!("{text}"),
    }
}

/// The shipped scenario with 200 kB, without losses in the Internet, and with an outage of the
/// proxy until 3 s.
fn with_outage(from: &str, then: &str) -> Scenario {
    let text = format!(
        r#"
        version = 1
        extends = "split-download.toml"
        duration = "3000 s"
        [[proxy.outage]]
        from = "{from}"
        to = "3 s"
        then = "{then}"
        "#
    );
    parse_in(&scenarios(), &text, &[("link.0.loss", "0"), ("flow.0.size", "200 kB")])
}

/// For every time of the crash and every later behaviour of the proxy: octets that arrived at the
/// proxy are delivered or counted as lost, and the server is notified.
#[test]
fn crash_loses_acknowledged_octets_and_notifies_the_server() {
    for then in ["reset", "silent"] {
        for from in ["300 ms", "600 ms", "900 ms", "1.3 s", "2 s"] {
            let observed = Octets::observe(&with_outage(from, then), 0);
            let at_proxy: u64 = observed.arrived.values().map(|arrived| arrived.at_proxy).sum();
            let at_ue: u64 = observed.arrived.values().map(|arrived| arrived.at_ue).sum();
            // Octets that the UE has received but not acknowledged to the proxy count as delivered
            // and as lost.
            assert!(
                at_proxy <= at_ue + observed.lost,
                "{then}, {from}: {at_proxy}, {at_ue}, {}",
                observed.lost
            );
            assert!(at_ue < 200_000 && observed.lost > 0, "{then}, {from}");
            let is_server_notified = observed.failed.contains(&(ProxyLeg::Server, End::Server));
            assert!(is_server_notified, "{then}, {from}: {:?}", observed.failed);
            if then == "reset" {
                assert!(at_proxy > 0);
            }
        }
    }
}

/// The user receives nothing: RLC gives up, TCP retransmits until it gives up, and the server is
/// then notified immediately.
#[test]
fn failure_on_the_radio_side_resets_the_server_side() {
    let set = [("radio.bler", "1"), ("link.0.loss", "0"), ("duration", "3000 s")];
    let observed = Octets::observe(&scenario("split-download", &set), 0);
    let failed = &observed.failed;
    assert!(failed.contains(&(ProxyLeg::Radio, End::Server)), "the proxy gives up: {failed:?}");
    let server = (ProxyLeg::Server, End::Server);
    assert!(failed.contains(&server), "and resets the server's connection: {failed:?}");
    assert!(observed.lost > 0);
}

#[test]
fn a_transfer_beyond_the_memory_limit_passes_or_is_refused() {
    // The buffers of one transfer, one per direction, take all of the memory.
    let two = [("proxy.buffer", "64 kB"), ("proxy.memory", "128 kB"), ("ue.0.count", "2")];
    let passes = split(&two);
    assert_eq!((value(&passes, "proxy_transfers"), value(&passes, "proxy_passed")), (1.0, 1.0));
    let refused =
        Octets::observe(&scenario("split-download", &join(&two, &[("proxy.at_limit", "refuse")])), 0);
    assert_eq!(refused.failed, [(ProxyLeg::Server, End::Server)]);
    assert_eq!(refused.arrived.values().filter(|arrived| arrived.at_ue == 50_000).count(), 1);
}

#[test]
fn a_reader_slower_than_the_server_stalls_the_proxy() {
    let slow = join(&PLAIN, &[("flow.0.size", "200 kB"), ("proxy.buffer", "8 kB"), ("duration", "300 s")]);
    let metrics = split(&slow);
    assert!(value(&metrics, "proxy_stalled_s") > 1.0);
    assert!(value(&metrics, "proxy_buffer_max_octets") <= 8000.0);
    assert!(value(&metrics, "proxy_ahead_octets") <= 8000.0 + 32_768.0);
    assert_eq!(value(&metrics, "proxy_lost_octets"), 0.0);
    // With unlimited buffers the proxy never stalls, and the whole file can be ahead.
    let unlimited = split(&join(&slow, &[("proxy.buffer", "unlimited")]));
    assert_eq!(value(&unlimited, "proxy_stalled_s"), 0.0);
    assert!(value(&unlimited, "proxy_ahead_octets") > 32_768.0);
}

#[test]
fn uploads_are_split_too_and_count_once() {
    let up = join(&PLAIN, &[("flow.0.direction", "uplink"), ("duration", "300 s")]);
    let metrics = split(&up);
    assert_eq!(value(&metrics, "proxy_transfers"), 1.0);
    assert!(value(&metrics, "transfer_time_s") > 0.0);
    let whole = output(&scenario("split-download", &join(&up, &[("proxy.mode", "pass")]))).metrics;
    assert_eq!(whole.connections.len(), 1);
    let octets = |of: &MetricSet| value(of, "goodput_kbps") * 300.0 / 8.0;
    assert!((octets(&metrics) - 50.0).abs() < 0.1 && (octets(&whole.network) - 50.0).abs() < 0.1);
}

/// Each of the two connections of a transfer has its own complete budget.
#[test]
fn the_time_of_both_connections_is_explained() {
    for (setup, loss) in [("early", "0.05"), ("server_first", "0"), ("accepted", "0.01")] {
        let set = [
            ("measure.budget", "true"),
            ("proxy.setup", setup),
            ("link.0.loss", loss),
            ("proxy.buffer", "8 kB"),
        ];
        let metrics = split(&join(&set, &[("duration", "300 s"), ("flow.0.size", "300 kB")]));
        let total = value(&metrics, "budget_total_s");
        assert!(total > 0.0 && value(&metrics, "budget_unexplained_s") / total < 0.01, "{setup}");
    }
}

/// The server repairs losses on the Internet side. Without its leg the sum would be 0.
#[test]
fn retransmissions_of_a_split_run_add_up_over_both_legs() {
    let set = [
        ("flow.0.size", "1 MB"),
        ("duration", "200 s"),
        ("radio.bler", "0"),
        ("link.0.loss", "0.03"),
        ("ue.0.bearer", "ps-384"),
    ];
    let metrics = split(&set);
    for name in ["tcp_retransmissions", "rto_count"] {
        let [server, radio] = ["server", "radio"].map(|leg| value(&metrics, &format!("{name}_{leg}_leg")));
        assert_eq!(value(&metrics, name), server + radio, "{name}");
        assert!(name == "rto_count" || server > 0.0, "{name}: {server} and {radio}");
    }
}
