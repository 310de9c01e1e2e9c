//! Bearers with PDUs that can be captured, and the reasons if they cannot.

use umts_scenario::{Group, Scenario, model};
use umts_stack::radio::rlc::octets::Encoding;
use umts_stack::trace::Channel;
use umts_units::Octets;

use crate::build::rlc_config;

/// Length of IPv4 and TCP headers without options.
const MIN_HEADER: Octets = Octets(40);

/// PDU formats of the bearers by UE. `None` if the PDUs cannot be captured.
pub fn encodings(scenario: &Scenario) -> Vec<Option<Encoding>> {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let by_ue = groups.flat_map(|(ue, group)| {
        std::iter::repeat_n(encoding(scenario, ue, group).ok(), usize::from(ue.count))
    });
    by_ue.collect()
}

/// Whether a user has an HS-DSCH or an E-DCH, from the beginning or if RRC switches to it.
pub fn has_iub(scenario: &Scenario) -> bool {
    let pairs =
        scenario.plan().groups.iter().flat_map(|group| std::iter::once(&group.channels).chain(&group.dchs));
    let mut channels = pairs.flatten();
    channels.any(|channel| matches!(channel.kind, Channel::HsDsch | Channel::EDch))
}

/// Notes on the groups of UEs for which only IP packets can be captured, and no PDUs.
pub fn capture_notes(scenario: &Scenario) -> Vec<String> {
    let groups = scenario.ue.iter().zip(&scenario.plan().groups);
    let notes = groups.filter_map(|(ue, group)| {
        let why = encoding(scenario, ue, group).err()?;
        Some(format!("{}: only IP packets are captured, no RLC PDUs: {why}", ue.name))
    });
    notes.collect()
}

/// The PDU formats of a group. The error is the reason why its PDUs or SDUs cannot be encoded.
fn encoding(scenario: &Scenario, ue: &model::Ue, group: &Group) -> Result<Encoding, String> {
    if scenario.pdcp.header_compression != model::HeaderCompression::Off {
        return Err("pdcp.header_compression = \"ideal\" has no encoding".to_owned());
    }
    let downlinks = std::iter::once(&group.channels).chain(&group.dchs).map(|[downlink, _]| downlink.kind);
    if downlinks.into_iter().any(|kind| kind == Channel::Dsch) {
        return Err("DSCH frames cannot be captured".to_owned());
    }
    let flows = group.flows.iter().map(|&number| &scenario.flow[number]);
    let smallest = flows.map(|flow| flow.tcp.header).min();
    if let Some(header) = smallest.filter(|header| *header < MIN_HEADER) {
        return Err(format!("tcp.header = \"{header}\" is too small for IPv4 and TCP"));
    }
    Encoding::of(&rlc_config(scenario.rlc_of(ue), group)).map_err(|reason| reason.to_string())
}
