//! TDD cells: defaults, conversion, and invalid values.

use umts_scenario::model::{Duplex, Frames, Sdus};

use crate::common::{assert_mistakes, fill, load_valid, scenario_of};

/// A cell with one user. Placeholders: `HEAD` before the tables, `TDD` in `[cell.tdd]`, `CELL` in
/// `[[cell]]`, `UE` in `[[ue]]`, `REST` at the end.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nHEAD\n[[cell]]\nname = \"c\"\nduplex = \"tdd\"\nCELL\n[cell.tdd]\nTDD\n\
                     [[ue]]\nname = \"user\"\nbearer = \"granted\"\nUE\nREST\n";

#[test]
fn tdd_cell_has_tdd_defaults_and_no_fdd_channels() {
    let loaded = load_valid(&fill(SMALL, ""));
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
    let text = fill(SMALL, "");
    assert_eq!(scenario_of(&text.replace("[cell.tdd]\n", "")), scenario_of(&text));
}

#[test]
fn cells_of_both_kinds_stand_side_by_side() {
    // The cell `c` is TDD. A second cell, `fdd`, has a user on FACH and RACH, and block errors.
    let text = fill(
        SMALL,
        "UE cell = \"c\"
         REST [[cell]]\nname = \"fdd\"\n[[ue]]\nname = \"other\"\ncell = \"fdd\"\n[radio]\nbler = 0.1",
    );
    assert!(scenario_of(&text).cell[1].fach.is_some());
}

#[test]
fn frames_and_sdus_are_counted_with_their_nouns() {
    let text = fill(SMALL, "TDD grant.levels = [\"2 SDUs\", \"8 SDUs\"]\nrach.backoff = \"1 frame\"");
    let written = scenario_of(&text).to_toml();
    assert!(written.contains("\"1 frame\"") && written.contains("\"2 SDUs\""), "{written}");
}

