//! A proxy: error messages, the flows that it selects, and the TCP of its two sides.

use std::path::Path;

use umts_scenario::Scenario;

/// Returns a scenario with one user and a proxy with these keys.
fn with_proxy(lines: &str) -> String {
    format!(
        "version = 1\nduration = \"10 s\"\n[proxy]\nat = \"ggsn\"\n{lines}\n[[ue]]\nname = \"user\"\n\
         [[flow]]\nue = \"user\"\n"
    )
}

/// Returns the rendered error for a proxy with these keys.
fn refused(lines: &str) -> String {
    match Scenario::parse(&with_proxy(lines), "test.toml", Path::new(""), &[]) {
        Ok(_) => panic!("accepted: {lines}"),
        Err(error) => error.render(false),
    }
}

#[test]
fn mistakes_are_reported_with_a_correction() {
    // Keys of `[proxy]`, part of the rendered error.
    let cases = [
        ("flows = 3", "a list of flows, as in [\"download\"] or [0, 2], is expected"),
        ("flows = [3]", "there is no flow number 3"),
        ("flows = [3]", "the names are: user; flows are numbered from 0 to 0"),
        ("flows = [\"download\"]", "neither a flow nor its users are called `download`"),
        ("flows = [\"download\"]", "the names are: user; flows are numbered from 0 to 0"),
        ("flows = [true]", "the name of a [[flow]] or of its users, or its number from 0"),
        ("flows = [-1]", "out of range: the name of a [[flow]]"),
        ("ports = [80]", "no flow's server listens at port 80"),
        ("ports = [80]", "servers listen at 5001: set `port` of a [[flow]]"),
        ("ports = [65536]", "a whole number from 0 to 65535 is expected"),
        ("ports = [\"http\"]", "a whole number is expected here, not the text \"http\""),
        ("mode = \"snop\"", "snoop"),
        ("mode = \"snoop\"\nsnoop.cache = \"1 kB\"", "1 kB is less than a segment of 1.46 kB"),
        ("mode = \"ack_regulation\"\nack_regulation.queue = \"100 B\"", "at least the size of one segment"),
        ("mode = \"window_clamp\"\nwindow_clamp.window = \"0 B\"", "cannot be 0 B"),
        ("mode = \"window_clamp\"\nwindow_clamp.queue = \"9 kB\"", "unknown key"),
        (
            "mode = \"snoop\"\n[[proxy.outage]]\nfrom = \"1 s\"\nto = \"2 s\"",
            "outages require mode = \"split\"",
        ),
        ("buffer = \"100 B\"", "smaller than a segment"),
        ("memory = \"64 kB\"", "has no room for the two buffers"),
        ("server_side.read_rate = \"8 kbit/s\"", "it reads whenever its buffer has room"),
    ];
    for (lines, message) in cases {
        let error = refused(lines);
        assert!(error.contains(message), "{lines}:\n{error}");
    }
}

#[test]
fn an_outage_without_effect_gives_a_warning() {
    let warnings = |mode: &str| {
        let lines = format!("mode = \"{mode}\"\n[[proxy.outage]]\nfrom = \"1 s\"\nto = \"2 s\"");
        let loaded = Scenario::parse(&with_proxy(&lines), "test.toml", Path::new(""), &[]);
        loaded.expect("the scenario is valid").warnings
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
    Scenario::parse(&text, "test.toml", Path::new(""), &[]).expect("the scenario is valid").scenario
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
        let reloaded = scenario.to_toml();
        let reloaded =
            Scenario::parse(&reloaded, "again.toml", Path::new(""), &[]).expect("the written scenario loads");
        assert_eq!(reloaded.scenario.content_hash(), scenario.content_hash(), "{choice}");
    }
    let [by_name, by_number] =
        ["flows = [\"download\"]", "flows = [0, 1]"].map(|flows| scenario_with(flows).content_hash());
    assert_eq!(by_name, by_number, "names only select flows");
}

#[test]
fn keys_of_another_proxy_mode_are_allowed() {
    let lines = "mode = \"split\"\nsnoop.cache = \"8 kB\"\nwindow_clamp.window = \"8 kB\"";
    let loaded =
        Scenario::parse(&with_proxy(lines), "test.toml", Path::new(""), &[]).expect("the scenario is valid");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let reloaded = loaded.scenario.to_toml();
    let reloaded =
        Scenario::parse(&reloaded, "again.toml", Path::new(""), &[]).expect("the written scenario loads");
    assert_eq!(reloaded.scenario.content_hash(), loaded.scenario.content_hash());
}

