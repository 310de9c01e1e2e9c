//! Power and the DSCH of cells: defaults, conversion, and invalid values.

use umts_scenario::model::{Blocks, Dsch, Power};
use umts_scenario::{Loaded, Scenario, ScenarioError};
use umts_stack::rnc::mac_sh::{MacShConfig, RatePolicy};
use umts_stack::scheduling::SchedulerKind;

use crate::common::{assert_mistakes, fill, scenario_of};

/// A cell of a layout with one user. `POWER` and `DSCH` are placeholders in the tables of that
/// name.
const SMALL: &str = "version = 1\nduration = \"10 s\"\n[layout]\n[[cell]]\nname = \"sector\"\n[cell.power]\nPOWER\n[cell.dsch]\nDSCH\n\
                     [[ue]]\nname = \"user\"\n";

/// Returns [`SMALL`] with `keys` instead of a placeholder, and without the other placeholder.
fn with(placeholder: &str, keys: &str) -> String {
    fill(SMALL, &format!("{placeholder} {keys}"))
}

/// Returns the tables `[cell.power]` and `[cell.dsch]` of a valid scenario.
fn tables(text: &str) -> (Power, Dsch) {
    let cell = &scenario_of(text).cell[0];
    (cell.power.clone().expect("it is written"), cell.dsch.clone().expect("it is written"))
}

/// Returns the configuration of the stack for a DSCH with these keys.
fn configured(keys: &str) -> MacShConfig {
    let (power, dsch) = tables(&with("DSCH", keys));
    dsch.config(&power)
}

#[test]
fn dsch_defaults_are_the_values_of_the_study() {
    let (power, dsch) = tables(&with("", ""));
    let config = dsch.config(&power);
    // Blocks and spreading factor of each format. A block of 40 octets per TTI of 20 ms is 16
    // kbit/s.
    let formats: Vec<(u32, u16)> =
        config.formats.iter().map(|format| (format.blocks, format.spreading_factor)).collect();
    assert_eq!(formats, [(1, 128), (2, 64), (4, 32), (8, 16), (12, 8), (16, 8)]);
    let code = config.codes;
    assert_eq!((code.spreading_factor, code.number), (4, 3));
    assert_eq!(
        (config.requirement, config.priority),
        (RatePolicy::ServiceCredit, SchedulerKind::ServiceCredit)
    );
    assert_eq!((config.credit.per_tti, config.credit.max_blocks), (4.0, 16.0));
    // Block error ratio 1 % at the target, and the target of the first format is 3.25 dB.
    let first = &config.formats[0];
    assert!((10.0 * first.target.log10() - 3.25).abs() < 1e-9);
    assert!((first.errors.ratio(first.target) - 0.01).abs() < 1e-5);
    // Powers in milliwatts: 43 dBm and 10 dBm.
    let power = power.config();
    assert!((power.max - 19_952.6).abs() < 0.1 && (power.common - 10.0).abs() < 1e-9);
    assert!((power.own_share - 0.4).abs() < 1e-9 && power.outer_loop.is_none());
}

#[test]
fn rates_and_limits_become_blocks() {
    // A block of 40 octets per TTI of 20 ms is 16 kbit/s. The credit limit is a number of blocks.
    // Keys, credits per TTI, credit limit.
    for (keys, per_tti, limit) in [
        ("guaranteed = \"16 kbit/s\"", 1.0, 16.0),
        ("guaranteed = \"24 kbit/s\"", 1.5, 16.0),
        ("guaranteed = \"256 kbit/s\"", 16.0, 32.0),
        ("guaranteed = \"64 kbit/s\"\ncredit_limit = \"64 blocks\"", 4.0, 64.0),
        ("guaranteed = \"64 kbit/s\"\ncredit_limit = \"auto\"", 4.0, 16.0),
    ] {
        let credit = configured(keys).credit;
        assert_eq!((credit.per_tti, credit.max_blocks), (per_tti, limit), "{keys}");
    }
    let by_timeout = configured("timeout_of = \"any\"\nrequirement = \"timeout\"\npriority = \"max_ci\"");
    assert_eq!((by_timeout.timeout.of_size, by_timeout.requirement), (None, RatePolicy::Timeout));
    for (priority, kind) in [
        ("oldest_first", SchedulerKind::OldestFirst),
        ("largest_backlog", SchedulerKind::LargestBacklog),
        ("proportional_fair", SchedulerKind::ProportionalFair),
    ] {
        assert_eq!(configured(&format!("priority = \"{priority}\"")).priority, kind);
    }
    let offset = configured("ebn0_offset = \"1 dB\"");
    let target_db = 10.0 * offset.formats[5].target.log10();
    assert!((target_db - (1.55 + 1.0)).abs() < 1e-9, "{target_db}");
}

