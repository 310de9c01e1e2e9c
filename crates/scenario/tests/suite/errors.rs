//! Error messages of invalid scenarios: one row per mistake, with the key that the error names and
//! parts of its message and help. Also warnings, and several mistakes in one file.

use std::path::Path;

use umts_scenario::{Scenario, ScenarioError};

/// The smallest scenario. Cases add lines before its first table, or at the end.
const SMALL: &str =
    "version = 1\nduration = \"10 s\"\nHEAD\n[[ue]]\nname = \"user\"\n[[flow]]\nue = \"user\"\nTAIL\n";

/// Returns [`SMALL`] with `head` before its first table and `tail` at its end.
fn small(head: &str, tail: &str) -> String {
    SMALL.replace("HEAD", head).replace("TAIL", tail)
}

/// Returns the error of an invalid scenario.
fn refused(text: &str) -> ScenarioError {
    match Scenario::parse(text, "test.toml", Path::new(""), &[]) {
        Ok(loaded) => panic!("accepted, with {:?}:\n{text}", loaded.warnings),
        Err(error) => error,
    }
}

/// Returns the warnings of a valid scenario.
fn warnings(text: &str) -> Vec<String> {
    Scenario::parse(text, "test.toml", Path::new(""), &[])
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
        .warnings
}

/// A bearer `b` of 64 kbit/s.
const BEARER: &str = "[[bearer]]\nname = \"b\"\ndownlink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n\
                      uplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n";

/// A bearer `fast` with a rate that no transport block set can carry.
const BEARER_FAST: &str = "[[bearer]]\nname = \"fast\"\ndownlink = { rate = \"8 Mbit/s\", tti = \"10 ms\" }\n\
                           uplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n";

