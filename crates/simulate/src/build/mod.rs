//! Converts a scenario into the configurations of the stack and the recorders, with a file for each
//! part.
//!
//! Options are the enums of the stack, and names are already resolved in the scenario's plan, so
//! the conversion cannot fail. Large values (configurations, traces, recordings) are created once
//! per group and shared by its users.

mod metrics;
mod multicell;
mod radio;
mod rrc;

use umts_scenario::{Scenario, model};
use umts_stack::core_network::Impairment;
use umts_stack::ids::UeId;
use umts_stack::network::{FlowConfig, NetworkConfig};
use umts_stack::tcp::Variant;
use umts_units::Time;

pub use metrics::{budget_config, metrics_config, series_config};
pub(crate) use radio::rlc_config;

/// The network that a scenario describes, with one entry per user.
pub fn network_config(scenario: &Scenario) -> NetworkConfig {
    let plan = scenario.plan();
    let (mut ues, mut flows) = (Vec::new(), Vec::new());
    for (ue, group) in scenario.ue.iter().zip(&plan.groups) {
        ues.extend(std::iter::repeat_n(radio::ue(scenario, ue, group), usize::from(ue.count)));
        for &number in &group.flows {
            let flow = flow(scenario, number, group.first);
            let users = (0..ue.count).map(|n| UeId(group.first.0 + n));
            flows.extend(users.map(|ue| FlowConfig { ue, ..flow.clone() }));
        }
    }
    let impairments = scenario.impairment.iter().zip(&plan.impaired);
    NetworkConfig {
        core: scenario.link.clone(),
        proxy: scenario.proxy.as_ref().zip(plan.proxy.as_ref()).map(|(proxy, plan)| proxy.config(plan.hops)),
        cells: plan.cells.iter().map(|cell| radio::cell(scenario, cell.of)).collect(),
        sectors: multicell::sectors(scenario),
        ues,
        flows,
        programs: false,
        splits_programs: false,
        impairments: impairments
            .map(|(impairment, &flow)| {
                let model::PacketChoice { kind, first, last } = impairment.packet;
                Impairment { flow, kind, first, last, treatment: impairment.action.into() }
            })
            .collect(),
        changes: plan.changes.clone(),
    }
}

/// Port of the server of each flow, in the order of the network's flows.
pub fn server_ports(scenario: &Scenario) -> Vec<u16> {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let flows = groups.flat_map(|(ue, group)| {
        group.flows.iter().flat_map(|&flow| std::iter::repeat_n(flow, usize::from(ue.count)))
    });
    flows.map(|flow| scenario.flow[flow].server_port()).collect()
}

/// Configuration of flow `number` of `scenario` for `ue`, the first of its users.
fn flow(scenario: &Scenario, number: usize, ue: UeId) -> FlowConfig {
    let flow = &scenario.flow[number];
    let proxy = scenario.proxy.as_ref();
    let mut tcp = flow.tcp.clone();
    // A user-defined law is looked up by the number of its flow.
    if let Variant::User(law) = &mut tcp.variant {
        *law = number as u16;
    }
    FlowConfig {
        ue,
        direction: flow.direction,
        traffic: flow.traffic.config(flow.tcp.segment_payload),
        start: Time::ZERO + flow.start,
        tcp: tcp.into(),
        split: proxy
            .filter(|proxy| proxy.splits(number, flow))
            .and(scenario.plan().proxy.as_ref())
            .map(|plan| plan.sides[number].each_ref().map(|side| side.clone().into())),
        helped: proxy.is_some_and(|proxy| proxy.helps(number, flow)),
    }
}
