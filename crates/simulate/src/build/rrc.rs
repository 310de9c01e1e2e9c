//! Radio resource control.

use std::collections::BTreeMap;

use umts_scenario::{Group, Scenario, model as scenario};
use umts_stack::network::SwitchingConfig;
use umts_stack::rnc::Reserved;
use umts_stack::rnc::rrc::DchRates;
use umts_stack::trace::Channel;

use super::radio::channel;

/// What is reserved in a cell for good: its FACH and what else its users share in the downlink, and the DCHs of users that
/// are not switched.
pub(super) fn reserved(scenario: &Scenario, cell: usize) -> Reserved {
    let fach = scenario.cell[cell].fach.as_ref().map(|fach| ((Channel::Fach, 0), fach.rate.bps()));
    let mut shared: BTreeMap<_, _> = fach.into_iter().collect();
    let mut reserved = Reserved { rates: [0; 2], dchs: 0 };
    for (ue, group) in scenario.ue.iter().zip(&scenario.plan().groups).filter(|(_, group)| group.cell == cell)
    {
        for (sum, channel) in reserved.rates.iter_mut().zip(group.channels) {
            if channel.kind == Channel::Dch {
                *sum += channel.rate.bps() * u64::from(ue.count);
            }
        }
        let [downlink, uplink] = group.channels;
        if downlink.kind != Channel::Dch {
            shared.insert((downlink.kind, downlink.number), downlink.rate.bps());
        }
        if uplink.kind == Channel::Dch {
            reserved.dchs += u32::from(ue.count);
        }
    }
    reserved.rates[0] += shared.values().sum::<u64>();
    reserved
}

/// How a group is switched.
pub(super) fn switching(rlc: &scenario::Rlc, rrc: &scenario::Rrc, group: &Group) -> SwitchingConfig {
    let rates = group.dchs.iter().map(|ways| DchRates(ways.map(|dch| dch.rate)));
    let channels = group.dchs.iter().map(|ways| ways.map(|dch| channel(rlc, dch)));
    SwitchingConfig { rrc: rrc.config(rates.collect()).into(), dchs: channels.collect() }
}
