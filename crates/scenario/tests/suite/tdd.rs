//! TDD cells: defaults, conversion, and invalid values.

use std::path::Path;

use umts_scenario::model::{Duplex, Frames, Sdus};
use umts_scenario::{Loaded, Scenario, ScenarioError};

/// A cell with one user. Placeholders: `TDD` in `[cell.tdd]`, `CELL` in `[[cell]]`, `UE` in
/// `[[ue]]`, `REST` at the end.
const SMALL: &str = "version = 1\nduration = \"10 s\"\n[[cell]]\nname = \"c\"\nduplex = \"tdd\"\nCELL\n[cell.tdd]\nTDD\n\
                     [[ue]]\nname = \"user\"\nbearer = \"granted\"\nUE\nREST\n";

fn load(text: &str) -> Result<Loaded, ScenarioError> {
    Scenario::parse(text, "test.toml", Path::new(""), &[])
}

/// Returns [`SMALL`] with `keys` instead of the placeholder `place`, and without the others.
fn with(place: &str, keys: &str) -> String {
    let text = SMALL.replacen(place, keys, 1);
    ["CELL", "TDD", "UE", "REST"]
        .iter()
        .fold(text, |text, place| text.replace(&format!("\n{place}\n"), "\n\n"))
}

#[test]
fn tdd_cell_has_tdd_defaults_and_no_fdd_channels() {
    let loaded = load(&with("TDD", "")).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let cell = &loaded.scenario.cell[0];
    let tdd = cell.tdd.as_ref().expect("the cell is a TDD cell");
    assert_eq!((cell.duplex, &cell.fach, &cell.rach), (Duplex::Tdd, &None, &None));
    assert_eq!(
        (tdd.grant.sdus, &tdd.grant.levels, &tdd.grant.weights),
        (20, &vec![Sdus(1), Sdus(5)], &vec![1, 2, 4])
    );
    assert_eq!((tdd.rach.codes, tdd.rach.backoff, tdd.ack.uplink_places), (8, Frames(64), 1));
    assert_eq!(loaded.warnings, ["flow: there is no flow: no data will be sent"]);
    let group = &loaded.scenario.plan().groups[0];
    assert!(group.is_granted);
    // The largest grant is 4 blocks of 40 octets in a frame of 10 ms.
    let (blocks, frames_per_second) = (4, 100);
    let rate = u64::from(blocks) * 40 * 8 * frames_per_second;
    assert_eq!((group.channels[0].rate.bps(), group.channels[0].format.blocks), (rate, blocks));
}

#[test]
fn tdd_cell_without_a_table_has_the_defaults() {
    let text = with("TDD", "").replace("[cell.tdd]\n", "");
    assert_eq!(
        load(&text).expect("the scenario loads").scenario,
        load(&with("TDD", "")).expect("the scenario loads").scenario
    );
}

