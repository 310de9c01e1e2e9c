//! Colours of causes, states and lanes: declared once for figures, pages and exports.
//!
//! The fills of the causes in the light theme are from the palette of Okabe and Ito, which
//! colour-blind readers can distinguish. Related causes share a hue, and a hatch distinguishes them,
//! also in grey print. Yellow, orange and light blue are too pale alone, so each fill has an edge.

use crate::budget::Cause;

/// A colour: fill and edge in the light theme, then in the dark theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hue {
    /// Name, unique among the hues.
    pub name: &'static str,
    /// Fill and edge in the light theme.
    pub light: [&'static str; 2],
    /// Fill and edge in the dark theme.
    pub dark: [&'static str; 2],
}

const fn hue(name: &'static str, light: [&'static str; 2], dark: [&'static str; 2]) -> Hue {
    Hue { name, light, dark }
}

/// All hues: of causes, then of states, then the greys of lanes.
pub const HUES: &[Hue] = &[
    hue("rto", ["#d55e00", "#8f3f00"], ["#e8742c", "#ffb27d"]),
    hue("switch", ["#e69f00", "#8a5f00"], ["#e9a820", "#ffd98a"]),
    hue("rlc", ["#cc79a7", "#8f4470"], ["#d58bb4", "#f3c3dc"]),
    hue("queue", ["#f0e442", "#7d7600"], ["#ede255", "#fff8b0"]),
    hue("core", ["#777777", "#4a4a4a"], ["#70767d", "#c5cacf"]),
    hue("repeat", ["#882255", "#5e173b"], ["#c2487f", "#eea9c9"]),
    hue("setup", ["#1b1f24", "#1b1f24"], ["#e6e9ec", "#e6e9ec"]),
    hue("window", ["#56b4e9", "#1f75a6"], ["#7cc6f0", "#c4e5f8"]),
    hue("serial", ["#0072b2", "#004e7a"], ["#2f87c4", "#8cc5eb"]),
    hue("prop", ["#009e73", "#006a4d"], ["#1fa67f", "#7fdcbf"]),
    hue("proxy", ["#332288", "#221660"], ["#8577d8", "#c6bff2"]),
    hue("idle", ["#e3e6ea", "#8a929b"], ["#2b3036", "#6b747e"]),
    hue("unseen", ["#ffffff", "#8a929b"], ["#15171a", "#6b747e"]),
    hue("idle-mode", ["#f5f6f8", "#8a929b"], ["#1d2024", "#6b747e"]),
    hue("pch", ["#e3e6ea", "#8a929b"], ["#2b3036", "#6b747e"]),
    hue("fach", ["#cdd2d8", "#8a929b"], ["#4b525a", "#6b747e"]),
    hue("dch", ["#5b636c", "#1b1f24"], ["#98a1aa", "#e6e9ec"]),
    hue("ink", ["#1b1f24", "#1b1f24"], ["#e6e9ec", "#e6e9ec"]),
    hue("ghost", ["#858d96", "#5b636c"], ["#7b838c", "#98a1aa"]),
    hue("pale", ["#e3e6ea", "#8a929b"], ["#2b3036", "#6b747e"]),
    hue("bg", ["#ffffff", "#8a929b"], ["#15171a", "#6b747e"]),
];

/// Look of a cause or state: name of a hue, and of a hatch (`rising`, `falling`, `crossed`,
/// `dotted`, `ringed`, `plus`, or empty for none).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Cause or state.
    pub name: &'static str,
    /// Name of a [`Hue`].
    pub hue: &'static str,
    /// Name of the hatch, or empty.
    pub hatch: &'static str,
}

const fn look(name: &'static str, hue: &'static str, hatch: &'static str) -> Look {
    Look { name, hue, hatch }
}

