//! Radio resource control in scenario files: profiles, names, limits.

use umts_scenario::model::{Promotion, RestingState, Rrc};
use umts_scenario::{Loaded, ScenarioError, rrc_profiles};
use umts_units::{Bytes, Duration, MilliWatts};

use crate::common::{assert_mistakes, load_with, scenario_of};

/// A scenario with one switched user.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nTABLES\n[[ue]]\nname = \"user\"\nbearer = \"switched\"\n\
                     [[flow]]\nue = \"user\"\n";

/// Loads [`SMALL`] with these tables and these overrides.
fn load(tables: &str, overrides: &[(&str, &str)]) -> Result<Loaded, ScenarioError> {
    load_with(&SMALL.replace("TABLES", tables), overrides)
}

/// Returns the RRC of the user of a valid scenario.
fn rrc(tables: &str, overrides: &[(&str, &str)]) -> Rrc {
    let loaded = load(tables, overrides).unwrap_or_else(|error| panic!("{}", error.render(false)));
    loaded.scenario.rrc_of(&loaded.scenario.ue[0]).expect("the users are switched").clone()
}

/// Returns the rendered error for these tables.
fn refused(tables: &str) -> String {
    match load(tables, &[]) {
        Ok(loaded) => panic!("accepted, with {:?}", loaded.warnings),
        Err(error) => error.render(false),
    }
}

/// Head of a cell. Keys of its admission follow.
const CELL: &str = "[[cell]]\nname = \"cell\"\n[cell.admission]\n";

#[test]
fn rrc_profiles_load_and_round_trip_through_toml() {
    for profile in rrc_profiles() {
        let name = format!("profile = \"{}\"", profile.name);
        let loaded =
            load(&format!("[rrc]\n{name}"), &[]).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert!(loaded.warnings.is_empty(), "{}: {:?}", profile.name, loaded.warnings);
        let written = load(&format!("[rrc]\n{}", profile.keys), &[])
            .expect("the keys of the profile are valid")
            .scenario;
        assert_eq!(
            loaded.scenario.rrc,
            Rrc { profile: Some(profile.name.to_owned()), ..written.rrc.clone() }
        );
        assert_eq!(scenario_of(&loaded.scenario.to_toml()), loaded.scenario, "{}", profile.name);
        assert!(!profile.source.is_empty() && !profile.description.is_empty());
    }
}

#[test]
fn overrides_precede_keys_and_keys_precede_the_profile() {
    let att = rrc("[rrc]\nprofile = \"att-2010\"\ninactivity = \"7 s\"", &[]);
    assert_eq!((att.initial_state, att.promotion), (RestingState::Idle, Promotion::CellDch));
    assert_eq!((att.inactivity, att.fach_to_dch), (Duration::from_secs(7), Duration::from_millis(1500)));
    assert_eq!(att.power.cell_dch, MilliWatts::new(700.0).unwrap());
    assert_eq!(att.power.cell_pch, Rrc::default().power.cell_pch, "other keys have their defaults");
    let overridden = rrc(
        "[rrc]\ninactivity = \"7 s\"",
        &[("rrc.profile", "t-mobile-us-2010"), ("rrc.fach_to_dch", "1 s")],
    );
    assert_eq!(
        (overridden.inactivity, overridden.fach_to_dch),
        (Duration::from_secs(7), Duration::from_secs(1))
    );
    assert_eq!(overridden.upswitch_threshold, Some(Bytes(119)));
}

#[test]
fn group_has_rrc_keys_of_its_own() {
    let text = "version = 1\nduration = \"10 s\"\n[rrc]\ninactivity = \"3 s\"\nretry = \"1 s\"\n\
                [[ue]]\nname = \"a\"\nbearer = \"switched\"\nrrc = { profile = \"att-2010\", idle_to_dch = \"9 s\" }\n\
                [[ue]]\nname = \"b\"\nbearer = \"switched\"\n[[flow]]\nue = \"a\"\n[[flow]]\nue = \"b\"\n";
    let scenario = scenario_of(text);
    let [a, b] = [0, 1].map(|i| scenario.rrc_of(&scenario.ue[i]).unwrap());
    assert_eq!((a.inactivity, a.idle_to_dch), (Duration::from_secs(5), Duration::from_secs(9)));
    assert_eq!(a.retry, Duration::from_secs(1), "from the top, since the profile does not name it");
    assert_eq!((b.inactivity, b.initial_state), (Duration::from_secs(3), RestingState::CellFach));
}

