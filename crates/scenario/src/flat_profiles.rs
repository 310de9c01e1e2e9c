//! Named "3G" settings of browsers and test services: `flat.profile = "…"`.
//!
//! Rates apply to IP packets, and round-trip times are additional, as far as the sources say.
//! Browsers apply their settings to requests; here all settings apply to packets. None of them has
//! a buffer size, a state or a TTI.

use crate::check::problem;
use crate::error::Problem;
use crate::extends::Files;
use crate::suggest::nearest;
use crate::tree::{Node, Reader, merge};

/// A named setting of a flat radio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlatProfile {
    /// Name of the profile, as in `profile = "wpt-3g-fast"`.
    pub name: &'static str,
    /// Downlink rate in bit/s.
    pub downlink_bps: u64,
    /// Uplink rate in bit/s.
    pub uplink_bps: u64,
    /// Round-trip time in microseconds.
    pub rtt_us: u64,
    /// Loss of IP packets in each direction, in percent.
    pub loss_percent: u32,
    /// Browser or service, its name of the setting, and its version.
    pub source: &'static str,
}

/// All profiles of a flat radio.
pub fn flat_profiles() -> &'static [FlatProfile] {
    &PROFILES
}

/// Completes every `[ue.flat]` that names a profile.
pub(crate) fn apply(tree: &mut Node, files: &mut Files) -> Result<(), Problem> {
    let groups = tree.get("ue").map(Node::elements).unwrap_or_default();
    let names: Vec<Option<String>> = groups.iter().map(profile_name).collect();
    let mut profiles = Vec::new();
    for (i, name) in names.into_iter().enumerate() {
        let path = format!("ue.{i}.flat.profile");
        profiles.push(name.map(|name| profile(tree, &path, &name, files)).transpose()?);
    }
    let Some(table) = tree.as_table_mut() else { return Ok(()) };
    let groups = table.get_mut("ue").map(Node::elements_mut).unwrap_or_default();
    for (ue, profile) in groups.iter_mut().zip(profiles) {
        let own = ue.as_table_mut().and_then(|table| table.get_mut("flat"));
        if let (Some(own), Some(profile)) = (own, profile) {
            *own = merge(profile, own.clone());
        }
    }
    Ok(())
}

/// Name of the profile of a `[[ue]]`. `None` without a profile.
fn profile_name(ue: &Node) -> Option<String> {
    let name = ue.get("flat")?.get("profile")?.as_text()?;
    (name != "none").then(|| name.to_owned())
}

