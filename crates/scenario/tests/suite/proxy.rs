//! A proxy: error messages, the flows that it selects, and the TCP of its two sides.

use umts_scenario::Scenario;

use crate::common::{assert_mistakes, load_valid, load_with, scenario_of};

/// A scenario with one user and a proxy.
const SMALL: &str = "version = 1\nduration = \"10 s\"\n[proxy]\nat = \"ggsn\"\nPROXY\n[[ue]]\nname = \"user\"\n\
                     [[flow]]\nue = \"user\"\n";

/// Returns [`SMALL`] with these keys of the proxy.
fn with_proxy(keys: &str) -> String {
    SMALL.replace("PROXY", keys)
}

const MISTAKES: &str = r#"
    PROXY flows = 3 => proxy.flows: a list of flows, as in ["download"] or [0, 2], is expected
    PROXY flows = [3]
        => proxy.flows.0: there is no flow number 3 | the names are: user; flows are numbered from 0 to 0
    PROXY flows = ["download"]
        => proxy.flows.0: neither a flow nor its users are called `download` | the names are: user; flows are numbered from 0 to 0
    PROXY flows = [true] => proxy.flows.0: the name of a [[flow]] or of its users, or its number from 0
    PROXY flows = [-1] => proxy.flows.0: out of range: the name of a [[flow]]
    PROXY ports = [80]
        => proxy.ports.0: no flow's server listens at port 80 | servers listen at 5001: set `port` of a [[flow]]
    PROXY ports = [65536] => proxy.ports.0: a whole number from 0 to 65535 is expected
    PROXY ports = ["http"] => proxy.ports.0: a whole number is expected here, not the text "http"
    PROXY mode = "snop" => proxy.mode: `snop` is not a known | snoop
    PROXY mode = "snoop"
        snoop.cache = "1 kB"
        => proxy.snoop.cache: 1 kB is less than a segment of 1.46 kB
    PROXY mode = "ack_regulation"
        ack_regulation.queue = "100 B"
        => proxy.ack_regulation.queue: 100 B is less than a segment of 1.46 | at least the size of one segment
    PROXY mode = "window_clamp"
        window_clamp.window = "0 B"
        => proxy.window_clamp.window: cannot be 0 B
    PROXY mode = "window_clamp"
        window_clamp.queue = "9 kB"
        => proxy.window_clamp.queue: unknown key
    PROXY mode = "snoop"
        [[proxy.outage]]
        from = "1 s"
        to = "2 s"
        => proxy.outage.0.from: outages require mode = "split"
    PROXY buffer = "100 B" => proxy.buffer: smaller than a segment
    PROXY memory = "64 kB" => proxy.memory: has no room for the two buffers
    PROXY server_side.read_rate = "8 kbit/s"
        => proxy.server_side.read_rate: it reads whenever its buffer has room
    PROXY radio_side.initial_windw = "1 segments"
        => proxy.radio_side.initial_windw: unknown key | did you mean `initial_window`
    PROXY radio_side.initial_window = "0 segments"
        => proxy.radio_side.initial_window: proxy.radio_side.initial_window
    PROXY server_side.rto_min = "90 s" => proxy.server_side.rto_min: rto_min = 90 s is above rto_max
    PROXY server_side = 3 => proxy.server_side: a table is expected
"#;

#[test]
fn mistakes_are_reported_with_a_correction() {
    assert_mistakes(SMALL, MISTAKES);
}

#[test]
fn an_outage_without_effect_gives_a_warning() {
    let warnings = |mode: &str| {
        let lines = format!("mode = \"{mode}\"\n[[proxy.outage]]\nfrom = \"1 s\"\nto = \"2 s\"");
        load_valid(&with_proxy(&lines)).warnings
    };
    assert_eq!(warnings("pass"), ["proxy.outage: an outage has no effect with mode = \"pass\""]);
    assert!(warnings("split").is_empty());
}

/// The flows of two users behind a proxy that handles some of them.
fn scenario_with(choice: &str) -> Scenario {
    let text = format!(
        "version = 1\nduration = \"10 s\"\n[proxy]\nat = \"ggsn\"\n{choice}\n[[ue]]\nname = \"near\"\n[[ue]]\nname = \"far\"\n\
         [[flow]]\nname = \"download\"\nue = \"near\"\nport = 80\n[[flow]]\nname = \"download\"\nue = \"far\"\n\
         [[flow]]\nname = \"upload\"\nue = \"far\"\nport = 80\n"
    );
    scenario_of(&text)
}