const MISTAKES: &str = r#"
    TABLES rrc.profile = "at-2010"
        => rrc.profile: there is no RRC profile `at-2010` | did you mean "att-2010"?
    TABLES rrc.profile = "x"
        => rrc.profile: there is no RRC profile `x` | the known profiles are dubois2005-ch7
    TABLES rrc.dch = [] => rrc.dch: switched users need at least one DCH | dch = ["ps-64"]
    TABLES rrc.dch = ["ps-65"] => rrc.dch.0: there is no bearer `ps-65` | did you mean "ps-64"?
    TABLES rrc.dch = ["common"] => rrc.dch.0: there is no bearer `common`
    TABLES rrc.dch = ["ps-64", "ps-384"] => rrc.dch.1: 384 kbit/s is not below 64 kbit/s | in descending order
    TABLES rrc.after_fach = "cell_fach" => rrc.after_fach: must cost less than CELL_FACH | cell_fach, cell_pch
    TABLES rrc.after_cell_pch = "cell_pch" => rrc.after_cell_pch: must cost less than CELL_PCH
    TABLES rrc.initial_state = "cell_dch" => rrc.initial_state: `cell_dch` is not a known | "cell_fach"
    TABLES rrc.retry = "0 s" => rrc.retry: rrc.retry cannot be 0 s | 1 ms to 60 s
    TABLES rrc.inactivity = "0 s"
        => rrc.inactivity: released 0 s after its allocation | together must be at least 10 ms
    TABLES rrc.fach_inactivity = "0 s"
        => rrc.fach_inactivity: rrc.fach_inactivity cannot be 0 s | 10 ms to 24 h
    TABLES rrc.ura_pch_inactivity = "9 ms"
        => rrc.ura_pch_inactivity: rrc.ura_pch_inactivity cannot be 9 ms | 10 ms to 24 h
    TABLES rrc.inactivity = "off" => rrc.inactivity: `off` does not start with a number
    TABLES rrc.power.cell_dch = "0.7 W" => rrc.power.cell_dch: `W` is not a unit of a power: use one of mW
    TABLES rrc.power.cell_dch = "-1 mW" => rrc.power.cell_dch: out of range
    TABLES rrc.power.cell_dch = "inf mW" => rrc.power.cell_dch: does not start with a number
    TABLES cell = [{ name = "cell", admission = { downlink = "90 kbit/s" } }]
        => cell.0.admission.downlink: no DCH of bearer `ps-64` fits | raise the limit
    TABLES cell = [{ name = "cell", rach = "none" }] => ue.0.bearer: has no RACH
    TABLES [[bearer]]
        name = "switched"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.name: cannot be defined | choose another name
"#;

#[test]
fn rrc_mistakes_are_reported_with_a_correction() {
    assert_mistakes(SMALL, MISTAKES);
}

#[test]
fn permanent_dchs_count_towards_admission() {
    let fixed = "[[ue]]\nname = \"fixed\"\ncount = 2\nbearer = \"ps-64\"\n";
    // The sums of the rates are 32 + 2 * 64 + 64 = 224 kbit/s down and 2 * 64 + 64 = 192 kbit/s up.
    assert!(
        load(&format!("{CELL}downlink = \"224 kbit/s\"\n{fixed}"), &[]).is_ok(),
        "32 kbit/s of the common channels, two permanent DCHs and a switched one of 64 kbit/s"
    );
    assert!(refused(&format!("{CELL}downlink = \"223 kbit/s\"\n{fixed}")).contains("no DCH"));
    assert!(refused(&format!("{CELL}dchs = 1\n{fixed}")).contains("more than this limit"));
    assert!(refused(&format!("{CELL}uplink = \"191 kbit/s\"\n{fixed}")).contains("no DCH"));
}

#[test]
fn keys_without_effect_give_warnings() {
    let warned = load("[rrc]\nupswitch_threshold = \"1 MB\"\n[rlc]\nbuffer = \"100 kB\"", &[])
        .expect("the scenario loads")
        .warnings;
    assert!(warned.iter().any(|warning| warning.contains("never holds that much")), "{warned:?}");
    // The buffer of this group (9 kB) applies, not the general one, and also with the uplink's threshold.
    let own = "[rrc]\nupswitch_threshold_uplink = \"10 kB\"\n[[ue]]\nname = \"own\"\nbearer = \"switched\"\n\
               rlc = { buffer = \"9 kB\" }\n[[flow]]\nue = \"own\"\n";
    let warned = load(own, &[]).expect("the scenario loads").warnings;
    let holds = |warning: &&String| warning.contains("never holds that much");
    assert_eq!(warned.iter().filter(holds).count(), 1, "{warned:?}");
    let fixed = "[[ue]]\nname = \"fixed\"\nrrc = { inactivity = \"1 s\" }\n";
    let warned = load(fixed, &[]).expect("the scenario loads").warnings;
    assert!(warned.iter().any(|warning| warning.contains("not switched")), "{warned:?}");
}

#[test]
fn overriding_a_profile_warns_of_keys_in_the_file() {
    let own = "[rrc]\ninactivity = \"7 s\"\nretry = \"1 s\"\nafter_fach = \"idle\"\npower = { cell_fach = \"900 mW\" }";
    let kept = load(own, &[("rrc.profile", "att-2010"), ("rrc.fach_to_dch", "1 s")])
        .expect("the scenario loads")
        .warnings;
    assert_eq!(kept.len(), 1, "{kept:?}");
    let expected = "rrc.profile: the scenario itself sets inactivity, power.cell_fach, which take precedence";
    assert!(kept[0].starts_with(expected), "{kept:?}");
    // Keys beside a profile in a file are intended.
    let meant = load("[rrc]\nprofile = \"att-2010\"\ninactivity = \"7 s\"", &[])
        .expect("the scenario loads")
        .warnings;
    assert_eq!(meant, [] as [&str; 0]);
    let tcp = load("[tcp]\nvariant = \"vegas\"", &[("tcp.profile", "linux-2.4")])
        .expect("the scenario loads")
        .warnings;
    assert!(
        tcp[0].starts_with("tcp.profile: the scenario itself sets variant, which take precedence"),
        "{tcp:?}"
    );
}
