//! Users that are switched between FACH and DCH, in whole runs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{events, load, metrics, output, scenario, value};
use proptest::prelude::*;
use umts_stack::ids::{Direction, UeId};
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{Channel, SwitchCause, TraceEvent};
use umts_units::{Duration, Time};

/// Calls `sent` for every PDU or STATUS that a UE's entities send: with its time, the UE, and
/// whether the UE is being switched.
fn sent_while(events: &[(Time, TraceEvent)], mut sent: impl FnMut(Time, UeId, bool)) {
    let mut switching = BTreeMap::new();
    for &(at, ref event) in events {
        match *event {
            TraceEvent::RrcSwitch { ue, .. } => drop(switching.insert(ue, true)),
            TraceEvent::RrcState { ue, .. } => drop(switching.insert(ue, false)),
            TraceEvent::PdusSent { ue, .. } | TraceEvent::StatusSent { ue, .. } => {
                sent(at, ue, switching.get(&ue) == Some(&true));
            }
            _ => {}
        }
    }
}

#[test]
fn data_stops_during_a_switch_unless_configured_to_continue() {
    for name in ["ftp-fach-dch", "ftp-fach-dch-3gpp"] {
        for (option, is_sent) in [("suspended", false), ("continues", true)] {
            let run = events(&scenario(name, &[("rrc.data_while_switching", option)]));
            let (mut during, mut all) = (0, 0);
            sent_while(&run, |_, _, switching| {
                all += 1;
                during += u32::from(switching);
            });
            assert!(all > 10_000, "{name}: {all}");
            assert_eq!(during > 0, is_sent, "{name}, {option}: {during} of {all}");
        }
    }
}

#[test]
fn data_is_on_the_channel_of_the_state() {
    let run = events(&scenario("ftp-fach-dch-3gpp", &[]));
    let mut state = BTreeMap::new();
    let (mut on_dch_in_cell_dch, mut on_fach_in_cell_fach, mut on_other_channel) = (0, 0, 0);
    for (_, event) in &run {
        match *event {
            TraceEvent::RrcState { ue, state: entered } => drop(state.insert(ue, entered)),
            TraceEvent::BlocksReceived { ue, channel, .. } => {
                match (state[&ue] == RrcState::CellDch, channel == Channel::Dch) {
                    (true, true) => on_dch_in_cell_dch += 1,
                    (false, false) => on_fach_in_cell_fach += 1,
                    _ => on_other_channel += 1,
                }
            }
            _ => {}
        }
    }
    assert!(
        on_dch_in_cell_dch > 1000 && on_fach_in_cell_fach > 100,
        "{on_dch_in_cell_dch} {on_fach_in_cell_fach}"
    );
    // Blocks in flight at the start of a switch arrive within its 0.5 s.
    assert_eq!(on_other_channel, 0);
}

/// Numbers of intervals between two events.
struct IntervalCounts {
    /// Intervals in which the cell is full.
    full: usize,
    all: usize,
}

/// Checks that the cell of twelve DCHs is reported full exactly while no DCH is free and none has
/// been inactive for longer than `inactivity`. Checks the middle of each interval between two
/// events.
fn count_full_intervals(run: &[(Time, TraceEvent)], inactivity: Duration) -> IntervalCounts {
    let tti = Duration::from_millis(10);
    let (mut reported_full, mut reserved, mut active_until) = (false, 0, BTreeMap::new());
    let mut counts = IntervalCounts { full: 0, all: 0 };
    for pair in run.windows(2) {
        let [(at, event), (next, _)] = pair else { unreachable!("a window has two events") };
        let (at, next) = (*at, *next);
        match *event {
            TraceEvent::CellReserved { dchs, is_full, .. } => (reported_full, reserved) = (is_full, dchs),
            TraceEvent::RrcState { ue, state: RrcState::CellDch } => {
                active_until.insert(ue, at);
            }
            TraceEvent::RrcState { ue, .. } | TraceEvent::RrcSwitch { ue, .. } => {
                active_until.remove(&ue);
            }
            // A DCH is active until the end of the TTI in which it sends.
            TraceEvent::IubSent { ue, .. } => {
                active_until.entry(ue).and_modify(|until| *until = (at + tti).max(*until));
            }
            _ => {}
        }
        // Events at the same time, up to rounding, have no interval between them.
        if next > at + Duration::from_nanos(2) {
            let middle = at + Duration::from_nanos((next - at).as_nanos() / 2);
            let none_is_preemptible = active_until.values().all(|&until| until + inactivity >= middle);
            assert_eq!(reported_full, reserved == 12 && none_is_preemptible, "between {at} and {next}");
            counts.full += usize::from(reported_full);
            counts.all += 1;
        }
    }
    counts
}

