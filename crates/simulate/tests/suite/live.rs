//! Runs that are advanced step by step equal runs without a stop.

use std::time::Duration as RealTime;

use crate::common::scenario;
use umts_record::live::{NotableKind, Snapshot, SnapshotSize};
use umts_record::series::Values;
use umts_scenario::Scenario;
use umts_simulate::{LiveRuns, RunOptions, Step, run};
use umts_units::{Duration, Time};

const PATIENCE: RealTime = RealTime::from_secs(3600);

/// Nothing is interrupted after such a time: each slice is a call of its own.
const IMPATIENCE: RealTime = RealTime::ZERO;

fn options(scenario: &Scenario) -> RunOptions<'static> {
    RunOptions { seed: scenario.seed, series: true, ..RunOptions::default() }
}

fn live(scenarios: &[&Scenario]) -> LiveRuns {
    LiveRuns::new(scenarios.iter().map(|&scenario| (scenario, options(scenario))).collect()).unwrap()
}

/// The recorded state of the first run, with up to 100 users.
fn state(runs: &mut LiveRuns) -> Snapshot {
    runs.view(0, SnapshotSize { ues: 100, bins: 1, points: 10 }).recorded
}

fn seconds(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}

/// Metrics, rows of connections and time series as text.
fn finished(runs: LiveRuns) -> Vec<String> {
    let records = runs.finish().into_iter();
    records.map(|records| format!("{:?} {:?}", records.metrics, records.series)).collect()
}

fn uninterrupted(scenario: &Scenario) -> String {
    let output = run(scenario, options(scenario)).unwrap();
    format!("{:?} {:?}", output.metrics, output.series)
}

/// Steps of every kind, then to the end in many short calls.
fn stepped(runs: &mut LiveRuns) {
    for _ in 0..50 {
        runs.advance(Step::Event, PATIENCE);
    }
    for kind in NotableKind::ALL.into_iter().cycle().take(12) {
        runs.advance(Step::Next(kind), PATIENCE);
    }
    for _ in 0..20 {
        let tti = runs.next_tti();
        runs.advance(Step::Until(tti), PATIENCE);
    }
    while !runs.is_over() {
        runs.advance(Step::Until(Time::NEVER), IMPATIENCE);
    }
}

#[test]
fn a_stepped_run_equals_an_uninterrupted_one() {
    for name in ["ftp-fach-dch", "hspa", "web-cell-3gpp"] {
        let scenario = scenario(name, &[("duration", "40 s"), ("measure.budget", "true")]);
        let mut runs = live(&[&scenario]);
        stepped(&mut runs);
        assert_eq!(finished(runs), [uninterrupted(&scenario)], "{name}");
    }
}

#[test]
fn two_runs_in_lock_step_equal_runs_of_their_own() {
    let common = [("duration", "60 s"), ("rlc.max_dat", "2"), ("radio.bler", "0.2")];
    let reno = scenario("ftp-on-fach", &common);
    let sack = scenario("ftp-on-fach", &[&common[..], &[("tcp.variant", "sack")]].concat());
    let expected = [&reno, &sack].map(uninterrupted);
    assert_ne!(expected[0], expected[1]);
    let mut runs = live(&[&reno, &sack]);
    stepped(&mut runs);
    assert_eq!(finished(runs), expected);
}

#[test]
fn steps_end_where_they_should() {
    let scenario = scenario("ftp-fach-dch", &[("duration", "40 s")]);
    let mut runs = live(&[&scenario]);
    assert!(runs.advance(Step::Until(seconds(2.0)), PATIENCE));
    assert_eq!(runs.now(), seconds(2.0));
    assert_eq!(runs.next_tti(), seconds(2.01));
    assert!(!runs.advance(Step::Until(seconds(9.0)), IMPATIENCE), "not complete");
    assert!(runs.now() < seconds(9.0));
    for kind in NotableKind::ALL {
        let before = state(&mut runs).counts;
        assert!(runs.advance(Step::Next(kind), PATIENCE));
        let now = runs.now();
        let state = state(&mut runs);
        let number = NotableKind::ALL.iter().position(|&other| other == kind).unwrap();
        assert!(state.counts[number] > before[number], "{kind:?}");
        let last = state.notable.iter().rfind(|event| event.kind == kind).unwrap();
        assert_eq!(last.at, now, "{kind:?}");
    }
    assert!(runs.advance(Step::Until(Time::NEVER), PATIENCE));
    assert!(runs.is_over() && runs.now() == seconds(40.0));
    assert!(runs.advance(Step::Event, PATIENCE) && runs.now() == seconds(40.0));
}

/// Compares the RLC buffers with the last values of the series.
#[test]
fn the_state_is_that_of_the_series() {
    let scenario = scenario("ftp-fach-dch", &[("duration", "40 s")]);
    let mut runs = live(&[&scenario]);
    runs.advance(Step::Until(seconds(20.0)), PATIENCE);
    let snapshot = state(&mut runs);
    assert_eq!((snapshot.users, snapshot.ues.len()), (16, 16));
    let ues: Vec<_> = snapshot.ues.iter().map(|ue| &ue.state).collect();
    let on_dch = ues.iter().filter(|ue| ue.channels[0].is_some_and(|channel| channel.is_dedicated()));
    let cell = snapshot.cells[0].unwrap();
    let leaving = ues.iter().filter(|ue| ue.towards.is_some());
    assert!(on_dch.count() as u32 <= cell.dchs && cell.dchs <= 12);
    assert!(leaving.count() < 16);
    assert!(ues.iter().map(|ue| ue.delivered[0]).sum::<u64>() > 0);
    let shorter = crate::common::scenario("ftp-fach-dch", &[("duration", "20 s")]);
    let output = run(&shorter, options(&shorter)).unwrap();
    let series = output.series.unwrap();
    let table = series.table("rlc_buffer").unwrap();
    let (numbers, octets) = (table.column("ue").unwrap(), table.column("octets").unwrap());
    let directions = table.column("direction").unwrap();
    let (Values::Id(numbers), Values::Float(octets), Values::Word(directions)) =
        (numbers, octets, directions)
    else {
        panic!("other columns");
    };
    let mut last = [0_u64; 16];
    for ((&ue, &octets), &direction) in numbers.iter().zip(octets).zip(directions) {
        if direction == "downlink" {
            last[ue as usize] = octets as u64;
        }
    }
    let shown: Vec<_> = ues.iter().map(|ue| ue.buffers[0]).collect();
    assert_eq!(shown, last);
}