#[test]
#[expect(clippy::too_many_lines, reason = "a table of mistakes")]
fn mistakes_are_reported_at_their_key() {
    let link = |from: &str, to: &str| format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let chain = |hops: &[(&str, &str)]| hops.iter().map(|(from, to)| link(from, to)).collect::<String>();
    // A chain of links. The last link has the keys `link` and a table `red`.
    let red = |keys: &str, link: &str| {
        let whole_chain = chain(&[("server", "ggsn"), ("ggsn", "sgsn"), ("sgsn", "rnc")]);
        format!("{whole_chain}{link}\n[link.red]\n{keys}\n")
    };
    // The same with a table `internet_delay` instead of `red`.
    let varying = |keys: &str, link: &str| red(keys, link).replace("link.red", "link.internet_delay");
    let rated = "rate = \"1 Mbit/s\"";
    // Lines before the first table, lines at the end, key of the error, part of its message, part
    // of its help.
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        (
            &format!("{BEARER_FAST}[[cell]]\nname = \"cell\""),
            "[[ue]]\nname = \"fast\"\nbearer = \"fast\"",
            "bearer.0.downlink.rate",
            "carries 250 PDUs of 40 B in 10 ms: at most 128 are possible",
            "the highest rate with this size is 4.096 Mbit/s; rlc.pdu_payload = \"79 B\"",
        ),
        ("cell = []", "", "cell", "there is no cell for these users", "add a [[cell]]"),
        (
            "cell = [{name = \"c\", rach = {access = \"private\", access_delay = \"30 ms\"}}]",
            "",
            "cell.0.rach.access_delay",
            "a block may overtake blocks of the previous TTI",
            "at most one TTI, 20 ms",
        ),
        (
            "cell = [{name = \"c\", fach = {scheduling = \"per_ue_push\", rnc_jitter = \"11 ms\"}}]",
            "",
            "cell.0.fach.rnc_jitter",
            "a block may overtake blocks of the previous TTI",
            "at most one TTI, 10 ms",
        ),
        (
            "cell = [{name = \"c\", fach = {scheduling = \"per_ue_push\", scheduler = \"oldest_first\"}}]",
            "",
            "cell.0.fach.scheduler",
            "`scheduler` has no effect with scheduling = \"per_ue_push\"",
            "leave `scheduler` out, or set scheduling = \"pull\"",
        ),
        (
            "cell = [{name = \"c\", fach = {scheduler = \"oldest_frist\"}}]",
            "",
            "cell.0.fach.scheduler",
            "`oldest_frist` is not a known value",
            "oldest_first",
        ),
        (
            "cell = [{name = \"c\", fach = {scheduler = \"max_ci\"}}]",
            "",
            "cell.0.fach.scheduler",
            "this scheduler compares credits or path gains",
            "choose \"round_robin\", \"oldest_first\", \"largest_backlog\" or \"timeout\"",
        ),
        (
            &BEARER.replace("tti = \"10 ms\" }\nuplink", "tti = \"10 ms\", shared = true }\nuplink"),
            "",
            "bearer.0.downlink.shared",
            "no user shares the downlink of bearer `b`",
            "add a [[ue]] with bearer = \"b\", or leave `shared` out",
        ),
        (
            &BEARER.replace("tti = \"10 ms\" }\nuplink", "tti = \"10 ms\", shared = true }\nuplink"),
            "[[ue]]\nname = \"s\"\nbearer = \"switched\"\n[ue.rrc]\ndch = [\"b\"]",
            "bearer.0.downlink.shared",
            "switched users may be allocated bearer `b`",
            "take it out of `dch` of [rrc]",
        ),
        (
            &BEARER.replace(
                "tti = \"10 ms\" }\nuplink",
                "tti = \"10 ms\", scheduler = \"oldest_first\" }\nuplink",
            ),
            "",
            "bearer.0.downlink.scheduler",
            "the downlink of bearer `b` is not shared",
            "set downlink.shared = true",
        ),
        (
            &BEARER.replace("uplink = { rate", "uplink = { shared = true, rate"),
            "",
            "bearer.0.uplink.shared",
            "an uplink cannot be shared",
            "set it for the downlink",
        ),
        (
            "cell = [{name = \"c\", fach = {rate = \"64 kbit/s\"}, rach = {rate = \"32 kbit/s\"}}]",
            "[[ue]]\nname = \"other\"\nrlc = { pdu_payload = \"80 B\" }",
            "ue.1.rlc.pdu_payload",
            "these users share a channel with `user`, but have PDUs of 80 B of payload instead of 40 B",
            "give both the same rlc.pdu_payload",
        ),
        (
            "",
            "traffic = \"etsi_www\"\n[flow.etsi_www]\nbetween_sessions = \"0 s\"",
            "flow.0.etsi_www.between_sessions",
            "cannot be 0 s",
            "1 us to 1000 h",
        ),
        ("", "[rlc]\nwidnow = 3", "rlc.widnow", "unknown key `widnow`", "did you mean `window`?"),
        ("zzz = 3", "", "zzz", "unknown key `zzz`", "the keys here are"),
        ("", "[measure]\nfrom = 5", "measure.from", "`5` has no unit", "write a time with its unit"),
        ("", "[measure]\nfrom = \"5\"", "measure.from", "`5` has no unit", ""),
        ("", "[measure]\nfrom = \"5 kbit/s\"", "measure.from", "`kbit/s` is not a unit of a time", ""),
        (
            "",
            "[tcp]\nvariant = \"newreon\"",
            "tcp.variant",
            "`newreon` is not a known",
            "did you mean \"newreno\"?",
        ),
        (
            "",
            "[tcp]\nvariant = \"compound\"",
            "tcp.variant",
            "`compound` is not a known",
            "\"tahoe\", \"reno\", \"newreno\"",
        ),
        ("", "[tcp]\ntimestamp_tick = \"2 s\"", "tcp.timestamp_tick", "cannot be 2 s", "1 ms to 1 s"),
        ("", "[tcp]\nvegas_alpha = 5", "tcp.vegas_alpha", "above vegas_beta = 3", "raise vegas_beta"),
        (
            "",
            "[tcp]\ntail_loss_probes = true",
            "tcp.tail_loss_probes",
            "needs rack, which is off",
            "set rack = true",
        ),
        (
            "",
            "[tcp]\nslow_start = \"hystart\"",
            "tcp.slow_start",
            "only a few ACKs are timed",
            "set timestamps = true",
        ),
        ("", "[tcp]\neifel = true", "tcp.eifel", "needs TCP timestamps", "set timestamps = true"),
        ("", "[tcp]\nsack_blocks = 5", "tcp.sack_blocks", "cannot be 5", "RFC 2018"),
        (
            "",
            "[tcp]\nrto_clock_phase = \"1 ms\"",
            "tcp.rto_clock_phase",
            "must be less than a tick of 1 ms",
            "less than rto_granularity",
        ),
        ("", "[tcp]\nvariant = 3", "tcp.variant", "one of the known words", ""),
        ("", "[tcp]\ndelayed_ack = \"yes\"", "tcp.delayed_ack", "true or false is expected here", ""),
        ("", "[tcp]\nadvertised_window = 20", "tcp.advertised_window", "`20` has no unit", "20 segments"),
        (
            "",
            "[tcp]\nadvertised_window = \"0 segments\"",
            "tcp.advertised_window",
            "cannot be 0 segments",
            "at least",
        ),
        (
            "",
            "[tcp]\nadvertised_window = \"4 GB\"",
            "tcp.advertised_window",
            "larger than the largest TCP window",
            "RFC 7323",
        ),
        ("", "[[ue]]\nname = \"x\"\nradio = []", "ue.1.radio", "a table is expected", ""),
        (
            "",
            "[[impairment]]\npacket = \"data 0\"\naction = \"drop\"",
            "impairment.0.packet",
            "chooses no packet",
            "",
        ),
        (
            "",
            "[[impairment]]\npacket = \"ack 7-3\"\naction = \"drop\"",
            "impairment.0.packet",
            "backwards",
            "",
        ),
        (
            "",
            "[[impairment]]\npacket = \"data 1\"\naction = \"delay\"",
            "impairment.0.action",
            "needs a time",
            "",
        ),
        (
            "",
            "[[impairment]]\nflow = 9\npacket = \"data 1\"\naction = \"drop\"",
            "impairment.0.flow",
            "no flow number 9",
            "numbered from 0",
        ),
        ("", "[tcp]\ninitial_window = \"100 B\"", "tcp.initial_window", "smaller than a segment", ""),
        ("", "[[flow]]\nue = \"user\"\ntraffic = \"wob\"", "flow.1.traffic", "not a known value", "\"web\""),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"web\"\nweb.main_mean = 5",
            "flow.1.web.main_mean",
            "`5` has no unit",
            "",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"web\"\nweb.main_min = \"20 kB\"",
            "flow.1.web.main_mean",
            "not between 20 kB and 2 MB",
            "main_min <= main_mean",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"web\"\nweb.embedded_most = 1",
            "flow.1.web.embedded_most",
            "below embedded_least = 2",
            "without embedded objects",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"web\"\nweb.request = \"none\"\nweb.connections = 2",
            "flow.1.web.connections",
            "over one connection",
            "choose connections = 1",
        ),
        (
            "[tcp]\nconnection = \"one_way\"",
            "[[flow]]\nue = \"user\"\ntraffic = \"web\"",
            "flow.1.web.request",
            "a one-way connection does not have",
            "request = \"none\"",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"pareto_www\"\npareto_www.file_max = \"40 kB\"",
            "flow.1.pareto_www.file_max",
            "no distribution up to 40 kB",
            "raise file_max",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"cbr\"\nweb.connections = 2",
            "flow.1.web",
            "belongs to traffic = \"web\", not to \"cbr\"",
            "",
        ),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"cbr\"\ncbr.payload = \"70 kB\"",
            "flow.1.cbr.payload",
            "cannot be 70 kB",
            "1 B to 65507 B",
        ),
        ("", "[[flow]]\nue = \"user\"\ntraffic = \"replay\"", "flow.1.traffic", "needs a file", ""),
        (
            "",
            "[[flow]]\nue = \"user\"\ntraffic = \"replay\"\nreplay.file = \"none.txt\"",
            "flow.1.replay.file",
            "cannot read",
            "relative to the folder",
        ),
        (
            "",
            "[tcp]\ndelayed_ack_timeout = \"1 s\"",
            "tcp.delayed_ack_timeout",
            "cannot be 1 s",
            "at most 500 ms",
        ),
        ("", "[tcp]\nrto_min = \"90 s\"", "tcp.rto_min", "above rto_max", ""),
        (
            "cell = [{name = \"c\", fach = {tti = \"15 ms\"}}]",
            "",
            "cell.0.fach.tti",
            "FACH cannot use a TTI of 15 ms",
            "10, 20, 40 or 80 ms",
        ),
        (
            "cell = [{name = \"c\", fach = {rate = \"-32 kbit/s\"}}]",
            "",
            "cell.0.fach.rate",
            "is negative",
            "",
        ),
        ("cell = [{name = \"c\", fach = {rate = \"0 kbit/s\"}}]", "", "cell.0.fach.rate", "out of range", ""),
        (
            "cell = [{name = \"c\", fach = {rate = \"30 kbit/s\"}}]",
            "",
            "cell.0.fach.rate",
            "FACH carries no PDU: 30 kbit/s is 300 bits in 10 ms",
            "the lowest rate that carries one in 10 ms is 32 kbit/s",
        ),
        (
            "cell = [{name = \"c\", fach = {nodeb_queue = \"0 PDUs\"}}]",
            "",
            "cell.0.fach.nodeb_queue",
            "cannot be 0 PDUs",
            "",
        ),
        ("cell = [{name = \"c\", fach = \"none\"}]", "", "ue.0.bearer", "has no FACH", "[[bearer]]"),
        ("", "[radio]\nbler = 1.5", "radio.bler", "1.5 is not a probability", ""),
        ("", "[radio]\nbler = -0.1", "radio.bler", "not a probability", ""),
        ("", "[radio]\nbler = nan", "radio.bler", "not a probability", ""),
        (
            "",
            "[radio]\nmodel = \"gilbert\"\nbler = 0.1",
            "radio.bler",
            "`bler` belongs to model = \"independent\"",
            "",
        ),
        ("", "[radio]\nmodel = \"independent\"", "radio.model", "needs more, as in bler", ""),
        ("", "[radio.uplink]\nuplink = 1", "radio.uplink.uplink", "unknown key `uplink`", ""),
        (
            "",
            "[radio]\nfile = \"no/such/trace.txt\"",
            "radio.file",
            "cannot read no/such/trace.txt",
            "relative",
        ),
        ("", "[rlc]\nwindow = 4095", "rlc.window", "rlc.window cannot be 4095", "1 to 2047"),
        ("", "[rlc]\nmax_dat = 0", "rlc.max_dat", "cannot be 0", "at least 1"),
        ("", "[rlc]\nmax_dat = \"many\"", "rlc.max_dat", "a whole number", ""),
        ("", "[rlc]\nwindow = -3", "rlc.window", "cannot be -3", ""),
        ("", "[rlc]\npoll_pdu = 99999999999", "rlc.poll_pdu", "out of range", ""),
        (
            "traffic = \"ftp\"",
            "traffic = \"web\"\nweb.embedded_shape = nan",
            "flow.0.web.embedded_shape",
            "cannot be NaN",
            "0.01 to 100",
        ),
        ("seed = -1", "", "seed", "negative", ""),
        ("name = \"a/b\"", "", "name", "cannot be the name of a scenario", ""),
        ("", "[[ue]]\nname = \"user\"", "ue.1.name", "two [[ue]] with the name `user`", ""),
        ("", "[[ue]]\nname = \"0\"", "ue.1.name", "cannot be a name", ""),
        ("", "[[ue]]\nname = \"b\"\ncount = 0", "ue.1.count", "cannot be 0", ""),
        ("", "[[ue]]\nname = \"b\"\ncount = 65536", "ue.1.count", "cannot be 65536", ""),
        ("", "[[ue]]\nname = \"b\"\ncount = 65535", "ue", "65536 UEs are too many", ""),
        ("", "[[ue]]\nname = \"b\"\nbearer = \"x\"", "ue.1.bearer", "there is no bearer `x`", "common"),
        ("", "[[ue]]\nname = \"b\"\ncell = \"x\"", "ue.1.cell", "there is no cell `x`", ""),
        ("", "[[ue]]", "ue.1", "the key `name` is missing", ""),
        ("", "[[flow]]\nue = \"usr\"", "flow.1.ue", "there is no ue `usr`", "did you mean \"user\"?"),
        // An integer where a fraction is expected.
        (
            "",
            "traffic = \"web\"\nweb = { embedded_shape = -1 }",
            "flow.0.web.embedded_shape",
            "cannot be -1",
            "0.01 to",
        ),
        ("", "size = \"1 kB\"", "flow.0.size", "`size` belongs to traffic = \"file\"", ""),
        ("", "traffic = \"file\"", "flow.0.traffic", "needs a size", ""),
        ("", "traffic = \"file\"\nsize = \"0 B\"", "flow.0.size", "cannot be 0 B", ""),
        (
            "",
            "[[bearer]]\nname = \"common\"\ndownlink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\nuplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }",
            "bearer.0.name",
            "bearer of FACH and RACH",
            "",
        ),
        ("", "[[bearer]]\nname = \"b\"", "bearer.0", "the key `downlink` is missing", ""),
        (
            "",
            "[measure]\nfrom = \"10 s\"",
            "measure.from",
            "not before the end of the run",
            "the run lasts 10 s",
        ),
        ("", "[measure]\nto = \"11 s\"", "measure.to", "after the end of the run", ""),
        ("", "[measure]\nfrom = \"2 s\"\nto = \"1 s\"", "measure.to", "but begin at", ""),
        (
            "",
            "[measure]\nwaterfall = 3",
            "measure.waterfall",
            "part of the time budget",
            "measure.budget = true",
        ),
        (
            "",
            "[measure]\ntimeline = true",
            "measure.timeline",
            "part of the time budget",
            "measure.budget = true",
        ),
        ("", "[measure]\nstall = \"0 s\"", "measure.stall", "must have a length", "0.5 s"),
        ("link = []", "", "link", "there is no link", ""),
        (
            "",
            &chain(&[("a", "rnc")]),
            "link.0.from",
            "must begin at `server`, not at `a`",
            "server → … → ggsn → sgsn → rnc",
        ),
        (
            "",
            &chain(&[("server", "ggsn"), ("sgsn", "rnc")]),
            "link.1.from",
            "one link ends at `ggsn`, the next begins at `sgsn`",
            "",
        ),
        (
            "",
            &chain(&[("server", "ggsn"), ("ggsn", "sgsn")]),
            "link.1.to",
            "must end at `rnc`, not at `sgsn`",
            "",
        ),
        (
            "",
            &chain(&[("server", "sgsn"), ("sgsn", "ggsn"), ("ggsn", "rnc")]),
            "link.0.to",
            "the sgsn comes before",
            "",
        ),
        ("", &chain(&[("server", "ggsn"), ("ggsn", "rnc")]), "link.0.from", "does not pass the sgsn", ""),
        (
            "",
            &varying("minimum = \"62 ms\"", ""),
            "link.2.internet_delay.minimum",
            "the minimum delay, 62 ms, must be below the mean, 62 ms",
            "a shorter minimum, or a longer mean",
        ),
        (
            "",
            &varying("mean = \"2 s\"", ""),
            "link.2.internet_delay.mean",
            "the mean delay, 2 s, must be below the maximum, 1.5 s",
            "a longer maximum",
        ),
        (
            "",
            &varying("maximum = \"10 min\"", ""),
            "link.2.internet_delay.maximum",
            "no lognormal distribution with a mean of 62 ms",
            "at most 240",
        ),
        (
            "",
            &varying("", "jitter = \"1 ms\""),
            "link.2.jitter",
            "both `jitter` and",
            "leave one of them out",
        ),
        ("", &varying("hurst = 1.0", ""), "link.2.internet_delay.hurst", "cannot be 1", "0.99"),
        (
            "",
            &varying("direction = \"up\"", ""),
            "link.2.internet_delay.direction",
            "`up`",
            "\"both\", \"downlink\"",
        ),
        ("", &red("", ""), "link.2.red", "a link without a rate", "give the link a `rate`"),
        (
            "",
            &red("min_thresh = \"5 packets\"\nmax_thresh = \"5 packets\"", rated),
            "link.2.red.max_thresh",
            "must be above min_thresh (5 packets)",
            "three times",
        ),
        (
            "",
            &red("max_thresh = \"9 kB\"", rated),
            "link.2.red.max_thresh",
            "must have the same unit",
            "both in octets",
        ),
        (
            "",
            &red("mean_packet = \"65536 B\"", rated),
            "link.2.red.mean_packet",
            "cannot be 65536 B",
            "1 B to 65535 B",
        ),
        ("", &red("w_q = 0", rated), "link.2.red.w_q", "cannot be 0", "0.002"),
        ("", &red("max_p = 2.0", rated), "link.2.red.max_p", "2 is not a probability", ""),
        (
            "",
            &red("min_tresh = 5", rated),
            "link.2.red.min_tresh",
            "unknown key",
            "did you mean `min_thresh`?",
        ),
        (
            "",
            &red("", "rate = \"1 Mbit/s\"\necn_threshold = \"5 packets\""),
            "link.2.ecn_threshold",
            "both `red` and `ecn_threshold`",
            "leave one of them out",
        ),
        ("cell = 3", "", "cell", "an array of tables", ""),
        ("tcp = 3", "", "tcp", "a table is expected", ""),
        ("title = 2024-01-01", "", "title", "a date", ""),
        ("seed = 99999999999999999999", "", "seed", "too large", ""),
        ("a.b = [", "", "", "this is not TOML", ""),
        ("extends = \"no-such.toml\"", "", "extends", "cannot read no-such.toml", ""),
        ("extends = 1", "", "extends", "a file name is expected", ""),
    ];
    for (head, tail, key, message, help) in cases {
        let error = refused(&small(head, tail));
        let rendered = error.render(false);
        assert_eq!(error.key(), *key, "{rendered}");
        assert!(error.message().contains(message), "expected `{message}`:\n{rendered}");
        assert!(error.help().unwrap_or_default().contains(help), "expected `{help}`:\n{rendered}");
        assert!(error.line().is_some() && error.file() == "test.toml", "{rendered}");
    }
}

