//! Which bearers of a scenario have PDUs that can be captured, and why others have not.

use umts_scenario::{Group, Scenario, model};
use umts_stack::radio::rlc::octets::Encoding;
use umts_stack::trace::Channel;
use umts_units::Octets;

/// IPv4 and TCP without options.
const LEAST_HEADER: Octets = Octets(40);

/// By UE, the formats of its bearer's PDUs; none where options have no encoding.
pub fn encodings(scenario: &Scenario) -> Vec<Option<Encoding>> {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let by_ue = groups.flat_map(|(ue, group)| {
        std::iter::repeat_n(encoding(scenario, ue, group).ok(), usize::from(ue.count))
    });
    by_ue.collect()
}

/// What to say of the groups of UEs whose PDUs cannot be captured: of these there are captures of IP packets only.
pub fn capture_notes(scenario: &Scenario) -> Vec<String> {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let notes = groups.filter_map(|(ue, group)| {
        let why = encoding(scenario, ue, group).err()?;
        Some(format!("no captures of RLC for {}, only of IP packets: {why}", ue.name))
    });
    notes.collect()
}

/// The formats of the PDUs of a group; where there are none, or SDUs are no IP packets to the octet, why.
fn encoding(scenario: &Scenario, ue: &model::Ue, group: &Group) -> Result<Encoding, String> {
    if scenario.pdcp.header_compression != model::HeaderCompression::Off {
        return Err("pdcp.header_compression = \"ideal\" has no encoding".to_owned());
    }
    if group.channels[0].kind == Channel::Dsch {
        return Err("frames of a DSCH are not written".to_owned());
    }
    let flows = group.flows.iter().map(|&number| &scenario.flow[number]);
    let least = flows.map(|flow| flow.tcp.header).min();
    if let Some(header) = least.filter(|header| *header < LEAST_HEADER) {
        return Err(format!("tcp.header = \"{header}\" has no room for IPv4 and TCP"));
    }
    Encoding::of(&scenario.rlc_of(ue).config(group)).map_err(|none| none.to_string())
}
