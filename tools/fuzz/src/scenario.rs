//! Scenario files: shipped scenarios with random keys set to random values. A refusal must have a
//! message, and an accepted scenario runs for a while, in which time must advance.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use umts_kernel::random::Streams;
use umts_kernel::{EventQueue, NoTrace};
use umts_scenario::{Param, Scenario, params};
use umts_simulate::network_config;
use umts_stack::EventContext;
use umts_stack::network::{Event, Network};
use umts_units::{Duration, Time};

use crate::draw::Draw;

/// Number of events per execution.
const MAX_EVENTS: u64 = 20_000;
/// Limit of events at one instant, far above the number that a few users cause.
const MAX_EVENTS_AT_ONCE: u64 = 10_000;
/// Scenarios with more users are skipped, because they only take more time.
const MAX_USERS: u64 = 40;
/// The same for windows of more segments.
const MAX_WINDOW_SEGMENTS: u32 = 10_000;
/// Maximum simulated time.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Values that are valid for some keys, and invalid ones.
const VALUES: [&str; 36] = [
    "0",
    "1",
    "2",
    "-1",
    "4294967296",
    "9223372036854775807",
    "0.0",
    "0.5",
    "1.0",
    "1e300",
    "nan",
    "true",
    "false",
    "[]",
    "{}",
    "\"\"",
    "\"off\"",
    "\"none\"",
    "\"unlimited\"",
    "\"end\"",
    "\"0 s\"",
    "\"1 ns\"",
    "\"1 us\"",
    "\"10 ms\"",
    "\"1 h\"",
    "\"18446744073 s\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"1 MB\"",
    "\"18446744073709551615 B\"",
    "\"1 bit/s\"",
    "\"100 Mbit/s\"",
    "\"1 segments\"",
    "\"4294967295 segments\"",
    "\"1 packets\"",
    "\"switched\"",
];

static FILES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = fs::read_dir(folder).expect("it is beside the tools");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.sort();
    files
});

static PARAMS: LazyLock<Vec<Param>> = LazyLock::new(params);

/// A shipped scenario with some keys changed. Settings that are accepted are kept.
pub fn settings(draw: &mut Draw) {
    let file = draw.of(&FILES);
    // The run is short, and its measurement interval is inside.
    let interval = [("duration", "\"20 s\""), ("measure.from", "\"0 s\""), ("measure.to", "\"end\"")];
    let mut overrides: Vec<_> = interval.map(owned).into();
    let mut accepted = Scenario::load(&file, &overrides).expect("shipped scenarios are valid").scenario;
    for _ in 0..draw.range(1, 8) {
        overrides.push(setting(draw));
        match Scenario::load(&file, &overrides) {
            Ok(loaded) => accepted = loaded.scenario,
            Err(error) => {
                assert!(!error.message().is_empty() && error.render(false).contains('×'), "{overrides:?}");
                overrides.pop();
            }
        }
    }
    run(&accepted, &overrides);
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// A key with one of its choices, a bound of its range, or any value.
fn setting(draw: &mut Draw) -> (String, String) {
    let param = draw.of(&PARAMS);
    let value = match draw.below(4) {
        0 if !param.choices.is_empty() => format!("\"{}\"", draw.of(&param.choices).value),
        1 | 2 => bound(draw, &param),
        _ => draw.of(&VALUES).to_owned(),
    };
    // For tables of which there may be several, the first one is set.
    let key = match param.key.split_once('.') {
        Some((table @ ("link" | "cell" | "bearer" | "ue" | "flow"), key)) => format!("{table}.0.{key}"),
        _ => param.key,
    };
    (key, value)
}

/// Returns a bound of the range in the reference page.
fn bound(draw: &mut Draw, param: &Param) -> String {
    let range = param.range.clone().unwrap_or_default();
    let bounds = range.trim_start_matches("at most ").trim_start_matches("at least ");
    let bound = draw.of(&bounds.split(" to ").collect::<Vec<_>>()).trim().to_owned();
    if bound.is_empty() {
        return draw.of(&VALUES).to_owned();
    }
    // A number, or a text with a unit.
    if bound.parse::<f64>().is_ok() { bound } else { format!("\"{bound}\"") }
}

/// Returns whether the scenario would only take much time and memory.
fn is_large(scenario: &Scenario) -> bool {
    let users: u64 = scenario.ue.iter().map(|ue| u64::from(ue.count)).sum();
    let is_wide = |flow: &umts_scenario::model::Flow| {
        let payload = flow.tcp.segment_payload;
        [flow.tcp.advertised_window, flow.tcp.initial_window]
            .iter()
            .any(|window| window.in_segments(payload) > MAX_WINDOW_SEGMENTS)
    };
    users > MAX_USERS || scenario.flow.iter().any(is_wide)
}

/// Runs a scenario for a while. `overrides` are for the message of a failure.
fn run(scenario: &Scenario, overrides: &[(String, String)]) {
    if is_large(scenario) {
        return;
    }
    let mut network = Network::new(&network_config(scenario), &Streams::new(1, 0));
    let mut queue: EventQueue<Event> = EventQueue::new();
    network.start(&mut queue);
    let end = Time::ZERO + scenario.duration.min(MAX_TIME);
    let (mut instant, mut at_instant) = (Time::ZERO, 0);
    for _ in 0..MAX_EVENTS {
        let Some((now, event)) = queue.pop().filter(|(now, _)| *now <= end) else {
            break;
        };
        at_instant = if now == instant { at_instant + 1 } else { 1 };
        instant = now;
        assert!(at_instant < MAX_EVENTS_AT_ONCE, "time stands still at {now:?} with {overrides:?}");
        network.handle(&mut EventContext::new(now, &mut NoTrace, &mut queue), event);
    }
}
