//! Recovery from RLC unrecoverable errors and radio link failures in whole networks.

use std::path::Path;

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, run};
use umts_stack::ids::{Direction, UeId};
use umts_stack::trace::{CellUpdateCause, CellUpdateOutcome, TraceEvent};
use umts_units::{Duration, Time};

use crate::common::{load, observed_run, value};

/// A download over a radio that sometimes loses everything for about 10 s.
fn outage(overrides: &[(&str, &str)]) -> Scenario {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outage.toml"), overrides)
}

fn metrics(scenario: &Scenario, seed: u64) -> MetricSet {
    run(scenario, RunOptions { seed, ..RunOptions::default() })
        .expect("no callback stops the run")
        .metrics
        .network
}

fn events(scenario: &Scenario, seed: u64) -> Vec<(Time, TraceEvent)> {
    observed_run(scenario, seed, 0, Vec::new())
}

/// Start, cause, end and outcome of a cell update. An update in progress at the end of the run has
/// no end.
struct Update {
    started: Time,
    cause: CellUpdateCause,
    ended: Option<(Time, CellUpdateOutcome)>,
}

fn updates(events: &[(Time, TraceEvent)]) -> Vec<Update> {
    let mut updates: Vec<Update> = Vec::new();
    for &(at, ref event) in events {
        match *event {
            TraceEvent::CellUpdateStarted { cause, .. } => {
                assert!(updates.last().is_none_or(|last| last.ended.is_some()), "two cell updates at a time");
                updates.push(Update { started: at, cause, ended: None });
            }
            TraceEvent::CellUpdateEnded { outcome, .. } => {
                updates.last_mut().expect("it was started").ended = Some((at, outcome));
            }
            _ => {}
        }
    }
    updates
}

#[test]
fn a_download_continues_after_each_radio_outage() {
    let scenario = outage(&[]);
    for seed in [1, 2] {
        let metrics = metrics(&scenario, seed);
        let goodput = value(&metrics, "goodput_kbps");
        assert!(goodput >= 200.0, "seed {seed}: {goodput} kbit/s");
        assert!(value(&metrics, "rlc_unrecoverable_errors") > 0.0);
        // The last cell update may not have ended when the run ends.
        assert!(value(&metrics, "rlc_reestablishments") >= value(&metrics, "cell_updates") - 1.0);
    }
}

#[test]
fn without_recovery_the_bearer_stays_blocked() {
    let scenario = outage(&[("rrc.rlc_unrecoverable_error", "ignored")]);
    for (seed, max_kbps) in [(1, 10.0), (2, 50.0)] {
        let metrics = metrics(&scenario, seed);
        let goodput = value(&metrics, "goodput_kbps");
        assert!(goodput < max_kbps, "seed {seed}: {goodput} kbit/s");
        assert!(value(&metrics, "rlc_unrecoverable_errors") > 0.0);
        assert_eq!(value(&metrics, "rlc_reestablishments"), 0.0);
    }
}

/// The outage scenario with further tables. `set` overrides keys.
fn outage_with(tables: &str, set: &[(&str, &str)]) -> Scenario {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("outage.toml");
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outage.toml");
    let text = std::fs::read_to_string(base).expect("the file exists");
    std::fs::write(&path, format!("{text}\n{tables}")).expect("the file can be written");
    load(&path, set)
}

/// Whether SDUs of the first user are delivered in `direction` after its first cell update, in at
/// least one of several runs.
fn delivers_after_cell_update(scenario: &Scenario, direction: Direction) -> bool {
    (1..4).any(|seed| {
        let run = events(scenario, seed);
        let ended = |(_, event): &(Time, TraceEvent)| {
            matches!(event, TraceEvent::CellUpdateEnded { ue: UeId(0), .. })
        };
        let delivered = |(_, event): &(Time, TraceEvent)| {
            matches!(event, TraceEvent::SduDelivered { ue: UeId(0), direction: of, .. } if *of == direction)
        };
        run.iter().position(ended).is_some_and(|at| run[at..].iter().any(delivered))
    })
}

#[test]
fn uploads_and_both_directions_continue() {
    assert!(delivers_after_cell_update(&outage(&[("flow.0.direction", "uplink")]), Direction::Uplink));
    let both = outage_with("[[flow]]\nue = \"user\"\ndirection = \"uplink\"\n", &[]);
    assert!(Direction::BOTH.into_iter().all(|direction| delivers_after_cell_update(&both, direction)));
}

#[test]
fn users_of_common_switched_and_shared_channels_continue() {
    for bearer in ["common", "switched"] {
        assert!(
            delivers_after_cell_update(&outage(&[("ue.0.bearer", bearer)]), Direction::Downlink),
            "{bearer}"
        );
    }
    assert!(delivers_after_cell_update(
        &outage(&[("bearer.0.downlink.shared", "true")]),
        Direction::Downlink
    ));
}