#[test]
fn version_and_duration_are_needed() {
    assert_eq!(refused("duration = \"1 s\"").message(), "the key `version` is missing");
    assert!(
        refused("version = 2\nnew_key = 1").message().contains("reads version 1"),
        "before any unknown key"
    );
    assert_eq!(refused("version = 1\n[[ue]]\nname = \"u\"").message(), "the key `duration` is missing");
    assert!(
        refused("version = 1\nduration = \"0 s\"\n[[ue]]\nname = \"u\"")
            .message()
            .contains("duration cannot be 0 s")
    );
    assert_eq!(refused("version = 1\nduration = \"1 s\"\nue = []").message(), "there is no user");
}

#[test]
fn rendered_error_points_at_the_value() {
    let text = "version = 1\nduration = \"10 s\"\n[[cell]]\nname = \"c\"\n[cell.fach]\ntti      = \"15 ms\"\n[[ue]]\nname = \"u\"\n";
    let error = refused(text);
    assert_eq!((error.line(), error.column()), (Some(6), Some(12)));
    let expected = "  × FACH cannot use a TTI of 15 ms
   ╭─[test.toml:6:12]
 6 │ tti      = \"15 ms\"
   ·            ───┬───
   ·               ╰── this interval
  help: choose 10, 20, 40 or 80 ms, the values of TS 25.331
";
    assert_eq!(error.render(false), expected);
    let coloured = error.render(true);
    assert!(coloured.contains("\x1b[31m×\x1b[0m") && coloured.contains("this interval"));
    assert_eq!(error.to_string(), "test.toml:6:12: FACH cannot use a TTI of 15 ms");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let error = refused("version = 1\nduration = \"10 s\"\nnoise = \"\u{1b}[2J\u{202e}\"");
    assert!(!error.render(false).contains(['\u{1b}', '\u{202e}']));
    let long = format!("version = 1\nduration = \"10 s\"\nx = \"{}\"", "y".repeat(10_000));
    assert!(refused(&long).render(false).len() < 1_000);
}

