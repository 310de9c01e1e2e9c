//! The table of RLC PDUs, compared with the metrics of the same run.

use std::ops::ControlFlow;

use umts_record::series::{Table, Values};
use umts_record::{CHUNK_ROWS, TableChunk};
use umts_simulate::{RunOptions, RunOutput, run};

use crate::common::{scenario, value};
use crate::runs::rows_of;

/// A lossy download of 30 s with reports and retransmissions.
fn lossy(more: &[(&str, &str)]) -> RunOutput {
    let mut overrides = vec![("duration", "30 s"), ("rlc.max_dat", "4"), ("radio.bler", "0.2")];
    overrides.extend(more);
    let scenario = scenario("ftp-on-dch-384-3gpp", &overrides);
    let options = RunOptions { seed: scenario.seed, series: true, ..RunOptions::default() };
    run(&scenario, options).expect("no callback stops the run")
}

fn pdus(output: &RunOutput) -> Option<&Table> {
    output.series.as_ref().expect("the series are enabled").table("rlc_pdus")
}

fn words<'a>(table: &'a Table, name: &str) -> &'a [&'static str] {
    match table.column(name) {
        Some(Values::Word(words)) => words,
        other => panic!("{name}: {other:?}"),
    }
}

fn texts<'a>(table: &'a Table, name: &str) -> &'a [String] {
    match table.column(name) {
        Some(Values::Text(texts)) => texts,
        other => panic!("{name}: {other:?}"),
    }
}

fn flags<'a>(table: &'a Table, name: &str) -> &'a [bool] {
    match table.column(name) {
        Some(Values::Flag(flags)) => flags,
        other => panic!("{name}: {other:?}"),
    }
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [Option<u32>] {
    match table.column(name) {
        Some(Values::OptionalId(numbers)) => numbers,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn pdus_are_recorded_on_request_without_effect() {
    let (recorded, plain) = (lossy(&[("measure.rlc_pdus", "true")]), lossy(&[]));
    assert!(pdus(&plain).is_none());
    assert_eq!(recorded.metrics.network, plain.metrics.network);
    assert!(pdus(&recorded).expect("the series are enabled").rows() > 1_000);
}

#[test]
fn pdus_add_up_to_the_metrics_of_the_run() {
    let output = lossy(&[("measure.rlc_pdus", "true"), ("rlc.piggyback", "off")]);
    let table = pdus(&output).expect("the series are enabled");
    let metrics = &output.metrics.network;
    let (kinds, directions) = (words(table, "kind"), words(table, "direction"));
    let (transmissions, polls) = (numbers(table, "transmission"), flags(table, "polls"));
    let is_downlink_data = |row: &usize| directions[*row] == "downlink" && kinds[*row] == "amd";
    let data: Vec<usize> = (0..table.rows()).filter(is_downlink_data).collect();
    let retransmitted = data.iter().filter(|&&row| transmissions[row].is_some_and(|times| times > 1)).count();
    assert_eq!(data.len() as f64, value(metrics, "pdu_transmissions"));
    assert_eq!(retransmitted as f64, value(metrics, "rlc_retransmissions"));
    assert!(retransmitted > 0 && data.iter().all(|&row| transmissions[row].is_some_and(|times| times <= 4)));
    let lost = data.iter().filter(|&&row| flags(table, "lost")[row]).count() as f64;
    assert!((0.19..0.21).contains(&(lost / data.len() as f64)), "{lost} lost");
    // A PDU polls for a reason, and only data PDUs poll.
    let causes = texts(table, "poll_causes");
    assert!((0..table.rows()).all(|row| polls[row] != causes[row].is_empty()));
    assert!((0..table.rows()).all(|row| !polls[row] || kinds[row] == "amd"));
    assert!(causes.iter().any(|cause| cause == "last retransmitted PDU"));
}

#[test]
fn report_names_only_missing_pdus() {
    let output = lossy(&[("measure.rlc_pdus", "true"), ("rlc.piggyback", "off")]);
    let table = pdus(&output).expect("the series are enabled");
    let Some(Values::Float(times)) = table.column("time_s") else { panic!("rows have times") };
    let (kinds, directions) = (words(table, "kind"), words(table, "direction"));
    let (sns, transmissions, lost) =
        (numbers(table, "sn"), numbers(table, "transmission"), flags(table, "lost"));
    // By sequence number: time of arrival of the PDU that currently has the number.
    let mut arrived_at = vec![None; 4096];
    let mut reported_missing = 0;
    for row in 0..table.rows() {
        match (kinds[row], directions[row]) {
            ("amd", "downlink") => {
                let sn = sns[row].expect("data PDUs have a number") as usize;
                let earlier = arrived_at[sn].filter(|_| transmissions[row] != Some(1));
                arrived_at[sn] = earlier.or_else(|| (!lost[row]).then_some(times[row]));
            }
            ("status", "uplink") => {
                for sn in texts(table, "missing")[row].split_whitespace() {
                    let sn: usize = sn.parse().expect("missing PDUs are numbers");
                    // 0.5 s is longer than the delay of a PDU and of a report.
                    assert!(
                        !arrived_at[sn].is_some_and(|at| at < times[row] - 0.5),
                        "{sn} at {}",
                        times[row]
                    );
                    reported_missing += 1;
                }
            }
            _ => {}
        }
    }
    assert!(reported_missing > 50, "{reported_missing} PDUs were reported missing");
}

#[test]
fn chunks_of_pdus_are_complete_and_equal_the_whole_table() {
    let overrides = [("duration", "200 s"), ("radio.bler", "0.02"), ("measure.rlc_pdus", "true")];
    let scenario = scenario("ftp-on-dch-384-3gpp", &overrides);
    let whole =
        run(&scenario, RunOptions { seed: 1, series: true, ..RunOptions::default() }).expect("it ends");
    let mut chunks = Vec::new();
    let mut finished = |chunk| {
        if let TableChunk::Series(table) = chunk {
            chunks.push(table);
        }
        ControlFlow::Continue(())
    };
    let options =
        RunOptions { seed: 1, series: true, finished: Some(&mut finished), ..RunOptions::default() };
    let remaining = run(&scenario, options).expect("it ends");
    let pdu_chunks: Vec<&Table> = chunks.iter().filter(|table| table.name == "rlc_pdus").collect();
    assert!(pdu_chunks.len() > 2, "{} chunks of {CHUNK_ROWS} rows", pdu_chunks.len());
    let last = pdus(&remaining).expect("the series are enabled");
    let in_chunks: Vec<&Table> = pdu_chunks.into_iter().chain([last]).collect();
    assert!(rows_of(&in_chunks) == rows_of(&[pdus(&whole).expect("the series are enabled")]));
}
