//! Radio resource control.

use umts_scenario::{Group, model as scenario};
use umts_stack::network::SwitchingConfig;
use umts_stack::rnc::rrc::DchRates;

use super::radio::channel;

/// Configuration of channel switching of a group.
pub(super) fn switching(rlc: &scenario::Rlc, rrc: &scenario::Rrc, group: &Group) -> SwitchingConfig {
    let rates = group.dchs.iter().map(|ways| DchRates(ways.map(|dch| dch.rate)));
    let channels = group.dchs.iter().map(|ways| ways.map(|dch| channel(rlc, dch)));
    SwitchingConfig { rrc: rrc.config(rates.collect()).into(), dchs: channels.collect() }
}
