//! Large values exist once per group, independent of the number of users.

use std::sync::Arc;

use umts_scenario::Scenario;
use umts_simulate::network_config;
use umts_stack::network::{SubstituteConfig, UeConfig};
use umts_stack::radio::phy::ErrorModel;
use umts_stack::traffic::TrafficConfig;

use crate::common::parse_in;

const USERS: usize = 10_000;
const TRACE_LENGTH: usize = 100_000;

/// A scenario with these keys in `[[ue]]` and `[[flow]]`, and a file `trace.txt` beside it.
fn load(prefix: &str, trace: &str, ue: &str, flow: &str) -> Scenario {
    let folder =
        tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary folder can be created");
    std::fs::write(folder.path().join("trace.txt"), trace).expect("it can be written");
    let text = format!(
        "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"u\"\ncount = {USERS}\n{ue}\n[[flow]]\nue = \"u\"\n{flow}\n"
    );
    parse_in(folder.path(), &text, &[])
}

/// Lower bound of the number of copies of the value that `large` returns for each user.
fn copies<T: ?Sized>(ues: &[UeConfig], large: impl Fn(&UeConfig) -> *const T) -> usize {
    assert_eq!(ues.len(), USERS);
    let first = large(&ues[0]);
    ues.iter().filter(|ue| !std::ptr::addr_eq(large(ue), first)).count() + 1
}

#[test]
fn users_of_a_group_share_an_error_trace_and_their_configurations() {
    let errors = "radio = { file = \"trace.txt\", uplink = { file = \"trace.txt\" } }\nbearer = \"switched\"";
    let scenario = load("errors", &"01".repeat(TRACE_LENGTH / 2), errors, "");
    let ues = network_config(&scenario).ues;
    for direction in [0, 1] {
        let trace = |ue: &UeConfig| match &ue.errors[direction] {
            ErrorModel::Trace(verdicts) => Arc::as_ptr(verdicts),
            other => panic!("{other:?}"),
        };
        assert_eq!(copies(&ues, trace), 1);
        // All networks of the scenario share the trace, too.
        assert!(std::ptr::addr_eq(trace(&ues[0]), trace(&network_config(&scenario).ues[0])));
    }
    assert_eq!(copies(&ues, |ue| Arc::as_ptr(&ue.rlc)), 1);
    assert_eq!(copies(&ues, |ue| Arc::as_ptr(&ue.switching.as_ref().expect("they are switched").rrc)), 1);
}

#[test]
fn users_of_a_group_share_a_capacity_trace() {
    let trace: String = (1..=TRACE_LENGTH).map(|ms| format!("{ms}\n")).collect();
    let radio = "capacity = { downlink = \"trace.txt\", uplink = \"trace.txt\" }";
    let ues = network_config(&load("capacity", &trace, radio, "")).ues;
    for direction in [0, 1] {
        let trace = |ue: &UeConfig| match &ue.substitute {
            Some(SubstituteConfig::Capacity(config)) => {
                std::ptr::from_ref(config.traces[direction].milliseconds())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(copies(&ues, trace), 1);
    }
}

#[test]
fn users_of_a_flow_share_a_recording() {
    let lines: String =
        (0..TRACE_LENGTH).map(|n| format!("{}.{:03} 100 down\n", n / 1000, n % 1000)).collect();
    let flow = "traffic = \"replay\"\nreplay = { file = \"trace.txt\" }";
    let flows = network_config(&load("recording", &lines, "", flow)).flows;
    let records = |n: usize| match &flows[n].traffic {
        TrafficConfig::Replay(config) => Arc::as_ptr(&config.records),
        other => panic!("{other:?}"),
    };
    assert_eq!(flows.len(), USERS);
    assert!((0..USERS).all(|n| std::ptr::addr_eq(records(n), records(0))));
}
