//! The HS-DSCH of cells and users: invalid and doubtful values, and their repairs.

use std::path::Path;

use umts_scenario::{Loaded, Scenario, ScenarioError};
use umts_stack::trace::Channel;

/// A scenario with one user of an HSDPA bearer. `cell`: keys of the cell's HS-DSCH; `user`: keys of
/// the user's HS-DSCH; `more`: further tables.
fn load(cell: &str, user: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n[[cell]]\nname = \"cell\"\n[cell.hs_dsch]\n{cell}\n\
         [[ue]]\nname = \"user\"\nbearer = \"hsdpa-3.6\"\n[ue.hs_dsch]\n{user}\n{more}\n\
         [[flow]]\nue = \"user\"\n"
    );
    Scenario::parse(&text, "test.toml", Path::new(""), &[])
}

#[test]
fn invalid_values_are_refused_with_a_repair() {
    // Keys of the cell, of the user, further tables; part of the message, part of the help.
    let cases = [
        ("codes = 16", "", "", "cell.0.hs_dsch.codes cannot be 16", "1 to 15"),
        ("codes = 0", "", "", "cannot be 0", "1 to 15"),
        ("window = 33", "", "", "cannot be 33", "4 to 32"),
        ("window = 20", "", "", "a window of 20 blocks cannot be signalled", "4, 6, 8, 12, 16, 24 or 32"),
        ("allocation_interval = \"15 ms\"", "", "", "15 ms cannot be signalled", "a multiple of 10 ms"),
        ("scheduler = \"service_credit\"", "", "", "has no service credits", "round_robin"),
        ("scheduler = \"timeout\"", "", "", "no user of the channel has one", "transfer_delay = \"300 ms\""),
        ("processes = 9", "", "", "cannot be 9", "1 to 8"),
        ("ack_delay = \"101 ms\"", "", "", "cannot be 101 ms", "at most 100 ms"),
        (
            "process_scope = \"cell\"\nusers_per_tti = 2",
            "",
            "",
            "one block in a TTI, not blocks of 2",
            "process_scope = \"ue\"",
        ),
        ("fcds_memory = 1.5", "", "", "1.5", ""),
        ("power = \"40 dBm\"", "", "", "power has no effect without [layout]", "set ue.hs_dsch.snr"),
        ("", "trace_repeats = true", "", "no effect without a trace", "add trace"),
        ("", "trace = \"no-such-file\"", "", "cannot read no-such-file", "relative to the folder"),
        ("", "category = 0", "", "cannot be 0", "1 to 12"),
        ("", "category = 21", "", "cannot be 21", "1 to 12"),
        ("", "cqi = 31", "", "cannot be 31", "1 to 30"),
        ("", "errors = \"per_attempt\"", "", "needs error probabilities", "add attempt_errors"),
        ("", "attempt_errors = [0.1]", "", "by errors = \"per_attempt\" only", "leave the probabilities out"),
    ];
    for (cell, user, more, message, help) in cases {
        let error = load(cell, user, more).expect_err(&format!("{cell}{user}{more} is invalid"));
        let text = error.render(false);
        assert!(text.contains(message) && text.contains(help), "{cell}{user}{more}:\n{text}");
    }
}

#[test]
fn flexible_pdus_need_mac_ehs() {
    let flexible = "[rlc]\npdu_size = \"flexible\"\n";
    let ehs = "mac = \"mac_ehs\"";
    let cases = [
        ("", String::from(flexible), "MAC-hs of users `user` has PDUs of one size", "add mac = \"mac_ehs\""),
        (ehs, format!("{flexible}mode = \"um\""), "only acknowledged mode", "write mode = \"am\""),
        (ehs, format!("{flexible}header = \"uncounted\""), "need the AMD header", "header = \"ts25322\""),
        (ehs, format!("{flexible}largest_pdu = \"1504 B\""), "cannot be 1504 B", "16 B to 1503 B"),
        (
            ehs,
            format!("{flexible}[[ue]]\nname = \"other\"\nbearer = \"ps-64\""),
            "the blocks of bearer `ps-64` of users `other` have one size",
            "choose an hsdpa or hspa bearer with mac = \"mac_ehs\"",
        ),
    ];
    for (user, more, message, help) in cases {
        let error = load("", user, &more).expect_err(&format!("{user}{more} is invalid")).render(false);
        assert!(error.contains(message) && error.contains(help), "{user}{more}:\n{error}");
    }
    let loaded = load("", ehs, flexible).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let warnings = load("", ehs, "[rlc]\nlargest_pdu = \"500 B\"").expect("it is valid").warnings;
    assert!(warnings.iter().any(|text| text.contains("largest_pdu has no effect")), "{warnings:?}");
    let warnings = load("", ehs, "[rlc]\npoll_sufi = true").expect("it is valid").warnings;
    assert!(warnings.iter().any(|text| text.contains("poll_sufi has no effect")), "{warnings:?}");
    // With MAC-ehs the smallest block has room for a part of a PDU.
    assert!(load("", "mac = \"mac_ehs\"\ncqi = 1", "").expect("it is valid").warnings.is_empty());
}

#[test]
fn users_without_an_hsdpa_bearer_have_no_hs_dsch() {
    let text = "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"user\"\nhs_dsch = { cqi = 10 }\n";
    let error = Scenario::parse(text, "test.toml", Path::new(""), &[]).expect_err("it is invalid");
    assert!(error.render(false).contains("bearer `common` of these users has no HS-DSCH"));
}

/// A scenario with a switched user and these bearers.
fn switched(bearers: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n{more}\n[rrc]\ndch = [{bearers}]\n[[ue]]\nname = \"user\"\n\
         bearer = \"switched\"\nhs_dsch = {{ cqi = 20 }}\n[[flow]]\nue = \"user\"\n"
    );
    Scenario::parse(&text, "test.toml", Path::new(""), &[])
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

#[test]
fn doubtful_values_give_warnings() {
    // Keys of the cell, of the user, further tables; part of the warning.
    let cases = [
        ("t1 = \"20 ms\"", "", "", "blocks may be given up too early"),
        ("", "cqi = 1", "", "nothing arrives"),
        ("codes = 1", "cqi = 4", "", "nothing arrives"),
        ("", "cqi = 20\nsnr = \"8 dB\"", "", "snr has no effect beside a constant cqi"),
        ("", "cqi = 20\nfading = \"per_tti\"", "", "a constant cqi has no fading"),
        ("", "", "[radio]\nbler = 0.1", "the errors of [radio] do not apply to the HS-DSCH"),
    ];
    for (cell, user, more, warning) in cases {
        let loaded = load(cell, user, more).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let is_warned = loaded.warnings.iter().any(|text| text.contains(warning));
        assert!(is_warned, "{cell}{user}{more}: {:?}", loaded.warnings);
    }
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
    let error = Scenario::parse(text, "test.toml", Path::new(""), &[]).expect_err("it is invalid");
    assert!(error.render(false).contains("this scheduler"), "{}", error.render(false));
}
