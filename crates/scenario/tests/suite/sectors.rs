//! Users and calls in the cells of a layout: conversion, and invalid values.

use std::path::Path;

use umts_scenario::{Loaded, Scenario, ScenarioError};
use umts_stack::trace::Channel;

/// A user and calls in a layout. Placeholders: `CELL` in `[[cell]]`, `UE` in the `[[ue]]` of the
/// user, `CALL` in the `[[ue]]` of the calls, `REST` at the end.
const SMALL: &str = "version = 1\nduration = \"10 s\"\n[layout]\n[[cell]]\nname = \"sector\"\nCELL\n[[ue]]\nname = \"user\"\nUE\n\
                     [[ue]]\nname = \"call\"\nCALL\n[[flow]]\nue = \"user\"\nREST\n";

fn load(text: &str) -> Result<Loaded, ScenarioError> {
    Scenario::parse(text, "test.toml", Path::new(""), &[])
}

/// Returns [`SMALL`] with `keys` instead of the placeholder `place`, and without the others. Calls
/// without keys get an offered traffic, which they need.
fn with(place: &str, keys: &str) -> String {
    let text = SMALL.replacen(place, keys, 1);
    let text = text.replace("\nCALL\n", "\ncalls = { offered = \"24 Erl\" }\n");
    ["CELL", "UE", "REST"].iter().fold(text, |text, place| text.replace(&format!("\n{place}\n"), "\n\n"))
}

#[test]
fn users_are_on_the_dsch_and_calls_are_not_counted() {
    let loaded = load(&with("", "")).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let scenario = &loaded.scenario;
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
    let scenario =
        load(&with("REST", "[handover]\nhysteresis = \"3 dB\"\nrlc = \"reestablished\"\nbuffer = \"lost\"\nsoft = { drop = \"6 dB\" }\n\
         compressed_mode = { gap = 14 }"))
            .unwrap()
            .scenario;
    let reloaded =
        load(&scenario.to_toml()).unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
    assert_eq!(reloaded, scenario);
    assert_eq!(reloaded.handover.as_ref().expect("it is written").hysteresis.0, 3.0);
}

/// [`SMALL`] with a user of an HS-DSCH and these keys of the cell.
fn hsdpa(cell: &str) -> String {
    with("CELL", cell).replace("name = \"user\"\n", "name = \"user\"\nbearer = \"hsdpa-3.6\"\n")
}

#[test]
fn hs_dsch_users_have_an_hs_dsch_and_a_dch() {
    for cell in ["", "hs_dsch = { codes = 10, power = \"40 dBm\" }\ndch = { codes = \"one_tree\" }"] {
        let loaded = load(&hsdpa(cell)).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let [downlink, uplink] = loaded.scenario.plan().groups[0].channels;
        assert_eq!((downlink.kind, uplink.kind), (Channel::HsDsch, Channel::Dch));
    }
}

/// Checks that each scenario is refused. A case has the scenario, the key of the error, a part of
/// its message and a part of its help.
fn assert_refused(cases: &[(String, &str, &str, &str)]) {
    for (text, key, message, help) in cases {
        let error = load(text).expect_err(text);
        let rendered = error.render(false);
        assert_eq!(error.key(), *key, "{rendered}");
        assert!(error.message().contains(message), "{key}: {rendered}");
        assert!(rendered.contains(help), "{key}: {rendered}");
    }
}

