//! Which bearers of a scenario have PDUs that can be captured, and why others have not.

use umts_scenario::{Scenario, model as scenario};
use umts_stack::radio::rlc::octets::Encoding;

use crate::build::network_config;

/// IPv4 and TCP without options.
const LEAST_HEADER: u64 = 40;

/// By UE, the formats of its bearer's PDUs; none where options have no encoding.
pub fn encodings(scenario: &Scenario) -> Vec<Option<Encoding>> {
    let groups = scenario.ue.iter();
    let packets: Vec<_> = groups
        .flat_map(|group| std::iter::repeat_n(packets_of(scenario, group).is_ok(), usize::from(group.count)))
        .collect();
    let ues = network_config(scenario).ues;
    let encoding = |(ue, has_packets): (&umts_stack::network::UeConfig, bool)| {
        Encoding::of(&ue.rlc).ok().filter(|_| has_packets)
    };
    ues.iter().zip(packets).map(encoding).collect()
}

/// What to say of the groups of UEs whose PDUs cannot be captured: of these there are captures of IP packets only.
pub fn capture_notes(scenario: &Scenario) -> Vec<String> {
    let ues = network_config(scenario).ues;
    let mut first = 0;
    let mut notes = Vec::new();
    for group in &scenario.ue {
        let rlc = &ues[first].rlc;
        first += usize::from(group.count);
        let why = packets_of(scenario, group).and(Encoding::of(rlc).map_err(|none| none.to_string()));
        if let Err(why) = why {
            notes.push(format!("no captures of RLC for {}, only of IP packets: {why}", group.name));
        }
    }
    notes
}

/// Whether the SDUs of a group are IP packets to the octet; if not, why.
fn packets_of(scenario: &Scenario, group: &scenario::Ue) -> Result<(), String> {
    if scenario.pdcp.header_compression != scenario::HeaderCompression::Off {
        return Err("pdcp.header_compression = \"ideal\" has no encoding".to_owned());
    }
    let flows = scenario.flow.iter().filter(|flow| flow.ue == group.name);
    let least = flows.map(|flow| flow.tcp.header.0).min();
    match least.filter(|header| *header < LEAST_HEADER) {
        Some(header) => Err(format!("tcp.header = \"{header} B\" has no room for IPv4 and TCP")),
        None => Ok(()),
    }
}