#[test]
fn wire_mode_recovers_event_for_event_like_the_structures() {
    let short = ("duration", "150 s");
    let described = events(&outage(&[short]), 1);
    let wired = events(&outage(&[short, ("rlc.wire_mode", "true")]), 1);
    assert!(!updates(&described).is_empty());
    assert_eq!(described, wired);
}

#[test]
fn unacknowledged_mode_needs_no_cell_updates() {
    let tables = "[[ue]]\nname = \"talker\"\nbearer = \"ps\"\n[ue.rlc]\nmode = \"um\"\n\
                  [[flow]]\nue = \"talker\"\ntraffic = \"on_off\"\n";
    let scenario = outage_with(tables, &[]);
    assert!(delivers_after_cell_update(&scenario, Direction::Downlink));
    let run = events(&scenario, 1);
    let of_talker = |(_, event): &(Time, TraceEvent)| {
        matches!(
            event,
            TraceEvent::CellUpdateStarted { ue: UeId(1), .. } | TraceEvent::RlcReestablished { ue: UeId(1) }
        )
    };
    assert!(!run.iter().any(of_talker));
}

/// Outages of about a minute: all repetitions of the CELL UPDATE (N302) fail, and the bearer is set
/// up again.
#[test]
fn an_outage_longer_than_the_cell_update_releases_the_connection() {
    let long = [("radio.p_bad_to_good", "0.0002"), ("duration", "1000 s")];
    let mut released = 0;
    for seed in 1..4 {
        let run = events(&outage(&long), seed);
        let all = updates(&run);
        released += all
            .iter()
            .filter(|update| matches!(update.ended, Some((_, CellUpdateOutcome::ConnectionReleased))))
            .count();
        for update in &all {
            let Some((ended, CellUpdateOutcome::ConnectionReleased)) = update.ended else { continue };
            // Four CELL UPDATEs of 4 s, then a new connection on a DCH.
            let min_duration = Duration::from_millis(4 * 4000 + 2000);
            assert!(ended - update.started >= min_duration, "{}", ended - update.started);
        }
        let is_delivered = |event: &TraceEvent| matches!(event, TraceEvent::SduDelivered { .. });
        let ended = |update: &Update| update.ended.map(|(at, _)| at);
        let first = all.iter().find_map(ended).expect("the first outage ends before the run");
        assert!(run.iter().any(|(at, event)| *at > first && is_delivered(event)), "seed {seed}");
    }
    assert!(released > 0);
}

#[test]
fn errors_of_both_ends_cause_one_cell_update_during_which_no_data_are_sent() {
    let mut errors = 0;
    let mut procedures = 0;
    for seed in 1..5 {
        let run = events(&outage(&[]), seed);
        procedures += updates(&run).len();
        let mut is_updating = false;
        for (at, event) in &run {
            match event {
                TraceEvent::RlcUnrecoverable { .. } => errors += 1,
                TraceEvent::CellUpdateStarted { .. } => is_updating = true,
                TraceEvent::CellUpdateEnded { .. } => is_updating = false,
                TraceEvent::PdusSent { .. } | TraceEvent::StatusSent { .. } | TraceEvent::IubSent { .. } => {
                    assert!(!is_updating, "sent at {at} during a cell update");
                }
                _ => {}
            }
        }
    }
    assert!(procedures > 0 && errors >= procedures, "{errors} errors, {procedures} cell updates");
}

#[test]
fn tdd_cells_and_dsch_cells_recover() {
    // With MaxRST = 1 RLC gives up instead of a RESET, so it fails whenever moving a window fails.
    let fragile = [("rlc.max_dat", "1"), ("rlc.max_mrw", "2"), ("rlc.max_rst", "1"), ("duration", "60 s")];
    for name in ["tdd-ftp-3gpp", "dsch-5km"] {
        let metrics = crate::common::metrics(name, &fragile);
        let updates = value(&metrics, "cell_updates");
        assert!(updates > 1.0, "{name}: {updates}");
        assert!(value(&metrics, "rlc_reestablishments") > 0.9 * updates - 8.0, "{name}");
        assert!(value(&metrics, "goodput_delivered_kbps") > 0.0, "{name}");
    }
}

#[test]
fn radio_link_failure_of_a_dch_leads_to_a_cell_update() {
    // RLC alone would not fail.
    let patient = ("rlc.max_rst", "1000");
    assert!(updates(&events(&outage(&[patient]), 1)).is_empty());
    let run = events(&outage(&[patient, ("rrc.t313", "3 s")]), 1);
    let all = updates(&run);
    assert!(!all.is_empty());
    assert!(all.iter().all(|update| update.cause == CellUpdateCause::RadioLinkFailure));
    assert!(delivers_after_cell_update(&outage(&[patient, ("rrc.t313", "3 s")]), Direction::Downlink));
    // Radio link failure needs 160 ms, 19 further frames and T313.
    let slower = updates(&events(&outage(&[patient, ("rrc.t313", "9 s")]), 1));
    assert!(slower[0].started >= all[0].started + Duration::from_secs(6));
}
