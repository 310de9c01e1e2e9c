//! The HS-DSCH of cells and users: invalid and doubtful values, and their repairs.

use umts_scenario::{Loaded, ScenarioError};
use umts_stack::trace::Channel;

use crate::common::{self, assert_mistakes, assert_warnings, fill};

/// A scenario with one user of an HSDPA bearer. Placeholders: `HEAD` before the tables, `CELL` in the
/// HS-DSCH of the cell, `USER` in the HS-DSCH of the user, `MORE` for further tables.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nHEAD\n[[cell]]\nname = \"cell\"\n[cell.hs_dsch]\nCELL\n\
                     [[ue]]\nname = \"user\"\nbearer = \"hsdpa-3.6\"\n[ue.hs_dsch]\nUSER\nMORE\n\
                     [[flow]]\nue = \"user\"\n";

/// Loads [`SMALL`] with these keys.
fn load(cell: &str, user: &str, more: &str) -> Result<Loaded, ScenarioError> {
    common::load(&fill(SMALL, &format!("CELL {cell}\nUSER {user}\nMORE {more}")))
}

const MISTAKES: &str = r#"
    CELL codes = 16 => cell.0.hs_dsch.codes: cell.0.hs_dsch.codes cannot be 16 | 1 to 15
    CELL codes = 0 => cell.0.hs_dsch.codes: cannot be 0 | 1 to 15
    CELL window = 33 => cell.0.hs_dsch.window: cannot be 33 | 4 to 32
    CELL window = 20
        => cell.0.hs_dsch.window: a window of 20 blocks cannot be signalled | 4, 6, 8, 12, 16, 24 or 32
    CELL allocation_interval = "15 ms"
        => cell.0.hs_dsch.allocation_interval: 15 ms cannot be signalled | a multiple of 10 ms
    CELL scheduler = "service_credit" => cell.0.hs_dsch.scheduler: has no service credits | round_robin
    CELL scheduler = "timeout"
        => cell.0.hs_dsch.scheduler: no user of the channel has one | transfer_delay = "300 ms"
    CELL processes = 9 => cell.0.hs_dsch.processes: cannot be 9 | 1 to 8
    CELL ack_delay = "101 ms" => cell.0.hs_dsch.ack_delay: cannot be 101 ms | at most 100 ms
    CELL process_scope = "cell"
        users_per_tti = 2
        => cell.0.hs_dsch.process_scope: one block in a TTI, not blocks of 2 | process_scope = "ue"
    CELL fcds_memory = 1.5 => cell.0.hs_dsch.fcds_memory: 1.5
    CELL power = "40 dBm" => cell.0.hs_dsch.power: power has no effect without [layout] | set ue.hs_dsch.snr
    USER trace_repeats = true => ue.0.hs_dsch.trace_repeats: no effect without a trace | add trace
    USER trace = "no-such-file" => ue.0.hs_dsch.trace: cannot read no-such-file | relative to the folder
    USER category = 0 => ue.0.hs_dsch.category: cannot be 0 | 1 to 12
    USER category = 21 => ue.0.hs_dsch.category: cannot be 21 | 1 to 12
    USER cqi = 31 => ue.0.hs_dsch.cqi: cannot be 31 | 1 to 30
    USER errors = "per_attempt" => ue.0.hs_dsch.errors: needs error probabilities | add attempt_errors
    USER attempt_errors = [0.1]
        => ue.0.hs_dsch.attempt_errors: by errors = "per_attempt" only | leave the probabilities out
"#;

#[test]
fn invalid_values_are_refused_with_a_repair() {
    assert_mistakes(SMALL, MISTAKES);
}

