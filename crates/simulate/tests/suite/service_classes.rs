//! Service classes in whole networks: guaranteed rates on each shared channel, and admission of DCHs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use umts_kernel::TraceSink;
use umts_scenario::Scenario;
use umts_simulate::observe;
use umts_stack::ids::{Direction, UeId};
use umts_stack::trace::{RrcState, SwitchCause, TraceEvent};
use umts_units::Time;

const CLASSES: [&str; 3] = ["background", "streaming", "conversational"];

fn parse(text: &str) -> Scenario {
    let parsed = Scenario::parse(text, "test.toml", Path::new(""), &[]);
    parsed.unwrap_or_else(|error| panic!("{}\n{text}", error.render(false))).scenario
}

/// A background, a streaming and a conversational user, each with datagrams that alone fill the channel.
/// `user`: keys of all users; `qos`: further quality of service of each; `tables`: the cell and others.
fn saturated(user: &str, qos: [&str; 3], tables: &str) -> Scenario {
    let users: String = CLASSES
        .iter()
        .zip(qos)
        .map(|(class, qos)| {
            format!(
                "[[ue]]\nname = \"{class}\"\n{user}\nqos = {{ class = \"{class}\"{qos} }}\n\
                 [[flow]]\nue = \"{class}\"\ntraffic = \"cbr\"\ncbr = {{ payload = \"1400 B\", interval = \"3 ms\" }}\n"
            )
        })
        .collect();
    parse(&format!(
        "version = 1\nduration = \"22 s\"\nmeasure = {{ from = \"2 s\" }}\n\
         rlc = {{ mode = \"um\", buffer = \"100 kB\" }}\n{tables}\n{users}"
    ))
}

/// RLC payload of each UE in the downlink, in blocks of 40 octets from 2 s on.
#[derive(Default)]
struct Blocks(BTreeMap<UeId, u32>);

impl TraceSink<TraceEvent> for Blocks {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        if let TraceEvent::IubSent { ue, direction: Direction::Downlink, blocks, .. } = event
            && at.as_secs() >= 2.0
        {
            *self.0.entry(*ue).or_default() += blocks;
        }
    }
}

/// RLC payload of the users in kbit/s.
fn kbps(scenario: &Scenario) -> [f64; 3] {
    let continues = |_: f64, _: &mut Blocks| ControlFlow::Continue(());
    let (_, blocks) =
        observe(scenario, scenario.seed, 0, Blocks::default(), continues).expect("nothing stops it");
    [0, 1, 2].map(|ue| f64::from(*blocks.0.get(&UeId(ue)).unwrap_or(&0)) * 320.0 / 20_000.0)
}

fn assert_near(what: &str, values: [f64; 3], expected: [f64; 3], tolerance: f64) {
    for (value, expected) in values.iter().zip(expected) {
        assert!(
            (value - expected).abs() <= tolerance,
            "{what}: {values:?} kbit/s, not {expected} within {tolerance}"
        );
    }
}

const GUARANTEED: [&str; 3] = [
    "",
    ", guaranteed = \"128 kbit/s\", transfer_delay = \"200 ms\"",
    ", guaranteed = \"64 kbit/s\", transfer_delay = \"100 ms\"",
];

#[test]
fn hs_dsch_gives_guaranteed_rates_and_the_rest_to_the_lowest_class() {
    let user = "bearer = \"hsdpa-1.8\"\nhs_dsch = { cqi = 30, errors = \"none\" }";
    for scheduler in
        ["round_robin", "oldest_first", "largest_backlog", "timeout", "max_ci", "proportional_fair", "fcds"]
    {
        let cell = format!("cell = [{{ name = \"cell\", hs_dsch = {{ scheduler = \"{scheduler}\" }} }}]");
        // Blocks of 10 PDUs in 500 TTIs: 1,600 kbit/s.
        let rates = kbps(&saturated(user, GUARANTEED, &cell));
        assert_near(scheduler, rates, [1600.0 - 128.0 - 64.0, 128.0, 64.0], 16.0);
    }
    let rates = kbps(&saturated(user, ["", "", ", guaranteed = \"64 kbit/s\""], ""));
    assert_near("streaming without a guaranteed rate", rates, [0.0, 1600.0 - 64.0, 64.0], 16.0);
}

/// The class decides before HARQ repeats blocks, which do not count twice towards the guaranteed rate.
#[test]
fn harq_repetitions_are_part_of_the_guaranteed_rate() {
    let user = "bearer = \"hsdpa-1.8\"\n\
                hs_dsch = { cqi = 30, errors = \"per_attempt\", attempt_errors = [0.5, 0.0] }";
    let rates = kbps(&saturated(user, GUARANTEED, ""));
    assert!((rates[1] - 128.0).abs() < 8.0 && (rates[2] - 64.0).abs() < 8.0, "{rates:?}");
    // 1.5 transmissions of each block.
    assert!((rates.iter().sum::<f64>() - 1600.0 / 1.5).abs() < 30.0, "{rates:?}");
}