#[test]
fn invalid_layout_keys_are_reported_with_their_location() {
    let no_layout = |text: &str| text.replace("[layout]\n", "");
    let cases: &[(String, &str, &str, &str)] = &[
        (with("UE", "bearer = \"common\""), "ue.0.bearer", "no FACH and RACH", "add fach = {}"),
        (with("UE", "bearer = \"dch-64\""), "ue.0.bearer", "no bearer `dch-64`", "dsch"),
        (with("UE", "bearer = \"conversational-64\""), "ue.0.bearer", "these users do not call", "calls = {"),
        (with("CALL", "calls = {}\nbearer = \"dsch\""), "ue.1.bearer", "not `dsch`", "conversational-64"),
        (with("CALL", "calls = {}\ncount = 3"), "ue.1.count", "does not apply to calls", "24 Erl"),
        (with("CALL", "calls = { offered = \"-1 Erl\" }"), "ue.1.calls.offered", "-1 Erl", ""),
        (with("CALL", "calls = { offered = \"24\" }"), "ue.1.calls.offered", "24", "Erl"),
        (
            with("CALL", "calls = { offered = \"5000 Erl\" }"),
            "ue.1.calls.offered",
            "cannot be 5000 Erl",
            "1000 Erl",
        ),
        (with("CALL", "calls = { holding = \"0 s\" }"), "ue.1.calls.holding", "cannot be 0 s", "1 s"),
        (
            with("REST", "[[flow]]\nue = \"call\""),
            "flow.1.ue",
            "carry speech and no flow",
            "leave the flow out",
        ),
        (with("CELL", "[cell.sccpch]"), "cell.0.sccpch", "carries a FACH", "add fach = {}"),
        (
            with("UE", "rlc = { pdu_payload = \"80 B\" }"),
            "ue.0.rlc.pdu_payload",
            "blocks of the DSCH have 40 B",
            "80 B",
        ),
        (
            with("CELL", "dsch = { uplink = \"8 kbit/s\" }"),
            "cell.0.dsch.uplink",
            "carries no PDU",
            "64 kbit/s",
        ),
        (
            with("REST", "[handover]\nhysteresis = \"-1 dB\""),
            "handover.hysteresis",
            "cannot be -1 dB",
            "0 dB to",
        ),
        (
            with("REST", "[handover]\ninterruption = \"11 s\""),
            "handover.interruption",
            "cannot be 11 s",
            "10 s",
        ),
        (with("REST", "[handover]\nrlc = \"lost\""), "handover.rlc", "lost", "kept"),
        (with("REST", "[handover]\nbuffer = \"gone\""), "handover.buffer", "gone", "lost"),
        (
            no_layout(&with("CELL", "[cell.power]")),
            "cell.0.power",
            "has no effect without [layout]",
            "add [layout]",
        ),
        (
            no_layout(&with("CELL", "[cell.dsch]")),
            "cell.0.dsch",
            "has no effect without [layout]",
            "add [layout]",
        ),
        (
            no_layout(&with("CELL", "[cell.sccpch]")),
            "cell.0.sccpch",
            "has no effect without [layout]",
            "add [layout]",
        ),
        (
            no_layout(&with("REST", "[handover]")),
            "handover",
            "has no effect without [layout]",
            "add [layout]",
        ),
        (no_layout(&with("UE", "bearer = \"dsch\"")), "ue.0.bearer", "requires [layout]", "add [layout]"),
    ];
    assert_refused(cases);
}

#[test]
fn users_of_dch_bearers_live_in_a_layout() {
    // Name of the bearer, its downlink rate in bit/s, and the spreading factor for that rate.
    for (bearer, rate, factor) in [("ps-64", 64_000, 32), ("ps-128", 128_000, 16), ("ps-384", 384_000, 8)] {
        let loaded = load(&with("UE", &format!("bearer = \"{bearer}\"\ndch = {{ ebn0 = \"4 dB\" }}")));
        let scenario = loaded.unwrap_or_else(|error| panic!("{}", error.render(false))).scenario;
        let [downlink, uplink] = scenario.plan().groups[0].channels;
        assert_eq!((downlink.kind, uplink.kind, downlink.rate.bps()), (Channel::Dch, Channel::Dch, rate));
        let dch = scenario.ue[0].dch.expect("it is written");
        assert_eq!((dch.ebn0.0, dch.spreading_factor(downlink.rate)), (4.0, Some(factor)));
        assert_eq!(load(&scenario.to_toml()).expect("the scenario is valid").scenario, scenario);
    }
}

