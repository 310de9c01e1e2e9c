//! Users in a whole network: requests, results, and independence of the requests from the network.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::common::{load, metrics, observed, output, scenarios, value};
use umts_kernel::TraceSink;
use umts_record::TableChunk;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, run};
use umts_stack::ids::{ConnectionId, Direction, End, FlowId};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

/// A trace sink that keeps the events of the applications.
#[derive(Default)]
struct ApplicationEvents(Vec<(Time, TraceEvent)>);

impl TraceSink<TraceEvent> for ApplicationEvents {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::ConnectionOpened { .. }
            | TraceEvent::ConnectionClosed { .. }
            | TraceEvent::AppWrote { .. }
            | TraceEvent::DatagramSent { .. }
            | TraceEvent::PageEnded { .. } => self.0.push((at, *event)),
            _ => {}
        }
    }
}

/// A connection of a flow.
#[derive(Debug, Clone, PartialEq)]
struct Page {
    /// Segment size.
    mss: u32,
    /// Bytes of each write.
    objects: Vec<u64>,
}

impl ApplicationEvents {
    fn observe(scenario: &Scenario) -> Self {
        observed(scenario, ApplicationEvents::default())
    }

    /// The connections of each flow, with the writes at `end`.
    fn pages(&self, end: End) -> BTreeMap<FlowId, Vec<Page>> {
        let mut pages: BTreeMap<FlowId, Vec<Page>> = BTreeMap::new();
        let mut positions: BTreeMap<ConnectionId, (FlowId, usize)> = BTreeMap::new();
        for (_, event) in &self.0 {
            match *event {
                TraceEvent::ConnectionOpened { connection, flow, mss, .. } => {
                    let of_flow = pages.entry(flow).or_default();
                    positions.insert(connection, (flow, of_flow.len()));
                    of_flow.push(Page { mss, objects: Vec::new() });
                }
                TraceEvent::AppWrote { connection, end: at, bytes } if at == end => {
                    let (flow, position) = positions[&connection];
                    let page = &mut pages.get_mut(&flow).expect("the connection was opened")[position];
                    page.objects.push(bytes);
                }
                _ => {}
            }
        }
        pages
    }

    /// Largest number of connections that were opened for a page. There is one user.
    fn max_connections_per_page(&self) -> usize {
        let (mut opened, mut max) = (0, 0);
        for (_, event) in &self.0 {
            match event {
                TraceEvent::ConnectionOpened { .. } => opened += 1,
                TraceEvent::PageEnded { .. } => opened = 0,
                _ => {}
            }
            max = max.max(opened);
        }
        max
    }
}

/// A scenario of the repository with `flow` as the only `[[flow]]`.
fn with_flow(base: &str, flow: &str, overrides: &[(&str, &str)]) -> Scenario {
    with_file(base, flow, overrides, "")
}

