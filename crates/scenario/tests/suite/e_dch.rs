//! The E-DCH of cells and users: invalid and doubtful values, and their repairs.

use umts_scenario::{Loaded, ScenarioError};
use umts_stack::trace::Channel;
use umts_units::Duration;

use crate::common::{self, assert_mistakes, assert_warnings, fill};

/// A scenario with one user of an HSPA bearer. Placeholders: `HEAD` before the tables, `CELL` in the
/// E-DCH of the cell, `USER` in the E-DCH of the user, `MORE` for further tables.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nHEAD\n[[cell]]\nname = \"cell\"\n[cell.e_dch]\nCELL\n\
                     [[ue]]\nname = \"user\"\nbearer = \"hspa-14.4\"\n[ue.e_dch]\nUSER\nMORE\n\
                     [[flow]]\nue = \"user\"\ndirection = \"uplink\"\n";

/// Loads [`SMALL`] with these keys.
fn load(bearer: &str, cell: &str, user: &str, more: &str) -> Result<Loaded, ScenarioError> {
    let text = SMALL.replace("hspa-14.4", bearer);
    common::load(&fill(&text, &format!("CELL {cell}\nUSER {user}\nMORE {more}")))
}

const MISTAKES: &str = r#"
    CELL window = 20 => cell.0.e_dch.window: cannot be signalled | 4, 6, 8, 12, 16, 24 or 32
    CELL happy_bit_delay = "30 ms" => cell.0.e_dch.happy_bit_delay: cannot be signalled | 2, 10, 20, 50
    CELL scheduling_interval = "5 ms" => cell.0.e_dch.scheduling_interval: every 5 ms | a multiple of 2 ms
    CELL max_transmissions = 17 => cell.0.e_dch.max_transmissions: cannot be 17 | 1 to 16
    USER category = 7 => ue.0.e_dch.category: cannot be 7 | 1 to 6
    USER tti = "5 ms" => ue.0.e_dch.tti: no TTI of 5 ms | 2 ms or 10 ms
    USER category = 3 => ue.0.e_dch.category: category 3 has no TTI of 2 ms | category 2, 4 or 6
    USER category = 1 => ue.0.e_dch.category: category 1 has no TTI of 2 ms | a TTI of 10 ms
    USER category = 5
        tti = "2 ms"
        => ue.0.e_dch.tti: category 5 has no TTI of 2 ms | or 6
    USER attempt_errors = [] => ue.0.e_dch.attempt_errors: need an error probability | [0.1, 0.01]
    USER category = 2
    MORE [ue.rlc]
        pdu_payload = "400 B"
        => ue.0.bearer: has 2798 bits, no room for a PDU of 3216 bits | a smaller rlc.pdu_payload
    CELL dpcch_ec_n0 = "-40 dB"
        eb_n0 = "10 dB"
        => cell.0.e_dch.dpcch_ec_n0: no grant can carry a PDU | raise dpcch_ec_n0 or lower eb_n0 by 8 dB
    CELL noise_rise = "0.1 dB"
        => cell.0.e_dch.noise_rise: no grant can carry a PDU | choose a noise rise of at least 0.4 dB
    USER path_loss = "150 dB"
        => ue.0.e_dch.path_loss: no power for a block with a PDU | choose a path loss of at most 132 dB
"#;

#[test]
fn invalid_values_are_refused_with_a_repair() {
    assert_mistakes(SMALL, MISTAKES);
}

/// The repair that a message proposes is valid.
#[test]
fn repairs_are_valid() {
    let repaired = [
        ("dpcch_ec_n0 = \"-32 dB\"\neb_n0 = \"10 dB\"\nnoise_rise = \"10 dB\"", ""),
        ("noise_rise = \"0.4 dB\"", ""),
        ("", "path_loss = \"132 dB\""),
        ("", "category = 3\ntti = \"10 ms\""),
    ];
    for (cell, user) in repaired {
        let loaded = load("hspa-14.4", cell, user, "");
        loaded.unwrap_or_else(|error| panic!("{cell}{user}: {}", error.render(false)));
    }
}

#[test]
fn users_without_an_hspa_bearer_have_no_e_dch() {
    let error = load("hsdpa-3.6", "", "category = 1", "").expect_err("it is invalid").render(false);
    assert!(error.contains("bearer `hsdpa-3.6` of these users has no E-DCH"), "{error}");
    assert!(error.contains("choose an hspa bearer"), "{error}");
}

const WARNINGS: &str = r#"
    CELL t1 = "40 ms" => blocks may be given up too early
    HEAD radio.uplink = { model = "independent", bler = 0.1 } => the errors of [radio.uplink] do not apply to the E-DCH
"#;

#[test]
fn doubtful_values_give_warnings() {
    assert_warnings(SMALL, WARNINGS);
    assert!(load("hspa-14.4", "", "", "").expect("the scenario is valid").warnings.is_empty());
}

/// Category and TTI of the user override the bearer, and so change its rate. Rates are in kbit/s.
#[test]
fn category_and_tti_determine_the_rate() {
    let uplink = |bearer: &str, user: &str| {
        let loaded = load(bearer, "", user, "").unwrap_or_else(|error| panic!("{}", error.render(false)));
        let [_, uplink] = loaded.scenario.plan().groups[0].channels;
        (uplink.kind, uplink.format.tti, uplink.rate.bps() / 1000)
    };
    let (short, long) = (Duration::from_millis(2), Duration::from_millis(10));
    assert_eq!(uplink("hspa-3.6", ""), (Channel::EDch, long, 672));
    assert_eq!(uplink("hspa-7.2", ""), (Channel::EDch, long, 1_376));
    assert_eq!(uplink("hspa-14.4", ""), (Channel::EDch, short, 5_440));
    assert_eq!(uplink("hspa-7.2", "category = 5"), (Channel::EDch, long, 1_888));
    assert_eq!(uplink("hspa-7.2", "category = 4\ntti = \"2 ms\""), (Channel::EDch, short, 2_720));
}

/// An E-DCH reserves no uplink rate, but counts as a DCH.
#[test]
fn admission_counts_e_dch_users() {
    let text = |limit: &str| {
        let scenario = format!(
            "version = 1\nduration = \"10 s\"\ncell = [{{ name = \"cell\", admission = {{ {limit} }} }}]\n\
             [[ue]]\nname = \"u\"\nbearer = \"hspa-7.2\"\ncount = 2\n[[flow]]\nue = \"u\"\n"
        );
        common::load(&scenario)
    };
    assert!(text("uplink = \"64 kbit/s\"").is_ok());
    let error = text("dchs = 1").expect_err("two users need two").render(false);
    assert!(error.contains("need 2 DCHs"), "{error}");
}

#[test]
fn users_that_leave_no_noise_rise_for_data_give_a_warning() {
    // The cell has one user and a group of `count` further users.
    for (count, is_warned) in [(100, false), (300, true)] {
        let loaded = load(
            "hspa-14.4",
            "",
            &format!("[ue.rlc]\n[[ue]]\nname = \"more\"\nbearer = \"hspa-14.4\"\ncount = {count}"),
            "",
        );
        let warnings = loaded.expect("the scenario is valid").warnings;
        assert_eq!(
            warnings.iter().any(|warning| warning.contains("may get no grant")),
            is_warned,
            "{warnings:?}"
        );
    }
}