#[test]
fn fach_and_shared_dch_give_guaranteed_rates_and_the_rest_to_the_lowest_class() {
    for scheduler in ["round_robin", "oldest_first", "largest_backlog", "timeout"] {
        let fach = format!(
            "cell = [{{ name = \"cell\", fach = {{ rate = \"384 kbit/s\", scheduler = \"{scheduler}\" }} }}]"
        );
        let shared = format!(
            "[[bearer]]\nname = \"shared\"\nuplink = {{ rate = \"64 kbit/s\", tti = \"20 ms\" }}\n\
             downlink = {{ rate = \"384 kbit/s\", tti = \"10 ms\", shared = true, scheduler = \"{scheduler}\" }}"
        );
        for (user, tables) in [("bearer = \"common\"", &fach), ("bearer = \"shared\"", &shared)] {
            let rates = kbps(&saturated(user, GUARANTEED, tables));
            assert_near(tables, rates, [384.0 - 128.0 - 64.0, 128.0, 64.0], 4.0);
        }
    }
}

/// Two users have the DSCH in each TTI: the conversational and the streaming one.
#[test]
fn dsch_of_a_layout_serves_the_lowest_class_last() {
    for priority in [
        "round_robin",
        "oldest_first",
        "largest_backlog",
        "service_credit",
        "timeout",
        "max_ci",
        "proportional_fair",
    ] {
        let tables = format!(
            "layout = {{ sites = [1, 2], seed = 1 }}\n[[cell]]\nname = \"cell\"\n\
             dsch = {{ requirement = \"full_backlog\", priority = \"{priority}\" }}\n"
        );
        let user = "bearer = \"dsch\"\nmobility = { model = \"still\" }";
        let rates = kbps(&saturated(user, [""; 3], &tables));
        // Users of different cells do not compete.
        assert!(rates[2] > 200.0 && rates[0] <= rates[2], "{priority}: {rates:?}");
    }
}

/// Causes of switches by UE.
#[derive(Default)]
struct Switches {
    preempted: Vec<u16>,
    on_dch: BTreeMap<u16, f64>,
}

impl TraceSink<TraceEvent> for Switches {
    fn record(&mut self, at: Time, event: &TraceEvent) {
        match event {
            TraceEvent::RrcSwitch { ue, cause: SwitchCause::Preempted, .. } => self.preempted.push(ue.0),
            TraceEvent::RrcState { ue, state: RrcState::CellDch } => {
                self.on_dch.entry(ue.0).or_insert(at.as_secs());
            }
            _ => {}
        }
    }
}

/// A background download has the only DCH of the cell when a conversational user gets data at 5 s. Returns
/// the preempted UEs, and when each UE first has a DCH.
fn contend(admission: &str, classes: [&str; 2]) -> Switches {
    let users: String = classes
        .iter()
        .zip(["first", "second"])
        .zip(["0 s", "5 s"])
        .map(|((class, name), start)| {
            format!(
                "[[ue]]\nname = \"{name}\"\nbearer = \"switched\"\nqos = {{ class = \"{class}\" }}\n\
                 [[flow]]\nue = \"{name}\"\nstart = \"{start}\"\n"
            )
        })
        .collect();
    let scenario = parse(&format!(
        "version = 1\nduration = \"30 s\"\nrrc = {{ dch = [\"ps-64\"] }}\n\
         [[cell]]\nname = \"cell\"\nadmission = {{ dchs = 1, queue = 4, {admission} }}\n{users}"
    ));
    let continues = |_: f64, _: &mut Switches| ControlFlow::Continue(());
    observe(&scenario, scenario.seed, 0, Switches::default(), continues).expect("nothing stops it").1
}

#[test]
fn dch_in_use_is_taken_from_a_lower_class_by_the_option() {
    let kept = contend("preemption = \"inactive\"", ["background", "conversational"]);
    assert_eq!((kept.preempted, kept.on_dch.len()), (vec![], 1));
    let taken = contend("preemption = \"lower_class\"", ["background", "conversational"]);
    assert_eq!(taken.preempted, [0]);
    assert!(taken.on_dch[&0] < 5.0 && (5.0..10.0).contains(&taken.on_dch[&1]), "{:?}", taken.on_dch);
    // Neither a user of the same class nor one of a lower class takes it.
    for classes in [["interactive", "interactive"], ["streaming", "background"]] {
        let kept = contend("preemption = \"lower_class\"", classes);
        assert_eq!((kept.preempted, kept.on_dch.len()), (vec![], 1), "{classes:?}");
    }
}