#[test]
fn users_of_the_fach_live_in_a_layout_with_common_channels() {
    let cell = "fach = {}\nrach = {}\nsccpch = { power = \"30 dBm\" }";
    let text = with("CELL", cell).replace("name = \"user\"\n", "name = \"user\"\nbearer = \"common\"\n");
    let scenario = load(&text).unwrap_or_else(|e| panic!("{}", e.render(false))).scenario;
    let own = scenario.plan().groups[0].channels;
    assert_eq!(own.map(|channel| channel.kind), [Channel::Fach, Channel::Rach]);
    let sccpch = scenario.cell[0].sccpch.expect("it is written");
    let code = sccpch.code(own[0].rate).expect("32 kbit/s have a code");
    assert_eq!((sccpch.power.0, sccpch.ebn0.0, code.spreading_factor, code.number), (30.0, 5.0, 64, 1));
    assert_eq!(load(&scenario.to_toml()).expect("it is valid").scenario, scenario);
    let without_rach = text.replace("rach = {}\n", "");
    assert_refused(&[(without_rach, "ue.0.bearer", "has no RACH", "give the cell the channel")]);
}

#[test]
fn invalid_keys_of_the_fach_are_reported_with_their_location() {
    let cell = |fach: &str, sccpch: &str| {
        with("CELL", &format!("fach = {{ {fach} }}\nrach = {{}}\nsccpch = {{ {sccpch} }}"))
    };
    assert_refused(&[
        (
            cell("scheduling = \"per_ue_push\"", ""),
            "cell.0.fach.scheduling",
            "cannot be used in a layout",
            "pull",
        ),
        (cell("", "power = \"81 dBm\""), "cell.0.sccpch.power", "cannot be 81 dBm", "80 dBm"),
        (cell("", "power = \"43 dBm\""), "cell.0.sccpch.power", "must be below cell.power.max", "less power"),
        (cell("", "ebn0 = \"31 dB\""), "cell.0.sccpch.ebn0", "cannot be 31 dB", "-30 dB to 30 dB"),
        (
            cell("", "spreading_factor = 512"),
            "cell.0.sccpch.spreading_factor",
            "factor of 512",
            "256 or less",
        ),
        (cell("", "spreading_factor = 12"), "cell.0.sccpch.spreading_factor", "cannot be 12", "as in 16"),
        (
            cell("", "spreading_factor = 256"),
            "cell.0.sccpch.spreading_factor",
            "cannot carry 32 kbit/s",
            "30 kbit/s",
        ),
        (cell("rate = \"1024 kbit/s\"", ""), "cell.0.fach.rate", "needs several codes", "768 kbit/s"),
        (
            with(
                "CELL",
                "fach = {}\nrach = {}\nsccpch = { spreading_factor = 64 }\ndsch = { codes = \"1/1\" }",
            ),
            "cell.0.sccpch.spreading_factor",
            "branch of the DSCH",
            "dsch.codes",
        ),
    ]);
}

