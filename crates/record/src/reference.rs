//! The reference page of the metrics, generated from their definitions.

use std::fmt::Write;

use crate::definitions;
use crate::metrics::{Definition, Scope};

const INTRODUCTION: &str = "\
# Metrics

<!-- Generated from crates/record/src/metrics/definitions.rs by `UMTS_BLESS=1 cargo test --release -p umts-record`. -->

Every metric is computed from the events of a run and from nothing else. `_kbps` is 1,000 bit/s.

- **Run window**: from `measure.from` (default: the start) to `measure.to` (default: the end of the run); the start
  belongs to it, the end does not. Counts are of what happens inside it.
- **Active time**: the time in the window in which a connection has data that are unsent or unacknowledged. What was
  under way when the window opens counts from there.
- A connection's data are those of its flow's direction; what the other end sends counts as acknowledgments.
- The label is what figures and tables for readers say, without the unit; the uplink has `, uplink` behind it.
- A metric without a value (`null`) had nothing to be computed from, such as a mean without samples.
- A mean over runs comes with n, the standard deviation and the half width of the 95 % Student-t interval.
";

/// The page in Markdown.
pub fn reference_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let sections = [
        (Scope::Connection, "TCP: the network, and each connection under the same name"),
        (
            Scope::Radio,
            "RLC, Iub and air: all users; downlink under this name, uplink with `_uplink` behind it",
        ),
        (Scope::Datagram, "UDP: all flows; downlink under this name, uplink with `_uplink` behind it"),
        (Scope::Cell, "Cells: users with `bearer = \"switched\"`, and what is reserved for them"),
        (Scope::Network, "The network only"),
        (Scope::Layout, "The cells of a layout, with `[layout]`: all together"),
        (Scope::Proxy, "A proxy, with `[proxy]`"),
        (
            Scope::Budget,
            "The time budget, with `measure.budget = true`: the network (all connections together, in the run window) and each connection (its whole time) under the same name",
        ),
        (
            Scope::Transfers,
            "The time budget of transfers that a proxy splits, with `measure.budget = true` and `[proxy]`: all together, in the run window",
        ),
    ];
    for (scope, title) in sections {
        write!(
            page,
            "\n## {title}\n\n| name | label | unit | meaning | numerator | denominator |\n|---|---|---|---|---|---|\n"
        )
        .expect("a string takes all");
        for metric in definitions().filter(|metric| metric.scope == scope) {
            let Definition { name, label, unit, meaning, numerator, denominator, .. } = metric;
            writeln!(page, "| `{name}` | {label} | {unit} | {meaning} | {numerator} | {denominator} |")
                .expect("a string takes all");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `UMTS_BLESS=1` writes the page instead of comparing it.
    #[test]
    fn the_page_in_the_docs_is_the_generated_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
        if std::env::var_os("UMTS_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().expect("it is in a folder"))
                .expect("the folder can be made");
            std::fs::write(&path, reference_page()).expect("the page can be written");
        }
        let found = std::fs::read_to_string(&path).expect("docs/reference/metrics.md exists");
        assert_eq!(
            found,
            reference_page(),
            "regenerate it: UMTS_BLESS=1 cargo test --release -p umts-record"
        );
    }
}
