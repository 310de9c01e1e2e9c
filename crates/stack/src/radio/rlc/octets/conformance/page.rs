//! The page of the reference.

use std::fmt::Write;
use std::path::PathBuf;

use super::{How, cases};

const HEAD: &str = "\
<!-- Written by the tests of crates/stack (radio/rlc/octets/conformance); UMTS_BLESS=1 writes it anew. -->

# RLC against the test purposes of TS 34.123-1 §7.2

Terminals are certified by conversations with a system simulator (SS). Here they are with one entity of the lab, octet by octet: a
scripted peer that writes its PDUs bit by bit after the figures of TS 25.322, and an entity in wire mode, which decides by nothing
but bits. Each test run has them all; this page is what was said.

Bearers are those of TS 34.108 §6.11 (UM with 41 octets of payload; AM with 16 and with 166), options those of TS 34.123-1 Table
7.2/1: window 128, MaxDAT 4 as TS 25.322 counts it, the last PDU of both buffers polls, a gap is reported, other polls, prohibits and
periodic timers off, Timer_RST 500 ms, MaxRST 4. The standard numbers its cases further; the
numbers here are our own, and the purpose says which case is meant. Where a case and TS 25.322 disagree, TS 25.322 decides.
";

/// The page.
fn page() -> String {
    let (mut table, mut said) = (String::new(), String::new());
    table += "| | clause | purpose | what must happen | verdict |\n|---|---|---|---|---|\n";
    let mut counts = [0; 2];
    for (number, case) in (1..).zip(cases()) {
        let verdict = match case.how {
            How::Talks(talk) => {
                counts[0] += 1;
                let lines = talk().lines.join("\n");
                let _ = write!(said, "\n### {number}. {}\n\n```text\n{lines}\n```\n", case.purpose);
                "pass".to_owned()
            }
            How::NotApplicable(why) => {
                counts[1] += 1;
                format!("not applicable: {why}")
            }
        };
        let _ = writeln!(
            table,
            "| {number} | {} | {} | {} | {verdict} |",
            case.clause, case.purpose, case.requirement
        );
    }
    let [pass, not_applicable] = counts;
    let counted = format!("{pass} pass, none fails, {not_applicable} are not applicable.\n");
    format!("{HEAD}\n{counted}\n{table}\n## What was said\n{said}")
}

#[test]
fn reference_page_matches_the_logs() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/rlc-conformance.md"));
    let page = page();
    if std::env::var_os("UMTS_BLESS").is_some() {
        std::fs::write(&path, &page).expect("the folder of the reference is there");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{} is not what the conversations say; UMTS_BLESS=1 writes it", path.display());
}