/// Look of a cause.
pub fn look_of(cause: Cause) -> Look {
    let (hue, hatch) = match cause {
        Cause::RtoNeeded => ("rto", ""),
        Cause::ChannelSwitch => ("switch", ""),
        Cause::DchRefused => ("switch", "dotted"),
        Cause::Handover => ("switch", "falling"),
        Cause::CapacityRequest => ("switch", "rising"),
        Cause::CapacityWait => ("switch", "crossed"),
        Cause::PostponedCodes => ("queue", "rising"),
        Cause::PostponedPower => ("queue", "crossed"),
        Cause::PostponedCredit => ("queue", "dotted"),
        Cause::RlcReestablishment => ("rlc", "ringed"),
        Cause::RlcReset => ("rlc", "plus"),
        Cause::AckChannel => ("rlc", "rising"),
        Cause::StatusProhibited => ("rlc", "dotted"),
        Cause::NodebDrop => ("rlc", "crossed"),
        Cause::Reordering => ("serial", "crossed"),
        Cause::RlcRecovery => ("rlc", ""),
        Cause::RlcWindow => ("rlc", "falling"),
        Cause::IubCredit => ("queue", "falling"),
        Cause::Harq => ("serial", "rising"),
        Cause::RadioQueue => ("queue", ""),
        Cause::CoreQueue => ("core", ""),
        Cause::NeedlessRepeats => ("repeat", ""),
        Cause::AckLoss => ("repeat", "dotted"),
        Cause::RlcDiscard => ("rto", "rising"),
        Cause::RadioLoss => ("rto", "crossed"),
        Cause::BufferFull => ("rto", "dotted"),
        Cause::CoreDrop => ("core", "dotted"),
        Cause::CoreOutage => ("core", "crossed"),
        Cause::CoreLoss => ("core", "rising"),
        Cause::Names => ("setup", "rising"),
        Cause::Setup => ("setup", ""),
        Cause::SlowStartSpurious => ("repeat", "rising"),
        Cause::SlowStart => ("window", ""),
        Cause::CongestionAvoidance => ("window", "rising"),
        Cause::AdvertisedWindow => ("window", "crossed"),
        Cause::Serialisation => ("serial", ""),
        Cause::Propagation => ("prop", ""),
        Cause::SenderIdle => ("idle", "rising"),
        Cause::ApplicationIdle => ("idle", ""),
        Cause::NotVisible => ("unseen", "dotted"),
        Cause::Unexplained => ("unseen", "crossed"),
    };
    look(cause.name(), hue, hatch)
}

/// Looks of the causes that only transfers through a proxy have.
pub const PROXY_LOOKS: &[Look] = &[look("proxy_queue", "proxy", ""), look("proxy_setup", "proxy", "rising")];

/// Looks of the RRC states, in order of the cost of the state, and of a switch between states.
/// Greys, because a strip of causes beside the states uses the other hues.
pub const STATE_LOOKS: &[Look] = &[
    look("IDLE", "idle-mode", ""),
    look("URA_PCH", "pch", "dotted"),
    look("CELL_PCH", "pch", "rising"),
    look("CELL_FACH", "fach", ""),
    look("CELL_DCH", "dch", ""),
    look("switch", "switch", ""),
];

/// Share of the height of a strip that each state fills, in the order of [`STATE_LOOKS`].
pub const STATE_HEIGHTS: &[f64] = &[0.12, 0.22, 0.32, 0.55, 0.9, 0.9];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn looks_differ_and_have_hues() {
        let mut looks = BTreeSet::new();
        for look in Cause::ALL.iter().map(|cause| look_of(*cause)).chain(PROXY_LOOKS.iter().copied()) {
            assert!(HUES.iter().any(|hue| hue.name == look.hue), "{}", look.name);
            assert!(looks.insert((look.hue, look.hatch)), "{} looks like another cause", look.name);
        }
        assert!(STATE_LOOKS.iter().all(|look| HUES.iter().any(|hue| hue.name == look.hue)));
        assert_eq!(STATE_LOOKS.len(), STATE_HEIGHTS.len());
        let names: BTreeSet<_> = HUES.iter().map(|hue| hue.name).collect();
        assert_eq!(names.len(), HUES.len());
    }
}
