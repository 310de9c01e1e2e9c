//! Time budgets of programs' connections, from replayed packets.

use proptest::prelude::*;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_units::Duration;

use super::*;
use crate::clock::wall_clock::Arrival;
use crate::devices::port::Behind;
use crate::devices::topology::{SERVER_PORT, ue_port};
use crate::outside::recording::Recording;
use crate::results::first_connection::DNS;
use crate::run::tests::recorded;
use crate::run::{OutputConfig, Results, replay};

const SERVER: [u8; 4] = [192, 0, 2, 1];

/// A packet that enters the network.
#[derive(Debug, Clone)]
struct Entering {
    /// Time in milliseconds.
    ms: u64,
    from_server: bool,
    bytes: Vec<u8>,
}

/// Flags of a SYN, of a SYN with an acknowledgment, of an acknowledgment, and of a FIN with one.
const SYN_ONLY: u8 = 0x02;
const SYN_ACK: u8 = 0x12;
const ACK: u8 = 0x10;
const FIN_ACK: u8 = 0x11;

/// The fields of a TCP header that differ between the packets.
#[derive(Debug, Clone, Copy)]
struct Tcp {
    flags: u8,
    seq: u32,
    ack: u32,
}

const fn tcp(flags: u8, seq: u32, ack: u32) -> Tcp {
    Tcp { flags, seq, ack }
}

/// A segment with this many octets of payload from the UE.
fn from_ue(ms: u64, tcp: Tcp, payload: usize) -> Entering {
    Entering { ms, from_server: false, bytes: segment(false, tcp, payload) }
}

/// A segment with this many octets of payload from the server.
fn from_server(ms: u64, tcp: Tcp, payload: usize) -> Entering {
    Entering { ms, from_server: true, bytes: segment(true, tcp, payload) }
}

/// A datagram between port `port` of a server and the UE.
fn of_port(port: u16, ms: u64, from_server: bool, payload: usize) -> Entering {
    Entering { ms, from_server, bytes: datagram(from_server, port, payload) }
}