/// Mistakes with PDUs of flexible size.
const FLEXIBLE_PDUS: &str = r#"
    => rlc.pdu_size: MAC-hs of users `user` has PDUs of one size | add mac = "mac_ehs"
    USER mac = "mac_ehs"
    RLC mode = "um"
        => rlc.pdu_size: only acknowledged mode | write mode = "am"
    USER mac = "mac_ehs"
    RLC header = "uncounted"
        => rlc.header: need the AMD header | header = "ts25322"
    USER mac = "mac_ehs"
    RLC largest_pdu = "1504 B"
        => rlc.largest_pdu: cannot be 1504 B | 16 B to 1503 B
    USER mac = "mac_ehs"
    MORE [[ue]]
        name = "other"
        bearer = "ps-64"
        => rlc.pdu_size: the blocks of bearer `ps-64` of users `other` have one size | choose an hsdpa or hspa bearer with mac = "mac_ehs"
"#;

#[test]
fn flexible_pdus_need_mac_ehs() {
    assert_mistakes(&SMALL.replace("HEAD", "[rlc]\npdu_size = \"flexible\"\nRLC"), FLEXIBLE_PDUS);
    let (flexible, ehs) = ("[rlc]\npdu_size = \"flexible\"\n", "mac = \"mac_ehs\"");
    let loaded = load("", ehs, flexible).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let warnings = load("", ehs, "[rlc]\nlargest_pdu = \"500 B\"").expect("it is valid").warnings;
    assert!(warnings.iter().any(|text| text.contains("largest_pdu has no effect")), "{warnings:?}");
    // With MAC-ehs the smallest block has room for a part of a PDU.
    assert!(load("", "mac = \"mac_ehs\"\ncqi = 1", "").expect("it is valid").warnings.is_empty());
}

#[test]
fn users_without_an_hsdpa_bearer_have_no_hs_dsch() {
    let text = "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"user\"\nhs_dsch = { cqi = 10 }\n";
    let error = common::load(text).expect_err("it is invalid");
    assert!(error.render(false).contains("bearer `common` of these users has no HS-DSCH"));
}

/// A scenario with a switched user and these bearers.
fn switched(bearers: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n{more}\n[rrc]\ndch = [{bearers}]\n[[ue]]\nname = \"user\"\n\
         bearer = \"switched\"\nhs_dsch = {{ cqi = 20 }}\n[[flow]]\nue = \"user\"\n"
    );
    common::load(&text)
}

#[test]
fn rrc_can_switch_users_to_one_hs_dsch() {
    let loaded = switched("\"hsdpa-3.6\", \"ps-64\"", "[radio]\nbler = 0.1").expect("the scenario is valid");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let group = &loaded.scenario.plan().groups[0];
    assert_eq!((group.hs_dsch_category, group.dchs[0][0].kind), (Some(6), Channel::HsDsch));
    let error = switched("\"hsdpa-3.6\", \"hsdpa-1.8\"", "").expect_err("it has two");
    assert!(error.render(false).contains("`hsdpa-1.8` is a second bearer with an HS-DSCH"));
    let error = switched("\"ps-64\"", "").expect_err("it has none");
    assert!(error.render(false).contains("bearer `switched` of these users has no HS-DSCH"));
    let full = "cell = [{ name = \"cell\", hs_dsch = { max_users = 1 } }]\n[[ue]]\nname = \"other\"\n\
                bearer = \"hsdpa-3.6\"\n";
    let error = switched("\"hsdpa-3.6\"", full).expect_err("the permanent user takes the only place");
    assert!(
        error.render(false).contains("no DCH of bearer `hsdpa-3.6` fits next to"),
        "{}",
        error.render(false)
    );
}

const WARNINGS: &str = r#"
    CELL t1 = "20 ms" => blocks may be given up too early
    USER cqi = 1 => nothing arrives
    CELL codes = 1
    USER cqi = 4
        => nothing arrives
    USER cqi = 20
        snr = "8 dB"
        => snr has no effect beside a constant cqi
    USER cqi = 20
        fading = "per_tti"
        => a constant cqi has no fading
    HEAD radio.bler = 0.1 => the errors of [radio] do not apply to the HS-DSCH
"#;

