//! One scenario per cause of the time budget, in which exactly this cause occurs at a known time.
//! The budget must name the cause, with the time by which the transfer takes longer.

use std::path::Path;

use umts_record::budget::{Cause, ConnectionBudget, Loss, Parts, TimeoutReason};
use umts_record::series::Values;
use umts_simulate::{RunOptions, run};
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::budget::{budgets, check_sums};
use crate::common::{events, load, parse_in, scenario};

/// One user with a DCH fetches a file, without any problems.
const PLAIN: &str = r#"
version = 1
duration = "120 s"

[[bearer]]
name = "ps"
downlink = { rate = "64 kbit/s", tti = "20 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[tcp]
variant = "newreno"
advertised_window = "8 segments"

[[ue]]
name = "user"
bearer = "ps"

[[flow]]
ue = "user"
traffic = "file"
size = "12 kB"
start = "1 s"
"#;

/// The budgets of `text`, with these transport blocks lost in the downlink and in the uplink.
/// Blocks are counted from 0 at the start of the run.
fn run_with(text: &str, lost: [&[usize]; 2], overrides: &[(&str, &str)]) -> Vec<ConnectionBudget> {
    let folder = tempfile::tempdir().expect("a folder for the error traces");
    let error_trace = |lost: &[usize]| -> String {
        (0..100_000).map(|block| if lost.contains(&block) { '1' } else { '0' }).collect()
    };
    for (name, lost) in ["down", "up"].into_iter().zip(lost) {
        std::fs::write(folder.path().join(name), error_trace(lost)).expect("the folder is writable");
    }
    let radio = [
        ("radio.model", "trace"),
        ("radio.file", "down"),
        ("radio.uplink.model", "trace"),
        ("radio.uplink.file", "up"),
    ];
    let budgets = budgets(&parse_in(folder.path(), text, &[&radio[..], overrides].concat()));
    budgets.iter().for_each(check_sums);
    budgets
}

/// The budget of the only connection of the plain scenario, with the same arguments as `run_with`.
fn plain(lost: [&[usize]; 2], overrides: &[(&str, &str)]) -> ConnectionBudget {
    let mut budgets = run_with(PLAIN, lost, overrides);
    assert_eq!(budgets.len(), 1);
    budgets.remove(0)
}

/// Sum of the time of some causes, in seconds.
fn seconds(parts: &Parts, causes: &[Cause]) -> f64 {
    causes.iter().map(|cause| parts.of(*cause).as_secs()).sum()
}

/// Duration of a transfer.
fn duration_s(budget: &ConnectionBudget) -> f64 {
    (budget.until - budget.opened).as_secs()
}

/// Checks that the additional duration of `after` is the additional time in `causes`, within
/// `tolerance` seconds. Returns the additional duration.
fn check_cost(
    case: &str,
    before: &ConnectionBudget,
    after: &ConnectionBudget,
    causes: &[Cause],
    tolerance: f64,
) -> f64 {
    let extra = duration_s(after) - duration_s(before);
    let attributed = seconds(&after.parts, causes) - seconds(&before.parts, causes);
    let all: Vec<_> = Cause::ALL
        .iter()
        .map(|cause| (cause.name(), seconds(&after.parts, &[*cause]) - seconds(&before.parts, &[*cause])))
        .filter(|(_, change)| change.abs() > 1e-6)
        .collect();
    println!("{case}: longer by {extra:.3} s, attributed {attributed:.3} s: {all:.3?}");
    assert!(
        (attributed - extra).abs() <= tolerance,
        "{case}: longer by {extra} s, {causes:?} {attributed} s: {all:.3?}"
    );
    extra
}

/// Causes of time in which RLC repairs a loss.
const REPAIR: [Cause; 2] = [Cause::RlcRecovery, Cause::StatusProhibited];

#[test]
fn lost_block_is_rlc_recovery_at_any_position() {
    let before = plain([&[], &[]], &[]);
    for block in (3..300).step_by(23).chain(300..308) {
        let after = plain([&[block], &[]], &[]);
        check_cost(&format!("block {block}"), &before, &after, &REPAIR, 0.05);
    }
}

#[test]
fn delay_of_a_prohibited_status_is_attributed_to_it() {
    // One segment at a time: the radio is idle while the second loss waits for its report.
    let run = |prohibit| {
        let changes = [("tcp.advertised_window", "1 segments"), ("rlc.timer_status_prohibit", prohibit)];
        plain([&[60, 90], &[]], &changes)
    };
    let (quick, slow) = (run("off"), run("1 s"));
    let extra = check_cost("STATUS", &quick, &slow, &[Cause::StatusProhibited], 0.15);
    assert!(extra > 0.3, "{extra}");
}

/// Later data keeps the radio busy while the packet is missing, so the transfer takes longer by
/// less than the wait.
#[test]
fn a_discarded_sdu_costs_the_wait_for_the_retransmission_of_tcp() {
    let before = plain([&[], &[]], &[]);
    for (case, changes) in [("discard", &[][..]), ("reset", &[("rlc.sdu_discard", "never")])] {
        let after = plain([&[60], &[]], &[&[("rlc.max_dat", "1")], changes].concat());
        let cause = if case == "reset" { Cause::RlcReset } else { Cause::RlcDiscard };
        let attributed = seconds(&after.parts, &[cause]);
        let extra = duration_s(&after) - duration_s(&before);
        println!("{case}: longer by {extra}, attributed {attributed}");
        assert!(extra <= attributed && (0.3..1.0).contains(&attributed), "{case}: {:?}", after.parts);
        assert_eq!(seconds(&after.parts, &[Cause::RtoNeeded, Cause::RlcRecovery]), 0.0, "{case}");
    }
}

#[test]
fn a_discard_at_the_end_costs_a_needed_timeout() {
    let before = plain([&[], &[]], &[]);
    for (changes, loss) in
        [(&[("rlc.max_dat", "1")][..], Loss::RlcDiscard), (&[("rlc.mode", "um")], Loss::RadioLoss)]
    {
        let after = plain([&[305], &[]], changes);
        let extra = check_cost("last discard", &before, &after, &[Cause::RtoNeeded], 0.5);
        assert!(extra > 0.5, "{extra}");
        assert_eq!(after.parts.needed_after(loss), after.parts.of(Cause::RtoNeeded));
    }
}

/// The lost block may share its TTI with the end of the preceding SDU.
#[test]
fn unrepaired_loss_is_attributed_at_any_block() {
    let um = [("rlc.mode", "um")];
    let before = plain([&[], &[]], &um);
    let mut waits = Vec::new();
    for block in 100..150 {
        let after = plain([&[block], &[]], &um);
        let lost = seconds(&after.parts, &[Cause::RadioLoss, Cause::RtoNeeded]);
        let extra = duration_s(&after) - duration_s(&before);
        println!("block {block}: longer by {extra:.3} s, attributed {lost:.3} s");
        assert!(lost >= extra - 0.05 && lost > 0.2, "block {block}: {:?}", after.parts);
        assert_eq!(seconds(&after.parts, &[Cause::RlcRecovery]), 0.0);
        waits.push(lost);
    }
    // Blocks of the same segment cost nearly the same. The 50 blocks belong to a few segments.
    assert!(waits.windows(2).filter(|pair| (pair[0] - pair[1]).abs() > 0.1).count() < 4, "{waits:.3?}");
}

/// If a block is lost, its SDU is lost too. The waterfall shows the segment as lost on the air, not
/// before the block could have arrived, and no other segment as lost.
#[test]
fn waterfall_shows_segments_lost_by_um() {
    const BLOCK: usize = 120;
    let folder = tempfile::tempdir().expect("a folder for the error trace");
    let error_trace: String = (0..100_000).map(|block| if block == BLOCK { '1' } else { '0' }).collect();
    std::fs::write(folder.path().join("down"), error_trace).expect("the folder is writable");
    let changes = [
        ("rlc.mode", "um"),
        ("radio.model", "trace"),
        ("radio.file", "down"),
        ("radio.uplink.model", "error_free"),
        ("measure.budget", "true"),
        ("measure.waterfall", "0"),
    ];
    let scenario = parse_in(folder.path(), PLAIN, &changes);
    let options = RunOptions { seed: scenario.seed, series: true, ..RunOptions::default() };
    let tables =
        run(&scenario, options).expect("no callback stops the run").series.expect("series are enabled");
    let table = tables.table("waterfall").expect("the waterfall is enabled");
    let Some(Values::Word(layer)) = table.column("layer") else { panic!("layers are words") };
    let Some(Values::Word(kinds)) = table.column("what") else { panic!("kinds are words") };
    let Some(Values::Word(lost_at)) = table.column("lost_at") else { panic!("places are words") };
    let Some(Values::Float(start)) = table.column("time_s") else { panic!("starts are known") };
    let Some(Values::OptionalFloat(end)) = table.column("end_s") else { panic!("ends may be unknown") };
    let Some(Values::Count(first)) = table.column("first") else { panic!("numbers are counts") };
    let lost: Vec<_> = (0..layer.len()).filter(|row| !lost_at[*row].is_empty()).collect();
    let [segment, pdu] = lost[..] else { panic!("one segment and one PDU: {lost:?}") };
    assert_eq!([segment, pdu].map(|row| (layer[row], lost_at[row])), [("tcp", "air"), ("rlc", "air")]);
    let [segment_end, pdu_end] = [segment, pdu].map(|row| end[row].expect("its fate is known"));
    assert!(start[segment] < start[pdu] && segment_end >= pdu_end, "{segment_end} {pdu_end}");
    let is_repeat = |row: &usize| kinds[*row] == "retransmission" && first[*row] == first[segment];
    let repeat = (0..layer.len()).find(is_repeat).expect("TCP retransmits the segment");
    assert!(start[repeat] > segment_end && lost_at[repeat].is_empty());
}

/// A radio outage that outlasts the MaxMRW and MaxRST attempts of RLC is an unrecoverable error,
/// and the UE sends a cell update. The time of the cause must not exceed the time of the cell
/// updates.
#[test]
fn re_establishment_after_an_unrecoverable_error_has_its_cause() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outage.toml");
    let scenario = load(&file, &[]);
    let budgets = budgets(&scenario);
    budgets.iter().for_each(check_sums);
    let attributed: f64 =
        budgets.iter().map(|budget| seconds(&budget.parts, &[Cause::RlcReestablishment])).sum();
    let (mut started, mut updating_s) = (None, 0.0);
    for (at, event) in events(&scenario) {
        match event {
            TraceEvent::CellUpdateStarted { .. } => started = Some(at),
            TraceEvent::CellUpdateEnded { .. } => {
                updating_s += started.take().map_or(0.0, |started| (at - started).as_secs());
            }
            _ => {}
        }
    }
    updating_s += started.map_or(0.0, |started| (Time::ZERO + scenario.duration - started).as_secs());
    println!("cell updates take {updating_s:.3} s, attributed {attributed:.3} s");
    assert!(attributed > 0.0 && attributed <= updating_s + 1e-9, "{attributed} {updating_s}");
}