/// Builds a segment between port 80 of a server and port 5000 of the first UE.
fn segment(from_server: bool, Tcp { flags, seq, ack }: Tcp, payload: usize) -> Vec<u8> {
    let IpAddr::V4(ue) = crate::devices::addresses::of_ue(0)[0] else { panic!("the first is of version 4") };
    let ends = [(SERVER, 80_u16), (ue.octets(), 5000)];
    let [from, to] = if from_server { ends } else { [ends[1], ends[0]] };
    let mut packet = vec![0x45, 0];
    packet.extend(((40 + payload) as u16).to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    packet.extend(from.0);
    packet.extend(to.0);
    packet.extend(from.1.to_be_bytes());
    packet.extend(to.1.to_be_bytes());
    packet.extend(seq.to_be_bytes());
    packet.extend(ack.to_be_bytes());
    packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    packet.resize(40 + payload, 0);
    packet
}

/// Replays packets in addition to the `others` of the scenario. The UE has a FACH of 32 kbit/s.
fn replayed(others: &str, packets: &[Entering]) -> Results {
    let text = "version = 1\nduration = \"60 s\"\nmeasure.budget = true\n[[cell]]\nname = \"cell\"\n[cell.fach]\n\
        rate = \"32 kbit/s\"\ntti = \"10 ms\"\n[[ue]]\nname = \"u\"\n";
    replayed_in(&format!("{text}{others}"), packets)
}

/// Replays packets in a scenario.
fn replayed_in(text: &str, packets: &[Entering]) -> Results {
    let scenario = Scenario::parse(text, "x", std::path::Path::new(""), &[]).unwrap().scenario;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packets.pcapng");
    let mut recording = Recording::create(&path, Behind::ues(1)).unwrap();
    for packet in packets {
        let port = if packet.from_server { SERVER_PORT } else { ue_port(0) };
        let at = Time::ZERO + Duration::from_millis(packet.ms);
        recording.record(at, &Arrival::bare(port, packet.bytes.clone()));
    }
    recording.finish().unwrap();
    let keep = OutputConfig { series: true, ..OutputConfig::default() };
    let end = Time::ZERO + Duration::from_secs(30);
    replay(&scenario, 1, &recorded(&path, end), &keep).unwrap().0
}

fn tables(packets: &[Entering]) -> Vec<Table> {
    replayed("", packets).series.unwrap().tables
}

fn column(tables: &[Table], name: &str) -> Vec<f64> {
    let table = tables.iter().find(|table| table.name == "budget_connections").unwrap();
    match table.column(name) {
        Some(Values::Float(values)) => values.clone(),
        Some(Values::Id(values)) => values.iter().map(|value| f64::from(*value)).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Checks that the causes of each connection add up to the time that it was open.
fn check_sums(tables: &[Table]) {
    let (opened, until) = (column(tables, "opened_s"), column(tables, "until_s"));
    let parts: Vec<_> = umts_record::budget::Cause::ALL
        .iter()
        .map(|cause| column(tables, &format!("budget_{}_s", cause.name())))
        .collect();
    for row in 0..opened.len() {
        let sum: f64 = parts.iter().map(|part| part[row]).sum();
        assert!((sum - (until[row] - opened[row])).abs() < 1e-9, "{row}");
    }
}

/// A download of two segments across the wrap of sequence numbers.
fn download() -> Vec<Entering> {
    // The SYN of the server has this number, and `at(n)` is `n` numbers later.
    let initial = u32::MAX - 500;
    let at = |offset: u32| initial.wrapping_add(offset);
    vec![
        from_ue(1000, tcp(SYN_ONLY, 9, 0), 0),
        from_server(2000, tcp(SYN_ACK, initial, 10), 0),
        from_ue(3000, tcp(ACK, 10, at(1)), 0),
        from_server(4000, tcp(ACK, at(1), 10), 1000),
        from_server(4001, tcp(ACK, at(1001), 10), 1000),
        from_ue(9000, tcp(ACK, 10, at(2001)), 0),
        from_server(12000, tcp(FIN_ACK, at(2001), 10), 0),
        from_ue(13000, tcp(FIN_ACK, 10, at(2002)), 0),
        from_server(14000, tcp(ACK, at(2002), 11), 0),
    ]
}

#[test]
fn download_of_a_program_has_a_budget_from_its_packets() {
    let tables = tables(&download());
    check_sums(&tables);
    assert_eq!(column(&tables, "server_port"), [80.0]);
    assert_eq!(column(&tables, "ue_port"), [5000.0]);
    assert_eq!(column(&tables, "opened_s"), [1.0]);
    let (until, of) = (column(&tables, "until_s")[0], |cause| column(&tables, cause)[0]);
    assert!((14.0..15.0).contains(&until), "{until}");
    // Two packets of 1040 bytes take 0.5 s at 32 kbit/s. SYN and SYN+ACK take about 0.1 s each. The
    // delays of the ends before they answer are not visible.
    assert!((0.4..1.2).contains(&of("budget_serialisation_s")), "{}", of("budget_serialisation_s"));
    assert!((0.15..0.35).contains(&of("budget_setup_s")), "{}", of("budget_setup_s"));
    assert!(of("budget_not_visible_s") > 6.0);
    assert_eq!(of("budget_unexplained_s") + of("budget_slow_start_s") + of("budget_application_idle_s"), 0.0);
}

/// Seconds of `cause` in the budget of a download over the cell and the user in `text`.
fn seconds_of(cause: &str, text: &str) -> f64 {
    let text = format!("version = 1\nduration = \"60 s\"\nmeasure.budget = true\n[[cell]]\n{text}");
    let tables = replayed_in(&text, &download()).series.unwrap().tables;
    check_sums(&tables);
    column(&tables, &format!("budget_{cause}_s"))[0]
}

#[test]
fn repetitions_by_harq_have_their_cause() {
    let hsdpa = |errors: &str| {
        format!(
            "name = \"c\"\nhs_dsch = {{ }}\n[[ue]]\nname = \"u\"\nbearer = \"hsdpa-7.2\"\n\
             hs_dsch = {{ cqi = 22, errors = \"per_attempt\", attempt_errors = {errors} }}\n"
        )
    };
    assert_eq!(seconds_of("harq", &hsdpa("[0.0]")), 0.0);
    // SYN-ACK, data and FIN wait for one repetition of 12 ms each.
    let repeated_s = seconds_of("harq", &hsdpa("[1.0, 0.0]"));
    assert!((0.024..0.06).contains(&repeated_s), "{repeated_s}");
}

#[test]
fn requests_for_capacity_of_a_tdd_cell_have_their_cause() {
    let tdd = "name = \"c\"\nduplex = \"tdd\"\n[[ue]]\nname = \"u\"\nbearer = \"granted\"\n";
    assert!(seconds_of("capacity_request", tdd) > 0.01);
}

#[test]
fn changed_delay_of_a_link_is_not_queueing() {
    let cell = "name = \"c\"\n[[ue]]\nname = \"u\"\n";
    let changed = format!("{cell}[[at]]\ntime = \"0.5 s\"\nset = {{ link.0.delay = \"300 ms\" }}\n");
    for text in [cell, &changed] {
        let queued_s = seconds_of("core_queue", text);
        assert!(queued_s < 0.001, "{queued_s}");
    }
}

#[test]
fn simulated_users_have_a_separate_budget() {
    let results = replayed("[[ue]]\nname = \"v\"\n[[flow]]\nue = \"v\"\n", &download());
    let (tables, metrics) = (results.series.unwrap().tables, results.metrics);
    let seconds_in = |name: &str| {
        let table = tables.iter().find(|table| table.name == name).unwrap();
        let (start, end) = (table.column("start_s").unwrap(), table.column("end_s").unwrap());
        let (Values::Float(start), Values::Float(end)) = (start, end) else { panic!("{name}") };
        start.iter().zip(end).map(|(start, end)| end - start).sum::<f64>()
    };
    let in_budget = |metrics: &MetricSet| metrics.value("budget_total_s").unwrap();
    // The metrics of the network cover the programs only. The budget of the simulated connection
    // covers the whole run and is in its own row.
    let of_programs = column(&tables, "until_s")[0] - column(&tables, "opened_s")[0];
    assert!((seconds_in("budget_intervals") - of_programs).abs() < 1e-9);
    assert!((in_budget(&metrics.network) - of_programs).abs() < 1e-9);
    assert_eq!(metrics.network.iter().filter(|(name, _)| *name == "budget_total_s").count(), 1);
    let [simulated] = metrics.connections.as_slice() else { panic!("{:?}", metrics.connections) };
    let of_simulated = results.end.as_secs() - simulated.opened_s;
    assert!((seconds_in("simulated_budget_intervals") - of_simulated).abs() < 1e-9);
    assert!((in_budget(&simulated.metrics()) - of_simulated).abs() < 1e-9);
    let names: Vec<_> = tables.iter().map(|table| table.name).collect();
    let last =
        ["simulated_budget_intervals", "simulated_budget_rtos", "budget_intervals", "budget_connections"];
    assert_eq!(names[names.len() - 5..names.len() - 1], last);
    assert_eq!(names[names.len() - 1], "program_rtt");
}

/// Builds a datagram between port `port` of a server and port 6000 of the first UE.
fn datagram(from_server: bool, port: u16, payload: usize) -> Vec<u8> {
    let ends = [(IpAddr::from(SERVER), port), (crate::devices::addresses::of_ue(0)[0], 6000)];
    let [from, to] = if from_server { ends } else { [ends[1], ends[0]] };
    crate::packets::datagram::generated::datagram(from, to, &vec![0; payload])
}

#[test]
fn budget_of_a_connection_begins_with_its_lookup() {
    let lookup = [of_port(DNS, 100, false, 30), of_port(DNS, 600, true, 80)];
    let packets: Vec<_> = lookup.into_iter().chain(download()).collect();
    let with_name = tables(&packets);
    check_sums(&with_name);
    assert_eq!(column(&with_name, "opened_s"), [0.1]);
    assert_eq!(column(&with_name, "server_port"), [80.0]);
    let names = column(&with_name, "budget_names_s")[0];
    assert!((0.5..0.7).contains(&names), "{names}");
    let plain = tables(&download());
    assert_eq!(column(&plain, "budget_names_s"), [0.0]);
    assert_eq!(column(&plain, "budget_setup_s"), column(&with_name, "budget_setup_s"));
}

/// The first packet of the UE triggers the promotion from idle mode, which takes 2 s: the question
/// for the name, or the SYN. The time is part of the connection's budget.
#[test]
fn a_promotion_is_in_the_budget_of_the_connection_that_waits_for_it() {
    let switched = "bearer = \"switched\"\n[rrc]\nprofile = \"att-2010\"\n";
    let lookup = [of_port(DNS, 100, false, 30), of_port(DNS, 2500, true, 80)];
    // A connection with a SYN and its answer at these times, and 1,000 octets.
    let connection = |syn: u64, answer: u64| {
        vec![
            from_ue(syn, tcp(SYN_ONLY, 9, 0), 0),
            from_server(answer, tcp(SYN_ACK, 99, 10), 0),
            from_ue(answer + 300, tcp(ACK, 10, 100), 0),
            from_server(answer + 600, tcp(FIN_ACK, 100, 10), 1000),
            from_ue(answer + 1000, tcp(FIN_ACK, 10, 1101), 0),
            from_server(answer + 1300, tcp(ACK, 1101, 11), 0),
        ]
    };
    let with_name: Vec<_> = lookup.into_iter().chain(connection(2800, 3100)).collect();
    for (packets, has_lookup) in [(with_name, true), (connection(100, 2500), false)] {
        let tables = replayed(switched, &packets).series.unwrap().tables;
        check_sums(&tables);
        let of = |cause| column(&tables, cause)[0];
        assert_eq!(column(&tables, "opened_s"), [0.1]);
        assert!((1.9..2.2).contains(&of("budget_channel_switch_s")), "{}", of("budget_channel_switch_s"));
        assert_eq!(of("budget_names_s") > 0.0, has_lookup);
    }
}

#[test]
fn udp_flow_has_a_budget_from_first_to_last_packet() {
    let quic = 443;
    let packets =
        [of_port(quic, 1000, false, 1200), of_port(quic, 3000, true, 1200), of_port(quic, 3001, true, 1200)];
    let tables = tables(&packets);
    check_sums(&tables);
    assert_eq!((column(&tables, "opened_s"), column(&tables, "packets")), (vec![1.0], vec![3.0]));
    let (until, of) = (column(&tables, "until_s")[0], |cause| column(&tables, cause)[0]);
    assert!((3.5..5.0).contains(&until), "{until}");
    // Two packets of 1228 bytes take 0.6 s at 32 kbit/s. The server is silent for more than 1 s.
    assert!(of("budget_serialisation_s") > 0.6 && of("budget_not_visible_s") > 1.0);
}

#[test]
fn lookup_without_a_connection_ends_with_its_answer() {
    // The connection begins 9.4 s after the answer, too late for the lookup.
    let lookup = [of_port(DNS, 100, false, 30), of_port(DNS, 600, true, 80)];
    let later = download().into_iter().map(|packet| Entering { ms: packet.ms + 9000, ..packet });
    let packets: Vec<_> = lookup.into_iter().chain(later).collect();
    let tables = tables(&packets);
    check_sums(&tables);
    assert_eq!(column(&tables, "opened_s"), [0.1, 10.0]);
    assert!(column(&tables, "until_s")[0] < 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn budget_parts_add_up_for_arbitrary_segments(
        steps in prop::collection::vec(
            (0_u64..400, any::<bool>(), 0_u8..32, -2000_i32..5000, -2000_i32..5000, 0_usize..1400), 1..40,
        ),
    ) {
        let mut now = 0;
        let packets: Vec<_> = steps.into_iter().map(|(wait, from_server, flags, seq, ack, payload)| {
            now += wait;
            let bytes = segment(from_server, tcp(flags, seq as u32, ack as u32), payload);
            Entering { ms: now, from_server, bytes }
        }).collect();
        check_sums(&tables(&packets));
    }
}