#[test]
fn proxy_selects_flows_by_name_user_and_port() {
    // The choice in [proxy], and the numbers of the chosen flows.
    for (choice, expected) in [
        ("", vec![0, 1, 2]),
        ("flows = [\"download\"]", vec![0, 1]),
        ("flows = [\"far\"]", vec![1, 2]),
        ("flows = [\"upload\", 0]", vec![0, 2]),
        ("ports = [80]", vec![0, 2]),
        ("ports = [5001]", vec![1]),
        ("flows = [\"download\"]\nports = [80, 5001]", vec![0, 1]),
        ("flows = [\"far\"]\nports = [80]", vec![2]),
    ] {
        let scenario = scenario_with(choice);
        let proxy = scenario.proxy.as_ref().expect("there is a proxy");
        let flows = scenario.flow.iter().enumerate();
        let split: Vec<_> = flows.filter(|(i, flow)| proxy.splits(*i, flow)).map(|(i, _)| i).collect();
        assert_eq!(split, expected, "{choice}");
        assert_eq!(scenario_of(&scenario.to_toml()).content_hash(), scenario.content_hash(), "{choice}");
    }
    let [by_name, by_number] =
        ["flows = [\"download\"]", "flows = [0, 1]"].map(|flows| scenario_with(flows).content_hash());
    assert_eq!(by_name, by_number, "names only select flows");
}

#[test]
fn keys_of_another_proxy_mode_are_allowed() {
    let lines = "mode = \"split\"\nsnoop.cache = \"8 kB\"\nwindow_clamp.window = \"8 kB\"";
    let loaded = load_valid(&with_proxy(lines));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let reloaded = scenario_of(&loaded.scenario.to_toml());
    assert_eq!(reloaded.content_hash(), loaded.scenario.content_hash());
}

/// A proxy with two flows. The second flow has TCP keys of its own.
const TWO_FLOWS: &str = "version = 1\nduration = \"10 s\"\n[tcp]\nvariant = \"reno\"\n[proxy]\nat = \"ggsn\"\n\
    [proxy.radio_side]\ninitial_window = \"10 segments\"\nrto_min = \"1000 ms\"\n\
    [[ue]]\nname = \"user\"\n[[flow]]\nue = \"user\"\n[[flow]]\nue = \"user\"\n\
    [flow.tcp]\nvariant = \"cubic\"\nsegment_payload = \"536 B\"\nread_rate = \"8 kbit/s\"\n";

#[test]
fn proxy_side_inherits_the_flows_tcp() {
    let loaded = scenario_of(TWO_FLOWS);
    let [first, second] = &loaded.plan().proxy.as_ref().expect("there is a proxy").sides[..] else {
        panic!("a pair for each flow")
    };
    for [server, radio] in [first, second] {
        assert_eq!((server.variant, server.segment_payload), (radio.variant, radio.segment_payload));
        assert_eq!(radio.initial_window.to_string(), "10 segments");
        assert_eq!(radio.rto_min.to_string(), "1 s");
        // `read_rate` describes the user's application, not the proxy.
        assert_eq!([server.read_rate, radio.read_rate], [None, None]);
    }
    assert_eq!(first[0].variant, loaded.flow[0].tcp.variant);
    assert_eq!(second[0].variant, loaded.flow[1].tcp.variant);
    assert_ne!(first[0].variant, second[0].variant);
    assert_eq!(second[1].segment_payload.0, 536);
}

#[test]
fn proxy_side_round_trips_through_toml() {
    let loaded = scenario_of(TWO_FLOWS);
    let written = loaded.to_toml();
    assert!(
        written.contains("[proxy.radio_side]\ninitial_window = \"10 segments\"\nrto_min = \"1 s\"\n"),
        "{written}"
    );
    assert!(!written.contains("server_side"), "{written}");
    let reloaded = scenario_of(&written);
    assert_eq!(reloaded.content_hash(), loaded.content_hash());
    assert_eq!(reloaded.plan().proxy, loaded.plan().proxy);
    // Overrides of a flow's own TCP affect the proxy's ends.
    let changed =
        load_with(&written, &[("flow.0.tcp.variant", "vegas")]).expect("the scenario loads").scenario;
    let sides = &changed.plan().proxy.as_ref().expect("there is a proxy").sides;
    assert_eq!(sides[0][0].variant, changed.flow[0].tcp.variant);
    assert_ne!(sides[0][0].variant, sides[1][0].variant);
}

#[test]
fn the_former_name_of_the_table_still_loads_with_a_warning() {
    let warning = "the table [pep] is now called [proxy]";
    let text = with_proxy("mode = \"snoop\"");
    let current = load_with(&text, &[]).expect("the scenario is valid");
    assert_eq!(current.warnings, [""; 0]);
    let former = load_with(&text.replace("[proxy]", "[pep]"), &[]).expect("the scenario still loads");
    assert_eq!((former.scenario, former.warnings), (current.scenario, vec![warning.to_owned()]));
    let without = text.replace("[proxy]\nat = \"ggsn\"\nmode = \"snoop\"\n", "");
    let overridden = load_with(&without, &[("pep.at", "ggsn")]).expect("the scenario still loads");
    assert!(overridden.scenario.proxy.is_some());
    assert_eq!(overridden.warnings, [warning]);
    let added = load_with(&text, &[("pep.buffer", "16 kB")]).expect("the scenario still loads");
    assert_eq!(added.warnings, [warning], "an override of a table that the file has");
    let both = load_with(&text.replace("[[ue]]", "[pep]\nmode = \"split\"\n[[ue]]"), &[]);
    let error = both.expect_err("one table twice").render(false);
    assert!(error.contains("[proxy] is also here under its former name"), "{error}");
}
