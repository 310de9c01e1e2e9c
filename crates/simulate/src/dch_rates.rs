//! Rates to which the DCH of a user can change during a run.

use umts_scenario::Scenario;
use umts_stack::ids::UeId;
use umts_stack::radio::mac::Channel;
use umts_units::{BitRate, Bytes};

use crate::build::network_config;

/// The rates of the DCH of `ue` in ascending order, by direction: those that an `[[at]]` may set for
/// its bearer. Empty for a user without a DCH of its own during the whole run, and in a layout.
pub fn dch_rates(scenario: &Scenario, ue: UeId) -> [Vec<BitRate>; 2] {
    let mut groups = scenario.ue.iter().flat_map(|group| std::iter::repeat_n(group, group.count.into()));
    let Some(group) = groups.nth(ue.index()) else { return [const { Vec::new() }; 2] };
    let config = network_config(scenario);
    let user = &config.ues[ue.index()];
    if user.substitute.is_some() || user.switching.is_some() || scenario.layout.is_some() {
        return [const { Vec::new() }; 2];
    }
    let bits = Bytes::from(scenario.rlc_of(group).pdu_payload).bits();
    user.channels.map(|channel| {
        let format = channel.format;
        if channel.channel != Channel::Dch {
            return Vec::new();
        }
        let counts = (1..=format.blocks).filter(|blocks| format.blocks_for(*blocks) == *blocks);
        let rate = |blocks: u32| {
            let bps = u128::from(blocks) * u128::from(bits) * 1_000_000_000;
            u64::try_from(bps / u128::from(format.tti.as_nanos())).ok().and_then(BitRate::from_bps)
        };
        counts.filter_map(rate).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rates(users: &str, ue: u16) -> [Vec<String>; 2] {
        let text =
            format!("version = 1\nduration = \"9 s\"\n{users}\n[[flow]]\nue = \"u\"\ntraffic = \"ftp\"");
        let scenario = Scenario::parse(&text, "x", Path::new(""), &[]).unwrap().scenario;
        dch_rates(&scenario, UeId(ue)).map(|rates| rates.iter().map(BitRate::to_string).collect())
    }

    #[test]
    fn a_dch_has_the_rates_of_its_transport_formats() {
        let [down, up] = rates("[[ue]]\nname = \"u\"\nbearer = \"ps-64\"", 0);
        assert_eq!(down, ["16 kbit/s", "32 kbit/s", "48 kbit/s", "64 kbit/s"]);
        assert_eq!(up, down);
    }

    #[test]
    fn other_channels_have_none() {
        for keys in ["", "bearer = \"switched\"", "bearer = \"hsdpa-3.6\""] {
            let [down, _] = rates(&format!("[[ue]]\nname = \"u\"\n{keys}"), 0);
            assert_eq!(down, Vec::<String>::new(), "{keys}");
        }
        assert_eq!(rates("[[ue]]\nname = \"u\"\nbearer = \"ps-64\"", 1), [const { Vec::<String>::new() }; 2]);
    }
}
