//! Users of DCH bearers in the cells of a layout, from the scenario file to the trace and the metrics.

use std::fmt::Write;

use umts_record::metrics::MetricSet;
use umts_scenario::Scenario;
use umts_stack::trace::TraceEvent;
use umts_units::Time;

use crate::common::{self, output, parse, value};

/// Two users of a bearer: a download and an upload. `layout` and `cell`: further tables.
pub fn two_users(bearer: &str, layout: &str, cell: &str) -> Scenario {
    parse(&format!(
        "version = 1\nduration = \"60 s\"\n{layout}[radio]\nmodel = \"error_free\"\n[[cell]]\nname = \"sector\"\n{cell}\
         [[ue]]\nname = \"down\"\nbearer = \"{bearer}\"\n[[ue]]\nname = \"up\"\nbearer = \"{bearer}\"\n\
         [[flow]]\nue = \"down\"\ntraffic = \"file\"\nsize = \"200 kB\"\n\
         [[flow]]\nue = \"up\"\ntraffic = \"file\"\nsize = \"150 kB\"\ndirection = \"uplink\"\n"
    ))
}

/// All events of a run, without those of cells in a layout.
pub fn events(scenario: &Scenario) -> Vec<(Time, TraceEvent)> {
    let mut events = common::events(scenario);
    events.retain(|(_, event)| {
        !matches!(
            event,
            TraceEvent::CellPower { .. }
                | TraceEvent::CellDchs { .. }
                | TraceEvent::DchSent { .. }
                | TraceEvent::FachSent { .. }
                | TraceEvent::SccpchSent { .. }
                | TraceEvent::HsDschSent { .. }
                | TraceEvent::HsSnr { .. }
                | TraceEvent::EPowerSent { .. }
                | TraceEvent::EFromOthers { .. }
        )
    });
    events
}

/// One station in a town of one block: no other cell interferes. At a block error ratio of 10⁻¹² nothing is
/// lost, and the power is enough for it.
pub const ONE_CELL: &str = "[layout]\n[layout.streets]\nblocks = [1, 1]\nevery = 1\n";
pub const LOSSLESS: &str = "[cell.power]\nmax = \"60 dBm\"\nbler_target = 1e-12\n";

/// Checks that a run within a layout and a run without one have the same events. `case` names both runs.
pub fn assert_same_events(within: &[(Time, TraceEvent)], without: &[(Time, TraceEvent)], case: &str) {
    let different = within.iter().zip(without).find(|(of_layout, other)| of_layout != other);
    assert_eq!((different, within.len()), (None, without.len()), "{case}");
}

#[test]
fn one_cell_without_losses_gives_the_bits_of_a_run_without_a_layout() {
    for bearer in ["ps-64", "ps-384"] {
        let without = events(&two_users(bearer, "", ""));
        assert!(without.len() > 5_000, "{} events", without.len());
        for control in ["frame", "ideal"] {
            let cell = format!("{LOSSLESS}control = \"{control}\"\n");
            let within = events(&two_users(bearer, ONE_CELL, &cell));
            assert_same_events(&within, &without, &format!("{bearer}, {control}"));
        }
    }
}

/// A user at 50 km/h downloads files of 100 kB. `rest`: further tables.
fn driver(bearer: &str, rest: &str) -> MetricSet {
    let mut text = format!(
        "version = 1\nduration = \"300 s\"\n[layout]\n[[cell]]\nname = \"sector\"\n[radio]\nmodel = \"error_free\"\n\
         [[ue]]\nname = \"driver\"\nbearer = \"{bearer}\"\nmobility = {{ model = \"vehicular\" }}\n\
         [[flow]]\nue = \"driver\"\ntraffic = \"ftp\"\n"
    );
    writeln!(text, "{rest}").expect("writing to a string cannot fail");
    output(&parse(&text)).metrics.network
}

#[test]
fn soft_handover_keeps_what_a_hard_one_interrupts() {
    let interrupted = driver("ps-64", "[handover]\nhysteresis = \"3 dB\"\ninterruption = \"1 s\"");
    let soft = driver("ps-64", "[handover]\nhysteresis = \"3 dB\"\ninterruption = \"1 s\"\n[handover.soft]");
    let handovers = value(&interrupted, "handovers");
    assert!(handovers > 5.0, "{handovers} handovers");
    assert_eq!((value(&interrupted, "dch_soft_pct"), value(&interrupted, "dch_legs")), (0.0, 1.0));
    assert_eq!(soft.value("handovers").unwrap_or(0.0), 0.0);
    assert!((5.0..90.0).contains(&value(&soft, "dch_soft_pct")) && value(&soft, "dch_legs") > 1.05);
    let [with_gaps, without] = [&interrupted, &soft].map(|metrics| value(metrics, "goodput_kbps"));
    assert!(without > 1.02 * with_gaps, "{without} and {with_gaps} kbit/s");
    for metrics in [&interrupted, &soft] {
        let [mean, max] = ["dch_code_power_dbm", "dch_code_power_max_dbm"].map(|name| value(metrics, name));
        assert!(mean < max && max <= 43.0, "{mean} and {max} dBm");
    }
}

#[test]
fn higher_rates_need_more_power() {
    let [slow, fast] = ["ps-64", "ps-384"].map(|bearer| value(&driver(bearer, ""), "dch_code_power_dbm"));
    // Six times the rate: 7.8 dB.
    assert!((7.0..9.0).contains(&(fast - slow)), "{slow} and {fast} dBm");
}
