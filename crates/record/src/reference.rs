//! The reference pages of the metrics and of the lanes, generated from their definitions.

use std::fmt::Write;

use crate::definitions;
use crate::metrics::{Definition, Scope};
use crate::timeline::{AREAS, Draw, LANES};

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

const LANES_INTRODUCTION: &str = "\
# Lanes of the time line

<!-- Generated from crates/record/src/timeline/lanes.rs by `UMTS_BLESS=1 cargo test --release -p umts-record`. -->

A lane shows the rows of one table, or a part of them, above the time axis. The page of `umts serve` shows the lanes
from top to bottom in areas, for one connection and its UE. `umts lanes` lists the lanes, `umts lanes --json` with columns,
tests and colours, and `umts export RUN --perfetto FILE` writes them for another viewer. A row has the first category whose
tests it meets.
";

/// The page of the lanes in Markdown.
pub fn lanes_page() -> String {
    let mut page = LANES_INTRODUCTION.to_owned();
    let areas = AREAS.iter().map(|area| (area.name, format!("{} ({})", area.label, area.note)));
    for (area, title) in areas.chain([("", "Lanes without an area on the page".to_owned())]) {
        write!(page, "\n## {title}\n\n| lane | layer | table | drawn as | unit | categories | meaning |\n|---|---|---|---|---|---|---|\n")
            .expect("writing to a String cannot fail");
        for lane in LANES.iter().filter(|lane| lane.area == area) {
            let drawn = match lane.draw {
                Draw::Strip => "strip of intervals",
                Draw::Line => "line from start to end",
                Draw::Bar => "bar from start to end",
                Draw::Mark => "triangle",
                Draw::Tick => "tick",
                Draw::Steps => "line with steps",
                Draw::DashedSteps => "dashed line with steps",
                Draw::Filled => "area",
            };
            let labels: Vec<_> = lane.categories.iter().map(|category| category.label).collect();
            let labels = if labels.is_empty() { "the causes".to_owned() } else { labels.join(", ") };
            writeln!(
                page,
                "| `{}` | {} | `{}` | {drawn} | {} | {labels} | {} |",
                lane.name, lane.layer, lane.table, lane.unit, lane.meaning
            )
            .expect("writing to a String cannot fail");
        }
    }
    page
}

/// The page of the metrics in Markdown.
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
        .expect("writing to a String cannot fail");
        for metric in definitions().filter(|metric| metric.scope == scope) {
            let Definition { name, label, unit, meaning, numerator, denominator, .. } = metric;
            writeln!(page, "| `{name}` | {label} | {unit} | {meaning} | {numerator} | {denominator} |")
                .expect("writing to a String cannot fail");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `UMTS_BLESS=1` writes the pages instead of comparing them.
    #[test]
    fn the_pages_in_the_docs_are_the_generated_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
        for (name, page) in [("metrics.md", reference_page()), ("lanes.md", lanes_page())] {
            let path = folder.join(name);
            if std::env::var_os("UMTS_BLESS").is_some() {
                std::fs::create_dir_all(&folder).expect("the folder can be made");
                std::fs::write(&path, &page).expect("the page can be written");
            }
            let stored = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(stored, page, "regenerate it: UMTS_BLESS=1 cargo test --release -p umts-record");
        }
    }
}