#[test]
fn bearers_that_a_layout_cannot_serve_are_refused_with_a_repair() {
    let bearer = |rate: &str, shared: bool| {
        let channel = format!("{{ rate = \"{rate}\", tti = \"20 ms\", shared = {shared} }}");
        let table = format!(
            "[[bearer]]\nname = \"own\"\ndownlink = {channel}\nuplink = {{ rate = \"64 kbit/s\", tti = \"20 ms\" }}"
        );
        with("UE", "bearer = \"own\"").replace("[[flow]]", &format!("{table}\n[[flow]]"))
    };
    let dch = |keys: &str| with("UE", &format!("bearer = \"ps-384\"\ndch = {{ {keys} }}"));
    assert_refused(&[
        (with("UE", "bearer = \"switched\""), "ue.0.bearer", "have no FACH and RACH", "fach = {}"),
        (
            with("CELL", "admission = { power = \"10 dBm\" }"),
            "cell.0.admission.power",
            "with a pilot of 10 dBm",
            "more than cell.power.pilot",
        ),
        (
            with("CELL", "admission = { power = \"40 dBm\" }")
                .replace("[layout]\n", "")
                .replace("[[ue]]\nname = \"call\"\ncalls = { offered = \"24 Erl\" }\n", ""),
            "cell.0.admission.power",
            "no effect without [layout]",
            "add [layout]",
        ),
        (with("UE", "bearer = \"hspa-3.6\""), "ue.0.bearer", "has an E-DCH", "hsdpa-7.2"),
        (
            with("UE", "bearer = \"switched\"\nrrc = { dch = [\"hspa-3.6\", \"ps-64\"] }")
                .replace("name = \"sector\"\n", "name = \"sector\"\nfach = {}\nrach = {}\n"),
            "ue.0.rrc.dch.0",
            "bearer `hspa-3.6` has an E-DCH",
            "choose an hsdpa bearer",
        ),
        (with("UE", "bearer = \"hsdpa-3.6\"\ndch = {}"), "ue.0.dch", "bearer on DCHs", "ps-64"),
        (bearer("64 kbit/s", true), "ue.0.bearer", "is shared", "dsch"),
        (bearer("1024 kbit/s", false), "ue.0.bearer", "needs several codes", "768 kbit/s"),
        (dch("ebn0 = \"31 dB\""), "ue.0.dch.ebn0", "cannot be 31 dB", "-30 dB to 30 dB"),
        (dch("spreading_factor = 12"), "ue.0.dch.spreading_factor", "cannot be 12", "as in 16"),
        (dch("spreading_factor = 32"), "ue.0.dch.spreading_factor", "cannot carry 384 kbit/s", "240 kbit/s"),
        (with("UE", "dch = {}"), "ue.0.dch", "bearer on DCHs", "ps-64"),
        (
            dch("spreading_factor = 8").replace("[layout]\n", ""),
            "ue.0.dch",
            "in a [layout] only",
            "leave `dch` out",
        ),
        (
            with("CELL", "dch = { codes = \"one_tree\", common = \"1/2\" }\ndsch = { codes = \"1/2\" }")
                .replace("name = \"user\"\n", "name = \"user\"\nbearer = \"ps-64\"\n")
                .replace("[[ue]]\nname = \"call\"\ncalls = { offered = \"24 Erl\" }\n", ""),
            "ue.0.dch.spreading_factor",
            "leave no code of spreading factor 32",
            "DSCH",
        ),
    ]);
}

