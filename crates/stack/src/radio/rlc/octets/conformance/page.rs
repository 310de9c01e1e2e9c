//! Generates the reference page `docs/reference/rlc-conformance.md` from the conformance test cases: a
//! table of their purposes, and the log of each conversation. A test compares the page.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Method, cases};

const HEAD: &str = "\
<!-- Written by the tests of crates/stack (radio/rlc/octets/conformance); UMTS_BLESS=1 rewrites this page. -->

# RLC against the test purposes of TS 34.123-1 §7.2

Terminals are certified by conversations with a system simulator (SS). This page lists these conversations with one RLC entity of
umtslab, octet by octet: a scripted peer encodes its PDUs bit by bit after the figures of TS 25.322, and the entity runs in wire
mode, in which only the received bits determine its behaviour. Each test run repeats all conversations and compares this page.

The bearers follow TS 34.108 §6.11 (UM with 41 octets of payload; AM with 16 and with 166), the options TS 34.123-1 Table 7.2/1:
window 128, MaxDAT 4 as counted in TS 25.322, the last PDU of both buffers polls, a gap is reported, other polls, prohibit timers
and periodic timers off, Timer_RST 500 ms, MaxRST 4. The numbers of the cases are umtslab's own; the column *purpose* identifies
the case of the standard. If a case and TS 25.322 disagree, TS 25.322 takes precedence.
";

/// Runs all cases and returns the page.
fn page() -> String {
    let (mut table, mut conversations) = (String::new(), String::new());
    table += "| | clause | purpose | required behaviour | verdict |\n|---|---|---|---|---|\n";
    let (mut passed, mut not_applicable) = (0, 0);
    for (number, case) in (1..).zip(cases()) {
        let verdict = match case.method {
            Method::Script(script) => {
                passed += 1;
                let lines = script().lines.join("\n");
                let _ = write!(conversations, "\n### {number}. {}\n\n```text\n{lines}\n```\n", case.purpose);
                "pass".to_owned()
            }
            Method::NotApplicable(why) => {
                not_applicable += 1;
                format!("not applicable: {why}")
            }
        };
        let _ = writeln!(
            table,
            "| {number} | {} | {} | {} | {verdict} |",
            case.clause, case.purpose, case.requirement
        );
    }
    let counted = format!("{passed} pass, none fails, {not_applicable} are not applicable.\n");
    format!("{HEAD}\n{counted}\n{table}\n## Conversations\n{conversations}")
}

#[test]
fn reference_page_matches_the_logs() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/rlc-conformance.md"));
    let page = page();
    if std::env::var_os("UMTS_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the folder of the reference is there");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{} differs from the conversations; UMTS_BLESS=1 rewrites it", path.display());
}
