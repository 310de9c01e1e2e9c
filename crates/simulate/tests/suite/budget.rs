//! The time budget of whole runs, which attributes the duration of each connection to causes: the
//! parts add up, all time is explained, and the causes are right.

use std::path::Path;

use proptest::prelude::*;
use umts_record::budget::{
    Budget, BudgetConfig, Cause, ConnectionBudget, ConnectionOrigin, Parts, TimeoutReason,
};
use umts_record::series::Values;
use umts_scenario::Scenario;
use umts_simulate::{RunOptions, network_config, run};
use umts_units::{Duration, Time};

use crate::common::{load, observed, scenario, value};

/// Runs a scenario and returns the budget of each connection.
pub(crate) fn budgets(scenario: &Scenario) -> Vec<ConnectionBudget> {
    let end = Time::ZERO + scenario.duration;
    let config = BudgetConfig {
        from: Time::ZERO,
        to: end,
        keeps_intervals: true,
        waterfall: None,
        timeline: false,
        origin: ConnectionOrigin::Simulated,
    };
    let budget = Budget::new(config, &network_config(scenario));
    observed(scenario, budget).into_connections(end)
}

/// Time of some causes as a share of the total, for all connections together.
pub(crate) fn share(budgets: &[ConnectionBudget], causes: &[Cause]) -> f64 {
    let sum = |parts: &dyn Fn(&Parts) -> Duration| -> u64 {
        budgets.iter().map(|budget| parts(&budget.parts).as_nanos()).sum()
    };
    let of_causes: u64 = causes.iter().map(|cause| sum(&|parts| parts.of(*cause))).sum();
    of_causes as f64 / sum(&Parts::total) as f64
}

/// Checks that the parts and the intervals each add up to the duration, to the nanosecond.
pub(crate) fn check_sums(budget: &ConnectionBudget) {
    let ConnectionBudget { connection, opened, until, parts, intervals, .. } = budget;
    assert_eq!(parts.total(), *until - *opened, "{connection:?}");
    let mut at = *opened;
    for interval in intervals {
        assert!(interval.start == at && interval.end > at, "{connection:?}: {interval:?} after {at:?}");
        at = interval.end;
    }
    assert_eq!(at, *until, "{connection:?}");
    for cause in Cause::ALL {
        let of_cause = intervals.iter().filter(|interval| interval.cause == *cause);
        let sum: u64 = of_cause.map(|interval| (interval.end - interval.start).as_nanos()).sum();
        assert_eq!(sum, parts.of(*cause).as_nanos(), "{connection:?}: {}", cause.name());
    }
}

#[test]
fn every_shipped_scenario_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let budgets = budgets(&load(&path, &[]));
        if budgets.is_empty() {
            assert!(path.ends_with("hsdpa-datagrams.toml"), "{}: no connections", path.display());
            continue;
        }
        budgets.iter().for_each(check_sums);
        let unexplained = share(&budgets, &[Cause::Unexplained, Cause::NotVisible]);
        assert!(unexplained < 0.01, "{}: {unexplained}", path.display());
        count += 1;
    }
    assert!(count > 15, "{count}");
}

/// A lone user of a TDD cell waits only for the answers to its requests: about 40 ms for each grant
/// of 20 packets, which take about 1.4 s. This is about 3 %, so the test requires 1 % to 5 %.
#[test]
fn a_lone_user_of_a_tdd_cell_waits_for_answers() {
    let budgets = budgets(&scenario("tdd-one-user", &[("flow.0.start", "0 s")]));
    let of = |cause| share(&budgets, &[cause]);
    assert!((0.01..0.05).contains(&of(Cause::CapacityRequest)), "{:?}", budgets[0].parts);
    let rest = [Cause::CapacityWait, Cause::AckChannel, Cause::RlcRecovery, Cause::RadioQueue];
    assert_eq!(share(&budgets, &rest), 0.0, "{:?}", budgets[0].parts);
}