#[test]
fn dsch_round_trips_through_toml() {
    let text = with(
        "DSCH",
        "codes = \"1/8\"\ntti = \"10 ms\"\nformat = [{ rate = \"32 kbit/s\", spreading_factor = 128, ebn0 = \"2 dB\" }]\ncredit_limit = \"9 blocks\"",
    );
    let first = scenario_of(&text);
    let reloaded = scenario_of(&first.to_toml());
    assert_eq!(first, reloaded);
    assert_eq!(reloaded.cell[0].dsch.as_ref().and_then(|dsch| dsch.credit_limit), Some(Blocks(9)));
}

/// Loads a scenario with a file of link tables, in a folder of its own.
fn with_tables(name: &str, text: &str) -> Result<Loaded, ScenarioError> {
    let folder = std::env::temp_dir().join(format!("umts-link-tables-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tables.csv"), text).unwrap();
    let loaded = Scenario::parse(&with("POWER", "tables = \"tables.csv\""), "test.toml", &folder, &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    loaded
}

#[test]
fn measured_tables_replace_the_curve() {
    let text =
        "format,ebn0_db,bler\nTF2,1.0,0.1\nTF2,2.0,0.01\nconversational,0,0.02\nconversational,4,0.005\n";
    let scenario =
        with_tables("right", text).unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
    let (power, dsch) = (scenario.cell[0].power.clone().unwrap(), scenario.cell[0].dsch.clone().unwrap());
    let formats = dsch.config(&power).formats;
    assert!((10.0 * formats[1].target.log10() - 2.0).abs() < 1e-9, "1 % as measured");
    assert!((10.0 * formats[0].target.log10() - 3.25).abs() < 1e-9, "not measured");
    let other = with_tables("other", &text.replace("0.1", "0.2")).unwrap().scenario;
    assert_ne!(scenario.content_hash(), other.content_hash(), "the content of the file counts");
}

#[test]
fn invalid_link_table_is_reported_with_its_line() {
    // Name of the test's folder, content of the file, parts of message and help.
    for (name, text, message, help) in [
        (
            "falls",
            "TF1,1,0.1\nTF1,2,0.1\n",
            "the table of TF1 is not valid: it does not fall from 1 dB to 2 dB",
            "ascending order of Eb/N0",
        ),
        ("short", "TF1,1,0.1\n", "it has 1 points", "ascending order of Eb/N0"),
        ("words", "TF1,1,0.1\nTF1,2\n", "line 2: 2 fields", "TF1,3.25,0.01"),
        (
            "format",
            "TF9,1,0.1\nTF9,2,0.01\n",
            "there is no format `TF9`",
            "TF1, TF2, TF3, TF4, TF5, TF6, conversational",
        ),
    ] {
        let error = with_tables(name, text).expect_err(name);
        let rendered = error.render(false);
        assert!(rendered.contains(message) && rendered.contains(help), "{rendered}");
        assert!(rendered.contains("cell.0.power.tables") || rendered.contains("tables = "), "{rendered}");
    }
}

const MISTAKES: &str = r#"
    DSCH codes = "1/3" => cell.0.dsch.codes: `1/3` is no branch of the code tree: write 1/1, 1/2, 1/4
    DSCH codes = "0.25" => cell.0.dsch.codes: `0.25` is no branch of the code tree: write 1/1, 1/2, 1/4
    DSCH codes = "1/1024" => cell.0.dsch.codes: no branch of the code tree: write 1/1, 1/2, 1/4 … or 1/512
    DSCH format = [{ rate = "16 kbit/s", spreading_factor = 128, ebn0 = "3 dB" },
        { rate = "40 kbit/s", spreading_factor = 64, ebn0 = "3 dB" }]
        => cell.0.dsch.format.1.rate: 40 kbit/s does not fill a TTI of 20 ms: it is 2.5 blocks | "48 kbit/s"
    DSCH format = [{ rate = "16 kbit/s", spreading_factor = 128, ebn0 = "3 dB" },
        { rate = "32 kbit/s", spreading_factor = 48, ebn0 = "3 dB" }]
        => cell.0.dsch.format.1.spreading_factor: no code of spreading factor 48 | as in 64
    DSCH format = [{ rate = "16 kbit/s", spreading_factor = 128, ebn0 = "3 dB" },
        { rate = "32 kbit/s", spreading_factor = 1024, ebn0 = "3 dB" }]
        => cell.0.dsch.format.1.spreading_factor: no code of spreading factor 1024 | as in 512
    DSCH codes = "1/16"
        => cell.0.dsch.format.4.spreading_factor: larger than the DSCH's 1/16 of the tree | 16 or more
    DSCH format = [{ rate = "16 kbit/s", spreading_factor = 128, ebn0 = "3 dB" },
        { rate = "16 kbit/s", spreading_factor = 64, ebn0 = "3 dB" }]
        => cell.0.dsch.format.1.rate: ascending order | lowest rate first
    DSCH format = [{ rate = "16 kbit/s", spreading_factor = 128, ebn0 = "3 dB" },
        { rate = "32 kbit/s", spreading_factor = 256, ebn0 = "3 dB" }]
        => cell.0.dsch.format.1.spreading_factor: spreading factor 256 is larger than the spreading factor of the lower rate | a smaller one
    DSCH format = [] => cell.0.dsch.format: at least one transport format | spreading_factor = 32
    DSCH tti = "40 ms" => cell.0.dsch.tti: cannot have a TTI of 40 ms | 10 ms or 20 ms
    DSCH guaranteed = "15 kbit/s"
        => cell.0.dsch.guaranteed: 15 kbit/s is less than a block of 40 B in each TTI of 20 ms | 16 kbit/s or more
    DSCH guaranteed = "256 kbit/s"
        credit_limit = "8 blocks"
        => cell.0.dsch.credit_limit: a credit limit of 8 blocks is less than one TTI at 256 kbit/s | 16 blocks or more
    DSCH timeout = "19 ms"
        => cell.0.dsch.timeout: a timeout of 19 ms is shorter than a TTI of 20 ms | 20 ms or more
    DSCH priority = "max_cl" => cell.0.dsch.priority: not a known value | "max_ci"
    DSCH tti = "10 ms"
        decision = "each_frame"
        guaranteed = "64 kbit/s"
        block = "20 B"
        => cell.0.dsch.decision: decisions at each frame need a TTI of 20 ms, not 10 ms | tti = "20 ms"
    DSCH decision = "10 ms" => cell.0.dsch.decision: not a known value | "each_frame"
    POWER pilot = "43 dBm"
        => cell.0.power.pilot: cell.power.pilot (43 dBm) must be below cell.power.max (43 dBm) | choose less than 43 dBm
    POWER max = "5 dBm" => cell.0.power.pilot: must be below cell.power.max | 5 dBm
    POWER max = "300 dBm" => cell.0.power.max: cannot be 300 dBm | -50 dBm to 80 dBm
    POWER noise = "10 dBm" => cell.0.power.noise: cannot be 10 dBm | -150 dBm to 0 dBm
    POWER step = "0 dB" => cell.0.power.step: cannot be 0 dB | more than 0 dB
    POWER bler_target = 0 => cell.0.power.bler_target: no Eb/N0 | bler_target = 0.01
    POWER slope = 0 => cell.0.power.slope: cannot be 0 | 0.1 to 100
    POWER tables = "nowhere.csv" => cell.0.power.tables: cannot read nowhere.csv | relative
"#;

#[test]
fn mistakes_are_reported_at_their_key() {
    assert_mistakes(SMALL, MISTAKES);
}
