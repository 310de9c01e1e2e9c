//! Every shipped scenario loads, has the intended content, and can be written and loaded again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use umts_scenario::model::{
    Bearer, BlockErrors, Dch, ErrorUnit, FachScheduling, IubTiming, QueueLimit, RachAccess, RlcHeader,
    TcpConnection, Traffic, Window,
};
use umts_scenario::{Loaded, Scenario};
use umts_units::{Duration, Octets, Probability};

/// The folder of the shipped scenarios.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Loads a shipped scenario.
fn load(name: &str) -> Scenario {
    load_with(name, &[]).scenario
}

fn load_with(name: &str, overrides: &[(&str, &str)]) -> Loaded {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let loaded = Scenario::load(&folder().join(format!("{name}.toml")), &overrides);
    loaded.unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// All shipped scenarios by name.
fn all() -> BTreeMap<String, Scenario> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .map(|n| (n.clone(), load(&n)))
        .collect()
}

#[test]
fn shipped_scenarios_load_without_warnings_except_the_deadlock() {
    let all = all();
    assert!(all.len() >= 8, "{:?}", all.keys());
    for (stem, scenario) in &all {
        assert_eq!(&scenario.name, stem);
        let warnings = load_with(stem, &[]).warnings;
        match &**stem {
            "rlc-deadlock" => {
                assert!(warnings.len() == 1 && warnings[0].contains("stall for good"), "{warnings:?}")
            }
            _ => assert_eq!(warnings, [] as [&str; 0], "{stem}"),
        }
        assert!(!scenario.title.is_empty(), "{stem} has a title of its own");
    }
}

#[test]
fn first_example_has_its_documented_values() {
    let text = std::fs::read_to_string(folder().join("ftp-on-fach.toml")).unwrap();
    assert!(!text.contains("extends"));
    let scenario = load("ftp-on-fach");
    let cell = &scenario.cell[0];
    let (fach, rach) = (cell.fach.as_ref().unwrap(), cell.rach.as_ref().unwrap());
    assert_eq!((fach.rate.bps(), fach.tti), (32_000, Duration::from_millis(10)));
    assert_eq!((fach.scheduling, fach.nodeb_queue), (FachScheduling::PerUePush, 9));
    assert_eq!((rach.rate.bps(), rach.access), (16_000, RachAccess::Private));
    assert_eq!(cell.iub.timing, IubTiming::NextFrame);
    assert_eq!(
        scenario.link.iter().map(|link| link.delay).fold(Duration::ZERO, |a, b| a + b),
        "60.4 ms".parse().unwrap()
    );
    assert_eq!(scenario.link[0].queue, Some(QueueLimit::Packets(50)));
    assert_eq!((scenario.rlc.header, scenario.rlc.max_dat), (RlcHeader::Uncounted, Some(9000)));
    let bler = Probability::new(0.01).unwrap();
    assert_eq!(scenario.radio.downlink, BlockErrors::Independent { bler, unit: ErrorUnit::Pdu });
    assert_eq!(scenario.radio.uplink, None);
    let flow = &scenario.flow[0];
    assert_eq!((&flow.traffic, flow.tcp.connection), (&Traffic::Ftp, TcpConnection::OneWay));
    assert_eq!((flow.tcp.advertised_window, flow.tcp.segment_payload), (Window::Segments(20), Octets(1000)));
    assert_eq!(flow.tcp, scenario.tcp);
}

#[test]
fn the_second_user_joins_the_first_with_the_same_settings() {
    let scenario = load("ftp-on-fach-two-users");
    assert_eq!(scenario.ue.iter().map(|ue| ue.name.as_str()).collect::<Vec<_>>(), ["user", "second"]);
    let [first, second] = &scenario.flow[..] else { panic!("two flows") };
    assert_eq!((first.start, second.start), ("0.5 s".parse().unwrap(), Duration::from_secs(1500)));
    assert_eq!(first.tcp, second.tcp);
    assert_eq!(first.tcp, load("ftp-on-fach").tcp);
}

#[test]
fn counterparts_with_3gpp_options_differ_only_in_these() {
    for (stem, scenario) in all() {
        let Some(compatible) = stem.strip_suffix("-3gpp").map(load) else { continue };
        assert_eq!(scenario.tcp.connection, TcpConnection::FullDuplex, "{stem}");
        assert_eq!(scenario.rlc.header, RlcHeader::Counted, "{stem}");
        assert_eq!(scenario.duration, compatible.duration, "{stem}");
        assert_eq!(scenario.radio, compatible.radio, "{stem}");
        assert_eq!(scenario.link, compatible.link, "{stem}");
        let rates = |s: &Scenario| {
            // A reference bearer has a transport format set, a declared one of the same rate has
            // none.
            let any = |dch: &Dch| Dch { transport_formats: Vec::new(), ..dch.clone() };
            let bearer = |bearer: &Bearer| (any(&bearer.downlink), any(&bearer.uplink));
            s.bearer.iter().map(bearer).collect::<Vec<_>>()
        };
        assert_eq!(rates(&scenario), rates(&compatible), "{stem}");
        assert_eq!(scenario.ue, compatible.ue, "{stem}");
        let starts = |s: &Scenario| s.flow.iter().map(|f| (f.ue.clone(), f.start)).collect::<Vec<_>>();
        assert_eq!(starts(&scenario), starts(&compatible), "{stem}");
    }
}

#[test]
fn shipped_scenarios_round_trip_through_toml() {
    for (stem, scenario) in all() {
        let text = scenario.to_toml();
        let reloaded = Scenario::parse(&text, "written", &folder(), &[])
            .unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert_eq!(reloaded.scenario, scenario, "{stem}:\n{text}");
        assert_eq!(reloaded.scenario.to_json(), scenario.to_json(), "{stem}");
    }
}

#[test]
fn hash_depends_on_every_key_that_affects_a_run() {
    let hash = |overrides: &[(&str, &str)]| load_with("ftp-on-fach", overrides).scenario.content_hash();
    let plain = hash(&[]);
    assert_eq!(plain.len(), 64);
    for label in [("name", "other"), ("title", "other"), ("source", "other"), ("seed", "7")] {
        assert_eq!(hash(&[label]), plain, "{label:?} is a label");
    }
    assert_eq!(hash(&[("duration", "25 min")]), plain, "1500 s by another name");
    for change in
        [("radio.bler", "0.02"), ("measure.from", "1 s"), ("tcp.variant", "tahoe"), ("link.0.delay", "36 ms")]
    {
        assert_ne!(hash(&[change]), plain, "{change:?} decides");
    }
}