#[test]
fn a_cell_is_full_while_no_dch_is_free_or_inactive_for_long_enough() {
    // `rrc.inactivity` as text and in seconds, and whether the cell is ever full.
    for (inactivity, seconds, is_ever_full) in [("8 s", 8, true), ("4 s", 4, true), ("0 s", 0, false)] {
        let run = events(&scenario(
            "web-fach-dch-hybrid",
            &[("duration", "600 s"), ("rrc.inactivity", inactivity), ("rrc.preemptive_inactivity", "16 s")],
        ));
        let IntervalCounts { full, all } = count_full_intervals(&run, Duration::from_secs(seconds));
        assert!(all > 10_000 && full < all / 2, "{inactivity}: {full} of {all}");
        assert_eq!(full > 100, is_ever_full, "{inactivity}: {full} of {all}");
    }
}

#[test]
fn reserved_rates_stay_within_the_cell_and_switches_take_their_time() {
    let run = events(&scenario("ftp-fach-dch", &[]));
    // `kinds` counts switches by cause and by whether the DCH had to be released first.
    let (mut max_rate, mut began, mut kinds) = (0, BTreeMap::new(), BTreeMap::new());
    let mut after_release = BTreeMap::new();
    for (at, event) in &run {
        match *event {
            TraceEvent::CellReserved { rates, dchs, is_full, .. } => {
                let [downlink, _] = rates;
                max_rate = max_rate.max(downlink);
                let (fach_rate, dch_rate) = (32_000, 64_000);
                assert_eq!(downlink, fach_rate + dch_rate * u64::from(dchs));
                assert!(!is_full || dchs == 12);
            }
            TraceEvent::DchGranted { ue, after_release: waits } => drop(after_release.insert(ue, waits)),
            TraceEvent::RrcSwitch { ue, to, cause, .. } => drop(began.insert(ue, (*at, to, cause))),
            TraceEvent::RrcState { ue, state } => {
                let Some((since, to, cause)) = began.remove(&ue) else { continue };
                assert_eq!(state, to);
                let queued_at = state == RrcState::CellDch && after_release[&ue];
                let duration_s = (*at - since).as_secs();
                // A switch takes 0.5 s, and so does the release of another user's DCH before it.
                assert_eq!(duration_s, if queued_at { 1.0 } else { 0.5 });
                *kinds.entry((format!("{cause:?}"), queued_at)).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    assert_eq!(max_rate, 800_000, "the cell was full");
    let kind =
        |cause: SwitchCause, queued_at| kinds.get(&(format!("{cause:?}"), queued_at)).copied().unwrap_or(0);
    assert!(kind(SwitchCause::Data, false) > 10 && kind(SwitchCause::Inactivity, false) > 10, "{kinds:?}");
    assert!(kind(SwitchCause::Data, true) > 0, "{kinds:?}");
    assert_eq!(
        kind(SwitchCause::Data, true),
        kind(SwitchCause::Preempted, false),
        "each preemption serves one request"
    );
}

/// Payload of both files of all sixteen users, in kB: 50 kB and 20 kB each.
const FILES_KB: f64 = 16.0 * 70.0;

/// The downlink SDUs of each user in the order of delivery, as indices in the order of their entry
/// into RLC.
fn delivered(run: &[(Time, TraceEvent)]) -> BTreeMap<UeId, Vec<usize>> {
    let (mut entry_indices, mut delivered) = (BTreeMap::new(), BTreeMap::<UeId, Vec<usize>>::new());
    for (_, event) in run {
        match *event {
            TraceEvent::SduQueued { direction: Direction::Downlink, sdu, .. } => {
                entry_indices.insert(sdu, entry_indices.len());
            }
            TraceEvent::SduDelivered { ue, direction: Direction::Downlink, sdu, .. } => {
                delivered.entry(ue).or_default().push(entry_indices[&sdu]);
            }
            _ => {}
        }
    }
    delivered
}

#[test]
fn every_packet_arrives_once_and_in_order_across_switches_under_losses() {
    let no_discards =
        [("rlc.max_dat", "unlimited"), ("rrc.upswitch_threshold", "300 B"), ("rrc.inactivity", "0.2 s")];
    for more in [("rrc.preemptive_inactivity", "0.3 s"), ("rrc.data_while_switching", "continues")] {
        let mut overrides = no_discards.to_vec();
        overrides.push(more);
        let run = events(&scenario("ftp-fach-dch-3gpp", &overrides));
        let count = |matches: fn(&TraceEvent) -> bool| run.iter().filter(|(_, event)| matches(event)).count();
        let discards = count(|event| matches!(event, TraceEvent::SduDiscarded { .. }));
        let switches = count(|event| matches!(event, TraceEvent::RrcSwitch { .. }));
        let queued =
            count(|event| matches!(event, TraceEvent::SduQueued { direction: Direction::Downlink, .. }));
        let delivered = delivered(&run);
        assert_eq!((discards, delivered.values().map(Vec::len).sum::<usize>()), (0, queued));
        assert!(switches > 60, "{switches}");
        for (ue, sdus) in delivered {
            assert!(sdus.is_sorted_by(|before, after| before < after), "{ue:?}: {sdus:?}");
        }
    }
}

#[test]
fn reestablishment_loses_packets_and_duplicates_none() {
    let overrides = [
        ("rrc.rlc_at_switch", "reestablished"),
        ("rrc.data_while_switching", "continues"),
        ("rrc.fach_to_dch", "0 s"),
        ("rrc.dch_to_fach", "0 s"),
        ("rrc.inactivity", "0.2 s"),
        ("rrc.preemptive_inactivity", "0 s"),
    ];
    let scenario = scenario("ftp-fach-dch-3gpp", &overrides);
    let run = events(&scenario);
    for (ue, sdus) in delivered(&run) {
        assert!(sdus.is_sorted_by(|before, after| before < after), "{ue:?}: {sdus:?}");
    }
    let lost = run.iter().filter(|(_, event)| matches!(event, TraceEvent::SduDiscarded { .. })).count();
    assert!(lost > 0, "{lost}");
    // TCP repairs the losses: all users receive both files in the 120 s.
    let kilobytes = value(&output(&scenario).metrics.network, "goodput_delivered_kbps") * 120.0 / 8.0;
    assert!((kilobytes - FILES_KB).abs() < 1e-6, "{kilobytes} kB");
}

#[test]
fn times_in_states_add_up_and_energy_follows_from_them() {
    let end = [("duration", "600 s"), ("rrc.fach_inactivity", "10 s"), ("rrc.cell_pch_inactivity", "60 s")];
    let metrics = metrics("ftp-fach-dch", &end);
    let of = |name: &str| value(&metrics, name);
    let states = [
        "time_in_cell_dch_s",
        "time_in_cell_fach_s",
        "time_in_cell_pch_s",
        "time_in_ura_pch_s",
        "time_in_idle_s",
    ];
    let sum: f64 = states.map(of).iter().sum::<f64>() + of("time_switching_s");
    assert!((sum - 600.0).abs() < 1e-6, "{sum}");
    assert!(of("time_in_ura_pch_s") > 300.0 && of("time_in_idle_s") == 0.0);
    // At least the energy of the states alone. At most also the highest power during every switch,
    // and 0.01 W, the bound for all other states, during the whole run.
    const DCH_W: f64 = 0.7;
    const FACH_W: f64 = 0.35;
    let min_j = DCH_W * of("time_in_cell_dch_s") + FACH_W * of("time_in_cell_fach_s");
    let max_j = min_j + DCH_W * of("time_switching_s") + 0.01 * 600.0;
    assert!((min_j..max_j).contains(&of("energy_j")), "{min_j} {} {max_j}", of("energy_j"));
    let switches =
        ["fach_to_dch", "dch_to_fach", "dch_to_dch"].map(|kind| of(&format!("rrc_switches_{kind}")));
    let others = of("rrc_switches_to_rest") + of("rrc_promotions");
    assert_eq!(switches.iter().sum::<f64>() + others, of("rrc_switches"));
    assert_eq!(of("dch_allocations"), of("rrc_switches_fach_to_dch"));
    assert!(of("cell_efficiency") > 0.0 && of("full_cell_time_s") > 0.0);
    assert_eq!(of("max_simultaneous_dch"), 12.0);
}

#[test]
fn a_user_without_data_causes_no_events_in_any_state() {
    let starts =
        [("flow.0.start", "1 s"), ("flow.1.start", "1 s"), ("flow.2.start", "2 s"), ("flow.3.start", "2 s")];
    let events_in = |duration, more: &[(&'static str, &'static str)]| {
        let mut overrides = starts.to_vec();
        overrides.extend(more);
        overrides.push(("duration", duration));
        output(&scenario("ftp-fach-dch-3gpp", &overrides)).events
    };
    let down_to_idle = [
        ("rrc.fach_inactivity", "10 s"),
        ("rrc.cell_pch_inactivity", "60 s"),
        ("rrc.ura_pch_inactivity", "600 s"),
    ];
    assert_eq!(events_in("2 h", &[]), events_in("720 h", &[]));
    assert_eq!(events_in("2 h", &down_to_idle), events_in("720 h", &down_to_idle));
}

#[test]
fn fixed_channels_have_no_rrc() {
    let run = events(&scenario("ftp-on-fach-3gpp", &[("duration", "20 s")]));
    let rrc = |event: &TraceEvent| {
        matches!(
            event,
            TraceEvent::RrcState { .. } | TraceEvent::RrcSwitch { .. } | TraceEvent::CellReserved { .. }
        )
    };
    assert!(run.iter().all(|(_, event)| !rrc(event)));
    let metrics = metrics("ftp-on-fach-3gpp", &[("duration", "20 s")]);
    assert_eq!((metrics.value("cell_occupancy_kbps"), metrics.value("energy_j")), (None, None));
}

#[test]
fn queued_requests_are_served_in_order_of_arrival() {
    let queue = [("cell.admission.queue", "16"), ("rrc.preemptive_inactivity", "0 s")];
    let run = events(&scenario("ftp-fach-dch-3gpp", &queue));
    let (mut waiting, mut served) = (Vec::new(), 0);
    for (_, event) in &run {
        match *event {
            TraceEvent::DchQueued { ue } if !waiting.contains(&ue) => waiting.push(ue),
            TraceEvent::DchWithdrawn { ue } => waiting.retain(|&waits| waits != ue),
            TraceEvent::DchGranted { ue, .. } if !waiting.is_empty() => {
                assert_eq!(waiting.remove(0), ue, "first come, first served");
                served += 1;
            }
            _ => {}
        }
    }
    assert!(served > 0);
    let queued = metrics("ftp-fach-dch-3gpp", &queue);
    assert_eq!(value(&queued, "dch_refusals"), 0.0);
    assert!(value(&queued, "dch_queued") > 0.0);
    // A waiting request is also served when a DCH can be preempted, not only when one is released.
    let preempting = [("cell.admission.queue", "16"), ("cell.admission.dchs", "4")];
    assert!(value(&metrics("ftp-fach-dch-3gpp", &preempting), "dch_preemptions") > 0.0);
}

/// One DCH for two users. The second user requests it while the first is being switched to it, when
/// the time of a possible preemption is not known yet.
#[test]
fn queued_request_preempts_a_dch_that_was_still_being_set_up() {
    let run = events(&scenario(
        "ftp-fach-dch-3gpp",
        &[
            ("cell.admission.dchs", "1"),
            ("cell.admission.queue", "1"),
            ("ue.user.count", "1"),
            ("ue.late.count", "1"),
            ("flow.0.start", "1 s"),
            ("flow.1.start", "1.2 s"),
            ("flow.0.size", "4 kB"),
            ("rrc.upswitch_threshold_uplink", "off"),
            ("rrc.inactivity", "2 s"),
            ("rrc.preemptive_inactivity", "60 s"),
            ("duration", "30 s"),
        ],
    ));
    let (mut first_dch_at, mut queued_at, mut preempted_at) = (None, None, None);
    for &(at, ref event) in &run {
        match *event {
            TraceEvent::RrcState { state: RrcState::CellDch, .. } => {
                first_dch_at.get_or_insert(at);
            }
            TraceEvent::DchQueued { .. } => {
                assert_eq!(queued_at.replace(at), None, "a queued user is counted once");
            }
            TraceEvent::RrcSwitch { cause: SwitchCause::Preempted, .. } => {
                preempted_at.get_or_insert(at);
            }
            _ => {}
        }
    }
    assert!(queued_at.unwrap() < first_dch_at.unwrap(), "{queued_at:?} {first_dch_at:?}");
    let after = (preempted_at.expect("the second user is served") - first_dch_at.unwrap()).as_secs();
    assert!((2.0..6.0).contains(&after), "preempted after {after} s; the inactivity alone is 2 s");
}

#[test]
fn dchs_change_their_rate_with_the_load() {
    let overrides = [
        ("rrc.dch", "[\"ps-384\", \"ps-128\", \"web-64\"]"),
        ("rrc.rate_upswitch_threshold", "1 kB"),
        ("rrc.rate_downswitch_utilisation", "0.9"),
        ("rrc.rate_downswitch_window", "1 s"),
    ];
    let dynamic = metrics("ftp-fach-dch-3gpp", &overrides);
    assert!(value(&dynamic, "rrc_switches_dch_to_dch") > 0.0);
    let kilobytes = value(&dynamic, "goodput_delivered_kbps") * 120.0 / 8.0;
    assert!((kilobytes - FILES_KB).abs() < 1e-6, "{kilobytes} kB");
}

#[test]
fn profiles_of_networks_run_from_idle_to_idle() {
    for (profile, promotes_directly_to_dch) in [("att-2010", true), ("t-mobile-us-2010", false)] {
        let metrics = metrics("ftp-fach-dch-3gpp", &[("rrc.profile", profile), ("duration", "300 s")]);
        assert!(value(&metrics, "rrc_promotions") >= 16.0, "{profile}");
        assert!(value(&metrics, "time_in_idle_s") > 150.0, "{profile}");
        let kilobytes = value(&metrics, "goodput_delivered_kbps") * 300.0 / 8.0;
        assert!((kilobytes - FILES_KB).abs() < 1e-6, "{profile}: {kilobytes} kB");
        let from_fach = value(&metrics, "rrc_switches_fach_to_dch");
        assert_eq!(value(&metrics, "dch_allocations") > from_fach, promotes_directly_to_dch, "{profile}");
    }
}

#[test]
fn same_seed_gives_bitwise_equal_runs() {
    for name in ["ftp-fach-dch", "ftp-fach-dch-3gpp"] {
        let scenario = scenario(name, &[]);
        let once = format!("{:?}", output(&scenario).metrics);
        assert_eq!(once, format!("{:?}", output(&scenario).metrics), "{name}");
        let other = self::scenario(name, &[("seed", &(scenario.seed + 1).to_string())]);
        assert_ne!(once, format!("{:?}", output(&other).metrics), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For all timers and limits: no data is sent during a switch, the cell never exceeds its
    /// limit, and all SDUs that RLC does not give up are delivered once and in order.
    #[test]
    fn rules_hold_for_any_timers_and_limits(
        dchs in 1..6u32,
        queue in 0..3u32,
        [inactivity, preemptive, switch] in [10..3000u64, 0..5000u64, 0..1500u64],
        threshold in 0..3000u64,
        seed in 0..1000u64,
    ) {
        let ms = |ms: u64| format!("{ms} ms");
        let (dchs, queue, threshold) = (dchs.to_string(), queue.to_string(), format!("{threshold} B"));
        let (inactivity, preemptive, switch) = (ms(inactivity), ms(preemptive), ms(switch));
        let scenario = scenario("ftp-fach-dch-3gpp", &[
            ("duration", "30 s"),
            ("ue.user.count", "3"),
            ("ue.late.count", "3"),
            ("flow.2.start", "12 s"),
            ("flow.3.start", "13 s"),
            ("cell.admission.dchs", &dchs),
            ("cell.admission.queue", &queue),
            ("rrc.upswitch_threshold", &threshold),
            ("rrc.inactivity", &inactivity),
            ("rrc.preemptive_inactivity", &preemptive),
            ("rrc.fach_to_dch", &switch),
            ("rrc.dch_to_fach", &switch),
            ("seed", &seed.to_string()),
        ]);
        let run = events(&scenario);
        let mut during = 0;
        sent_while(&run, |_, _, switching| during += u32::from(switching));
        prop_assert_eq!(during, 0);
        for (_, event) in &run {
            if let TraceEvent::CellReserved { dchs: reserved, .. } = *event {
                prop_assert!(reserved <= dchs.parse().unwrap());
            }
        }
        for (ue, sdus) in delivered(&run) {
            prop_assert!(sdus.is_sorted_by(|before, after| before < after), "{:?}: {:?}", ue, sdus);
        }
    }
}

/// Datagrams of 576 octets every 220 ms on an error-free FACH of 32 kbit/s. Each is sent before the
/// next one arrives, but its acknowledgment is still on the way then.
#[test]
fn unacknowledged_data_requests_no_dch() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(scenarios.join("web-cell.toml")).expect("the scenario is shipped");
    let (cell, _) = text.split_once("[radio]").expect("it has a radio");
    let base = scenarios.join("ftp-on-fach.toml").canonicalize().expect("the scenario is shipped");
    let cell = cell.replace("\"ftp-on-fach.toml\"", &format!("{base:?}"));
    let users = "[radio]\nmodel = \"error_free\"\n[[ue]]\nname = \"user\"\nbearer = \"switched\"\n[[flow]]\nue = \"user\"\n\
                 traffic = \"cbr\"\n[flow.cbr]\npayload = \"548 B\"\ninterval = \"220 ms\"\n";
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("datagrams.toml");
    std::fs::write(&path, format!("{cell}{users}")).expect("the file can be written");
    let requests = |threshold, volume| {
        let set =
            [("duration", "60 s"), ("rrc.upswitch_threshold", threshold), ("rrc.traffic_volume", volume)];
        value(&output(&load(&path, &set)).metrics.network, "dch_requests")
    };
    assert_eq!(requests("1000 B", "buffer_occupancy"), 0.0);
    assert!(requests("1000 B", "unacknowledged") > 0.0, "at times 1,152 octets are unacknowledged");
    assert!(requests("500 B", "buffer_occupancy") > 0.0, "576 octets wait");
}
