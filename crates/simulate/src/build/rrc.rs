//! Radio resource control.

use umts_scenario::{Group, model as scenario};
use umts_stack::network::SwitchingConfig;
use umts_stack::rnc::rrc::DchRates;

use super::radio::channel;

/// Configuration of channel switching of a group.
pub(super) fn switching(rlc: &scenario::Rlc, rrc: &scenario::Rrc, group: &Group) -> SwitchingConfig {
    let dch_rates = group.dchs.iter().map(|directions| DchRates(directions.map(|dch| dch.rate))).collect();
    let channels = group.dchs.iter().map(|directions| directions.map(|dch| channel(rlc, dch)));
    let rrc = scenario::Rrc { dch_rates, ..rrc.clone() };
    SwitchingConfig { rrc: rrc.into(), dchs: channels.collect() }
}