/// Refused requests, and reports that collide or are deferred, have their own causes.
#[test]
fn full_tdd_cell_has_waits_for_capacity_and_reports() {
    let short = ("duration", "60 s");
    let shares = |more: &[(&str, &str)]| {
        let budgets = budgets(&scenario("tdd-mixed", &[&[short], more].concat()));
        budgets.iter().for_each(check_sums);
        [Cause::CapacityRequest, Cause::CapacityWait, Cause::AckChannel, Cause::RlcRecovery]
            .map(|cause| share(&budgets, &[cause]))
    };
    let [requests, waits, reports, repairs] = shares(&[]);
    assert!(
        requests > 0.0 && waits > requests && reports > 0.0 && repairs > reports,
        "{requests} {waits} {reports} {repairs}"
    );
    // With one place per frame the users' reports collide more often.
    let [_, _, colliding, _] = shares(&[("cell.0.tdd.ack.uplink_places", "1")]);
    assert!(colliding > 2.0 * reports, "{colliding} {reports}");
    // The reports on uploads are sent by the network, which can defer them.
    let deferred = |per_frame| {
        let key = ("cell.0.tdd.ack.downlink_per_frame", per_frame);
        share(&self::budgets(&scenario("tdd-ftp", &[short, key])), &[Cause::AckChannel])
    };
    assert_eq!(deferred("\"unlimited\""), 0.0);
    assert!(deferred("1") > 0.01);
}

/// With one user there is no wait for other users either.
#[test]
fn without_errors_and_switches_only_tcp_and_the_radios_rate_take_time() {
    let quiet: &[(&str, &str)] = &[("radio.model", "error_free"), ("duration", "300 s")];
    let of_tcp_and_radio = [
        Cause::Setup,
        Cause::SlowStart,
        Cause::CongestionAvoidance,
        Cause::AdvertisedWindow,
        Cause::Serialisation,
    ];
    for name in ["ftp-on-fach", "ftp-on-fach-3gpp", "ftp-on-dch-384", "ftp-on-dch-384-3gpp"] {
        let budgets = budgets(&scenario(name, quiet));
        assert_eq!(share(&budgets, &of_tcp_and_radio), 1.0, "{name}: {:?}", budgets[0].parts);
    }
    // A connection without more data to send waits for its last packets, which cross an empty
    // network.
    let one_user = [quiet, &[("ue.0.count", "1")]].concat();
    let budgets = budgets(&scenario("web-on-dch", &one_user));
    assert!(budgets.len() > 5);
    let with_last_packets = [&of_tcp_and_radio[..], &[Cause::Propagation]].concat();
    assert_eq!(share(&budgets, &with_last_packets), 1.0);
}

/// On a radio that is always busy with one user, the share of repair is the share of
/// retransmissions among all PDUs: 10 % if 10 % are lost.
#[test]
fn share_of_repair_is_the_share_of_retransmissions() {
    for (bler, min_share, max_share) in [("0.02", 0.015, 0.03), ("0.1", 0.09, 0.12), ("0.2", 0.19, 0.23)] {
        let budgets = budgets(&scenario("ftp-on-fach", &[("radio.bler", bler), ("duration", "600 s")]));
        let repair = share(&budgets, &[Cause::RlcRecovery]);
        assert!((min_share..max_share).contains(&repair), "{bler}: {repair}");
    }
}

#[test]
fn each_of_two_users_waits_for_half_of_the_time() {
    let scenario = scenario(
        "ftp-on-fach-two-users-3gpp",
        &[("radio.model", "error_free"), ("flow.1.start", "0 s"), ("duration", "600 s")],
    );
    let budgets = budgets(&scenario);
    assert_eq!(budgets.len(), 2);
    for budget in &budgets {
        let of = |cause| share(std::slice::from_ref(budget), &[cause]);
        let (served, queued) = (of(Cause::Serialisation), of(Cause::RadioQueue));
        assert!((0.48..0.53).contains(&served) && (0.45..0.51).contains(&queued), "{served} {queued}");
    }
}

