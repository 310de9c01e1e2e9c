//! Radio resource control.

use umts_scenario::{Group, Scenario, model as scenario};
use umts_stack::network::SwitchingConfig;
use umts_stack::rnc::Reserved;
use umts_stack::rnc::rrc::DchRates;
use umts_stack::trace::Channel;

use super::radio::channel;

/// What is reserved in a cell for good: its FACH, and the DCHs of users that are not switched.
pub(super) fn reserved(scenario: &Scenario, cell: usize) -> Reserved {
    let fach = scenario.cell[cell].fach.as_ref().map_or(0, |fach| fach.rate.bps());
    let mut reserved = Reserved { rates: [fach, 0], dchs: 0 };
    for (ue, group) in scenario.ue.iter().zip(&scenario.plan().groups) {
        if group.cell == cell && group.channels[0].kind == Channel::Dch {
            for (sum, channel) in reserved.rates.iter_mut().zip(group.channels) {
                *sum += channel.rate.bps() * u64::from(ue.count);
            }
            reserved.dchs += u32::from(ue.count);
        }
    }
    reserved
}

/// How a group is switched.
pub(super) fn switching(rlc: &scenario::Rlc, rrc: &scenario::Rrc, group: &Group) -> SwitchingConfig {
    let rates = group.dchs.iter().map(|ways| DchRates(ways.map(|dch| dch.rate)));
    let channels = group.dchs.iter().map(|ways| ways.map(|dch| channel(rlc, dch)));
    SwitchingConfig { rrc: rrc.config(rates.collect()).into(), dchs: channels.collect() }
}
