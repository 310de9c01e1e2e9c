//! Converts the settings of radio resource control of a scenario.

use umts_scenario::{Channel, Group, model};
use umts_stack::network::SwitchingConfig;
use umts_stack::radio::mac::Channel as Kind;
use umts_stack::rnc::rrc::DchRates;

use super::radio::channel;

/// Configuration of channel switching of a group.
pub(super) fn switching(rlc: &model::Rlc, rrc: &model::Rrc, group: &Group) -> SwitchingConfig {
    let rates = |[downlink, uplink]: [Channel; 2]| DchRates {
        rates: [downlink.rate, uplink.rate],
        is_hs_dsch: downlink.kind == Kind::HsDsch,
        is_e_dch: uplink.kind == Kind::EDch,
    };
    let dch_rates = group.dchs.iter().copied().map(rates).collect();
    let channels = group.dchs.iter().map(|directions| directions.map(|dch| channel(rlc, dch)));
    let rrc = model::Rrc { dch_rates, ..rrc.clone() };
    SwitchingConfig { rrc: rrc.into(), dchs: channels.collect() }
}