#[test]
fn timeout_during_a_switch_is_attributed_to_the_switch() {
    // Dubois (2005) chapter 7: after the handshake on FACH the timeout is 1 s, and the switch takes
    // 0.9 s.
    let budgets = budgets(&scenario("web-cell", &[("duration", "400 s")]));
    let timeouts: Vec<_> = budgets.iter().flat_map(|budget| &budget.timeouts).collect();
    let count_caused_by = |reason| timeouts.iter().filter(|timeout| timeout.reason == reason).count();
    assert!(timeouts.len() > 100);
    assert!(
        count_caused_by(TimeoutReason::ChannelSwitch) * 10 > timeouts.len() * 8,
        "{}",
        count_caused_by(TimeoutReason::ChannelSwitch)
    );
    assert_eq!(count_caused_by(TimeoutReason::Unknown), 0);
    // Needed timeouts follow losses: RLC discarded the segment.
    let needed: Vec<_> = timeouts.iter().filter(|timeout| timeout.is_needed).collect();
    assert!(!needed.is_empty());
    assert!(needed.iter().all(|timeout| timeout.reason == TimeoutReason::RlcDiscard));
}

/// A timer that never expires early changes neither the page time nor the cost of the switches.
#[test]
fn spurious_timeouts_do_not_reduce_the_time_of_switches() {
    let run = |more: &[(&str, &str)]| {
        let budgets = budgets(&scenario("web-cell", &[&[("duration", "1000 s")], more].concat()));
        (
            share(&budgets, &[Cause::ChannelSwitch]),
            budgets.iter().map(|budget| budget.timeouts.len()).sum::<usize>(),
        )
    };
    let (with_short_rto, timeouts) = run(&[]);
    let (with_long_rto, timeouts_with_long_rto) = run(&[("tcp.rto_min", "2 s"), ("tcp.rto_initial", "6 s")]);
    assert!(timeouts_with_long_rto * 4 < timeouts, "{timeouts} {timeouts_with_long_rto}");
    assert!(
        (0.15..0.35).contains(&with_short_rto) && (with_short_rto - with_long_rto).abs() < 0.05,
        "{with_short_rto} {with_long_rto}"
    );
}

/// Timers of SYN+ACKs expire with the initial RTO of the scenario. That does not delay the
/// transfer.
#[test]
fn timer_without_delay_takes_no_time() {
    // The two runs differ slightly, so the time of each cause may differ: in total by at most 4
    // times the difference of the durations and 0.6 s. Both limits are rough.
    const MAX_MOVED_PER_CHANGE: f64 = 4.0;
    const MAX_MOVED_S: f64 = 0.6;
    let run = |more: &[(&str, &str)]| {
        budgets(&scenario("ftp-fach-dch-3gpp", &[&[("duration", "60 s")], more].concat()))
    };
    let (early, late) = (run(&[]), run(&[("tcp.rto_initial", "20 s")]));
    let timeouts =
        |budgets: &[ConnectionBudget]| budgets.iter().map(|budget| budget.timeouts.len()).sum::<usize>();
    assert!(timeouts(&early) > timeouts(&late) + 10, "{} {}", timeouts(&early), timeouts(&late));
    for (early, late) in early.iter().zip(&late) {
        let total = |budget: &ConnectionBudget| budget.parts.total().as_secs();
        let moved: f64 = Cause::ALL
            .iter()
            .map(|cause| (early.parts.of(*cause).as_secs() - late.parts.of(*cause).as_secs()).abs())
            .sum();
        let change = (total(early) - total(late)).abs();
        // `cargo test` shows this only if the test fails.
        println!("{:?}: moved {moved}, changed {change}: {early:?} {late:?}", early.connection);
        let max_moved = MAX_MOVED_PER_CHANGE * change + MAX_MOVED_S;
        assert!(moved <= max_moved, "{:?}: moved {moved}, changed {change}", early.connection);
    }
}

/// Both ends time out, the server after the user. The server's silence begins during the user's.
#[test]
fn overlapping_silences_have_the_cause_of_the_first() {
    let overrides = [
        ("rrc.fach_to_dch", "0.9 s"),
        ("duration", "20 s"),
        ("radio.model", "error_free"),
        ("ue.user.count", "1"),
        ("ue.late.count", "1"),
    ];
    let budgets = budgets(&scenario("ftp-fach-dch-3gpp", &overrides));
    let [user, server] = budgets[0].timeouts[..] else { panic!("{:?}", budgets[0].timeouts) };
    assert!(user.silent_since < server.silent_since && server.silent_since < user.at && user.at < server.at);
    assert_eq!([user.reason, server.reason], [TimeoutReason::ChannelSwitch; 2]);
}

