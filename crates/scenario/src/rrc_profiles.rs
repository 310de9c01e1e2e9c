//! Named RRC profiles of real networks and of studies: `rrc.profile = "…"`.
//!
//! Keys that a profile does not list keep their defaults. Measured timers belong to a place and a
//! year. UNSURE marks profiles whose source was not seen directly.

use crate::check::problem;
use crate::error::Problem;
use crate::extends::Files;
use crate::suggest::nearest;
use crate::tree::{Node, Reader, merge};

/// A named set of RRC keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RrcProfile {
    /// Name of the profile, as in `profile = "att-2010"`.
    pub name: &'static str,
    /// The network or study that the profile describes.
    pub description: &'static str,
    /// Keys of `[rrc]`, in TOML.
    pub keys: &'static str,
    /// Source of the values.
    pub source: &'static str,
}

/// All RRC profiles.
pub fn rrc_profiles() -> &'static [RrcProfile] {
    &PROFILES
}

/// Completes `[rrc]` and every `[ue.rrc]` from the profiles that they name. Returns a warning for
/// each profile that an override names and that the file partly hides.
pub(crate) fn apply(tree: &mut Node, files: &mut Files) -> Result<Vec<String>, Problem> {
    let top = profile_name(tree, "rrc");
    let groups = tree.get("ue").map(Node::elements).unwrap_or_default();
    let groups: Vec<Option<String>> = groups.iter().map(|ue| profile_name(ue, "rrc")).collect();
    let top = top.map(|name| profile(tree, "rrc.profile", &name, files)).transpose()?;
    let mut below = Vec::new();
    for (i, name) in groups.into_iter().enumerate() {
        let path = format!("ue.{i}.rrc.profile");
        below.push(name.map(|name| profile(tree, &path, &name, files)).transpose()?);
    }
    let mut warnings: Vec<String> = merge_below(tree, top).into_iter().collect();
    let Some(table) = tree.as_table_mut() else { return Ok(warnings) };
    let groups = table.get_mut("ue").map(Node::elements_mut).unwrap_or_default();
    for (ue, profile) in groups.iter_mut().zip(below) {
        warnings.extend(merge_below(ue, profile));
    }
    Ok(warnings)
}

/// The name of the profile in table `key` of `node`.
fn profile_name(node: &Node, key: &str) -> Option<String> {
    let name = node.get(key)?.get("profile")?.as_text()?;
    (name != "none").then(|| name.to_owned())
}