/// The keys of the profile `name`, which the key at `path` names. Adds its text to `files` as a source.
fn profile(tree: &Node, path: &str, name: &str, files: &mut Files) -> Result<Node, Problem> {
    let Some(profile) = flat_profiles().iter().find(|profile| profile.name == name) else {
        let names = flat_profiles().iter().map(|profile| profile.name);
        let help = match nearest(name, names.clone()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("the known profiles are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no flat profile `{name}`");
        return Err(problem(tree, path, message).label("this name").help(help));
    };
    let text = profile.table();
    let source = files.add(&format!("flat profile {name}"), text.clone());
    let read = Reader { source, by_override: false, shift: 0 }.read(&text)?;
    Ok(read.get("flat").expect("the text begins with [flat]").clone())
}

impl FlatProfile {
    /// The profile's keys as TOML.
    fn table(&self) -> String {
        let loss = f64::from(self.loss_percent) / 100.0;
        let FlatProfile { downlink_bps, uplink_bps, rtt_us, .. } = self;
        format!(
            "[flat]\ndownlink = \"{downlink_bps} bit/s\"\nuplink = \"{uplink_bps} bit/s\"\nrtt = \"{rtt_us} us\"\n\
             loss = {loss:?}\n"
        )
    }
}

static PROFILES: [FlatProfile; 18] = [
    FlatProfile {
        name: "wpt-3g-slow",
        downlink_bps: 400_000,
        uplink_bps: 400_000,
        rtt_us: 400_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (newer; UNSURE: which commit): 3G Slow",
    },
    FlatProfile {
        name: "wpt-3g",
        downlink_bps: 1_600_000,
        uplink_bps: 768_000,
        rtt_us: 300_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (newer; UNSURE: which commit): 3G",
    },
    FlatProfile {
        name: "wpt-3g-fast",
        downlink_bps: 1_600_000,
        uplink_bps: 768_000,
        rtt_us: 150_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (newer; UNSURE: which commit): 3G Fast",
    },
    FlatProfile {
        name: "wpt-edge",
        downlink_bps: 240_000,
        uplink_bps: 200_000,
        rtt_us: 840_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (newer; UNSURE: which commit): Edge",
    },
    FlatProfile {
        name: "wpt-2g",
        downlink_bps: 280_000,
        uplink_bps: 256_000,
        rtt_us: 800_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (newer; UNSURE: which commit): 2G",
    },
    FlatProfile {
        name: "wpt-old-3g-slow",
        downlink_bps: 780_000,
        uplink_bps: 330_000,
        rtt_us: 200_000,
        loss_percent: 0,
        source: "WebPageTest, connectivity.ini.sample (older; UNSURE: which commit); the same name has \
                 other numbers in newer ones: \
                 3G Slow",
    },
    FlatProfile {
        name: "lighthouse-slow-4g",
        downlink_bps: 1_638_400,
        uplink_bps: 750_000,
        rtt_us: 150_000,
        loss_percent: 0,
        source: "Lighthouse, constants.js at 7ac9485: mobileSlow4G, the default of its mobile runs; simulated \
                 throttling",
    },
    FlatProfile {
        name: "lighthouse-regular-3g",
        downlink_bps: 700_000,
        uplink_bps: 700_000,
        rtt_us: 300_000,
        loss_percent: 0,
        source: "Lighthouse, constants.js at 7ac9485: mobileRegular3G; simulated throttling",
    },
    FlatProfile {
        name: "chrome-3g",
        downlink_bps: 400_000,
        uplink_bps: 400_000,
        rtt_us: 400_000,
        loss_percent: 0,
        source: "Chrome DevTools, NetworkManager.ts at 00d120b: 3G (Slow 3G before 2024), the target; it \
                 delays each request by 2,000 ms",
    },
    FlatProfile {
        name: "chrome-slow-4g",
        downlink_bps: 1_440_000,
        uplink_bps: 675_000,
        rtt_us: 150_000,
        loss_percent: 0,
        source: "Chrome DevTools, NetworkManager.ts at 00d120b: Slow 4G (Fast 3G before 2024), the target; it \
                 delays each request by 562.5 ms",
    },
    FlatProfile {
        name: "chrome-fast-4g",
        downlink_bps: 8_100_000,
        uplink_bps: 1_350_000,
        rtt_us: 60_000,
        loss_percent: 0,
        source: "Chrome DevTools, NetworkManager.ts at 00d120b: Fast 4G, the target; it delays each request \
                 by 165 ms",
    },
    FlatProfile {
        name: "firefox-regular-3g",
        downlink_bps: 750_000,
        uplink_bps: 250_000,
        rtt_us: 100_000,
        loss_percent: 0,
        source: "Firefox DevTools, throttling profiles (its latency is a minimum; UNSURE: which version): Regular 3G",
    },
    FlatProfile {
        name: "firefox-good-3g",
        downlink_bps: 1_500_000,
        uplink_bps: 750_000,
        rtt_us: 40_000,
        loss_percent: 0,
        source: "Firefox DevTools, throttling profiles (its latency is a minimum; UNSURE: which version): Good 3G",
    },
    FlatProfile {
        name: "android-gprs",
        downlink_bps: 80_000,
        uplink_bps: 40_000,
        rtt_us: 350_000,
        loss_percent: 0,
        source: "Android emulator, android/utils of 2010 and later: -netspeed and -netdelay gprs: 150 to 550 \
                 ms, here their middle",
    },
    FlatProfile {
        name: "android-edge",
        downlink_bps: 236_800,
        uplink_bps: 118_400,
        rtt_us: 240_000,
        loss_percent: 0,
        source: "Android emulator, android/utils of 2010 and later: -netspeed and -netdelay edge: 80 to 400 \
                 ms, here their middle",
    },
    FlatProfile {
        name: "android-umts",
        downlink_bps: 1_920_000,
        uplink_bps: 128_000,
        rtt_us: 117_500,
        loss_percent: 0,
        source: "Android emulator, android/utils of 2010 and later: -netspeed and -netdelay umts: 35 to 200 \
                 ms, here their middle; according to its source the latencies are imaginary",
    },
    FlatProfile {
        name: "browserstack-umts-good",
        downlink_bps: 400_000,
        uplink_bps: 100_000,
        rtt_us: 100_000,
        loss_percent: 0,
        source: "BrowserStack, network profiles; UNSURE: version unknown: 3g-umts-good",
    },
    FlatProfile {
        name: "browserstack-umts-lossy",
        downlink_bps: 200_000,
        uplink_bps: 50_000,
        rtt_us: 200_000,
        loss_percent: 1,
        source: "BrowserStack, network profiles; UNSURE: version unknown: 3g-umts-lossy",
    },
];