#[test]
fn fixed_network_losses_are_distinguished_from_radio_losses() {
    let budgets = budgets(&scenario("three-losses", &[]));
    let timeouts = &budgets[0].timeouts;
    assert!(timeouts.iter().all(|timeout| timeout.is_needed && timeout.reason == TimeoutReason::CoreLoss));
    assert!(share(&budgets, &[Cause::RtoNeeded, Cause::CoreLoss]) > 0.1);
    assert_eq!(share(&budgets, &[Cause::RlcRecovery, Cause::RadioLoss]), 0.0);
}

#[test]
fn metrics_rows_and_tables_agree_and_leave_the_run_unchanged() {
    let plain = scenario("web-cell", &[("duration", "300 s"), ("measure.from", "100 s")]);
    let with_budget =
        scenario("web-cell", &[("duration", "300 s"), ("measure.from", "100 s"), ("measure.budget", "true")]);
    let options = |series| RunOptions { seed: 1, series, ..RunOptions::default() };
    let (plain, with_budget) =
        (run(&plain, options(false)).unwrap(), run(&with_budget, options(true)).unwrap());
    // The budget leaves the run unchanged.
    assert_eq!(plain.events, with_budget.events);
    for (name, measured) in plain.metrics.network.iter() {
        assert_eq!(measured, with_budget.metrics.network.value(name), "{name}");
    }
    assert!(plain.metrics.network.iter().all(|(name, _)| !name.starts_with("budget_")));

    // The causes add up to the total, of the network and of each connection, whose total is the
    // time from its opening to its end.
    let parts = |of: &dyn Fn(&str) -> f64| -> f64 {
        Cause::ALL.iter().map(|cause| of(&format!("budget_{}_s", cause.name()))).sum()
    };
    let network = &with_budget.metrics.network;
    let total = value(network, "budget_total_s");
    assert!((parts(&|name| value(network, name)) - total).abs() < 1e-6 * total);
    assert!(with_budget.metrics.connections.len() > 100);
    for row in &with_budget.metrics.connections {
        let open = row.closed_s.unwrap_or(300.0) - row.opened_s;
        assert!((value(&row.metrics(), "budget_total_s") - open).abs() < 1e-6);
        for (index, (name, value)) in row.metrics().iter().enumerate() {
            assert_eq!(row.value(index), value, "{name}");
        }
        assert!((parts(&|name| value(&row.metrics(), name)) - open).abs() < 1e-6);
    }
    let tables = with_budget.series.unwrap();
    let expiries = tables.table("budget_rtos").unwrap().rows();
    assert!(expiries > 50 && tables.table("budget_intervals").unwrap().rows() > 1000);
}