#[test]
fn missing_and_binary_files_are_reported() {
    let missing = Scenario::load(Path::new("no/such/file.toml"), &[]).unwrap_err();
    assert!(missing.message().starts_with("cannot read no/such/file.toml: no such file"), "{missing}");
    assert_eq!((missing.file(), missing.line()), ("no/such/file.toml", None));
    let path = std::env::temp_dir().join(format!("umts-scenario-not-text-{}.toml", std::process::id()));
    std::fs::write(&path, b"version = 1\n\xff\xfe").unwrap();
    let error = Scenario::load(&path, &[]).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert!(error.message().contains("not UTF-8 text: byte 12"), "{error}");
}

#[test]
fn doubtful_values_give_warnings() {
    // Text before and after the user and its flow, and part of the warning.
    let cases = [
        ("cell = [{name = \"c\", fach = {rate = \"33 kbit/s\"}}]", "", "The effective rate is 32 kbit/s"),
        ("", "[radio]\nbler = 1.0", "every block is lost"),
        ("", "[tcp]\ninitial_window = \"90 segments\"", "above the advertised window of 64 kB"),
        ("", "start = \"10 s\"", "the flow never starts"),
        ("", "[rlc]\nbuffer = \"1 kB\"", "1 kB is smaller than a packet of 1.5 kB"),
        ("flow = []\n", "", "there is no flow"),
        ("", "[rlc]\npoll_pdu = \"off\"", "may fill its window and stall for good"),
        ("", "[rlc]\npoll_pdu = 32\nwindow = 31", "may fill its window and stall for good"),
        (
            "",
            "[rlc]\npoll_pdu = \"off\"\npoll_sdu = 1\nwindow = 37",
            "may fill its window and stall for good",
        ),
        (
            "",
            "[rlc]\ngranted_window = 31",
            "set timer_poll_periodic or timer_status_periodic, or poll_pdu below",
        ),
        (
            "",
            "[radio]\nbler = 0.1\n[rlc]\ngranted_window = 512\npoll_pdu = \"off\"\npoll_window = 50",
            "the window that the receiver grants may be full before a PDU polls",
        ),
    ];
    for (head, tail, expected) in cases {
        let text = if head.starts_with("flow") {
            format!("version = 1\nduration = \"10 s\"\n{head}[[ue]]\nname = \"user\"")
        } else {
            small(head, tail)
        };
        let actual = warnings(&text);
        let is_expected = actual.len() == 1 && actual[0].contains(expected);
        assert!(is_expected, "expected `{expected}`, got {actual:?}");
    }
    // Settings with which the receiver is polled before a window of the sender is full. A packet of
    // 1,500 octets is 38 PDUs of 40 octets.
    for enough in [
        "",
        "[rlc]\npoll_pdu = 32\nwindow = 32",
        "[rlc]\npoll_pdu = \"off\"\npoll_sdu = 1\nwindow = 38",
        "[rlc]\ngranted_window = 32",
        "[rlc]\ngranted_window = 16\ntimer_status_periodic = \"100 ms\"",
        "[rlc]\ngranted_window = 16\npoll_pdu = \"off\"\npoll_window = 50",
    ] {
        assert_eq!(warnings(&small("", enough)), [] as [&str; 0], "{enough}");
    }
}