const MISTAKES: &str = r#"
    TDD slots = "RUUDDC" => cell.0.tdd.slots: has 6 letters, but the frame has 15 slots | "RUUUUUUDDDDDDDC"
    TDD slots = "UUUUUDDDDDDDDDC"
        => cell.0.tdd.slots: slot 0 of `UUUUUDDDDDDDDDC` cannot be U: it must be R (random access) | dynamic
    TDD slots = "RUUUUDDDDDDDDDD" => cell.0.tdd.slots: slot 14 of | dynamic
    TDD slots = "RUUUUXDDDDDDDDC" => cell.0.tdd.slots: cannot be X: it must be U or D (data) | dynamic
    TDD slots = "RDDDDDDDDDDDDDC" => cell.0.tdd.slots: has no uplink slot (U) | dynamic
    TDD slots = "RUUUUUUUUUUUUUC" => cell.0.tdd.slots: has no downlink slot (D) | dynamic
    TDD layout = "1.28 Mcps"
        slots = "CUDUDDD"
        => cell.0.tdd.slots: more than one switching point | "CUUUDDD"
    TDD layout = "1.28 Mcps"
        slots = "RUUUUDDDDDDDDDC"
        => cell.0.tdd.slots: the frame has 7 slots | CUUUDDD
    TDD layout = "3.84 Mcsp"
        => cell.0.tdd.layout: `3.84 Mcsp` is not a known value | did you mean "3.84 Mcps"?
    TDD grant.sdus = 0 => cell.0.tdd.grant.sdus: cannot be 0 | 1 to 65535
    TDD grant.weights = [4, 2, 1] => cell.0.tdd.grant.weights: must not decrease | [1, 2, 4]
    TDD grant.weights = [1, 2] => cell.0.tdd.grant.weights: need three weights, not 2 | [1, 2, 4]
    TDD grant.weights = [0, 2, 4] => cell.0.tdd.grant.weights: at least one block per frame | 1 or more
    TDD grant.weights = [1, 2, 60]
        => cell.0.tdd.grant.weights: 60 blocks is more than the 47 blocks of a frame | at most 47
    TDD grant.weights = "1, 2, 4" => cell.0.tdd.grant.weights: is expected here
    TDD grant.levels = ["1 SDU"] => cell.0.tdd.grant.levels: need two bounds, not 1 | two
    TDD grant.levels = ["5 SDUs", "1 SDU"]
        => cell.0.tdd.grant.levels: 5 SDUs is not below 1 SDU | the lower one first
    TDD grant.levels = [1, 5] => cell.0.tdd.grant.levels.0: `1` has no unit | 5 SDUs
    TDD grant.levels = ["1 PDU", "5 SDUs"] => cell.0.tdd.grant.levels.0: `1 PDU` is not a number of SDUs
    TDD grant.ends = "acknowledged"
        => cell.0.tdd.grant.ends: can no longer be changed: it is always unused_frame | leave it out
    TDD grant.refused = "back" => cell.0.tdd.grant.refused: `back` is not a known value | back_off
    TDD rach.codes = 17 => cell.0.tdd.rach.codes: cannot be 17 | 1 to 16 (TS 25.331
    TDD rach.answer = "25 ms" => cell.0.tdd.rach.answer: a multiple of a frame of 10 ms | choose 30 ms
    TDD rach.backoff = "0 frames" => cell.0.tdd.rach.backoff: cannot be 0 frames | 1 frame
    TDD rach.backoff = 64 => cell.0.tdd.rach.backoff: `64` has no unit | 64 frames
    TDD ack.uplink_places = 48
        => cell.0.tdd.ack.uplink_places: leave no room for data in the uplink | a smaller `uplink_places`
    TDD slots = "RUUUUUUUUUUUUDC"
        ack.downlink_per_frame = 4
        => cell.0.tdd.ack.downlink_per_frame: leave no room for data in the downlink | more downlink slots
    TDD ack.chanel = "common" => cell.0.tdd.ack.chanel: unknown key `chanel` | did you mean `channel`?
    TDD radio.rho = 1.0 => cell.0.tdd.radio.rho: cannot be 1 | at most 0.9999
    TDD radio.estimate_sigma = "10 dB2" => cell.0.tdd.radio.estimate_sigma: `dB2` is not a unit of a ratio
    TDD radio.estimate_sigma = "-1 dB" => cell.0.tdd.radio.estimate_sigma: cannot be -1 dB | 0 dB to 100 dB
    TDD radio.joint_detection = 1.5 => cell.0.tdd.radio.joint_detection: 1.5 is not a probability
    TDD radio.codes_per_block = 5 => cell.0.tdd.radio.codes_per_block: has 4 codes, not 5 | 1 to 4
    TDD radio.curve = "union" => cell.0.tdd.radio.curve: `union` is not a known value | union_bound
    CELL fach = { rate = "64 kbit/s" } => cell.0.fach: is TDD and has no [cell.fach] | duplex = "fdd"
    CELL rach = {} => cell.0.rach: is TDD and has no [cell.rach] | leave `rach` out
    CELL admission = { dchs = 3 } => cell.0.admission: DCHs to admit | leave `admission` out
    CELL rlc_lead = "1 ms" => cell.0.rlc_lead: has no `rlc_lead` | leave `rlc_lead` out
    CELL iub = { timing = "next_frame" }
        => cell.0.iub.timing: supports only iub.timing = "just_in_time" | leave `iub.timing` out
    REST [[bearer]]
        name = "granted"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.name: `granted` is the bearer of users of a TDD cell | another name
    UE rlc = { mode = "um" } => ue.0.rlc.mode: grants count SDUs of acknowledged mode | mode = "am"
    HEAD rlc.pdu_payload = "80 B" => rlc.pdu_payload: holds a PDU of 40 B of payload, not 80 B | 40 B
    UE radio = { bler = 0.1 } => ue.0.radio: block errors come from its slots | cell.tdd.radio
    HEAD radio.bler = 0.1 => radio: block errors come from its slots | cell.tdd.radio
"#;

/// Bearers that users of a TDD cell cannot have.
const BEARERS: &str = r#"
    BEARER bearer = "common" => ue.0.bearer: users have no bearer `common` in it | bearer = "granted"
    => ue.0.bearer: users have no bearer `common` in it | bearer = "granted"
    BEARER bearer = "switched"
    REST rrc.dch = ["b"]
        [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => ue.0.bearer: no bearer `switched` | granted
    BEARER bearer = "b"
    REST [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => ue.0.bearer: no bearer `b` | granted
"#;

#[test]
fn mistakes_are_reported_at_their_key() {
    assert_mistakes(SMALL, MISTAKES);
    assert_mistakes(&SMALL.replace("bearer = \"granted\"", "BEARER"), BEARERS);
    assert_mistakes(
        &SMALL.replace("\"tdd\"", "\"tdm\""),
        "=> cell.0.duplex: `tdm` is not a known value | tdd",
    );
    let fdd = SMALL.replace("\"tdd\"", "\"fdd\"");
    assert_mistakes(&fdd, "=> cell.0.tdd: is FDD, so [cell.tdd] does not apply | duplex = \"tdd\"");
    let without_table = fdd.replace("[cell.tdd]\n", "");
    assert_mistakes(&without_table, "=> ue.0.bearer: is FDD and grants no slots | another bearer");
}