#[test]
fn the_waterfall_shows_every_segment_and_every_pdu_of_one_connection() {
    let overrides = [("duration", "100 s"), ("measure.budget", "true"), ("measure.waterfall", "1")];
    let scenario = scenario("web-cell", &overrides);
    let run = run(&scenario, RunOptions { seed: 1, series: true, ..RunOptions::default() }).unwrap();
    let row = run.metrics.connections.iter().find(|row| row.connection.0 == 1).unwrap();
    let tables = run.series.unwrap();
    let table = tables.table("waterfall").unwrap();
    let words = |name| match table.column(name) {
        Some(Values::Word(words)) => words.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let times = |name| match table.column(name) {
        Some(Values::Float(times)) => times.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (layer, kinds, direction) = (words("layer"), words("what"), words("direction"));
    let segments = kinds.iter().filter(|kinds| **kinds == "segment").count();
    assert_eq!(segments as f64, value(&row.metrics(), "total_packets"));
    let Some(Values::OptionalFloat(end)) = table.column("end_s") else { panic!("ends may be unknown") };
    let end: Vec<f64> =
        end.iter().map(|end| end.expect("the connection closed, so all has arrived")).collect();
    let start = times("time_s");
    assert!(start.is_sorted() && start.iter().zip(&end).all(|(start, end)| start <= end));
    // States follow each other without gaps while the connection is open.
    let states: Vec<_> = (0..layer.len()).filter(|row| layer[*row] == "rrc").collect();
    assert!(states.iter().any(|row| kinds[*row] == "switch"));
    assert!(states.windows(2).all(|pair| end[pair[0]] == start[pair[1]]));
    let spans = (start[states[0]], end[*states.last().unwrap()]);
    assert_eq!(spans, (row.opened_s, row.closed_s.unwrap()));
    let pdus = (0..layer.len()).filter(|row| layer[*row] == "rlc" && direction[*row] == "downlink");
    assert!(pdus.clone().count() > 20 && pdus.into_iter().all(|row| end[row] - start[row] > 0.01));
}

/// EURANE's FACH queue drops three blocks of four here, and the air loses one in twenty.
#[test]
fn waterfall_distinguishes_nodeb_drops_from_air_losses() {
    let overrides = [("duration", "40 s"), ("measure.budget", "true"), ("measure.waterfall", "11")];
    let scenario = scenario("ftp-fach-dch", &overrides);
    let run = run(&scenario, RunOptions { seed: 1, series: true, ..RunOptions::default() }).unwrap();
    let tables = run.series.unwrap();
    let table = tables.table("waterfall").unwrap();
    let words = |name| match table.column(name) {
        Some(Values::Word(words)) => words.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let Some(Values::Flag(lost)) = table.column("lost") else { panic!("a flag marks lost segments") };
    let (layer, lost_at) = (words("layer"), words("lost_at"));
    assert!(lost.iter().zip(&lost_at).all(|(lost, place)| *lost != place.is_empty()));
    let pdus = |place| (0..layer.len()).filter(|row| layer[*row] == "rlc" && lost_at[*row] == place).count();
    assert!(pdus("nodeb_queue") > pdus("air") && pdus("air") > 0);
    assert!(layer.iter().zip(&lost_at).all(|(layer, place)| *layer == "rlc" || *place != "nodeb_queue"));
}

/// Overrides of a scenario.
fn variations() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let variant = prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "fack", "cubic"]);
    let mode = prop::sample::select(vec!["am", "am", "um"]);
    (variant, mode, 0.0..0.4_f64, 1_u32..12, 0.0..0.05_f64, 1_u32..40, any::<u64>()).prop_map(
        |(variant, mode, bler, max_dat, loss, window, seed)| {
            vec![
                ("tcp.variant", variant.to_owned()),
                ("rlc.mode", mode.to_owned()),
                ("radio.bler", bler.to_string()),
                ("rlc.max_dat", max_dat.to_string()),
                ("link.0.loss", loss.to_string()),
                ("tcp.advertised_window", format!("{window} segments")),
                ("seed", seed.to_string()),
            ]
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn parts_add_up_for_any_parameters(
        name in prop::sample::select(vec![
            "ftp-on-fach-3gpp",
            "ftp-on-fach-two-users",
            "ftp-on-dch-384-3gpp",
            "ftp-fach-dch-3gpp",
            "web-cell-3gpp",
            "voice-beside-download",
        ]),
        overrides in variations(),
    ) {
        // Scenarios with Gilbert errors keep them.
        let has_gilbert = ["ftp-fach-dch-3gpp", "web-cell-3gpp"].contains(&name);
        let applies = |(key, _): &&(&str, String)| !(has_gilbert && *key == "radio.bler");
        let overrides = overrides.iter().filter(applies);
        let overrides: Vec<_> = overrides.map(|(key, value)| (*key, value.as_str())).collect();
        let scenario = scenario(name, &[&overrides[..], &[("duration", "60 s")]].concat());
        let budgets = budgets(&scenario);
        prop_assert!(!budgets.is_empty());
        budgets.iter().for_each(check_sums);
        prop_assert!(share(&budgets, &[Cause::Unexplained]) < 0.01);
    }
}