#[test]
fn files_without_end_and_long_chains_of_files_are_refused() {
    let error = refused(&small("extends = \"/dev/zero\"", ""));
    assert!(error.message().contains("cannot read /dev/zero: it is a device, not a file"), "{error}");
    let folder = std::env::temp_dir().join(format!("umts-scenario-chain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for n in 0..200 {
        let text = format!("version = 1\nextends = \"{}.toml\"\n", n + 1);
        std::fs::write(folder.join(format!("{n}.toml")), text).unwrap();
    }
    let error = Scenario::load(&folder.join("0.toml"), &[]).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.message().contains("100 files extend one another"), "{error}");
}

#[test]
fn unused_rate_is_not_checked() {
    let unused = BEARER.replace("64 kbit/s", "30 kbit/s");
    assert_eq!(warnings(&small("", &unused)), [] as [&str; 0]);
    let error = refused(&small("", &format!("{unused}[[ue]]\nname = \"other\"\nbearer = \"b\"")));
    assert_eq!(error.key(), "bearer.0.downlink.rate");
}

/// Keys of all mistakes of a scenario: the first one that a check met, then the others in the order
/// of the file.
fn keys_of(text: &str) -> Vec<String> {
    let error = refused(text);
    std::iter::once(&error).chain(error.others()).map(|one| one.key().to_owned()).collect()
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = "version = 1\nduration = 10\nnonsense = 1\n[tcp]\nvariant = \"renno\"\nrto_minn = \"1 s\"\n\
                [rlc]\nmax_dat = \"x\"\n[radio]\nbler = 2.0\n[[ue]]\nname = \"user\"\nbearer = \"nosuch\"\n\
                [[flow]]\nue = \"nobody\"\n";
    let keys = ["duration", "nonsense", "tcp.variant", "tcp.rto_minn", "rlc.max_dat", "radio.bler"];
    assert_eq!(keys_of(text)[..6], keys);
    let error = refused(text);
    assert_eq!((error.others()[0].key(), error.others()[0].line()), ("nonsense", Some(3)));
    let rendered = error.render(false);
    assert_eq!(rendered.matches("  × ").count(), error.others().len() + 1);
    assert_eq!(rendered.matches("╭─[test.toml:").count(), error.others().len() + 1);
}

