//! Properties of all runs: determinism, no events while idle, recording without effect, stopping.

use std::ops::ControlFlow;

use crate::common::{metrics, output, scenario, value};
use umts_record::series::{Table, Values};
use umts_record::{CHUNK_ROWS, TableChunk};
use umts_simulate::{RunError, RunOptions, run};

#[test]
fn same_seed_gives_bitwise_equal_runs_and_another_seed_does_not() {
    for name in ["ftp-on-fach-two-users", "twenty-on-dch-64", "twenty-on-dch-64-3gpp"] {
        let scenario = scenario(name, &[("duration", "60 s")]);
        let once = format!("{:?}", output(&scenario).metrics);
        assert_eq!(once, format!("{:?}", output(&scenario).metrics), "{name}");
        let other = run(&scenario, RunOptions { seed: scenario.seed + 1, ..RunOptions::default() }).unwrap();
        assert_ne!(once, format!("{:?}", other.metrics), "{name}");
        let next =
            run(&scenario, RunOptions { seed: scenario.seed, run: 1, ..RunOptions::default() }).unwrap();
        assert_ne!(once, format!("{:?}", next.metrics), "{name}");
    }
}

#[test]
fn recording_does_not_change_the_run() {
    let scenario = scenario("ftp-on-fach-two-users", &[("duration", "1600 s")]);
    let folder = tempfile::tempdir().unwrap();
    let mut reports = 0;
    let mut progress = |_| {
        reports += 1;
        ControlFlow::Continue(())
    };
    let recorded = run(
        &scenario,
        RunOptions {
            seed: scenario.seed,
            series: true,
            pcap_dir: Some(folder.path().to_owned()),
            progress: Some(&mut progress),
            ..RunOptions::default()
        },
    )
    .unwrap();
    let plain = output(&scenario);
    assert_eq!(format!("{:?}", recorded.metrics), format!("{:?}", plain.metrics));
    assert_eq!((recorded.events, recorded.files.len()), (plain.events, 3));
    // Progress is reported about once per percent.
    assert!((90..=110).contains(&reports), "{reports}");
}

#[test]
fn idle_network_has_no_events() {
    let file = [("flow.0.traffic", "file"), ("flow.0.size", "20 kB")];
    let events_in = |duration| {
        let mut overrides = file.to_vec();
        overrides.push(("duration", duration));
        output(&scenario("ftp-on-fach-3gpp", &overrides)).events
    };
    // A day and a month without traffic after the download take no events.
    assert_eq!(events_in("60 s"), events_in("24 h"));
    assert_eq!(events_in("60 s"), events_in("720 h"));
}

#[test]
fn a_file_is_downloaded_whole_and_its_connection_is_returned_as_a_row() {
    let scenario = scenario(
        "ftp-on-dch-384-3gpp",
        &[("flow.0.traffic", "file"), ("flow.0.size", "100 kB"), ("duration", "60 s")],
    );
    let mut rows = Vec::new();
    let mut finished = |chunk| {
        if let TableChunk::Connections(mut new) = chunk {
            rows.append(&mut new);
        }
        ControlFlow::Continue(())
    };
    let options = RunOptions { seed: 1, finished: Some(&mut finished), ..RunOptions::default() };
    let rest = run(&scenario, options).unwrap();
    assert_eq!((rows.len(), rest.metrics.connections.len()), (1, 0));
    assert!(rows[0].closed_s.unwrap() < 10.0);
    let delivered = value(&rest.metrics.network, "goodput_delivered_kbps") * 60.0 / 8.0;
    assert!((delivered - 100.0).abs() < 1e-6, "{delivered} kB");
    // 2.1 s at the line rate, plus handshake and slow start.
    let duration_s = rows[0].metrics().value("download_time_s").unwrap();
    assert!((2.1..4.0).contains(&duration_s), "{duration_s} s");
}

#[test]
fn both_directions_carry_data() {
    let up = metrics("ftp-on-dch-384-3gpp", &[("flow.0.direction", "uplink"), ("duration", "100 s")]);
    // 64 kbit/s times 1,460 / 1,500 octets, minus the share of RLC and of the acknowledgments.
    let goodput = value(&up, "goodput_kbps");
    assert!((58.0..62.4).contains(&goodput), "{goodput}");
}

