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
    run(&scenario, options).expect("nothing stops it")
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
    let (with, without) = (lossy(&[("measure.rlc_pdus", "true")]), lossy(&[]));
    assert!(pdus(&without).is_none());
    assert_eq!(with.metrics.network, without.metrics.network);
    assert!(pdus(&with).expect("the series are enabled").rows() > 1_000);
}

#[test]
fn pdus_add_up_to_the_metrics_of_the_run() {
    let output = lossy(&[("measure.rlc_pdus", "true"), ("rlc.piggyback", "off")]);
    let table = pdus(&output).expect("the series are enabled");
    let metrics = &output.metrics.network;
    let (kinds, directions) = (words(table, "kind"), words(table, "direction"));
    let (transmissions, polls) = (numbers(table, "transmission"), flags(table, "polls"));
    let down = |row: &usize| directions[*row] == "downlink" && kinds[*row] == "amd";
    let data: Vec<usize> = (0..table.rows()).filter(down).collect();
    let again = data.iter().filter(|&&row| transmissions[row].is_some_and(|times| times > 1)).count();
    assert_eq!(data.len() as f64, value(metrics, "pdu_transmissions"));
    assert_eq!(again as f64, value(metrics, "rlc_retransmissions"));
    assert!(again > 0 && data.iter().all(|&row| transmissions[row].is_some_and(|times| times <= 4)));
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
    // Time of arrival of the PDU that currently has each number.
    let mut through = vec![None; 4096];
    let mut named = 0;
    for row in 0..table.rows() {
        match (kinds[row], directions[row]) {
            ("amd", "downlink") => {
                let sn = sns[row].expect("data PDUs have a number") as usize;
                let before = through[sn].filter(|_| transmissions[row] != Some(1));
                through[sn] = before.or_else(|| (!lost[row]).then_some(times[row]));
            }
            ("status", "uplink") => {
                for sn in texts(table, "missing")[row].split_whitespace() {
                    let sn: usize = sn.parse().expect("missing PDUs are numbers");
                    // A PDU that left half a second ago has arrived.
                    assert!(!through[sn].is_some_and(|at| at < times[row] - 0.5), "{sn} at {}", times[row]);
                    named += 1;
                }
            }
            _ => {}
        }
    }
    assert!(named > 50, "{named} missing PDUs were named");
}

#[test]
fn pdus_are_handed_out_in_chunks_after_their_fate_is_known() {
    let overrides = [("duration", "200 s"), ("radio.bler", "0.02"), ("measure.rlc_pdus", "true")];
    let scenario = scenario("ftp-on-dch-384-3gpp", &overrides);
    let whole =
        run(&scenario, RunOptions { seed: 1, series: true, ..RunOptions::default() }).expect("it ends");
    let mut pieces = Vec::new();
    let mut finished = |piece| {
        if let TableChunk::Series(table) = piece {
            pieces.push(table);
        }
        ControlFlow::Continue(())
    };
    let options =
        RunOptions { seed: 1, series: true, finished: Some(&mut finished), ..RunOptions::default() };
    let left = run(&scenario, options).expect("it ends");
    let of_pdus: Vec<&Table> = pieces.iter().filter(|table| table.name == "rlc_pdus").collect();
    assert!(of_pdus.len() > 2, "{} pieces of {CHUNK_ROWS} rows", of_pdus.len());
    let last = pdus(&left).expect("the series are enabled");
    let cut: Vec<&Table> = of_pdus.into_iter().chain([last]).collect();
    assert!(rows_of(&cut) == rows_of(&[pdus(&whole).expect("the series are enabled")]));
}