#[test]
fn a_pause_of_the_radio_is_rlc_recovery() {
    let before = plain([&[], &[]], &[]);
    let pause: Vec<usize> = (60..130).collect();
    let after = plain([&pause, &[]], &[]);
    let extra = check_cost("pause", &before, &after, &REPAIR, 0.1);
    assert!(extra > 0.3, "{extra}");
}

#[test]
fn segment_lost_in_the_core_network_costs_core_loss_or_a_needed_timeout() {
    let before = plain([&[], &[]], &[]);
    let drop = |packet: &str| format!(r#"[{{ packet = "{packet}", action = "drop" }}]"#);
    let middle = plain([&[], &[]], &[("impairment", &drop("data 3"))]);
    let attributed = seconds(&middle.parts, &[Cause::CoreLoss]);
    assert!((0.3..1.2).contains(&attributed), "{:?}", middle.parts);
    assert_eq!(seconds(&middle.parts, &[Cause::RtoNeeded]), 0.0);
    let last = plain([&[], &[]], &[("impairment", &drop("data 9"))]);
    let extra = check_cost("last", &before, &last, &[Cause::RtoNeeded], 0.3);
    assert!(extra > 0.5, "{extra}");
    assert_eq!(last.parts.needed_after(Loss::CoreLoss), last.parts.of(Cause::RtoNeeded));
}

#[test]
fn link_queue_waits_and_drops_have_their_own_causes() {
    let slow = |queue| plain([&[], &[]], &[("link.0.rate", "32 kbit/s"), ("link.0.queue", queue)]);
    let long = slow("50 packets");
    let waited = seconds(&long.parts, &[Cause::CoreQueue]);
    assert!((0.8..1.5).contains(&waited), "{:?}", long.parts);
    assert_eq!(seconds(&long.parts, &[Cause::CoreDrop, Cause::CoreLoss, Cause::RtoNeeded]), 0.0);
    let full = slow("2 packets");
    let lost = seconds(&full.parts, &[Cause::CoreDrop, Cause::RtoNeeded]);
    assert!(lost > 0.5, "{:?}", full.parts);
    assert_eq!(full.parts.needed_after(Loss::CoreDrop), full.parts.of(Cause::RtoNeeded));
    assert_eq!(seconds(&full.parts, &[Cause::CoreLoss]), 0.0);
}

#[test]
fn link_outage_has_its_cause() {
    let before = plain([&[], &[]], &[]);
    let after = plain([&[], &[]], &[("link.0.outage", r#"[{ from = "1.3 s", to = "3 s" }]"#)]);
    let attributed = [Cause::CoreOutage, Cause::RtoNeeded, Cause::AckLoss, Cause::SlowStartSpurious];
    let extra = check_cost("outage", &before, &after, &attributed, 0.6);
    assert!(extra > 1.5, "{extra}");
    let losses = after.intervals.iter().filter_map(|interval| interval.loss);
    assert!(losses.clone().count() > 0 && losses.clone().all(|loss| loss == Loss::CoreOutage));
}

/// A link that has another delay or rate from the start, or since a change before the transfer, is
/// the same network.
#[test]
fn changed_links_are_as_slow_as_other_links_when_empty() {
    for direction in ["downlink", "uplink"] {
        for (key, value) in [("link.0.delay", "300 ms"), ("link.0.rate", "200 kbit/s")] {
            let change = format!("[[at]]\ntime = \"0.5 s\"\nset = {{ {key} = \"{value}\" }}\n");
            let text = PLAIN.to_owned() + &change;
            let upload = ("flow.0.direction", direction);
            let changed = run_with(&text, [&[], &[]], &[upload]).remove(0);
            let other = plain([&[], &[]], &[upload, (key, value)]);
            assert_eq!(changed.parts, other.parts, "{direction}, {key}");
        }
    }
}

/// An interruption loses the data in flight and the acknowledgments of earlier data. The timer was
/// needed, although the oldest unacknowledged segment had arrived.
#[test]
fn timeout_after_the_loss_of_data_and_acknowledgments_was_needed() {
    let change =
        |at: &str, loss: &str| format!("[[at]]\ntime = \"{at}\"\nset = {{ link.0.loss = {loss} }}\n");
    let text = PLAIN.to_owned() + &change("1.9 s", "1.0") + &change("2.6 s", "0.0");
    let budget = run_with(&text, [&[], &[]], &[("flow.0.direction", "uplink")]).remove(0);
    let needed_s = seconds(&budget.parts, &[Cause::RtoNeeded]);
    assert!(needed_s > 0.5, "{:?}", budget.parts);
    let [timeout] = &budget.timeouts[..] else { panic!("{:?}", budget.timeouts) };
    assert!(timeout.is_needed, "{timeout:?}");
    assert_eq!(timeout.reason, TimeoutReason::CoreLoss);
    // No wait of the window is blamed on a timeout without need.
    assert_eq!(seconds(&budget.parts, &[Cause::SlowStartSpurious]), 0.0);
}

#[test]
fn timeout_after_lost_acknowledgments_is_attributed_to_their_loss() {
    let before = plain([&[], &[]], &[("tcp.advertised_window", "2 segments")]);
    let script = r#"[{ packet = "ack 3", action = "drop" }]"#;
    let after = plain([&[], &[]], &[("tcp.advertised_window", "2 segments"), ("impairment", script)]);
    let extra = check_cost("acks", &before, &after, &[Cause::AckLoss], 0.3);
    assert!(extra > 0.5, "{extra}");
    assert_eq!(seconds(&after.parts, &[Cause::RtoNeeded]), 0.0);
    assert_eq!(after.timeouts.len(), 1);
}

#[test]
fn full_rlc_buffer_has_its_cause() {
    let before = plain([&[], &[]], &[]);
    let after = plain([&[], &[]], &[("rlc.buffer", "3 kB")]);
    let attributed =
        seconds(&after.parts, &[Cause::BufferFull]) + after.parts.needed_after(Loss::BufferFull).as_secs();
    assert!(attributed > 0.3 && attributed >= duration_s(&after) - duration_s(&before), "{:?}", after.parts);
}

#[test]
fn windows_of_tcp_and_rlc_have_their_causes() {
    let wide = [("tcp.advertised_window", "30 segments"), ("link.0.delay", "200 ms")];
    let before = plain([&[], &[]], &wide);
    let narrow = plain([&[], &[]], &[wide[1], ("tcp.advertised_window", "1 segments")]);
    check_cost("window", &before, &narrow, &[Cause::AdvertisedWindow, Cause::SlowStart], 0.6);
    assert!(seconds(&narrow.parts, &[Cause::AdvertisedWindow]) > 2.0, "{:?}", narrow.parts);
    let before = plain([&[], &[]], &[]);
    let with_rlc_window = plain([&[], &[]], &[("rlc.window", "8"), ("rlc.poll_pdu", "8")]);
    let extra = check_cost("RLC window", &before, &with_rlc_window, &[Cause::RlcWindow], 0.5);
    assert!(extra > 0.5, "{extra}");
}

/// An upload of 120 kB over a DCH of 64 kbit/s, with 200 ms from the RNC to the server, which is
/// longer than the radio needs for a segment. The awaited packet is nearly always in the fixed network.
const UPLOAD: [(&str, &str); 4] = [
    ("flow.0.direction", "uplink"),
    ("flow.0.size", "120 kB"),
    ("link.0.delay", "200 ms"),
    ("tcp.advertised_window", "30 segments"),
];

#[test]
fn a_busy_uplink_serialises_while_the_awaited_packet_crosses_the_core() {
    let slow = plain([&[], &[]], &UPLOAD);
    let share = seconds(&slow.parts, &[Cause::Serialisation]) / duration_s(&slow);
    assert!(share > 0.9, "{:?}", slow.parts);

    let faster_uplink = [&UPLOAD[..], &[("bearer.0.uplink.rate", "128 kbit/s")]].concat();
    let extra = check_cost("rate", &plain([&[], &[]], &faster_uplink), &slow, &[Cause::Serialisation], 0.5);
    assert!(extra > 6.0, "{extra}");

    // RLC repairs block 300 before the segment has left the UE completely, which costs nothing.
    // Block 3120 is one of the last, and its segment has to wait for the repair.
    let check_block = |block| {
        let block_lost = plain([&[], &[block]], &UPLOAD);
        check_cost("block", &slow, &block_lost, &REPAIR, 0.1)
    };
    assert_eq!(check_block(300), 0.0);
    let extra = check_block(3120);
    assert!(extra > 0.04, "{extra}");
}

#[test]
fn a_small_window_leaves_the_uplink_idle() {
    let wide = plain([&[], &[]], &UPLOAD);
    let narrow_window = [&UPLOAD[..3], &[("tcp.advertised_window", "2 segments")]].concat();
    let narrow = plain([&[], &[]], &narrow_window);
    // 82 segments in pairs: each of the 41 pairs waits up to two TTIs (40 ms) until the idle uplink
    // begins to send, which is serialisation.
    check_cost("window", &wide, &narrow, &[Cause::AdvertisedWindow, Cause::SlowStart], 41.0 * 0.04);
    assert!(seconds(&narrow.parts, &[Cause::AdvertisedWindow]) > 15.0, "{:?}", narrow.parts);
}

/// The same user on common channels. Admission grants a DCH or refuses it.
const SWITCHED: &str = r#"
version = 1
duration = "120 s"

[[bearer]]
name = "ps"
downlink = { rate = "128 kbit/s", tti = "20 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[[cell]]
name = "cell"
admission = { downlink = "2 Mbit/s" }

[rrc]
dch = ["ps"]
fach_to_dch = "0.1 s"

[tcp]
advertised_window = "8 segments"

[[ue]]
name = "user"
bearer = "switched"

[[flow]]
ue = "user"
traffic = "file"
size = "30 kB"
start = "5 s"
"#;

/// Another user, which has a DCH when the file is requested.
const OTHER: &str = r#"
[[ue]]
name = "other"
bearer = "switched"

[[flow]]
ue = "other"
start = "0 s"
"#;

/// The budget of the connection in [`SWITCHED`].
fn switched(overrides: &[(&str, &str)]) -> ConnectionBudget {
    run_with(SWITCHED, [&[], &[]], overrides).remove(0)
}

#[test]
fn a_switch_has_its_cause_with_and_without_timeouts_meanwhile() {
    let mut costs = Vec::new();
    for (min_rto, expires) in [("20 s", false), ("200 ms", true)] {
        let changes = [("tcp.rto_min", min_rto), ("tcp.rto_initial", "30 s"), ("tcp.rto_max", "60 s")];
        let before = switched(&changes);
        let after = switched(&[&changes[..], &[("rrc.fach_to_dch", "2.1 s")]].concat());
        let attributed = [Cause::ChannelSwitch, Cause::NeedlessRepeats, Cause::SlowStartSpurious];
        check_cost(min_rto, &before, &after, &attributed, 0.5);
        let switch = seconds(&after.parts, &[Cause::ChannelSwitch]);
        assert!((1.9..2.2).contains(&switch), "{switch}");
        assert_eq!(seconds(&after.parts, &[Cause::RtoNeeded]), 0.0);
        assert_eq!(!after.timeouts.is_empty(), expires, "{:?}", after.timeouts);
        costs.push((duration_s(&after), seconds(&after.parts, &[Cause::NeedlessRepeats])));
    }
    let [(quiet, no_repeats), (repeating, repeats)] = costs[..] else { panic!("two runs") };
    assert!(
        no_repeats == 0.0 && repeats > 0.1 && repeats <= repeating - quiet + 0.1,
        "{quiet} {repeating} {repeats}"
    );
}

#[test]
fn refused_dch_costs_the_additional_time_on_common_channels() {
    let text = format!("{SWITCHED}{OTHER}");
    let run = |admission| {
        let budgets = run_with(&text, [&[], &[]], &[("cell.0.admission.downlink", admission)]);
        let file = budgets.into_iter().find(|budget| budget.opened.as_secs() > 4.0);
        file.expect("the second connection is the file's")
    };
    let (before, after) = (run("2 Mbit/s"), run("200 kbit/s"));
    let extra = check_cost("refused", &before, &after, &[Cause::DchRefused, Cause::ChannelSwitch], 0.7);
    assert!(extra > 3.0 && seconds(&after.parts, &[Cause::DchRefused]) > 3.0, "{extra}");
    assert_eq!(seconds(&before.parts, &[Cause::DchRefused]), 0.0);
}

#[test]
fn load_of_another_user_is_radio_queueing() {
    let text = format!("{SWITCHED}{OTHER}");
    let common = [("ue.user.bearer", "common"), ("ue.other.bearer", "common")];
    let alone = run_with(SWITCHED, [&[], &[]], &common[..1]).remove(0);
    let both = run_with(&text, [&[], &[]], &common);
    let both = both.into_iter().find(|budget| budget.opened.as_secs() > 4.0).expect("the file's");
    let extra = check_cost("load", &alone, &both, &[Cause::RadioQueue, Cause::NeedlessRepeats], 1.0);
    assert!(extra > 4.0, "{extra}");
}

/// EURANE's queue at the Node B drops blocks of an error-free radio, so no block is lost on the
/// air.
#[test]
fn nodeb_queue_drops_are_distinguished_from_air_losses() {
    let changes =
        [("duration", "60 s"), ("flow.0.start", "0 s"), ("flow.1.start", "10 s"), ("radio.bler", "0")];
    let budgets = budgets(&scenario("ftp-on-fach-two-users", &changes));
    let budget = |cause| budgets.iter().map(|budget| budget.parts.of(cause).as_secs()).sum::<f64>();
    assert!(
        budget(Cause::NodebDrop) > 1.0 && budget(Cause::RlcRecovery) == 0.0,
        "{} {}",
        budget(Cause::NodebDrop),
        budget(Cause::RlcRecovery)
    );
}