/// All rows of a table, from any number of chunks.
pub fn rows_of(chunks: &[&Table]) -> Vec<String> {
    let cells = |table: &Table, row: usize| {
        let cell = |values: &Values| match values {
            Values::Float(values) => format!("{:?}", values[row]),
            Values::Id(values) => values[row].to_string(),
            Values::OptionalId(values) => format!("{:?}", values[row]),
            Values::OptionalFloat(values) => format!("{:?}", values[row]),
            Values::Count(values) => values[row].to_string(),
            Values::Flag(values) => values[row].to_string(),
            Values::Word(values) => values[row].to_owned(),
            Values::Text(values) => values[row].clone(),
        };
        table.columns.iter().map(|column| cell(&column.values)).collect::<Vec<_>>().join(" ")
    };
    chunks.iter().flat_map(|table| (0..table.rows()).map(|row| cells(table, row))).collect()
}

#[test]
fn a_long_run_keeps_at_most_one_chunk_of_rows_per_series() {
    let scenario = scenario("web-cell", &[("duration", "2000 s"), ("measure.budget", "true")]);
    let options = RunOptions { seed: 1, series: true, ..RunOptions::default() };
    let whole = run(&scenario, options).unwrap();
    let (mut chunks, mut rows) = (Vec::new(), Vec::new());
    let mut finished = |chunk| {
        match chunk {
            TableChunk::Connections(mut new) => rows.append(&mut new),
            TableChunk::Series(table) => chunks.push(table),
        }
        ControlFlow::Continue(())
    };
    let options =
        RunOptions { seed: 1, series: true, finished: Some(&mut finished), ..RunOptions::default() };
    let rest = run(&scenario, options).unwrap();
    rows.extend(rest.metrics.connections);
    assert_eq!(rows, whole.metrics.connections);
    assert_eq!(rest.metrics.network, whole.metrics.network);
    let max_rows_per_interval = 500;
    let last = rest.series.unwrap().tables;
    for table in chunks.iter().chain(&last) {
        assert!(table.rows() < CHUNK_ROWS + max_rows_per_interval, "{} rows of {}", table.rows(), table.name);
    }
    assert!(chunks.iter().filter(|table| table.name == "rlc_buffer").count() > 3);
    assert!(chunks.iter().any(|table| table.name == "budget_intervals"));
    for table in &whole.series.unwrap().tables {
        let of_table: Vec<_> = chunks.iter().chain(&last).filter(|chunk| chunk.name == table.name).collect();
        let (mut in_chunks, mut all) = (rows_of(&of_table), rows_of(&[table]));
        if table.name == "budget_intervals" {
            // An open connection returns its intervals during the run, so the order differs.
            in_chunks.sort();
            all.sort();
        }
        assert!(in_chunks == all, "{}", table.name);
    }
}

#[test]
fn refusing_rows_stops_the_run() {
    let mut finished = |_| ControlFlow::Break(());
    let options =
        RunOptions { seed: 1, series: true, finished: Some(&mut finished), ..RunOptions::default() };
    assert!(matches!(run(&scenario("ftp-on-fach", &[]), options), Err(RunError::Stopped)));
}

#[test]
fn a_run_can_be_stopped() {
    let mut stop = |done: f64| if done > 0.5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = RunOptions { progress: Some(&mut stop), ..RunOptions::default() };
    assert!(matches!(run(&scenario("ftp-on-fach", &[]), options), Err(RunError::Stopped)));
}

#[test]
fn shared_rach_has_collisions_and_a_private_one_has_none() {
    // Ten users send acknowledgments: a shared RACH of 16 kbit/s lets only one of them send every
    // 20 ms.
    let ten = [("ue.0.count", "10"), ("duration", "300 s")];
    let shared = metrics("ftp-on-fach-3gpp", &ten);
    let private = metrics("ftp-on-fach-3gpp", &[ten[0], ten[1], ("cell.rach.access", "private")]);
    assert!(value(&shared, "iub_pdus_per_s_uplink") <= 50.5);
    assert!(value(&shared, "sdu_delay_ms_uplink") > value(&private, "sdu_delay_ms_uplink"));
    assert!(value(&shared, "rach_collisions") > 0.0);
    assert_eq!(value(&private, "rach_collisions"), 0.0);
}

#[test]
fn recoveries_from_real_losses_are_not_undone() {
    // Every loss is a packet dropped by RLC's full buffer. Recoveries follow each other while
    // retransmissions are on the way.
    for variant in ["sack", "cubic", "westwood"] {
        let metrics = metrics("download-beside-kernel", &[("tcp.variant", variant), ("rlc.buffer", "20 kB")]);
        assert!(value(&metrics, "rlc_buffer_sdu_drops") > 10.0, "{variant}");
        assert_eq!(value(&metrics, "spurious_undone"), 0.0, "{variant}");
    }
}
