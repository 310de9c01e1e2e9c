//! Error messages of invalid scenarios: one row per mistake, with the key that the error names and
//! parts of its message and help. Also warnings, and several mistakes in one file.

use std::path::Path;

use umts_scenario::{Scenario, ScenarioError};

use crate::common::{assert_mistakes, assert_warnings, fill, load, load_valid, scenario_of};

/// The smallest scenario. Cases add lines before its first table, or at the end.
const SMALL: &str =
    "version = 1\nduration = \"10 s\"\nHEAD\n[[ue]]\nname = \"user\"\n[[flow]]\nue = \"user\"\nTAIL\n";

/// Returns [`SMALL`] with `head` before its first table and `tail` at its end.
fn small(head: &str, tail: &str) -> String {
    SMALL.replace("HEAD", head).replace("TAIL", tail)
}

/// Returns the error of an invalid scenario.
fn refused(text: &str) -> ScenarioError {
    load(text).map(|loaded| loaded.warnings).expect_err(text)
}

/// A bearer `b` of 64 kbit/s.
const BEARER: &str = "[[bearer]]\nname = \"b\"\ndownlink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n\
                      uplink = { rate = \"64 kbit/s\", tti = \"10 ms\" }\n";

const MISTAKES: &str = r#"
    HEAD [[bearer]]
        name = "fast"
        downlink = { rate = "8 Mbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        [[cell]]
        name = "cell"
    TAIL [[ue]]
        name = "fast"
        bearer = "fast"
        => bearer.0.downlink.rate: carries 250 PDUs of 40 B in 10 ms: at most 128 are possible | the highest rate with this size is 4.096 Mbit/s; rlc.pdu_payload = "79 B"
    HEAD cell = [] => cell: there is no cell for these users | add a [[cell]]
    HEAD cell = [{ name = "c", rach = { access = "private", access_delay = "30 ms" } }]
        => cell.0.rach.access_delay: a block may overtake blocks of the previous TTI | at most one TTI, 20 ms
    HEAD cell = [{ name = "c", fach = { scheduling = "per_ue_push", rnc_jitter = "11 ms" } }]
        => cell.0.fach.rnc_jitter: a block may overtake blocks of the previous TTI | at most one TTI, 10 ms
    HEAD cell = [{ name = "c", fach = { scheduling = "per_ue_push", scheduler = "oldest_first" } }]
        => cell.0.fach.scheduler: `scheduler` has no effect with scheduling = "per_ue_push" | leave `scheduler` out, or set scheduling = "pull"
    HEAD cell = [{ name = "c", fach = { scheduler = "oldest_frist" } }]
        => cell.0.fach.scheduler: `oldest_frist` is not a known value | oldest_first
    HEAD cell = [{ name = "c", fach = { scheduler = "max_ci" } }]
        => cell.0.fach.scheduler: this scheduler compares credits or path gains | choose "round_robin", "oldest_first", "largest_backlog" or "timeout"
    HEAD [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms", shared = true }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.downlink.shared: no user shares the downlink of bearer `b` | add a [[ue]] with bearer = "b", or leave `shared` out
    HEAD [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms", shared = true }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
    TAIL [[ue]]
        name = "s"
        bearer = "switched"
        [ue.rrc]
        dch = ["b"]
        => bearer.0.downlink.shared: switched users may be allocated bearer `b` | take it out of `dch` of [rrc]
    HEAD [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms", scheduler = "oldest_first" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.downlink.scheduler: the downlink of bearer `b` is not shared | set downlink.shared = true
    HEAD [[bearer]]
        name = "b"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { shared = true, rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.uplink.shared: an uplink cannot be shared | set it for the downlink
    HEAD cell = [{ name = "c", fach = { rate = "64 kbit/s" }, rach = { rate = "32 kbit/s" } }]
    TAIL [[ue]]
        name = "other"
        rlc = { pdu_payload = "80 B" }
        => ue.1.rlc.pdu_payload: these users share a channel with `user`, but have PDUs of 80 B of payload instead of 40 B | give both the same rlc.pdu_payload
    TAIL traffic = "etsi_www"
        [flow.etsi_www]
        between_sessions = "0 s"
        => flow.0.etsi_www.between_sessions: cannot be 0 s | 1 us to 1000 h
    HEAD rlc.widnow = 3 => rlc.widnow: unknown key `widnow` | did you mean `window`?
    HEAD zzz = 3 => zzz: unknown key `zzz` | the keys here are
    HEAD measure.from = 5 => measure.from: `5` has no unit | write a time with its unit
    HEAD measure.from = "5" => measure.from: `5` has no unit
    HEAD measure.from = "5 kbit/s" => measure.from: `kbit/s` is not a unit of a time
    HEAD tcp.variant = "newreon" => tcp.variant: `newreon` is not a known | did you mean "newreno"?
    HEAD tcp.variant = "compound" => tcp.variant: `compound` is not a known | "tahoe", "reno", "newreno"
    HEAD tcp.timestamp_tick = "2 s" => tcp.timestamp_tick: cannot be 2 s | 1 ms to 1 s
    HEAD tcp.vegas_alpha = 5 => tcp.vegas_alpha: above vegas_beta = 3 | raise vegas_beta
    HEAD tcp.tail_loss_probes = true => tcp.tail_loss_probes: needs rack, which is off | set rack = true
    HEAD tcp.slow_start = "hystart" => tcp.slow_start: only a few ACKs are timed | set timestamps = true
    HEAD tcp.eifel = true => tcp.eifel: needs TCP timestamps | set timestamps = true
    HEAD tcp.sack_blocks = 5 => tcp.sack_blocks: cannot be 5 | RFC 2018
    HEAD tcp.rto_clock_phase = "1 ms"
        => tcp.rto_clock_phase: must be less than a tick of 1 ms | less than rto_granularity
    HEAD tcp.variant = 3 => tcp.variant: one of the known words
    HEAD tcp.delayed_ack = "yes" => tcp.delayed_ack: true or false is expected here
    HEAD tcp.advertised_window = 20 => tcp.advertised_window: `20` has no unit | 20 segments
    HEAD tcp.advertised_window = "0 segments" => tcp.advertised_window: cannot be 0 segments | at least
    HEAD tcp.advertised_window = "4 GB"
        => tcp.advertised_window: larger than the largest TCP window | RFC 7323
    TAIL [[ue]]
        name = "x"
        radio = []
        => ue.1.radio: a table is expected
    HEAD impairment = [{ packet = "data 0", action = "drop" }] => impairment.0.packet: chooses no packet
    HEAD impairment = [{ packet = "ack 7-3", action = "drop" }] => impairment.0.packet: backwards
    HEAD impairment = [{ packet = "data 1", action = "delay" }] => impairment.0.action: needs a time
    HEAD impairment = [{ flow = 9, packet = "data 1", action = "drop" }]
        => impairment.0.flow: no flow number 9 | numbered from 0
    HEAD tcp.initial_window = "100 B" => tcp.initial_window: smaller than a segment
    TAIL traffic = "wob" => flow.0.traffic: not a known value | "web"
    TAIL traffic = "web"
        web.main_mean = 5
        => flow.0.web.main_mean: `5` has no unit
    TAIL traffic = "web"
        web.main_min = "20 kB"
        => flow.0.web.main_mean: not between 20 kB and 2 MB | main_min <= main_mean
    TAIL traffic = "web"
        web.embedded_most = 1
        => flow.0.web.embedded_most: below embedded_least = 2 | without embedded objects
    TAIL traffic = "web"
        web.request = "none"
        web.connections = 2
        => flow.0.web.connections: over one connection | choose connections = 1
    HEAD [tcp]
        connection = "one_way"
    TAIL [[flow]]
        ue = "user"
        traffic = "web"
        => flow.1.web.request: a one-way connection does not have | request = "none"
    TAIL traffic = "pareto_www"
        pareto_www.file_max = "40 kB"
        => flow.0.pareto_www.file_max: no distribution up to 40 kB | raise file_max
    TAIL traffic = "cbr"
        web.connections = 2
        => flow.0.web: belongs to traffic = "web", not to "cbr"
    TAIL traffic = "cbr"
        cbr.payload = "70 kB"
        => flow.0.cbr.payload: cannot be 70 kB | 1 B to 65507 B
    TAIL traffic = "replay" => flow.0.traffic: needs a file
    TAIL traffic = "replay"
        replay.file = "none.txt"
        => flow.0.replay.file: cannot read | relative to the folder
    HEAD tcp.delayed_ack_timeout = "1 s" => tcp.delayed_ack_timeout: cannot be 1 s | at most 500 ms
    HEAD tcp.rto_min = "90 s" => tcp.rto_min: above rto_max
    HEAD cell = [{ name = "c", fach = { tti = "15 ms" } }]
        => cell.0.fach.tti: FACH cannot use a TTI of 15 ms | 10, 20, 40 or 80 ms
    HEAD cell = [{ name = "c", fach = { rate = "-32 kbit/s" } }] => cell.0.fach.rate: is negative
    HEAD cell = [{ name = "c", fach = { rate = "0 kbit/s" } }] => cell.0.fach.rate: out of range
    HEAD cell = [{ name = "c", fach = { rate = "30 kbit/s" } }]
        => cell.0.fach.rate: FACH carries no PDU: 30 kbit/s is 300 bits in 10 ms | the lowest rate that carries one in 10 ms is 32 kbit/s
    HEAD cell = [{ name = "c", fach = { nodeb_queue = "0 PDUs" } }]
        => cell.0.fach.nodeb_queue: cannot be 0 PDUs
    HEAD cell = [{ name = "c", fach = "none" }] => ue.0.bearer: has no FACH | [[bearer]]
    HEAD radio.bler = 1.5 => radio.bler: 1.5 is not a probability
    HEAD radio.bler = -0.1 => radio.bler: not a probability
    HEAD radio.bler = nan => radio.bler: not a probability
    HEAD radio = { model = "gilbert", bler = 0.1 } => radio.bler: `bler` belongs to model = "independent"
    HEAD radio.model = "independent" => radio.model: needs more, as in bler
    HEAD radio.uplink.uplink = 1 => radio.uplink.uplink: unknown key `uplink`
    HEAD radio.file = "no/such/trace.txt" => radio.file: cannot read no/such/trace.txt | relative
    HEAD rlc.window = 4095 => rlc.window: rlc.window cannot be 4095 | 1 to 2047
    HEAD rlc.max_dat = 0 => rlc.max_dat: cannot be 0 | at least 1
    HEAD rlc.max_dat = "many" => rlc.max_dat: a whole number
    HEAD rlc.window = -3 => rlc.window: cannot be -3
    HEAD rlc.poll_pdu = 99999999999 => rlc.poll_pdu: out of range
    HEAD traffic = "ftp"
    TAIL traffic = "web"
        web.embedded_shape = nan
        => flow.0.web.embedded_shape: cannot be NaN | 0.01 to 100
    HEAD seed = -1 => seed: negative
    HEAD name = "a/b" => name: cannot be the name of a scenario
    TAIL [[ue]]
        name = "user"
        => ue.1.name: two [[ue]] with the name `user`
    TAIL [[ue]]
        name = "0"
        => ue.1.name: cannot be a name
    TAIL [[ue]]
        name = "b"
        count = 0
        => ue.1.count: cannot be 0
    TAIL [[ue]]
        name = "b"
        count = 65536
        => ue.1.count: cannot be 65536
    TAIL [[ue]]
        name = "b"
        count = 65535
        => ue: 65536 UEs are too many
    TAIL [[ue]]
        name = "b"
        bearer = "x"
        => ue.1.bearer: there is no bearer `x` | common
    TAIL [[ue]]
        name = "b"
        cell = "x"
        => ue.1.cell: there is no cell `x`
    TAIL [[ue]] => ue.1: the key `name` is missing
    TAIL [[flow]]
        ue = "usr"
        => flow.1.ue: there is no ue `usr` | did you mean "user"?
    TAIL traffic = "web"
        web = { embedded_shape = -1 }
        => flow.0.web.embedded_shape: cannot be -1 | 0.01 to
    TAIL size = "1 kB" => flow.0.size: `size` belongs to traffic = "file"
    TAIL traffic = "file" => flow.0.traffic: needs a size
    TAIL traffic = "file"
        size = "0 B"
        => flow.0.size: cannot be 0 B
    TAIL [[bearer]]
        name = "common"
        downlink = { rate = "64 kbit/s", tti = "10 ms" }
        uplink = { rate = "64 kbit/s", tti = "10 ms" }
        => bearer.0.name: bearer of FACH and RACH
    TAIL [[bearer]]
        name = "b"
        => bearer.0: the key `downlink` is missing
    HEAD measure.from = "10 s" => measure.from: not before the end of the run | the run lasts 10 s
    HEAD measure.to = "11 s" => measure.to: after the end of the run
    HEAD measure = { from = "2 s", to = "1 s" } => measure.to: but begin at
    HEAD measure.waterfall = 3 => measure.waterfall: part of the time budget | measure.budget = true
    HEAD measure.timeline = true => measure.timeline: part of the time budget | measure.budget = true
    HEAD measure.stall = "0 s" => measure.stall: must have a length | 0.5 s
    HEAD link = [] => link: there is no link
    HEAD link = [{ from = "a", to = "rnc" }]
        => link.0.from: must begin at `server`, not at `a` | server → … → ggsn → sgsn → rnc
    HEAD link = [{ from = "server", to = "ggsn" }, { from = "sgsn", to = "rnc" }]
        => link.1.from: one link ends at `ggsn`, the next begins at `sgsn`
    HEAD link = [{ from = "server", to = "ggsn" }, { from = "ggsn", to = "sgsn" }]
        => link.1.to: must end at `rnc`, not at `sgsn`
    HEAD link = [{ from = "server", to = "sgsn" }, { from = "sgsn", to = "ggsn" }, { from = "ggsn", to = "rnc" }]
        => link.0.to: the sgsn comes before
    HEAD link = [{ from = "server", to = "ggsn" }, { from = "ggsn", to = "rnc" }]
        => link.0.from: does not pass the sgsn
    HEAD cell = 3 => cell: an array of tables
    HEAD tcp = 3 => tcp: a table is expected
    HEAD title = 2024-01-01 => title: a date
    HEAD seed = 99999999999999999999 => seed: too large
    HEAD a.b = [ => : this is not TOML
    HEAD extends = "no-such.toml" => extends: cannot read no-such.toml
    HEAD extends = 1 => extends: a file name is expected
    HEAD rlc = { codel = {}, pie = {} } => rlc.pie: both `codel` and `pie`
    HEAD rlc.red = { min_thresh = "9 packets", max_thresh = "3 packets" }
        => rlc.red.max_thresh: must be above min_thresh
"#;

#[test]
fn mistakes_are_reported_at_their_key() {
    assert_mistakes(SMALL, MISTAKES);
}

/// Returns [`SMALL`] with a chain of three links, of which the last one has the keys `link`.
fn chained(link: &str) -> String {
    let hop = |from: &str, to: &str| format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    let chain = hop("server", "ggsn") + &hop("ggsn", "sgsn") + &hop("sgsn", "rnc");
    SMALL.replace("TAIL", &(chain + link))
}

/// Mistakes of a link without a rate.
const LINK_MISTAKES: &str = r#"
    LINK internet_delay = { minimum = "62 ms" }
        => link.2.internet_delay.minimum: the minimum delay, 62 ms, must be below the mean, 62 ms | a shorter minimum, or a longer mean
    LINK internet_delay = { mean = "2 s" }
        => link.2.internet_delay.mean: the mean delay, 2 s, must be below the maximum, 1.5 s | a longer maximum
    LINK internet_delay = { maximum = "10 min" }
        => link.2.internet_delay.maximum: no lognormal distribution with a mean of 62 ms | at most 240
    LINK internet_delay = {}
        jitter = "1 ms"
        => link.2.jitter: both `jitter` and | leave one of them out
    LINK internet_delay = { hurst = 1.0 } => link.2.internet_delay.hurst: cannot be 1 | 0.99
    LINK internet_delay = { direction = "up" } => link.2.internet_delay.direction: `up` | "both", "downlink"
    LINK red = {} => link.2.red: a link without a rate | give the link a `rate`
    LINK codel = {} => link.2.codel: a link without a rate has no queue for CoDel
"#;

/// Mistakes of the queue of a link with a rate.
const QUEUE_MISTAKES: &str = r#"
    LINK red = { min_thresh = "5 packets", max_thresh = "5 packets" }
        => link.2.red.max_thresh: must be above min_thresh (5 packets) | three times
    LINK red = { max_thresh = "9 kB" } => link.2.red.max_thresh: must have the same unit | both in octets
    LINK red = { mean_packet = "65536 B" } => link.2.red.mean_packet: cannot be 65536 B | 1 B to 65535 B
    LINK red = { w_q = 0 } => link.2.red.w_q: cannot be 0 | 0.002
    LINK red = { max_p = 2.0 } => link.2.red.max_p: 2 is not a probability
    LINK red = { min_tresh = 5 } => link.2.red.min_tresh: unknown key | did you mean `min_thresh`?
    LINK red = {}
        ecn_threshold = "5 packets"
        => link.2.ecn_threshold: both `red` and `ecn_threshold` | leave one of them out
    LINK codel = {}
        pie = {}
        => link.2.pie: both `codel` and `pie`
    LINK red = {}
        pie = {}
        => link.2.pie: both `red` and `pie`
    LINK pie = {}
        ecn_threshold = "9 packets"
        => link.2.ecn_threshold: both `pie` and `ecn_threshold`
    LINK codel = { target = "0 s" } => link.2.codel.target: cannot be 0 s
"#;

#[test]
fn mistakes_of_links_are_reported_at_their_key() {
    assert_mistakes(&chained("LINK"), LINK_MISTAKES);
    assert_mistakes(&chained("rate = \"1 Mbit/s\"\nLINK"), QUEUE_MISTAKES);
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

const WARNINGS: &str = r#"
    HEAD cell = [{ name = "c", fach = { rate = "33 kbit/s" } }] => The effective rate is 32 kbit/s
    HEAD radio.bler = 1.0 => every block is lost
    HEAD tcp.initial_window = "90 segments" => above the advertised window of 64 kB
    TAIL start = "10 s" => the flow never starts
    HEAD rlc.buffer = "1 kB" => 1 kB is smaller than a packet of 1.5 kB
    HEAD rlc.poll_pdu = "off" => may fill its window and stall for good
    HEAD rlc = { poll_pdu = 32, window = 31 } => may fill its window and stall for good
    HEAD rlc = { poll_pdu = "off", poll_sdu = 1, window = 37 } => may fill its window and stall for good
    HEAD rlc.granted_window = 31 => set timer_poll_periodic or timer_status_periodic, or poll_pdu below
    HEAD radio.bler = 0.1
        rlc = { granted_window = 512, poll_pdu = "off", poll_window = 50 }
        => the window that the receiver grants may be full before a PDU polls
"#;

#[test]
fn doubtful_values_give_warnings() {
    assert_warnings(SMALL, WARNINGS);
    assert_warnings(
        "version = 1\nduration = \"10 s\"\nflow = []\n[[ue]]\nname = \"user\"",
        "=> there is no flow",
    );
    // Settings with which the receiver is polled before a window of the sender is full. A packet of
    // 1,500 octets is 38 PDUs of 40 octets.
    for enough in [
        "",
        "rlc = { poll_pdu = 32, window = 32 }",
        r#"rlc = { poll_pdu = "off", poll_sdu = 1, window = 38 }"#,
        "rlc.granted_window = 32",
        r#"rlc = { granted_window = 16, timer_status_periodic = "100 ms" }"#,
        r#"rlc = { granted_window = 16, poll_pdu = "off", poll_window = 50 }"#,
    ] {
        assert_eq!(load_valid(&small(enough, "")).warnings, [] as [&str; 0], "{enough}");
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
    assert_eq!(load_valid(&small("", &unused)).warnings, [] as [&str; 0]);
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

/// Mistakes in the keys that change during the run.
const CHANGES: &str = r#"
    SET tcp.variant = "reno" => at.0.set.tcp.variant: `tcp.variant` cannot change | radio.bler
    SET link.0.queue = "9 packets" => at.0.set.link.0.queue: cannot change | link.0.delay
    SET link.7.delay = "1 s" => at.0.set.link.7.delay: `7` is not a link | server, router, ggsn
    SET link.0.delay = "2 h" => at.0.set.link.0.delay: cannot be 2 h | at most 1 h
    SET link.0.delay = 5 => at.0.set.link.0.delay: `5` has no unit | time
    SET radio.bler = 1.5 => at.0.set.radio.bler: 1.5
    SET radio.cut = 1 => at.0.set.radio.cut: true or false
    SET ue.absent.radio.cut = true => at.0.set.ue.absent.radio.cut: not a group | user
    => at.0.set: no key changes | radio.cut
    SET radio.bler = 0.1
    HEAD radio = { model = "gilbert", p_good_to_bad = 0.1, p_bad_to_good = 0.1 }
        => at.0.set.radio.bler: no group of users | independent errors
"#;

/// Mistakes in the table of a change.
const CHANGE_TABLES: &str = r#"
    TAIL [[at]]
        set = { radio.cut = true }
        => at.0: `time` is missing
    TAIL [[at]]
        time = "5 s"
        keys = {}
        => at.0.keys: unknown key `keys`
"#;

#[test]
fn changes_during_the_run_are_checked() {
    assert_mistakes(&SMALL.replace("TAIL", "[[at]]\ntime = \"5 s\"\n[at.set]\nSET"), CHANGES);
    assert_mistakes(SMALL, CHANGE_TABLES);
}

/// A user whose bearer changes during the run.
const CHANGED_BEARER: &str = "version = 1\nduration = \"9 s\"\n[[ue]]\nname = \"user\"\nbearer = \"ps-384\"\n\
                              [[at]]\ntime = \"5 s\"\n[at.set]\nSET\n";

const CHANGED_RATES: &str = r#"
    SET bearer.ps-384.downlink.rate = "100 kbit/s"
        => at.0.set.bearer.ps-384.downlink.rate: cannot carry exactly 100 kbit/s | 32 kbit/s, 64 kbit/s, 128 kbit/s, 256 kbit/s, 384 kbit/s
    SET bearer.ps-384.downlink.rate = "768 kbit/s"
        => at.0.set.bearer.ps-384.downlink.rate: cannot carry exactly | 384 kbit/s;
    SET bearer.ps-64.downlink.rate = "64 kbit/s"
        => at.0.set.bearer.ps-64.downlink.rate: no user has a DCH of bearer `ps-64`
    SET ue.user.calls.offered = "3 Erl" => at.0.set.ue.user.calls.offered: `user` are not calls | calls
    SET bearer.ps-384.downlink.tti = "20 ms"
        => at.0.set.bearer.ps-384.downlink.tti: cannot change | bearer.NAME.downlink.rate
"#;

const CHANGED_RATES_OF_RRC: &str = r#"
    SET bearer.ps-128.downlink.rate = "32 kbit/s"
        => at.0.set.bearer.ps-128.downlink.rate: no user has a DCH | RRC switches
    SET bearer.ps-64.downlink.rate = "20 kbit/s"
        => at.0.set.bearer.ps-64.downlink.rate: cannot carry exactly | 32 kbit/s
"#;

#[test]
fn changed_rate_must_be_a_rate_of_a_dch() {
    assert_mistakes(CHANGED_BEARER, CHANGED_RATES);
    let switched = CHANGED_BEARER.replace("ps-384", "switched");
    assert_mistakes(&switched, CHANGED_RATES_OF_RRC);
    for (base, set) in [
        (CHANGED_BEARER, "SET bearer.ps-384.downlink.rate = \"128 kbit/s\""),
        (&switched, "SET bearer.ps-64.downlink.rate = \"32 kbit/s\""),
    ] {
        assert_eq!(scenario_of(&fill(base, set)).plan().changes.len(), 1);
    }
}

#[test]
fn changes_may_be_written_in_any_order_and_after_the_end() {
    let text = small(
        "",
        "[[at]]\ntime = \"20 s\"\nset = { radio.cut = true }\n[[at]]\ntime = \"3 s\"\nset = { \"radio.bler\" = 0.1, link.server.rate = \"1 Mbit/s\" }\n",
    );
    let loaded = load_valid(&text);
    let times: Vec<_> =
        loaded.scenario.plan().changes.iter().map(|timed| timed.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [3, 3, 20]);
    assert_eq!(
        loaded.warnings,
        ["at.0.time: the change is not before the end of the run, so it has no effect in a simulation"]
    );
    let again = scenario_of(&loaded.scenario.to_toml());
    assert_eq!(again.plan(), loaded.scenario.plan());
    assert_eq!(again.content_hash(), loaded.scenario.content_hash());
}
