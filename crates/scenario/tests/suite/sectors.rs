//! Users and calls in the cells of a layout: conversion, and invalid values.

use umts_stack::trace::Channel;

use crate::common::{assert_mistakes, fill, load_valid, scenario_of};

/// A user and calls in a layout. Placeholders: `HEAD` before the tables, `CELL` in `[[cell]]`, `UE` in
/// the `[[ue]]` of the user, `CALL` in the `[[ue]]` of the calls, `REST` at the end.
const SMALL: &str = "version = 1\nduration = \"10 s\"\nHEAD\n[layout]\n[[cell]]\nname = \"sector\"\nCELL\n[[ue]]\nname = \"user\"\nUE\n\
                     [[ue]]\nname = \"call\"\nCALL\n[[flow]]\nue = \"user\"\nREST\n";

/// Returns [`SMALL`] with calls that have an offered traffic, which they need.
fn small() -> String {
    SMALL.replace("CALL", "calls = { offered = \"24 Erl\" }")
}

/// Returns [`small`] with `keys` instead of the placeholder `place`, and without the others.
fn with(place: &str, keys: &str) -> String {
    fill(&small(), &format!("{place} {keys}"))
}

#[test]
fn users_are_on_the_dsch_and_calls_are_not_counted() {
    let scenario = scenario_of(&with("", ""));
    let [user, call] = &scenario.ue[..] else { panic!("two groups") };
    assert_eq!((&*user.bearer, user.count, &*call.bearer, call.count), ("dsch", 1, "conversational-64", 0));
    let [downlink, uplink] = scenario.plan().groups[0].channels;
    // Blocks have 40 octets, TTIs 20 ms: 256 kbit/s are 16 blocks, 64 kbit/s are 4.
    assert_eq!(
        (downlink.kind, downlink.format.blocks, downlink.format.tti.as_nanos()),
        (Channel::Dsch, 16, 20_000_000)
    );
    assert_eq!((uplink.kind, uplink.format.blocks, uplink.rate.bps()), (Channel::Dch, 4, 64_000));
    let config = call.calls.as_ref().expect("they call");
    assert_eq!((config.offered.value(), config.holding.as_secs()), (24.0, 120.0));
}

#[test]
fn users_and_calls_round_trip_through_toml() {
    let first = scenario_of(&with(
        "REST",
        "[handover]\nhysteresis = \"3 dB\"\nrlc = \"reestablished\"\nbuffer = \"lost\"\nsoft = { drop = \"6 dB\" }\n\
         compressed_mode = { gap = 14 }",
    ));
    let reloaded = scenario_of(&first.to_toml());
    assert_eq!(reloaded, first);
    assert_eq!(reloaded.handover.as_ref().expect("it is written").hysteresis.0, 3.0);
}

/// [`small`] with a user of an HS-DSCH.
fn hsdpa() -> String {
    small().replace("name = \"user\"\n", "name = \"user\"\nbearer = \"hsdpa-3.6\"\n")
}

#[test]
fn hs_dsch_users_have_an_hs_dsch_and_a_dch() {
    for cell in ["", "hs_dsch = { codes = 10, power = \"40 dBm\" }\ndch = { codes = \"one_tree\" }"] {
        let loaded = load_valid(&fill(&hsdpa(), &format!("CELL {cell}")));
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let [downlink, uplink] = loaded.scenario.plan().groups[0].channels;
        assert_eq!((downlink.kind, uplink.kind), (Channel::HsDsch, Channel::Dch));
    }
}

/// The path loss of users with an E-DCH follows from their places. It may also be given.
#[test]
fn e_dch_users_have_an_hs_dsch_and_an_e_dch() {
    for user in ["", "e_dch = { path_loss = \"130 dB\" }\n"] {
        let text =
            small().replace("name = \"user\"\n", &format!("name = \"user\"\nbearer = \"hspa-3.6\"\n{user}"));
        let loaded = load_valid(&fill(&text, ""));
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let [downlink, uplink] = loaded.scenario.plan().groups[0].channels;
        assert_eq!((downlink.kind, uplink.kind), (Channel::HsDsch, Channel::EDch));
    }
}

