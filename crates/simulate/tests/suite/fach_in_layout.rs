//! Users of the FACH in the cells of a layout, from the scenario file to the trace and the metrics.

use umts_record::metrics::MetricSet;

use crate::common::{output, parse, value};
use crate::dch_bearers::{LOSSLESS, ONE_CELL, assert_same_events, events, two_users};

/// FACH and RACH with the default values, and an S-CCPCH with so much power that nothing is lost.
const COMMON: &str = "fach = {}\nrach = {}\nsccpch = { power = \"50 dBm\" }\n";

/// Compares all events of two users in a cell of a layout with those of a run without a layout. `rrc`: a
/// table of both, `keys`: keys of both cells.
pub fn assert_same_bits(bearer: &str, rrc: &str, keys: &str) {
    let without = events(&two_users(bearer, rrc, keys));
    assert!(without.len() > 5_000, "{} events", without.len());
    for control in ["frame", "ideal"] {
        let cell = format!("{COMMON}{keys}{LOSSLESS}control = \"{control}\"\n");
        let within = events(&two_users(bearer, &format!("{ONE_CELL}{rrc}"), &cell));
        assert_same_events(&within, &without, &format!("{bearer}, {control}"));
    }
}

#[test]
fn fach_of_one_cell_without_losses_gives_the_bits_of_a_run_without_a_layout() {
    assert_same_bits("common", "", "");
}

/// A user of the FACH at 50 km/h downloads files for 300 s. The S-CCPCH has this power.
fn driver(power: &str) -> MetricSet {
    let text = format!(
        "version = 1\nduration = \"300 s\"\n[layout]\n[handover]\nhysteresis = \"3 dB\"\n[[cell]]\nname = \"sector\"\n\
         fach = {{}}\nrach = {{}}\nsccpch = {{ power = \"{power}\" }}\n[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"driver\"\nbearer = \"common\"\nmobility = {{ model = \"vehicular\" }}\n\
         [[flow]]\nue = \"driver\"\ntraffic = \"ftp\"\n"
    );
    output(&parse(&text)).metrics.network
}

#[test]
fn more_power_of_the_sccpch_means_fewer_losses() {
    let [weak, strong] = ["20 dBm", "33 dBm"].map(driver);
    let [weak_ebn0, strong_ebn0] = [&weak, &strong].map(|metrics| value(metrics, "fach_ebn0_db"));
    assert!(strong_ebn0 > weak_ebn0 + 8.0, "{weak_ebn0} and {strong_ebn0} dB");
    let [weak_bler, strong_bler] = [&weak, &strong].map(|metrics| value(metrics, "bler_pct"));
    assert!(weak_bler > 1.0 && strong_bler < weak_bler / 2.0, "{weak_bler} and {strong_bler} %");
    for metrics in [&weak, &strong] {
        assert!(value(metrics, "cell_reselections") > 5.0);
        assert_eq!((value(metrics, "cell_updates"), value(metrics, "handovers")), (0.0, 0.0));
        assert!((0.0..100.0).contains(&value(metrics, "sccpch_pct")));
    }
}
