//! Rates to which the DCHs of a user can change during a run.

use umts_scenario::Scenario;
use umts_stack::ids::UeId;
use umts_stack::radio::mac::Channel;
use umts_stack::ue::ChannelConfig;
use umts_units::{BitRate, Bytes};

use crate::build::network_config;

/// The rates of a bearer of a user in ascending order, by direction: those that an `[[at]]` may set.
/// Empty for a direction that is not a DCH.
#[derive(Debug, Clone, PartialEq)]
pub struct DchBearerRates {
    /// Name of the bearer.
    pub bearer: String,
    /// Downlink and uplink.
    pub rates: [Vec<BitRate>; 2],
}

/// The rates of the DCHs of `ue`: of its bearer, or of each bearer that RRC may allocate, in
/// descending order. Empty for a user without DCHs, and in a layout.
pub fn dch_rates(scenario: &Scenario, ue: UeId) -> Vec<DchBearerRates> {
    let mut groups = scenario.ue.iter().flat_map(|group| std::iter::repeat_n(group, group.count.into()));
    let Some(group) = groups.nth(ue.index()) else { return Vec::new() };
    let config = network_config(scenario);
    let user = &config.ues[ue.index()];
    if user.substitute.is_some() || scenario.layout.is_some() {
        return Vec::new();
    }
    let pdu = Bytes::from(scenario.rlc_of(group).pdu_payload);
    let bearer = |name: &str, channels: &[ChannelConfig; 2]| DchBearerRates {
        bearer: name.to_owned(),
        rates: channels.map(|channel| rates(channel, pdu)),
    };
    let all: Vec<_> = match (&user.switching, scenario.rrc_of(group)) {
        (Some(switching), Some(rrc)) => {
            rrc.dch.iter().zip(&switching.dchs).map(|(name, channels)| bearer(name, channels)).collect()
        }
        _ => vec![bearer(&group.bearer, &user.channels)],
    };
    all.into_iter().filter(|bearer| bearer.rates.iter().any(|rates| !rates.is_empty())).collect()
}

/// The rates of a DCH with PDUs of size `pdu` in ascending order. Empty for other channels.
fn rates(channel: ChannelConfig, pdu: Bytes) -> Vec<BitRate> {
    let format = channel.format;
    if channel.channel != Channel::Dch {
        return Vec::new();
    }
    let counts = (1..=format.blocks).filter(|blocks| format.blocks_for(*blocks) == *blocks);
    let rate = |blocks: u32| {
        let bps = u128::from(blocks) * u128::from(pdu.bits()) * 1_000_000_000;
        u64::try_from(bps / u128::from(format.tti.as_nanos())).ok().and_then(BitRate::from_bps)
    };
    counts.filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rates(users: &str, ue: u16) -> Vec<(String, [Vec<String>; 2])> {
        let text =
            format!("version = 1\nduration = \"9 s\"\n{users}\n[[flow]]\nue = \"u\"\ntraffic = \"ftp\"");
        let scenario = Scenario::parse(&text, "x", Path::new(""), &[]).unwrap().scenario;
        let texts = |rates: Vec<BitRate>| rates.iter().map(BitRate::to_string).collect();
        let all = dch_rates(&scenario, UeId(ue)).into_iter();
        all.map(|bearer| (bearer.bearer, bearer.rates.map(texts))).collect()
    }

    #[test]
    fn a_dch_has_the_rates_of_its_transport_formats() {
        let [(bearer, [down, up])] = &rates("[[ue]]\nname = \"u\"\nbearer = \"ps-64\"", 0)[..] else {
            panic!("one bearer");
        };
        assert_eq!(bearer, "ps-64");
        assert_eq!(down[..], ["16 kbit/s", "32 kbit/s", "48 kbit/s", "64 kbit/s"]);
        assert_eq!(up, down);
    }

    #[test]
    fn a_switched_user_has_the_rates_of_all_its_dchs() {
        let users = "[rrc]\ndch = [\"ps-128\", \"ps-64\"]\n[[ue]]\nname = \"u\"\nbearer = \"switched\"";
        let found = rates(users, 0);
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["ps-128", "ps-64"]);
        assert_eq!(found[0].1[0].last().unwrap(), "128 kbit/s");
        assert_eq!(found[1].1[0].last().unwrap(), "64 kbit/s");
    }

    #[test]
    fn other_channels_have_none() {
        assert!(rates("[[ue]]\nname = \"u\"", 0).is_empty());
        assert!(rates("[[ue]]\nname = \"u\"\nbearer = \"ps-64\"", 1).is_empty());
        // The uplink of this bearer is a DCH.
        let [(_, [down, up])] = &rates("[[ue]]\nname = \"u\"\nbearer = \"hsdpa-3.6\"", 0)[..] else {
            panic!("one bearer");
        };
        assert!(down.is_empty() && !up.is_empty());
    }
}