#[test]
fn rrc_may_switch_users_to_the_hs_dsch_of_their_cell() {
    let user = "bearer = \"switched\"\nrrc = { dch = [\"hsdpa-3.6\", \"ps-64\"] }\nhs_dsch = { fading = \"rayleigh\" }";
    let text = with("UE", user).replace(
        "name = \"sector\"\n",
        "name = \"sector\"\nfach = {}\nrach = {}\nhs_dsch = { max_users = 4 }\n",
    );
    let loaded = load(&text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let group = &loaded.scenario.plan().groups[0];
    let kinds: Vec<_> = group.dchs.iter().map(|[downlink, _]| downlink.kind).collect();
    assert_eq!((group.channels[0].kind, kinds), (Channel::Fach, vec![Channel::HsDsch, Channel::Dch]));
}

#[test]
fn hs_dsch_without_power_or_codes_is_refused_with_a_repair() {
    assert_refused(&[
        (
            hsdpa("hs_dsch = { power = \"42 dBm\" }\npower = { pilot = \"37 dBm\" }"),
            "cell.0.hs_dsch.power",
            "together exceed cell.power.max",
            "they leave 41.7 dBm",
        ),
        (
            hsdpa("hs_dsch = { power = \"40 dBm\" }\nadmission = { power = \"40 dBm\" }"),
            "cell.0.admission.power",
            "leaves nothing beside cell.power.pilot (10 dBm) and cell.hs_dsch.power (40 dBm)",
            "choose more than 40.0 dBm",
        ),
        (
            hsdpa("hs_dsch = { power = \"81 dBm\" }"),
            "cell.0.hs_dsch.power",
            "cannot be 81 dBm",
            "-50 dBm to 80 dBm",
        ),
        (
            hsdpa("hs_dsch = { codes = 15 }\ndch = { common = \"1/8\" }"),
            "cell.0.hs_dsch.codes",
            "no room for 15 codes of spreading factor 16 (HS-PDSCHs) and 1 of 128 (HS-SCCHs) beside the common channels",
            "choose codes = 13 or less",
        ),
        (
            hsdpa("") + "[[ue]]\nname = \"other\"\nbearer = \"dsch\"\n",
            "cell.0.hs_dsch.codes",
            "beside the common channels and the DSCH",
            "choose codes = 11 or less",
        ),
        (
            hsdpa("dch = { codes = \"one_tree\" }"),
            "ue.1.calls.spreading_factor",
            "the HS-DSCH and the common channels leave no code of spreading factor 32",
            "reduce `hs_dsch.codes`",
        ),
        (
            hsdpa(
                "hs_dsch = { codes = 13 }\ndch = { codes = \"one_tree\", common = \"1/8\", associated = { spreading_factor = 8 } }",
            ),
            "cell.0.dch.associated.spreading_factor",
            "the HS-DSCH and the common channels leave no code of spreading factor 8",
            "reduce `hs_dsch.codes`",
        ),
    ]);
}

#[test]
fn invalid_windows_and_gaps_are_reported_at_their_key() {
    assert_refused(&[
        (with("REST", "[handover.soft]\nadd = \"-1 dB\""), "handover.soft.add", "cannot be -1 dB", "0 dB to"),
        (with("REST", "[handover.soft]\ndrop = \"2 dB\""), "handover.soft.drop", "`drop` = 2 dB", "3 dB"),
        (with("REST", "[handover.soft]\nlegs = 1"), "handover.soft.legs", "cannot be 1", "2"),
        (with("REST", "[handover]\nsoft = \"3 dB\""), "handover.soft", "3 dB", ""),
        (
            with("REST", "[handover.compressed_mode]\ngap = 8"),
            "handover.compressed_mode.gap",
            "no gap of 8",
            "3, 4, 5, 7",
        ),
        (
            with("REST", "[handover.compressed_mode]\nevery = \"30 ms\""),
            "handover.compressed_mode.every",
            "30 ms apart",
            "80 ms",
        ),
        (
            with("REST", "[handover.compressed_mode]\nraise = \"11 dB\""),
            "handover.compressed_mode.raise",
            "cannot be 11 dB",
            "0 dB to",
        ),
    ]);
}

#[test]
fn invalid_codes_are_reported_at_their_key() {
    let no_layout = |text: &str| text.replace("[layout]\n", "");
    assert_refused(&[
        (with("CELL", "dch = { codes = \"few\" }"), "cell.0.dch.codes", "few", "one_tree"),
        (with("CELL", "dch = { without_code = \"lost\" }"), "cell.0.dch.without_code", "lost", "dropped"),
        (
            with("CELL", "dch = { codes = \"one_tree\", common = \"1/1\" }"),
            "cell.0.dch.common",
            "no room for the DSCH",
            "1/32",
        ),
        (
            with("CELL", "dch.associated = { spreading_factor = 200 }"),
            "cell.0.dch.associated.spreading_factor",
            "the spreading factor cannot be 200",
            "256",
        ),
        (
            with("CELL", "dch.associated = { rate = \"64 kbit/s\" }"),
            "cell.0.dch.associated.rate",
            "cannot carry 64",
            "30 kbit/s",
        ),
        (
            with("CALL", "calls = { spreading_factor = 48 }"),
            "ue.1.calls.spreading_factor",
            "the spreading factor cannot be 48",
            "64",
        ),
        (
            with("CELL", "dch = { codes = \"one_tree\", common = \"1/2\" }\ndsch = { codes = \"1/2\" }"),
            "ue.1.calls.spreading_factor",
            "leave no code of spreading factor 32",
            "DSCH",
        ),
        (
            with("CALL", "calls = { spreading_factor = 4 }")
                .replace("[[flow]]", "[handover.compressed_mode]\n[[flow]]"),
            "ue.1.calls.spreading_factor",
            "the spreading factor cannot be 4",
            "8",
        ),
        (
            no_layout(&with("CELL", "[cell.dch]")),
            "cell.0.dch",
            "has no effect without [layout]",
            "add [layout]",
        ),
    ]);
}
