//! The reference page of the metrics, generated from their definitions.

use std::fmt::Write;

use crate::definitions;
use crate::metrics::{Definition, Scope};

const INTRODUCTION: &str = "\
# Metrics

<!-- Generated from crates/record/src/metrics/definitions.rs by `UMTS_BLESS=1 cargo test --release -p umts-record`. -->

Every metric is computed from the events of a run only. `_kbps` is 1,000 bit/s.

- **Run window**: from `measure.from` (default: the start) to `measure.to` (default: the end of the run). The
  start is included, the end is not. Counters count events inside the window.
- **Active time**: the time in the window in which a connection has data that are unsent or unacknowledged. A
  transfer that is in progress when the window opens counts from there.
- The data of a connection flow in the direction of its flow. Data that the other end sends count as acknowledgments.
- Figures and tables show the label, without the unit. Labels of the uplink end with `, uplink`.
- A metric has no value (`null`) if there are no data for it, such as a mean without samples.
- A mean over runs comes with n, the standard deviation and the half width of the 95 % Student-t interval.
";

/// The page in Markdown.
pub fn reference_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let sections = [
        (Scope::Connection, "TCP: the network, and each connection with the same name"),
        (
            Scope::Radio,
            "RLC, Iub and air: all users; the downlink has this name, the uplink has the suffix `_uplink`",
        ),
        (Scope::Datagram, "UDP: all flows; the downlink has this name, the uplink has the suffix `_uplink`"),
        (Scope::Cell, "Cells: users with `bearer = \"switched\"`, and the capacity reserved for them"),
        (Scope::Network, "The network only"),
        (Scope::Layout, "The cells of a layout, with `[layout]`: all together"),
        (Scope::Proxy, "A proxy, with `[proxy]`"),
        (
            Scope::Queues,
            "Queue management, with RED, CoDel or PIE in a queue: all queues of links, and of RLC",
        ),
        (
            Scope::Budget,
            "The time budget, with `measure.budget = true`: the network (all connections together, in the run window) and each connection (its whole time) with the same name",
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
            std::fs::create_dir_all(path.parent().expect("it has a parent folder"))
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