#[test]
fn mistakes_between_keys_of_different_tables_are_reported_too() {
    let text = "version = 1\nduration = \"10 s\"\n[measure]\nfrom = \"20 s\"\n[[ue]]\nname = \"user\"\n\
                bearer = \"nosuch\"\n[[flow]]\nue = \"user\"\ntraffics = \"ftp\"\n";
    assert_eq!(keys_of(text), ["flow.0.traffics", "measure.from", "ue.0.bearer"]);
}

#[test]
fn consequential_mistakes_are_not_reported() {
    // Keys of a misspelt model, and references to a table whose name is wrong.
    let model = small("[radio]\nmodel = \"gilbrt\"\np_good_to_bad = 0.1\np_bad_to_good = 0.2", "");
    assert_eq!(keys_of(&model), ["radio.model"]);
    let name = small(&BEARER.replace("name = \"b\"", "name = 5"), "[[ue]]\nname = \"other\"\nbearer = \"b\"");
    assert_eq!(keys_of(&name), ["bearer.0.name"]);
    let table = small(&BEARER.replace("[[bearer]]", "[[bearr]]"), "[[ue]]\nname = \"other\"\nbearer = \"b\"");
    assert_eq!(keys_of(&table), ["bearr"]);
    let missing = "version = 1\nduratoin = \"10 s\"\n[[ue]]\nname = \"user\"\n[[flow]]\nue = \"user\"\n";
    assert_eq!(keys_of(missing), ["duratoin"]);
}

