//! The HS-DSCH of cells and users: invalid and doubtful values, and their repairs.

use std::path::Path;

use umts_scenario::{Loaded, Scenario, ScenarioError};

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
        ("scheduler = \"timeout\"", "", "", "neither service credits nor timeouts", "round_robin"),
        ("processes = 9", "", "", "cannot be 9", "1 to 8"),
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
fn users_without_an_hsdpa_bearer_have_no_hs_dsch() {
    let text = "version = 1\nduration = \"10 s\"\n[[ue]]\nname = \"user\"\nhs_dsch = { cqi = 10 }\n";
    let error = Scenario::parse(text, "test.toml", Path::new(""), &[]).expect_err("it is invalid");
    assert!(error.render(false).contains("bearer `common` of these users has no HS-DSCH"));
}

#[test]
fn rrc_does_not_switch_users_to_an_hs_dsch() {
    let text = "version = 1\nduration = \"10 s\"\n[rrc]\ndch = [\"hsdpa-3.6\"]\n[[ue]]\nname = \"user\"\n\
                bearer = \"switched\"\n";
    let error = Scenario::parse(text, "test.toml", Path::new(""), &[]).expect_err("it is invalid");
    assert!(error.render(false).contains("to which RRC cannot switch users"));
}

#[test]
fn doubtful_values_give_warnings() {
    let cases = [
        ("t1 = \"20 ms\"", "", "", "blocks may be given up too early"),
        ("", "cqi = 1", "", "nothing arrives"),
        ("codes = 1", "cqi = 4", "", "nothing arrives"),
        ("", "cqi = 20\nfading = \"per_tti\"", "", "a constant cqi has no fading"),
        ("", "", "[radio]\nbler = 0.1", "the errors of [radio] do not apply to the HS-DSCH"),
    ];
    for (cell, user, more, warning) in cases {
        let loaded = load(cell, user, more).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let found = loaded.warnings.iter().any(|text| text.contains(warning));
        assert!(found, "{cell}{user}{more}: {:?}", loaded.warnings);
    }
    assert!(load("", "", "").expect("it is valid").warnings.is_empty());
}
