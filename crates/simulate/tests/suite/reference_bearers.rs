//! Reference bearers in a network: transport blocks have the sizes of TS 34.108, and the run equals
//! one with a declared bearer.

use umts_scenario::{Scenario, reference_bearers};
use umts_simulate::network_config;
use umts_stack::radio::rlc::RlcConfig;

use crate::common::parse;

fn scenario(bearer: &str, more: &str) -> Scenario {
    let text = format!(
        "version = 1\nduration = \"20 s\"\n[[ue]]\nname = \"user\"\nbearer = \"{bearer}\"\n[[flow]]\nue = \"user\"\n{more}"
    );
    parse(&text)
}

#[test]
fn blocks_have_the_sizes_and_counts_of_ts_34108() {
    let mut compared = 0;
    for bearer in reference_bearers().iter().filter(|bearer| bearer.carries_packets) {
        let rlc = format!("[rlc]\npdu_payload = \"{}\"", bearer.downlink.pdu_payload());
        let network = network_config(&scenario(bearer.name, &rlc));
        for (channel, reference) in network.ues[0].channels.iter().zip([bearer.downlink, bearer.uplink]) {
            assert_eq!(channel.block_bits, reference.block_bits, "{}", bearer.name);
            assert_eq!(channel.format.blocks, reference.max_blocks(), "{}", bearer.name);
            assert_eq!(channel.format.tti, reference.tti(), "{}", bearer.name);
            compared += 1;
        }
    }
    // Eighteen reference bearers carry packets, each in two directions.
    assert_eq!(compared, 36);
}

#[test]
fn a_named_bearer_runs_like_a_declared_one() {
    let declared = "[[bearer]]\nname = \"b\"\ndownlink = { rate = \"384 kbit/s\", tti = \"10 ms\", \
                    transport_formats = [0, 1, 2, 4, 8, 12] }\n\
                    uplink = { rate = \"64 kbit/s\", tti = \"20 ms\" }\n";
    let metrics = |scenario: &Scenario| {
        let output = umts_simulate::run(scenario, umts_simulate::RunOptions::default()).expect("it runs");
        format!("{:?}", output.metrics)
    };
    assert_eq!(metrics(&scenario("ps-384", "")), metrics(&scenario("b", declared)));
}

#[test]
fn scenario_defaults_equal_entity_defaults() {
    let network = network_config(&scenario("ps-384", ""));
    assert_eq!(
        network.ues[0].rlc,
        RlcConfig { arrivals: network.ues[0].rlc.arrivals, ..RlcConfig::default() }.into()
    );
}