#[test]
fn wrong_version_suppresses_other_mistakes() {
    assert_eq!(keys_of("version = 9\nduration = 5\nx = 1\n"), ["version"]);
}

#[test]
fn key_of_another_model_suggests_its_counterpart() {
    let with = |keys: &str| refused(&small(&format!("[radio]\n{keys}"), ""));
    let gilbert = "model = \"gilbert\"\np_good_to_bad = 0.1\np_bad_to_good = 0.2\n";
    let error = with(&format!("{gilbert}unit = \"tti\""));
    assert_eq!(error.key(), "radio.unit");
    assert!(error.help().unwrap().contains("write step"), "{}", error.render(false));
    let error = with("model = \"independent\"\nbler = 0.1\nstep = \"tti\"");
    assert!(error.help().unwrap().contains("write unit"), "{}", error.render(false));
    let error = with("model = \"error_free\"\nbler = 0.1");
    assert!(error.help().unwrap().contains("model = \"independent\""), "{}", error.render(false));
}

#[test]
fn changes_during_the_run_are_checked() {
    let at = |keys: &str| small("", &format!("[[at]]\n{keys}"));
    let set = |set: &str| at(&format!("time = \"5 s\"\nset = {{ {set} }}"));
    // Scenario, key of the error, parts of message and help.
    for (text, path, message, help) in [
        (set("tcp.variant = \"reno\""), "at.0.set.tcp.variant", "`tcp.variant` cannot change", "radio.bler"),
        (set("link.0.queue = \"9 packets\""), "at.0.set.link.0.queue", "cannot change", "link.0.delay"),
        (set("link.7.delay = \"1 s\""), "at.0.set.link.7.delay", "`7` is not a link", "server, router, ggsn"),
        (set("link.0.delay = \"2 h\""), "at.0.set.link.0.delay", "cannot be 2 h", "at most 1 h"),
        (set("link.0.delay = 5"), "at.0.set.link.0.delay", "`5` has no unit", "time"),
        (set("radio.bler = 1.5"), "at.0.set.radio.bler", "1.5", ""),
        (set("radio.cut = 1"), "at.0.set.radio.cut", "true or false", ""),
        (set("ue.nobody.radio.cut = true"), "at.0.set.ue.nobody.radio.cut", "not a group", "user"),
        (set(""), "at.0.set", "no key changes", "radio.cut"),
        (at("set = { radio.cut = true }"), "at.0", "`time` is missing", ""),
        (at("time = \"5 s\"\nkeys = {}"), "at.0.keys", "unknown key `keys`", ""),
        (
            format!(
                "{}\n[radio]\nmodel = \"gilbert\"\np_good_to_bad = 0.1\np_bad_to_good = 0.1\n",
                set("radio.bler = 0.1")
            ),
            "at.0.set.radio.bler",
            "no group of users",
            "independent errors",
        ),
    ] {
        let error = refused(&text);
        let rendered = error.render(false);
        assert_eq!(error.key(), path, "{rendered}");
        assert!(rendered.contains(message) && rendered.contains(help), "{rendered}");
    }
}