#[test]
fn doubtful_values_give_warnings() {
    assert_warnings(SMALL, WARNINGS);
    assert!(load("", "", "").expect("the scenario is valid").warnings.is_empty());
}

/// Writes a link trace that repeats `line` for `seconds`. Returns the path of the file.
fn trace_of(name: &str, seconds: usize, line: &str) -> String {
    const TTIS_PER_SECOND: usize = 500;
    let path = std::env::temp_dir().join(format!("umts-{}-{name}.txt", std::process::id()));
    let text = format!("{line}\n").repeat(seconds * TTIS_PER_SECOND);
    std::fs::write(&path, text).expect("the file can be written");
    path.display().to_string()
}

#[test]
fn traces_must_last_as_long_as_the_run() {
    let file = trace_of("lasts", 9, "5 8 9.8 21");
    let user = |more: &str| load("", &format!("trace = \"{file}\"\n{more}"), "");
    let error = user("").expect_err("the trace is too short").render(false);
    assert!(error.contains("the trace ends after 9 s, before the end of the run at 10 s"), "{error}");
    assert!(error.contains("trace_repeats = true"), "{error}");
    assert!(user("trace_repeats = true").expect("a repeated trace is long enough").warnings.is_empty());
    let error = user("trace_repeats = true\ncqi = 5").expect_err("two sources of CQIs").render(false);
    assert!(error.contains("exclude each other"), "{error}");
    let warnings =
        user("trace_repeats = true\nfading = \"per_tti\"").expect("the scenario is valid").warnings;
    assert!(warnings.iter().any(|text| text.contains("a trace includes the fading")), "{warnings:?}");
    std::fs::remove_file(&file).expect("it was written");
}

#[test]
fn a_cqi_without_room_for_a_pdu_has_a_warning() {
    let file = trace_of("weak", 10, "-20 -17 -15 0");
    for user in [format!("trace = \"{file}\""), "cqi = 1".to_owned()] {
        let warnings = load("", &user, "").expect("the scenario is valid").warnings;
        let expected = "has room for a PDU of 336 bits: nothing arrives";
        assert!(warnings.iter().any(|text| text.contains(expected)), "{user}: {warnings:?}");
    }
    std::fs::remove_file(&file).expect("it was written");
}

#[test]
fn wrong_lines_of_traces_are_reported_with_their_number() {
    let file = trace_of("wrong", 1, "5 8 9.8 31");
    let error = load("", &format!("trace = \"{file}\""), "").expect_err("a CQI of 31").render(false);
    std::fs::remove_file(&file).expect("it was written");
    assert!(error.contains("line 1: `31` is not a CQI from 0 to 30"), "{error}");
    assert!(error.contains("three received powers in dB and a CQI"), "{error}");
}

/// The content of a trace identifies a run, not its name.
#[test]
fn renaming_a_trace_leaves_the_hash_of_the_scenario() {
    let lines = ["5 8 9.8 21", "5 8 9.8 21", "5 8 9.8 20"];
    let files: Vec<_> = (0..).zip(lines).map(|(n, line)| trace_of(&format!("hash{n}"), 10, line)).collect();
    let hash = |file: &String| {
        load("", &format!("trace = \"{file}\""), "").expect("the scenario is valid").scenario.content_hash()
    };
    let hashes: Vec<_> = files.iter().map(hash).collect();
    files.iter().for_each(|file| std::fs::remove_file(file).expect("it was written"));
    assert!(hashes[0] == hashes[1] && hashes[1] != hashes[2]);
}

#[test]
fn fcds_needs_an_hs_dsch() {
    let text = "version = 1\nduration = \"10 s\"\n[[cell]]\nname = \"cell\"\nfach = { scheduler = \"fcds\" }\n\
                [[ue]]\nname = \"user\"\n";
    let error = common::load(text).expect_err("it is invalid");
    assert!(error.render(false).contains("this scheduler"), "{}", error.render(false));
}