fn with_file(base: &str, flow: &str, overrides: &[(&str, &str)], recording: &str) -> Scenario {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let base = scenarios().join(format!("{base}.toml")).canonicalize().expect("it exists");
    let text = format!("version = 1\nextends = {base:?}\n[[flow]]\nue = \"user\"\n{flow}\n");
    std::fs::write(folder.path().join("recording.txt"), recording).expect("the folder is writable");
    let path = folder.path().join("with-flow.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    load(&path, overrides)
}

#[test]
fn pages_are_independent_of_tcp_and_radio() {
    // Faster networks fetch more pages in the same time, so only the common part is compared.
    let flow = "traffic = \"web\"\nweb.request = \"none\"\nweb.variant = \"object_per_call\"";
    let pages = |overrides: &[(&str, &str)]| {
        let mut all = vec![("duration", "1500 s"), ("rlc.max_dat", "2")];
        all.extend(overrides);
        ApplicationEvents::observe(&with_flow("web-on-dch", flow, &all)).pages(End::Server)
    };
    let reno = pages(&[]);
    assert_eq!(reno.len(), 30);
    for other in [
        &[("tcp.variant", "tahoe")] as &[_],
        &[("radio.p_good_to_bad", "0.05")],
        &[("rlc.max_dat", "5")],
        &[("ue.0.count", "29")],
    ] {
        let metrics = pages(other);
        let (mut compared, mut different) = (0, 0);
        for (flow, of_flow) in &metrics {
            let common = reno[flow].len().min(of_flow.len());
            different += usize::from(reno[flow].len() != of_flow.len());
            assert_eq!(reno[flow][..common], of_flow[..common], "flow {flow:?} under {other:?}");
            compared += common;
        }
        assert!(compared > 300, "{compared}");
        assert!(different > 0 || metrics.len() < 30, "{other:?} has no effect at all");
    }
}

#[test]
fn a_pushed_page_is_one_packet_call_on_one_connection() {
    let flow = "traffic = \"web\"\nweb.request = \"none\"\ndirection = \"downlink\"";
    let scenario = with_flow("web-on-dch", flow, &[("duration", "1000 s"), ("ue.0.count", "5")]);
    let application = ApplicationEvents::observe(&scenario);
    let pages = application.pages(End::Server);
    let objects: Vec<usize> = pages.values().flatten().map(|page| page.objects.len()).collect();
    assert!(objects.iter().max() > Some(&5), "{objects:?}");
    assert!(pages.values().flatten().all(|page| [1460, 536].contains(&page.mss)));
    let result = output(&scenario).metrics;
    let calls = value(&result.network, "packet_calls");
    assert!((calls - value(&result.network, "pages")).abs() <= 1.0);
    let rows = result.connections.iter().filter(|row| row.closed_s.is_some());
    let of_rows: Vec<f64> = rows.map(|row| value(&row.metrics(), "packet_calls")).collect();
    assert!(of_rows.iter().all(|calls| *calls == 1.0), "{of_rows:?}");
    // Objects follow each other after parsing times, so a call takes longer than the transfer of
    // its bytes.
    assert!(value(&result.network, "packet_call_time_s") > value(&result.network, "page_time_s"));
}

#[test]
fn page_uses_the_allowed_number_of_connections() {
    struct Measured {
        max_connections: usize,
        requests: usize,
        page_time_s: f64,
    }
    let page = |connections: u32, persistent: bool| {
        let flow = format!(
            "traffic = \"web\"\nweb.connections = {connections}\nweb.persistent = {persistent}\nweb.segments = \"tcp\""
        );
        let error_free = [("radio.model", "error_free"), ("duration", "2000 s"), ("ue.0.count", "1")];
        let scenario = with_flow("ftp-on-dch-384-3gpp", &flow, &error_free);
        let application = ApplicationEvents::observe(&scenario);
        let writes =
            |end| application.pages(end).values().flatten().map(|page| page.objects.len()).sum::<usize>();
        let requests = writes(End::Ue);
        assert_eq!(requests, writes(End::Server), "a request for each object");
        Measured {
            max_connections: application.max_connections_per_page(),
            requests,
            page_time_s: value(&metrics_of(&scenario), "page_time_s"),
        }
    };
    let (one, four, each_alone) = (page(1, true), page(4, true), page(4, false));
    assert_eq!((one.max_connections, four.max_connections), (1, 4));
    assert!(each_alone.max_connections > 20, "{} connections for a page", each_alone.max_connections);
    assert!(four.requests >= one.requests && four.requests < one.requests + 100);
    // Several small objects share the round trips. A connection for each object needs an additional
    // handshake and slow start.
    for slower in [one, each_alone] {
        assert!(four.page_time_s < slower.page_time_s, "{} and {} s", four.page_time_s, slower.page_time_s);
    }
}

fn metrics_of(scenario: &Scenario) -> umts_record::metrics::MetricSet {
    output(scenario).metrics.network
}

#[test]
fn requests_follow_their_own_pace_or_wait_for_the_file() {
    let clients = |pace: &str| {
        let flow = format!("traffic = \"pareto_www\"\npareto_www.pace = {pace:?}");
        let overrides = [("radio.model", "error_free"), ("duration", "4000 s"), ("ue.0.count", "10")];
        let scenario = with_flow("ftp-on-dch-384-3gpp", &flow, &overrides);
        (value(&metrics_of(&scenario), "packet_calls"), value(&metrics_of(&scenario), "packet_call_time_s"))
    };
    // A Poisson number of requests with mean 10 x 4000 / 21.5 = 1,860 and deviation 43.
    let (fixed_pace, _) = clients("request_to_request");
    assert!((fixed_pace - 1860.0).abs() < 4.0 * 43.0, "{fixed_pace}");
    let (after_file, call_s) = clients("after_file");
    let expected = 40_000.0 / (21.5 + call_s);
    assert!((after_file - expected).abs() < 4.0 * 43.0, "{after_file}, not {expected}");
    assert!(after_file < fixed_pace);
}

#[test]
fn files_of_a_session_follow_each_other() {
    let flow = "traffic = \"ftp_sessions\"\nftp_sessions.file_mean = \"200 kB\"\nftp_sessions.file_deviation = \"72 kB\"";
    let scenario = with_flow("ftp-on-dch-384-3gpp", flow, &[("duration", "4000 s")]);
    let pages = ApplicationEvents::observe(&scenario).pages(End::Server);
    let files = &pages[&FlowId(0)];
    assert!((12..=30).contains(&files.len()), "{}", files.len());
    assert!(files.iter().all(|file| file.objects.len() == 1));
    assert!(value(&metrics_of(&scenario), "connection_off_time_s") > 2000.0);
}

#[test]
fn datagrams_cross_the_network_both_ways() {
    for (direction, suffix) in [("downlink", ""), ("uplink", "_uplink")] {
        let flow = format!(
            "traffic = \"cbr\"\ndirection = {direction:?}\ncbr.random_phase = false\ncbr.payload = \"80 B\""
        );
        let overrides = [("radio.model", "error_free"), ("duration", "20 s"), ("rlc.mode", "um")];
        let metrics = metrics_of(&with_flow("ftp-on-dch-384-3gpp", &flow, &overrides));
        let value = |name: &str| value(&metrics, &format!("{name}{suffix}"));
        assert_eq!(value("udp_sent"), 1000.0);
        assert_eq!(value("udp_loss_pct"), 0.0);
        assert!((990.0..1000.0).contains(&value("udp_received")), "{}", value("udp_received"));
        // A datagram every 20 ms in TTIs of 10 or 20 ms: each waits equally long.
        assert!(value("udp_jitter_ms") < 0.01, "{}", value("udp_jitter_ms"));
        assert!((60.4..200.0).contains(&value("udp_delay_ms")), "{}", value("udp_delay_ms"));
    }
}

#[test]
fn a_source_faster_than_its_channel_fills_the_buffer_and_loses_datagrams() {
    // 160 + 28 octets every 20 ms are 75.2 kbit/s. The FACH carries 32 kbit/s minus RLC's length
    // indicators.
    let overrides =
        [("radio.model", "error_free"), ("duration", "200 s"), ("rlc.mode", "um"), ("rlc.buffer", "20 kB")];
    let metrics = metrics_of(&with_flow("ftp-on-fach-3gpp", "traffic = \"cbr\"", &overrides));
    let loss = value(&metrics, "udp_loss_pct");
    // Datagrams that arrive within 200 s left in the first 195 s.
    assert!((100.0 * (1.0 - 32.0 * 200.0 / 195.0 / 75.2)..62.0).contains(&loss), "{loss}");
    // A full buffer of 20 kB before a channel of 4 kB/s.
    assert!((4.0e3..5.5e3).contains(&value(&metrics, "udp_p95_delay_ms")));
    assert!(value(&metrics, "rlc_buffer_sdu_drops") > 1000.0);
}

#[test]
fn a_recording_is_replayed_with_its_times_and_sizes() {
    let recording = "0.0 500 down\n0.25 1000 up\n0.25 20 up\n2.0 1200 down\n";
    let flow = "traffic = \"replay\"\nreplay.file = \"recording.txt\"\nstart = \"1 s\"";
    let base = [("radio.model", "error_free"), ("duration", "30 s")];
    let udp = with_file("ftp-on-dch-384-3gpp", flow, &base, recording);
    let sent: Vec<_> = ApplicationEvents::observe(&udp)
        .0
        .iter()
        .filter_map(|(at, event)| match event {
            TraceEvent::DatagramSent { datagram, .. } => {
                Some((at.as_secs(), datagram.payload, datagram.direction))
            }
            _ => None,
        })
        .collect();
    let (down, up) = (Direction::Downlink, Direction::Uplink);
    assert_eq!(sent, [(1.0, 500, down), (1.25, 1000, up), (1.25, 20, up), (3.0, 1200, down)]);
    let mut overrides = base.to_vec();
    overrides.push(("flow.replay.transport", "tcp"));
    let tcp = with_file("ftp-on-dch-384-3gpp", flow, &overrides, recording);
    let application = ApplicationEvents::observe(&tcp);
    assert_eq!(application.pages(End::Server)[&FlowId(0)][0].objects, [500, 1200]);
    assert_eq!(application.pages(End::Ue)[&FlowId(0)][0].objects, [1000, 20]);
    assert!(output(&tcp).metrics.connections[0].closed_s.is_some());
}

#[test]
fn many_short_connections_leave_only_their_rows() {
    let flow = "traffic = \"web\"\nweb.variant = \"object_per_call\"\nweb.reading_time = \"1 s\"\nweb.main_mean = \"1 kB\"\n\
                web.main_deviation = \"1 kB\"\nweb.embedded_mean = \"1 kB\"\nweb.embedded_deviation = \"1 kB\"";
    let scenario = with_flow("ftp-on-dch-384-3gpp", flow, &[("duration", "3000 s")]);
    let mut batches = Vec::new();
    let mut rows = 0;
    let mut finished = |chunk| {
        if let TableChunk::Connections(new) = chunk {
            rows += new.len();
            batches.push(new.len());
        }
        ControlFlow::Continue(())
    };
    let options = RunOptions { seed: 1, finished: Some(&mut finished), ..RunOptions::default() };
    let rest = run(&scenario, options).unwrap();
    assert!(rows > 1500, "{rows}");
    assert!(batches.iter().all(|batch| *batch < 60), "{batches:?}");
    assert!(rest.metrics.connections.len() < 60);
    // The last connection may not have completed its page.
    let pages = value(&rest.metrics.network, "pages") as usize;
    let all = rows + rest.metrics.connections.len();
    assert!((pages..=pages + 1).contains(&all), "{all} for {pages}");
}

#[test]
fn web_on_dedicated_channels_has_the_load_of_the_study() {
    let metrics = metrics("web-on-dch", &[]);
    // Dubois (2005), chapter 7, with switching: 63.1 kbit/s and 2.75 s per call, so a cycle of
    // 32.75 s with 8.61 kB. Here a call is shorter, and so is the cycle. One run of 4,000 s has a
    // standard error of about 5 %.
    let (goodput, call) = (value(&metrics, "goodput_kbps"), value(&metrics, "packet_call_time_s"));
    let load = 30.0 * 8.592 * 8.0 / (30.0 + call);
    assert!((goodput / load - 1.0).abs() < 0.2, "{goodput} of {load} kbit/s");
    assert!((1.0..2.7).contains(&call), "{call}");
}

#[test]
fn a_switched_cell_carries_the_web_on_fewer_channels_and_takes_longer() {
    let (switched, fixed_pace) = (metrics("web-cell", &[]), metrics("web-on-dch", &[]));
    assert!(value(&switched, "max_simultaneous_dch") <= 12.0);
    assert!(value(&switched, "dch_allocations") > 500.0);
    // The pages are the same (common random numbers). Each waits for a switch of 0.9 s, or uses the
    // FACH.
    let (goodput, bound) = (value(&switched, "goodput_kbps"), value(&fixed_pace, "goodput_kbps"));
    assert!((0.9 * bound..bound).contains(&goodput), "{goodput} of {bound}");
    let additional_s = value(&switched, "packet_call_time_s") - value(&fixed_pace, "packet_call_time_s");
    assert!((0.3..1.8).contains(&additional_s), "{additional_s} s");
    // A SYN over the FACH sets a timeout of 1 s or slightly more, and the switch takes 0.9 s. The
    // timeouts are therefore spurious.
    let needless = value(&switched, "tcp_retransmissions_unneeded") / value(&switched, "tcp_retransmissions");
    assert!(needless > 0.8, "{needless}");
    assert!(value(&switched, "rto_per_connection") > 10.0 * value(&fixed_pace, "rto_per_connection"));
}