#[test]
fn changed_rate_must_be_a_rate_of_a_dch() {
    let with = |bearer: &str, set: &str| {
        format!(
            "version = 1\nduration = \"9 s\"\n[[ue]]\nname = \"user\"\nbearer = \"{bearer}\"\n\
             [[at]]\ntime = \"5 s\"\nset = {{ {set} }}\n"
        )
    };
    // Bearer of the user, change, parts of message and help.
    for (bearer, set, message, help) in [
        (
            "ps-384",
            "bearer.ps-384.downlink.rate = \"100 kbit/s\"",
            "cannot carry exactly 100 kbit/s",
            "32 kbit/s, 64 kbit/s, 128 kbit/s, 256 kbit/s, 384 kbit/s",
        ),
        ("ps-384", "bearer.ps-384.downlink.rate = \"768 kbit/s\"", "cannot carry exactly", "384 kbit/s;"),
        ("ps-384", "bearer.ps-64.downlink.rate = \"64 kbit/s\"", "no user has a DCH of bearer `ps-64`", ""),
        ("switched", "bearer.ps-128.downlink.rate = \"32 kbit/s\"", "no user has a DCH", "RRC switches"),
        ("switched", "bearer.ps-64.downlink.rate = \"20 kbit/s\"", "cannot carry exactly", "32 kbit/s"),
        ("ps-384", "ue.user.calls.offered = \"3 Erl\"", "`user` are not calls", "calls"),
        ("ps-384", "bearer.ps-384.downlink.tti = \"20 ms\"", "cannot change", "bearer.NAME.downlink.rate"),
    ] {
        let rendered = refused(&with(bearer, set)).render(false);
        assert!(rendered.contains(message) && rendered.contains(help), "{rendered}");
    }
    for (bearer, set) in [
        ("ps-384", "bearer.ps-384.downlink.rate = \"128 kbit/s\""),
        ("switched", "bearer.ps-64.downlink.rate = \"32 kbit/s\""),
    ] {
        let loaded =
            Scenario::parse(&with(bearer, set), "test.toml", Path::new(""), &[]).expect("it is valid");
        assert_eq!(loaded.scenario.plan().changes.len(), 1);
    }
}

#[test]
fn changes_may_be_written_in_any_order_and_after_the_end() {
    let text = small(
        "",
        "[[at]]\ntime = \"20 s\"\nset = { radio.cut = true }\n[[at]]\ntime = \"3 s\"\nset = { \"radio.bler\" = 0.1, link.server.rate = \"1 Mbit/s\" }\n",
    );
    let loaded = Scenario::parse(&text, "test.toml", Path::new(""), &[]).expect("the scenario is valid");
    let times: Vec<_> =
        loaded.scenario.plan().changes.iter().map(|timed| timed.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [3, 3, 20]);
    assert_eq!(
        loaded.warnings,
        ["at.0.time: the change is not before the end of the run, so it has no effect in a simulation"]
    );
    let again = Scenario::parse(&loaded.scenario.to_toml(), "again.toml", Path::new(""), &[])
        .expect("the scenario is valid");
    assert_eq!(again.scenario.plan(), loaded.scenario.plan());
    assert_eq!(again.scenario.content_hash(), loaded.scenario.content_hash());
}

#[test]
fn managed_queues_are_checked() {
    let links = |last: &str| {
        let hop = |from: &str, to: &str| format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        format!("{}{}{}{last}\n", hop("server", "ggsn"), hop("ggsn", "sgsn"), hop("sgsn", "rnc"))
    };
    // Tables at the end of the scenario, key of the error, part of its message.
    for (text, path, message) in [
        (links("codel = {}"), "link.2.codel", "a link without a rate has no queue for CoDel"),
        (links("rate = \"1 Mbit/s\"\ncodel = {}\npie = {}"), "link.2.pie", "both `codel` and `pie`"),
        (links("rate = \"1 Mbit/s\"\nred = {}\npie = {}"), "link.2.pie", "both `red` and `pie`"),
        (
            links("rate = \"1 Mbit/s\"\npie = {}\necn_threshold = \"9 packets\""),
            "link.2.ecn_threshold",
            "both `pie` and `ecn_threshold`",
        ),
        (links("rate = \"1 Mbit/s\"\ncodel = { target = \"0 s\" }"), "link.2.codel.target", "cannot be 0 s"),
        ("[rlc]\ncodel = {}\npie = {}\n".to_owned(), "rlc.pie", "both `codel` and `pie`"),
        (
            "[rlc]\nred = { min_thresh = \"9 packets\", max_thresh = \"3 packets\" }\n".to_owned(),
            "rlc.red.max_thresh",
            "must be above min_thresh",
        ),
    ] {
        let error = refused(&small("", &text));
        assert_eq!(error.key(), path, "{}", error.render(false));
        assert!(error.render(false).contains(message), "{}", error.render(false));
    }
}
