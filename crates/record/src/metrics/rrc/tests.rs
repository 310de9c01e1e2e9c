//! Tests of the metrics of RRC states, switches and cells, with events of two users. Times are in
//! ms. The window is from 10 s to 20 s.

use umts_units::BitRate;

use super::*;
use crate::metrics::tests::{config, ms as at};
use crate::metrics::{Metrics, MetricsConfig, RunMetrics};
use umts_kernel::TraceSink;

const POWER: StatePower = StatePower {
    idle: 0.0,
    ura_pch: 0.01,
    cell_pch: 0.02,
    cell_fach: 0.4,
    cell_dch: 0.8,
    promotion_from_idle: 0.5,
    promotion_from_fach: 0.6,
};

/// Measures two users from 10 s to 20 s. RRC switches only the second one, [`UE`].
fn measure(events: &[(u64, TraceEvent)]) -> RunMetrics {
    let mut metrics = Metrics::new(MetricsConfig {
        ue_downlink_rate: vec![BitRate::from_bps(64_000); 2],
        ue_power: vec![None, Some(POWER)],
        ..config(10_000, 20_000)
    });
    for (ms, event) in events {
        metrics.record(at(*ms), event);
    }
    metrics.finish(at(20_000))
}

const UE: UeId = UeId(1);

fn state(ms: u64, state: RrcState) -> (u64, TraceEvent) {
    (ms, TraceEvent::RrcState { ue: UE, state })
}

fn switch(ms: u64, from: RrcState, to: RrcState, cause: SwitchCause) -> (u64, TraceEvent) {
    (ms, TraceEvent::RrcSwitch { ue: UE, from, to, cause })
}

/// A cell has `dchs` DCHs of 64 kbit/s, beside 32 kbit/s on the downlink for its common channels.
/// With two DCHs it is full.
fn reserved(ms: u64, dchs: u32) -> (u64, TraceEvent) {
    let rates = [32_000 + 64_000 * u64::from(dchs), 0];
    (ms, TraceEvent::CellReserved { cell: 0, rates, dchs, is_full: dchs == 2 })
}

#[track_caller]
fn expect(run: &RunMetrics, name: &str, expected: f64) {
    let value = run.network.value(name).unwrap_or_else(|| panic!("{name} has no value"));
    assert!((value - expected).abs() < 1e-9, "{name}: {value}, not {expected}");
}

#[test]
fn times_and_energy_count_inside_the_window_only() {
    use RrcState::{CellDch, CellFach, CellPch};
    let run = measure(&[
        state(0, CellPch),
        switch(9_000, CellPch, CellFach, SwitchCause::Data),
        // 1 s of the promotion is before the window, 1 s in it.
        state(11_000, CellFach),
        switch(13_000, CellFach, CellDch, SwitchCause::Data),
        state(14_000, CellDch),
        switch(17_000, CellDch, CellFach, SwitchCause::Preempted),
        state(18_000, CellFach),
    ]);
    expect(&run, "time_switching_s", 3.0);
    expect(&run, "time_in_cell_fach_s", 4.0);
    expect(&run, "time_in_cell_dch_s", 3.0);
    expect(&run, "time_in_cell_pch_s", 0.0);
    // Energy of the switches from PCH and from FACH, then of FACH and DCH. During the release the UE
    // draws the power of the state that it leaves.
    expect(&run, "energy_j", 0.5 + 0.6 + 4.0 * 0.4 + 3.0 * 0.8 + 0.8);
    expect(&run, "rrc_switches", 2.0);
    // The only switch from PCH or idle began before the window.
    expect(&run, "rrc_promotions", 0.0);
    expect(&run, "rrc_switches_fach_to_dch", 1.0);
    expect(&run, "dch_preemptions", 1.0);
}

#[test]
fn a_cell_is_occupied_from_allocation_to_release() {
    let run =
        measure(&[state(0, RrcState::CellFach), reserved(0, 0), reserved(5_000, 2), reserved(12_000, 1)]);
    // 160 kbit/s for 2 s and 96 kbit/s for 8 s.
    expect(&run, "cell_occupancy_kbps", (2.0 * 160.0 + 8.0 * 96.0) / 10.0);
    expect(&run, "simultaneous_dch", (2.0 * 2.0 + 8.0) / 10.0);
    expect(&run, "max_simultaneous_dch", 2.0);
    expect(&run, "full_cell_time_s", 2.0);
    expect(&run, "cell_efficiency", 0.0);
}

/// The need that begins at 11 s is met at 12.25 s, after a refused and a repeated request.
#[test]
fn wait_for_a_dch_begins_with_the_first_request() {
    let request = |ms| (ms, TraceEvent::DchRequested { ue: UE, again: false });
    let repeated_request = |ms| (ms, TraceEvent::DchRequested { ue: UE, again: true });
    let run = measure(&[
        state(0, RrcState::CellFach),
        request(10_000),
        (10_000, TraceEvent::DchRefused { ue: UE }),
        // The need for a DCH ends, and a new one begins.
        (10_500, TraceEvent::DchWithdrawn { ue: UE }),
        request(11_000),
        (11_000, TraceEvent::DchRefused { ue: UE }),
        repeated_request(11_250),
        (11_250, TraceEvent::DchGranted { ue: UE, after_release: true }),
        switch(11_250, RrcState::CellFach, RrcState::CellDch, SwitchCause::Data),
        state(12_250, RrcState::CellDch),
        // A switch to a larger rate is not a wait.
        request(13_000),
        (13_000, TraceEvent::DchGranted { ue: UE, after_release: false }),
        switch(13_000, RrcState::CellDch, RrcState::CellDch, SwitchCause::LargerRate),
        state(14_000, RrcState::CellDch),
    ]);
    expect(&run, "dch_wait_s", 1.25);
    expect(&run, "dch_requests", 4.0);
    expect(&run, "dch_refusals", 2.0);
    expect(&run, "dch_allocations", 2.0);
    expect(&run, "dch_allocations_after_release", 1.0);
    // Two allocations for three needs: at 10 s, 11 s and 13 s.
    expect(&run, "dch_needs_met_pct", 100.0 * 2.0 / 3.0);
    assert_eq!(run.network.value("dch_allocations_per_connection"), None, "there was no connection");
}

#[test]
fn cell_metrics_need_switched_users() {
    let config = MetricsConfig { ue_power: vec![None], ..config(0, 1000) };
    let run = Metrics::new(config).finish(at(1000));
    for name in ["cell_occupancy_kbps", "cell_efficiency", "dch_requests", "time_in_cell_dch_s", "energy_j"] {
        assert_eq!(run.network.value(name), None, "{name}");
    }
}

#[test]
fn rates_of_a_shortened_run_refer_to_its_length() {
    let mut metrics = Metrics::new(MetricsConfig {
        ue_downlink_rate: vec![BitRate::from_bps(64_000)],
        ue_power: vec![Some(POWER)],
        ..config(10_000, 20_000)
    });
    let (ms, event) = reserved(10_000, 1);
    metrics.record(at(ms), &event);
    let run = metrics.finish_early(at(14_000));
    expect(&run, "cell_occupancy_kbps", 96.0);
    expect(&run, "simultaneous_dch", 1.0);
}