/// A proxy with two flows. The second flow has TCP keys of its own.
const TWO_FLOWS: &str = "version = 1\nduration = \"10 s\"\n[tcp]\nvariant = \"reno\"\n[proxy]\nat = \"ggsn\"\n\
    [proxy.radio_side]\ninitial_window = \"10 segments\"\nrto_min = \"1000 ms\"\n\
    [[ue]]\nname = \"user\"\n[[flow]]\nue = \"user\"\n[[flow]]\nue = \"user\"\n\
    [flow.tcp]\nvariant = \"cubic\"\nsegment_payload = \"536 B\"\nread_rate = \"8 kbit/s\"\n";

#[test]
fn proxy_side_inherits_the_flows_tcp() {
    let loaded =
        Scenario::parse(TWO_FLOWS, "test.toml", Path::new(""), &[]).expect("the scenario is valid").scenario;
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
    let loaded =
        Scenario::parse(TWO_FLOWS, "test.toml", Path::new(""), &[]).expect("the scenario is valid").scenario;
    let written = loaded.to_toml();
    assert!(
        written.contains("[proxy.radio_side]\ninitial_window = \"10 segments\"\nrto_min = \"1 s\"\n"),
        "{written}"
    );
    assert!(!written.contains("server_side"), "{written}");
    let reloaded = Scenario::parse(&written, "again.toml", Path::new(""), &[])
        .expect("the written scenario loads")
        .scenario;
    assert_eq!(reloaded.content_hash(), loaded.content_hash());
    assert_eq!(reloaded.plan().proxy, loaded.plan().proxy);
    // Overrides of a flow's own TCP affect the proxy's ends.
    let changes = [("flow.0.tcp.variant".to_owned(), "vegas".to_owned())];
    let changed = Scenario::parse(&written, "again.toml", Path::new(""), &changes)
        .expect("the scenario loads")
        .scenario;
    let sides = &changed.plan().proxy.as_ref().expect("there is a proxy").sides;
    assert_eq!(sides[0][0].variant, changed.flow[0].tcp.variant);
    assert_ne!(sides[0][0].variant, sides[1][0].variant);
}

#[test]
fn mistake_on_a_proxy_side_is_reported_at_its_key() {
    for (lines, message) in [
        ("radio_side.initial_windw = \"1 segments\"", "did you mean `initial_window`"),
        ("radio_side.initial_window = \"0 segments\"", "proxy.radio_side.initial_window"),
        ("server_side.rto_min = \"90 s\"", "rto_min = 90 s is above rto_max"),
        ("server_side = 3", "a table is expected"),
    ] {
        let error = refused(lines);
        assert!(error.contains(message), "{lines}:\n{error}");
    }
}

#[test]
fn the_former_name_of_the_table_still_loads_with_a_warning() {
    let warning = "the table [pep] is now called [proxy]";
    let text = with_proxy("mode = \"snoop\"");
    let load = |text: &str, overrides: &[(&str, &str)]| {
        let overrides: Vec<_> =
            overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Scenario::parse(text, "test.toml", Path::new(""), &overrides)
    };
    let current = load(&text, &[]).expect("the scenario is valid");
    assert_eq!(current.warnings, [""; 0]);
    let former = load(&text.replace("[proxy]", "[pep]"), &[]).expect("the scenario still loads");
    assert_eq!((former.scenario, former.warnings), (current.scenario, vec![warning.to_owned()]));
    let without = text.replace("[proxy]\nat = \"ggsn\"\nmode = \"snoop\"\n", "");
    let overridden = load(&without, &[("pep.at", "ggsn")]).expect("the scenario still loads");
    assert!(overridden.scenario.proxy.is_some());
    assert_eq!(overridden.warnings, [warning]);
    let added = load(&text, &[("pep.buffer", "16 kB")]).expect("the scenario still loads");
    assert_eq!(added.warnings, [warning], "an override of a table that the file has");
    let both = load(&text.replace("[[ue]]", "[pep]\nmode = \"split\"\n[[ue]]"), &[]);
    let error = both.expect_err("one table twice").render(false);
    assert!(error.contains("[proxy] is also here under its former name"), "{error}");
}