fn profile(tree: &Node, path: &str, name: &str, files: &mut Files) -> Result<Node, Problem> {
    let Some(profile) = rrc_profiles().iter().find(|profile| profile.name == name) else {
        let names = rrc_profiles().iter().map(|profile| profile.name);
        let help = match nearest(name, names.clone()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("the known profiles are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no RRC profile `{name}`");
        return Err(problem(tree, path, message).label("this name").help(help));
    };
    let text = format!("[rrc]\n{}", profile.keys);
    let source = files.add(&format!("RRC profile {name}"), text.clone());
    let read = Reader { source, by_override: false, shift: 0 }.read(&text)?;
    Ok(read.get("rrc").expect("the text begins with [rrc]").clone())
}

/// Merges a profile below the written keys. Returns a warning if an override names the profile and
/// the file partly hides it.
fn merge_below(node: &mut Node, profile: Option<Node>) -> Option<String> {
    let own = node.as_table_mut().and_then(|table| table.get_mut("rrc"))?;
    let profile = profile?;
    let warning = own.hidden_keys_warning(&profile);
    *own = merge(profile, own.clone());
    warning
}

static PROFILES: [RrcProfile; 7] = [
    RrcProfile {
        name: "dubois2005-ch7",
        description: "one non-preemptive timer, allocation in 0.9 s",
        keys: r#"
upswitch_threshold = "500 B"
upswitch_threshold_uplink = "265 B"
measurement_interval = "10 ms"
retry = "10 ms"
inactivity = "8 s"
preemptive_inactivity = "0 s"
fach_to_dch = "0.9 s"
dch_to_fach = "0.9 s"
fach_inactivity = "off"
"#,
        source: "Dubois (2005), Tables 7.2 and 7.4; EURANE for the uplink's threshold and the interval of 10 ms; a release \
                 that takes as long as an allocation is an interpretation of §5.2",
    },
    RrcProfile {
        name: "dubois2005-ch8",
        description: "a non-preemptive, then a preemptive timer, switches in 0.5 s",
        keys: r#"
upswitch_threshold = "500 B"
upswitch_threshold_uplink = "265 B"
measurement_interval = "10 ms"
retry = "10 ms"
inactivity = "2 s"
preemptive_inactivity = "8 s"
fach_to_dch = "0.5 s"
dch_to_fach = "0.5 s"
fach_inactivity = "off"
"#,
        source: "Dubois (2005), Table 8.1; the timers are one pair of its grid; the rest is as in dubois2005-ch7",
    },
    RrcProfile {
        name: "eurane",
        description: "EURANE's switching: no delay, downswitch after 1 s of low throughput in reports of 0.5 s",
        keys: r#"
upswitch_threshold = "500 B"
upswitch_threshold_uplink = "265 B"
measurement_interval = "10 ms"
retry = "500 ms"
inactivity = "1.5 s"
preemptive_inactivity = "0 s"
fach_to_dch = "0 s"
dch_to_fach = "0 s"
fach_inactivity = "off"
"#,
        source: "EURANE on ns-2.29; its downswitch below 8 kbit/s is a downswitch at zero throughput here",
    },
    RrcProfile {
        name: "att-2010",
        description: "AT&T, USA, 2010: idle to CELL_DCH at once, T1 = 5 s, T2 = 12 s",
        keys: r#"
initial_state = "idle"
upswitch_threshold = "475 B"
upswitch_threshold_uplink = "543 B"
inactivity = "5 s"
fach_inactivity = "12 s"
after_fach = "idle"
promotion = "cell_dch"
idle_to_dch = "2 s"
fach_to_dch = "1.5 s"
power = { idle = "0 mW", cell_fach = "350 mW", cell_dch = "700 mW", promotion_from_idle = "530 mW", promotion_from_fach = "550 mW" }
"#,
        source: "Qian et al., Characterizing Radio Resource Allocation for 3G Networks, IMC 2010, carrier 1; defaults of \
                 AT&T ARO's 3G profile",
    },
    RrcProfile {
        name: "t-mobile-us-2010",
        description: "T-Mobile, USA, 2010: idle to CELL_FACH first, T1 = 6 s, T2 = 4 s",
        keys: r#"
initial_state = "idle"
upswitch_threshold = "119 B"
upswitch_threshold_uplink = "151 B"
inactivity = "6 s"
fach_inactivity = "4 s"
after_fach = "idle"
promotion = "cell_fach"
idle_to_fach = "0.6 s"
fach_to_dch = "1.3 s"
"#,
        source: "Qian et al., IMC 2010, carrier 2; UNSURE to 10 %: from memory",
    },
    RrcProfile {
        name: "nokia-ran",
        description: "a vendor's data sheet: T1 = 3 s at 64 kbit/s (5 s up to 32 kbit/s, 2 s from 128 kbit/s), 1 kB for a DCH",
        keys: r#"
upswitch_threshold = "1 kB"
upswitch_threshold_uplink = "1 kB"
inactivity = "3 s"
"#,
        source: "Nokia RAN parameter sheet; its low threshold is 128 B; delays and other keys are defaults",
    },
    RrcProfile {
        name: "aalto-2011",
        description: "a Finnish network, 2011: T1 = 3.5 s, T2 = 8.5 s, CELL_PCH or idle after it",
        keys: r#"
inactivity = "3.5 s"
fach_inactivity = "8.5 s"
after_fach = "cell_pch"
power = { idle = "63.5 mW", ura_pch = "63.5 mW", cell_pch = "63.5 mW", cell_fach = "536 mW", cell_dch = "973 mW" }
"#,
        source: "SmartDiet's UMTS energy model (Saarinen, Aalto University, 2011): 3.97 V times 16, 135 and 245 mA; \
                 thresholds and delays are defaults",
    },
];
