//! A proxy: mistakes and what is said about them, and what its sides have of TCP.

use std::path::Path;

use umts_scenario::Scenario;

fn with_pep(lines: &str) -> String {
    format!(
        "version = 1\nduration = \"10 s\"\n[pep]\nat = \"ggsn\"\n{lines}\n[[ue]]\nname = \"user\"\n\
         [[flow]]\nue = \"user\"\n"
    )
}

fn refused(lines: &str) -> String {
    match Scenario::parse(&with_pep(lines), "test.toml", Path::new(""), &[]) {
        Ok(_) => panic!("accepted: {lines}"),
        Err(error) => error.render(false),
    }
}

#[test]
fn each_mistake_says_what_would_be_right() {
    let cases = [
        ("flows = 3", "a list of numbers of flows, as in [0, 2], is expected"),
        ("flows = [3]", "there is no flow number 3"),
        ("mode = \"snop\"", "snoop"),
        ("mode = \"snoop\"\nsnoop.cache = \"1 kB\"", "1 kB are less than a segment of 1.46 kB"),
        ("mode = \"ack_regulation\"\nack_regulation.queue = \"100 B\"", "one segment is the least"),
        ("mode = \"window_clamp\"\nwindow_clamp.window = \"0 B\"", "cannot be 0 B"),
        ("mode = \"window_clamp\"\nwindow_clamp.queue = \"9 kB\"", "unknown key"),
        (
            "mode = \"snoop\"\n[[pep.outage]]\nfrom = \"1 s\"\nto = \"2 s\"",
            "only a proxy that splits has outages",
        ),
        ("buffer = \"100 B\"", "holds no segment"),
        ("memory = \"64 kB\"", "has no room for the two buffers"),
        ("server_side.read_rate = \"8 kbit/s\"", "a proxy reads when it has room"),
    ];
    for (lines, said) in cases {
        let error = refused(lines);
        assert!(error.contains(said), "{lines}:\n{error}");
    }
}

#[test]
fn keys_of_a_mode_may_stand_beside_another_mode() {
    let lines = "mode = \"split\"\nsnoop.cache = \"8 kB\"\nwindow_clamp.window = \"8 kB\"";
    let loaded = Scenario::parse(&with_pep(lines), "test.toml", Path::new(""), &[]).expect("it is right");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let again = loaded.scenario.to_toml();
    let again = Scenario::parse(&again, "again.toml", Path::new(""), &[]).expect("what is written loads");
    assert_eq!(again.scenario.content_hash(), loaded.scenario.content_hash());
}