#[test]
fn cells_of_both_kinds_stand_side_by_side() {
    // The cell `c` is TDD. A second cell, `fdd`, has a user on FACH and RACH, and block errors.
    let text = with(
        "REST",
        "[[cell]]\nname = \"fdd\"\n[[ue]]\nname = \"other\"\ncell = \"fdd\"\n[radio]\nbler = 0.1",
    )
    .replace("bearer = \"granted\"\n", "bearer = \"granted\"\ncell = \"c\"\n");
    let loaded = load(&text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(loaded.scenario.cell[1].fach.is_some());
}

#[test]
fn frames_and_sdus_are_counted_with_their_nouns() {
    let text = with("TDD", "grant.levels = [\"2 SDUs\", \"8 SDUs\"]\nrach.backoff = \"1 frame\"");
    let scenario = load(&text).unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
    let written = scenario.to_toml();
    assert!(written.contains("\"1 frame\"") && written.contains("\"2 SDUs\""), "{written}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of mistakes")]
fn mistakes_are_reported_at_their_key() {
    let bearer = "[[bearer]]\nname = \"b\"\ndownlink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n\
                  uplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }";
    let fdd = |text: String| text.replace("duplex = \"tdd\"", "duplex = \"fdd\"");
    let named = |name: &str| with("REST", bearer).replace("\"granted\"", name);
    // Scenario, key of the error, part of its message, part of its help.
    let cases: &[(String, &str, &str, &str)] = &[
        (
            with("TDD", "slots = \"RUUDDC\""),
            "cell.0.tdd.slots",
            "has 6 letters, but the frame has 15 slots",
            "\"RUUUUUUDDDDDDDC\"",
        ),
        (
            with("TDD", "slots = \"UUUUUDDDDDDDDDC\""),
            "cell.0.tdd.slots",
            "slot 0 of `UUUUUDDDDDDDDDC` cannot be U: it must be R (random access)",
            "dynamic",
        ),
        (with("TDD", "slots = \"RUUUUDDDDDDDDDD\""), "cell.0.tdd.slots", "slot 14 of", "dynamic"),
        (
            with("TDD", "slots = \"RUUUUXDDDDDDDDC\""),
            "cell.0.tdd.slots",
            "cannot be X: it must be U or D (data)",
            "dynamic",
        ),
        (with("TDD", "slots = \"RDDDDDDDDDDDDDC\""), "cell.0.tdd.slots", "has no uplink slot (U)", "dynamic"),
        (
            with("TDD", "slots = \"RUUUUUUUUUUUUUC\""),
            "cell.0.tdd.slots",
            "has no downlink slot (D)",
            "dynamic",
        ),
        (
            with("TDD", "layout = \"1.28 Mcps\"\nslots = \"CUDUDDD\""),
            "cell.0.tdd.slots",
            "more than one switching point",
            "\"CUUUDDD\"",
        ),
        (
            with("TDD", "layout = \"1.28 Mcps\"\nslots = \"RUUUUDDDDDDDDDC\""),
            "cell.0.tdd.slots",
            "the frame has 7 slots",
            "CUUUDDD",
        ),
        (
            with("TDD", "layout = \"3.84 Mcsp\""),
            "cell.0.tdd.layout",
            "`3.84 Mcsp` is not a known value",
            "did you mean \"3.84 Mcps\"?",
        ),
        (with("TDD", "grant.sdus = 0"), "cell.0.tdd.grant.sdus", "cannot be 0", "1 to 65535"),
        (
            with("TDD", "grant.weights = [4, 2, 1]"),
            "cell.0.tdd.grant.weights",
            "must not decrease",
            "[1, 2, 4]",
        ),
        (
            with("TDD", "grant.weights = [1, 2]"),
            "cell.0.tdd.grant.weights",
            "need three weights, not 2",
            "[1, 2, 4]",
        ),
        (
            with("TDD", "grant.weights = [0, 2, 4]"),
            "cell.0.tdd.grant.weights",
            "at least one block per frame",
            "1 or more",
        ),
        (
            with("TDD", "grant.weights = [1, 2, 60]"),
            "cell.0.tdd.grant.weights",
            "60 blocks is more than the 47 blocks of a frame",
            "at most 47",
        ),
        (with("TDD", "grant.weights = \"1, 2, 4\""), "cell.0.tdd.grant.weights", "is expected here", ""),
        (
            with("TDD", "grant.levels = [\"1 SDU\"]"),
            "cell.0.tdd.grant.levels",
            "need two bounds, not 1",
            "two",
        ),
        (
            with("TDD", "grant.levels = [\"5 SDUs\", \"1 SDU\"]"),
            "cell.0.tdd.grant.levels",
            "5 SDUs is not below 1 SDU",
            "the lower one first",
        ),
        (with("TDD", "grant.levels = [1, 5]"), "cell.0.tdd.grant.levels.0", "`1` has no unit", "5 SDUs"),
        (
            with("TDD", "grant.levels = [\"1 PDU\", \"5 SDUs\"]"),
            "cell.0.tdd.grant.levels.0",
            "`1 PDU` is not a number of SDUs",
            "",
        ),
        (
            with("TDD", "grant.ends = \"acknowledged\""),
            "cell.0.tdd.grant.ends",
            "can no longer be changed: it is always unused_frame",
            "leave it out",
        ),
        (
            with("TDD", "grant.refused = \"back\""),
            "cell.0.tdd.grant.refused",
            "`back` is not a known value",
            "back_off",
        ),
        (with("TDD", "rach.codes = 17"), "cell.0.tdd.rach.codes", "cannot be 17", "1 to 16 (TS 25.331"),
        (
            with("TDD", "rach.answer = \"25 ms\""),
            "cell.0.tdd.rach.answer",
            "a multiple of a frame of 10 ms",
            "choose 30 ms",
        ),
        (
            with("TDD", "rach.backoff = \"0 frames\""),
            "cell.0.tdd.rach.backoff",
            "cannot be 0 frames",
            "1 frame",
        ),
        (with("TDD", "rach.backoff = 64"), "cell.0.tdd.rach.backoff", "`64` has no unit", "64 frames"),
        (
            with("TDD", "ack.uplink_places = 48"),
            "cell.0.tdd.ack.uplink_places",
            "leave no room for data in the uplink",
            "a smaller `uplink_places`",
        ),
        (
            with("TDD", "slots = \"RUUUUUUUUUUUUDC\"\nack.downlink_per_frame = 4"),
            "cell.0.tdd.ack.downlink_per_frame",
            "leave no room for data in the downlink",
            "more downlink slots",
        ),
        (
            with("TDD", "ack.chanel = \"common\""),
            "cell.0.tdd.ack.chanel",
            "unknown key `chanel`",
            "did you mean `channel`?",
        ),
        (with("TDD", "radio.rho = 1.0"), "cell.0.tdd.radio.rho", "cannot be 1", "at most 0.9999"),
        (
            with("TDD", "radio.estimate_sigma = \"10 dB2\""),
            "cell.0.tdd.radio.estimate_sigma",
            "`dB2` is not a unit of a ratio",
            "",
        ),
        (
            with("TDD", "radio.estimate_sigma = \"-1 dB\""),
            "cell.0.tdd.radio.estimate_sigma",
            "cannot be -1 dB",
            "0 dB to 100 dB",
        ),
        (
            with("TDD", "radio.joint_detection = 1.5"),
            "cell.0.tdd.radio.joint_detection",
            "1.5 is not a probability",
            "",
        ),
        (
            with("TDD", "radio.codes_per_block = 5"),
            "cell.0.tdd.radio.codes_per_block",
            "has 4 codes, not 5",
            "1 to 4",
        ),
        (
            with("TDD", "radio.curve = \"union\""),
            "cell.0.tdd.radio.curve",
            "`union` is not a known value",
            "union_bound",
        ),
        (
            with("CELL", "fach = { rate = \"64 kbit/s\" }"),
            "cell.0.fach",
            "is TDD and has no [cell.fach]",
            "duplex = \"fdd\"",
        ),
        (with("CELL", "rach = {}"), "cell.0.rach", "is TDD and has no [cell.rach]", "leave `rach` out"),
        (
            with("CELL", "admission = { dchs = 3 }"),
            "cell.0.admission",
            "DCHs to admit",
            "leave `admission` out",
        ),
        (with("CELL", "rlc_lead = \"1 ms\""), "cell.0.rlc_lead", "has no `rlc_lead`", "leave `rlc_lead` out"),
        (
            with("CELL", "iub = { timing = \"next_frame\" }"),
            "cell.0.iub.timing",
            "supports only iub.timing = \"just_in_time\"",
            "leave `iub.timing` out",
        ),
        (
            with("CELL", "").replace("\"tdd\"", "\"tdm\""),
            "cell.0.duplex",
            "`tdm` is not a known value",
            "tdd",
        ),
        (fdd(with("CELL", "")), "cell.0.tdd", "is FDD, so [cell.tdd] does not apply", "duplex = \"tdd\""),
        (
            fdd(with("CELL", "")).replace("[cell.tdd]\n", ""),
            "ue.0.bearer",
            "is FDD and grants no slots",
            "another bearer",
        ),
        (
            with("UE", "").replace("\"granted\"", "\"common\""),
            "ue.0.bearer",
            "users have no bearer `common` in it",
            "bearer = \"granted\"",
        ),
        (
            with("UE", "").replace("bearer = \"granted\"\n", ""),
            "ue.0.bearer",
            "users have no bearer `common` in it",
            "bearer = \"granted\"",
        ),
        (
            with("REST", &format!("rrc.dch = [\"b\"]\n{bearer}")).replace("\"granted\"", "\"switched\""),
            "ue.0.bearer",
            "no bearer `switched`",
            "granted",
        ),
        (named("\"b\""), "ue.0.bearer", "no bearer `b`", "granted"),
        (
            with("REST", &bearer.replace("\"b\"", "\"granted\"")),
            "bearer.0.name",
            "`granted` is the bearer of users of a TDD cell",
            "another name",
        ),
        (
            with("UE", "rlc = { mode = \"um\" }"),
            "ue.0.rlc.mode",
            "grants count SDUs of acknowledged mode",
            "mode = \"am\"",
        ),
        (
            with("REST", "[rlc]\npdu_payload = \"80 B\""),
            "rlc.pdu_payload",
            "holds a PDU of 40 B of payload, not 80 B",
            "40 B",
        ),
        (
            with("UE", "radio = { bler = 0.1 }"),
            "ue.0.radio",
            "block errors come from its slots",
            "cell.tdd.radio",
        ),
        (with("REST", "[radio]\nbler = 0.1"), "radio", "block errors come from its slots", "cell.tdd.radio"),
    ];
    for (text, key, message, help) in cases {
        let error = match load(text) {
            Ok(_) => panic!("accepted:\n{text}"),
            Err(error) => error,
        };
        let rendered = error.render(false);
        assert_eq!(error.key(), *key, "{rendered}");
        assert!(error.message().contains(message), "expected `{message}`:\n{rendered}");
        assert!(error.help().unwrap_or_default().contains(help), "expected `{help}`:\n{rendered}");
        assert!(error.line().is_some() && error.file() == "test.toml", "{rendered}");
    }
}