const MISTAKES: &str = r#"
    UE bearer = "common" => ue.0.bearer: no FACH and RACH | add fach = {}
    UE bearer = "dch-64" => ue.0.bearer: no bearer `dch-64` | dsch
    UE bearer = "conversational-64" => ue.0.bearer: these users do not call | calls = {
    REST [[flow]]
        ue = "call"
        => flow.1.ue: carry speech and no flow | leave the flow out
    CELL [cell.sccpch] => cell.0.sccpch: carries a FACH | add fach = {}
    UE rlc = { pdu_payload = "80 B" } => ue.0.rlc.pdu_payload: blocks of the DSCH have 40 B | 80 B
    CELL dsch = { uplink = "8 kbit/s" } => cell.0.dsch.uplink: carries no PDU | 64 kbit/s
    HEAD handover.hysteresis = "-1 dB" => handover.hysteresis: cannot be -1 dB | 0 dB to
    HEAD handover.interruption = "11 s" => handover.interruption: cannot be 11 s | 10 s
    HEAD handover.rlc = "lost" => handover.rlc: lost | kept
    HEAD handover.buffer = "gone" => handover.buffer: gone | lost
    HEAD handover.soft.add = "-1 dB" => handover.soft.add: cannot be -1 dB | 0 dB to
    HEAD handover.soft.drop = "2 dB" => handover.soft.drop: `drop` = 2 dB | 3 dB
    HEAD handover.soft.legs = 1 => handover.soft.legs: cannot be 1 | 2
    HEAD handover.soft = "3 dB" => handover.soft: 3 dB
    HEAD handover.compressed_mode.gap = 8 => handover.compressed_mode.gap: no gap of 8 | 3, 4, 5, 7
    HEAD handover.compressed_mode.every = "30 ms" => handover.compressed_mode.every: 30 ms apart | 80 ms
    HEAD handover.compressed_mode.raise = "11 dB" => handover.compressed_mode.raise: cannot be 11 dB | 0 dB to
"#;

/// Mistakes of calls.
const CALL_MISTAKES: &str = r#"
    CALL calls = {}
        bearer = "dsch"
        => ue.1.bearer: not `dsch` | conversational-64
    CALL calls = {}
        count = 3
        => ue.1.count: does not apply to calls | 24 Erl
    CALL calls = { offered = "-1 Erl" } => ue.1.calls.offered: -1 Erl
    CALL calls = { offered = "24" } => ue.1.calls.offered: 24` has no unit: write it as in "24 Erl
    CALL calls = { offered = "5000 Erl" } => ue.1.calls.offered: cannot be 5000 Erl | 1000 Erl
    CALL calls = { holding = "0 s" } => ue.1.calls.holding: cannot be 0 s | 1 s
    CALL calls = { spreading_factor = 48 }
        => ue.1.calls.spreading_factor: the spreading factor cannot be 48 | 64
    HEAD handover.compressed_mode = {}
    CALL calls = { spreading_factor = 4 }
        => ue.1.calls.spreading_factor: the spreading factor cannot be 4 | 8
"#;

/// Keys that need a layout.
const WITHOUT_LAYOUT: &str = r#"
    CELL [cell.power] => cell.0.power: has no effect without [layout] | add [layout]
    CELL [cell.dsch] => cell.0.dsch: has no effect without [layout] | add [layout]
    CELL [cell.sccpch] => cell.0.sccpch: has no effect without [layout] | add [layout]
    REST [handover] => handover: has no effect without [layout] | add [layout]
    UE bearer = "dsch" => ue.0.bearer: requires [layout] | add [layout]
    UE bearer = "ps-384"
        dch = { spreading_factor = 8 }
        => ue.0.dch: in a [layout] only | leave `dch` out
    CELL [cell.dch] => cell.0.dch: has no effect without [layout] | add [layout]
"#;

#[test]
fn invalid_layout_keys_are_reported_with_their_location() {
    assert_mistakes(&small(), MISTAKES);
    assert_mistakes(SMALL, CALL_MISTAKES);
    assert_mistakes(&small().replace("[layout]\n", ""), WITHOUT_LAYOUT);
}

#[test]
fn users_of_dch_bearers_live_in_a_layout() {
    // Name of the bearer, its downlink rate in bit/s, and the spreading factor for that rate.
    for (bearer, rate, factor) in [("ps-64", 64_000, 32), ("ps-128", 128_000, 16), ("ps-384", 384_000, 8)] {
        let loaded = scenario_of(&with("UE", &format!("bearer = \"{bearer}\"\ndch = {{ ebn0 = \"4 dB\" }}")));
        let [downlink, uplink] = loaded.plan().groups[0].channels;
        assert_eq!((downlink.kind, uplink.kind, downlink.rate.bps()), (Channel::Dch, Channel::Dch, rate));
        let dch = loaded.ue[0].dch.expect("it is written");
        assert_eq!((dch.ebn0.0, dch.spreading_factor(downlink.rate)), (4.0, Some(factor)));
        assert_eq!(scenario_of(&loaded.to_toml()), loaded);
    }
}

#[test]
fn users_of_the_fach_live_in_a_layout_with_common_channels() {
    let cell = "fach = {}\nrach = {}\nsccpch = { power = \"30 dBm\" }";
    let text = with("CELL", cell).replace("name = \"user\"\n", "name = \"user\"\nbearer = \"common\"\n");
    let loaded = scenario_of(&text);
    let own = loaded.plan().groups[0].channels;
    assert_eq!(own.map(|channel| channel.kind), [Channel::Fach, Channel::Rach]);
    let sccpch = loaded.cell[0].sccpch.expect("it is written");
    let code = sccpch.code(own[0].rate).expect("32 kbit/s have a code");
    assert_eq!((sccpch.power.0, sccpch.ebn0.0, code.spreading_factor, code.number), (30.0, 5.0, 64, 1));
    assert_eq!(scenario_of(&loaded.to_toml()), loaded);
    let without_rach = text.replace("rach = {}\n", "");
    assert_mistakes(&without_rach, "=> ue.0.bearer: has no RACH | give the cell the channel");
}

const FACH_MISTAKES: &str = r#"
    FACH scheduling = "per_ue_push" => cell.0.fach.scheduling: cannot be used in a layout | pull
    SCCPCH power = "81 dBm" => cell.0.sccpch.power: cannot be 81 dBm | 80 dBm
    SCCPCH power = "43 dBm" => cell.0.sccpch.power: must be below cell.power.max | less power
    SCCPCH ebn0 = "31 dB" => cell.0.sccpch.ebn0: cannot be 31 dB | -30 dB to 30 dB
    SCCPCH spreading_factor = 512 => cell.0.sccpch.spreading_factor: factor of 512 | 256 or less
    SCCPCH spreading_factor = 12 => cell.0.sccpch.spreading_factor: cannot be 12 | as in 16
    SCCPCH spreading_factor = 256 => cell.0.sccpch.spreading_factor: cannot carry 32 kbit/s | 30 kbit/s
    FACH rate = "1024 kbit/s" => cell.0.fach.rate: needs several codes | 768 kbit/s
    SCCPCH spreading_factor = 64
        [cell.dsch]
        codes = "1/1"
        => cell.0.sccpch.spreading_factor: branch of the DSCH | dsch.codes
"#;

#[test]
fn invalid_keys_of_the_fach_are_reported_with_their_location() {
    let tables = "rach = {}\n[cell.fach]\nFACH\n[cell.sccpch]\nSCCPCH";
    assert_mistakes(&small().replace("CELL", tables), FACH_MISTAKES);
}

const BEARERS_AND_CODES: &str = r#"
    UE bearer = "switched" => ue.0.bearer: have no FACH and RACH | fach = {}
    CELL admission = { power = "10 dBm" }
        => cell.0.admission.power: with a pilot of 10 dBm | more than cell.power.pilot
    UE bearer = "hspa-14.4"
        e_dch = { path_loss = "150 dB" }
        => ue.0.e_dch.path_loss: no power for a block with a PDU | a path loss of at most 132 dB
    CELL e_dch = { noise_rise = "0.1 dB" }
    UE bearer = "hspa-14.4" => cell.0.e_dch.noise_rise: no grant can carry a PDU | at least 0.4 dB
    UE bearer = "hsdpa-3.6"
        dch = {}
        => ue.0.dch: bearer on DCHs | ps-64
    UE bearer = "own"
    REST [[bearer]]
        name = "own"
        downlink = { rate = "64 kbit/s", tti = "20 ms", shared = true }
        uplink = { rate = "64 kbit/s", tti = "20 ms" }
        => ue.0.bearer: is shared | dsch
    UE bearer = "own"
    REST [[bearer]]
        name = "own"
        downlink = { rate = "1024 kbit/s", tti = "20 ms", shared = false }
        uplink = { rate = "64 kbit/s", tti = "20 ms" }
        => ue.0.bearer: needs several codes | 768 kbit/s
    UE bearer = "ps-384"
        dch = { ebn0 = "31 dB" }
        => ue.0.dch.ebn0: cannot be 31 dB | -30 dB to 30 dB
    UE bearer = "ps-384"
        dch = { spreading_factor = 12 }
        => ue.0.dch.spreading_factor: cannot be 12 | as in 16
    UE bearer = "ps-384"
        dch = { spreading_factor = 32 }
        => ue.0.dch.spreading_factor: cannot carry 384 kbit/s | 240 kbit/s
    UE dch = {} => ue.0.dch: bearer on DCHs | ps-64
    CELL dch = { codes = "few" } => cell.0.dch.codes: few | one_tree
    CELL dch = { without_code = "lost" } => cell.0.dch.without_code: lost | dropped
    CELL dch = { codes = "one_tree", common = "1/1" } => cell.0.dch.common: no room for the DSCH | 1/32
    CELL dch.associated = { spreading_factor = 200 }
        => cell.0.dch.associated.spreading_factor: the spreading factor cannot be 200 | 256
    CELL dch.associated = { rate = "64 kbit/s" } => cell.0.dch.associated.rate: cannot carry 64 | 30 kbit/s
    CELL dch = { codes = "one_tree", common = "1/2" }
        dsch = { codes = "1/2" }
        => ue.1.calls.spreading_factor: DSCH and the common channels leave no code of spreading factor 32
"#;

#[test]
fn bearers_and_codes_that_a_layout_cannot_serve_are_refused_with_a_repair() {
    assert_mistakes(&small(), BEARERS_AND_CODES);
    let without_calls = SMALL.replace("[[ue]]\nname = \"call\"\nCALL\n", "");
    assert_mistakes(
        &without_calls,
        r#"
    CELL dch = { codes = "one_tree", common = "1/2" }
        dsch = { codes = "1/2" }
    UE bearer = "ps-64"
        => ue.0.dch.spreading_factor: DSCH and the common channels leave no code of spreading factor 32
        "#,
    );
    assert_mistakes(
        &without_calls.replace("[layout]\n", ""),
        r#"
    CELL admission = { power = "40 dBm" } => cell.0.admission.power: no effect without [layout] | add [layout]
        "#,
    );
}

#[test]
fn rrc_may_switch_users_to_the_hs_dsch_of_their_cell() {
    let cell = "CELL fach = {}\nrach = {}\nhs_dsch = { max_users = 4 }";
    let user = "UE bearer = \"switched\"\nrrc = { dch = [\"hsdpa-3.6\", \"ps-64\"] }\nhs_dsch = { fading = \"rayleigh\" }";
    let loaded = load_valid(&fill(&small(), &format!("{cell}\n{user}")));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let group = &loaded.scenario.plan().groups[0];
    let kinds: Vec<_> = group.dchs.iter().map(|[downlink, _]| downlink.kind).collect();
    assert_eq!((group.channels[0].kind, kinds), (Channel::Fach, vec![Channel::HsDsch, Channel::Dch]));
}

const HS_DSCH_MISTAKES: &str = r#"
    CELL hs_dsch = { power = "42 dBm" }
        power = { pilot = "37 dBm" }
        => cell.0.hs_dsch.power: together exceed cell.power.max | they leave 41.7 dBm
    CELL hs_dsch = { power = "40 dBm" }
        admission = { power = "40 dBm" }
        => cell.0.admission.power: leaves nothing beside cell.power.pilot (10 dBm) and cell.hs_dsch.power (40 dBm) | choose more than 40.0 dBm
    CELL hs_dsch = { power = "81 dBm" } => cell.0.hs_dsch.power: cannot be 81 dBm | -50 dBm to 80 dBm
    CELL hs_dsch = { codes = 15 }
        dch = { common = "1/8" }
        => cell.0.hs_dsch.codes: no room for 15 codes of spreading factor 16 (HS-PDSCHs) and 1 of 128 (HS-SCCHs) beside the common channels | choose codes = 13 or less
    REST [[ue]]
        name = "other"
        bearer = "dsch"
        => cell.0.hs_dsch.codes: beside the common channels and the DSCH | choose codes = 11 or less
    CELL dch = { codes = "one_tree" }
        => ue.1.calls.spreading_factor: the HS-DSCH and the common channels leave no code of spreading factor 32 | reduce `hs_dsch.codes`
    CELL hs_dsch = { codes = 13 }
        dch = { codes = "one_tree", common = "1/8", associated = { spreading_factor = 8 } }
        => cell.0.dch.associated.spreading_factor: the HS-DSCH and the common channels leave no code of spreading factor 8 | reduce `hs_dsch.codes`
"#;

#[test]
fn hs_dsch_without_power_or_codes_is_refused_with_a_repair() {
    assert_mistakes(&hsdpa(), HS_DSCH_MISTAKES);
}
