//! TDD cells with many users: ten independent cells, and an overloaded one.

use std::fmt::Write;
use std::path::Path;

use tempfile::TempDir;
use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;

use crate::common::{load, metrics, output, value};

const SHORT: (&str, &str) = ("duration", "60 s");

/// A scenario of `cells` cells with `count` clients of `tdd-www.toml` in each.
fn cells_with_clients(folder: &TempDir, cells: usize, count: usize) -> Scenario {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tdd-www.toml");
    let text = std::fs::read_to_string(base).expect("the scenario is shipped");
    let (head, rest) = text.split_once("[[cell]]").expect("it has a cell");
    let (_, rest) = rest.split_once("[rlc]").expect("it has RLC");
    let (layers, _) = rest.split_once("[[ue]]").expect("it has users");
    let mut file = head.to_owned();
    for cell in 0..cells {
        write!(
            file,
            "[[cell]]\nname = \"c{cell}\"\nduplex = \"tdd\"\n\n[cell.iub]\nrate = \"unlimited\"\ndelay = \"0 ms\"\n\n\
             [cell.tdd.ack]\nuplink_places = 4\n\n"
        )
        .expect("writing to a string cannot fail");
    }
    write!(file, "[rlc]{layers}").expect("writing to a string cannot fail");
    for cell in 0..cells {
        write!(
            file,
            "[[ue]]\nname = \"www{cell}\"\ncell = \"c{cell}\"\ncount = {count}\nbearer = \"granted\"\n\n\
             [[flow]]\nue = \"www{cell}\"\ntraffic = \"pareto_www\"\ndirection = \"downlink\"\n\n"
        )
        .expect("writing to a string cannot fail");
    }
    let path = folder.path().join("cells.toml");
    std::fs::write(&path, file).expect("the file can be written");
    load(&path, &[SHORT, ("measure.from", "0 s")])
}

/// Each cell has its own frame, requests and grants: ten cells carry ten times as much as one.
#[test]
fn ten_cells_carry_ten_times_as_much() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let carried = |cells, count| {
        let result = output(&cells_with_clients(&folder, cells, count));
        let events = result.events as f64;
        (value(&result.metrics.network, "goodput_delivered_kbps"), events)
    };
    let (one, events_of_one) = carried(1, 48);
    let (ten, events_of_ten) = carried(10, 48);
    assert!((6.0..14.0).contains(&(ten / one)), "{ten} of {one}");
    // The number of events also grows in proportion: users of other cells cost no events.
    assert!((6.0..14.0).contains(&(events_of_ten / events_of_one)), "{events_of_ten} of {events_of_one}");
}

/// Fifteen times as many clients as the cell can carry. Back-off keeps random access working and
/// the cell busy. With a back-off of 256 frames acknowledgments get through, with eight frames they
/// do not.
#[test]
fn overloaded_tdd_cell_keeps_its_throughput() {
    let run_with_clients = |count, backoff| -> MetricSet {
        let backoff = ("cell.0.tdd.ack.uplink_backoff", backoff);
        metrics("tdd-www", &[SHORT, ("measure.from", "30 s"), ("ue.0.count", count), backoff])
    };
    let carried = |metrics| value(metrics, "goodput_delivered_kbps");
    let (few, many) = (run_with_clients("120", "256 frames"), run_with_clients("480", "256 frames"));
    assert!(carried(&many) > 0.8 * carried(&few), "{} of {}", carried(&many), carried(&few));
    let received = 1.0 - value(&many, "rach_collisions") / value(&many, "capacity_requests");
    assert!(received > 0.1, "{received} of all requests are received");
    assert!(carried(&run_with_clients("480", "8 frames")) < 0.2 * carried(&many));
}
