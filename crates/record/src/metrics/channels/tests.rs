//! Tests of the use of channels, with events of two users. Times are in ms. The window is from 10 s
//! to 20 s.

use RrcState::{CellDch, CellFach};
use umts_kernel::TraceSink;
use umts_stack::ids::{End, FlowId, PacketId, ProxyLeg};
use umts_stack::trace::SwitchCause;
use umts_units::Bytes;

use super::*;
use crate::metrics::tests::{config, ms as at};
use crate::metrics::{Metrics, MetricsConfig, RunMetrics, StatePower};

/// A user with fixed channels.
const FIXED: UeId = UeId(0);
/// A user that is switched.
const UE: UeId = UeId(1);

/// Measures two users from 10 s to 20 s. RRC switches only the second one.
fn measure(events: &[(u64, TraceEvent)]) -> RunMetrics {
    measure_with_continuing_data(events, &[])
}

/// Like [`measure`]. `data_continues`: whether each user's data continues during a switch.
fn measure_with_continuing_data(events: &[(u64, TraceEvent)], data_continues: &[bool]) -> RunMetrics {
    let mut metrics = Metrics::new(MetricsConfig {
        ue_downlink_rate: vec![None; 2],
        ue_power: vec![None, Some(StatePower::default())],
        ue_data_continues: data_continues.to_vec(),
        ..config(10_000, 20_000)
    });
    for (ms, event) in events {
        metrics.record(at(*ms), event);
    }
    metrics.finish(at(20_000))
}

fn state(ms: u64, state: RrcState) -> (u64, TraceEvent) {
    (ms, TraceEvent::RrcState { ue: UE, state })
}

fn switch(ms: u64, from: RrcState, to: RrcState) -> (u64, TraceEvent) {
    (ms, TraceEvent::RrcSwitch { ue: UE, from, to, cause: SwitchCause::Data })
}

fn opened(ms: u64, ue: UeId, number: u32) -> (u64, TraceEvent) {
    let connection = ConnectionId(number);
    let (flow, leg, sender) = (FlowId(0), ProxyLeg::Whole, End::Server);
    let transfer = connection;
    (ms, TraceEvent::ConnectionOpened { connection, transfer, leg, flow, ue, sender, mss: 1000 })
}

fn closed(ms: u64, number: u32) -> (u64, TraceEvent) {
    (ms, TraceEvent::ConnectionClosed { connection: ConnectionId(number) })
}

/// RLC delivers a downlink packet at `ms` that entered RLC at `entered_ms`.
fn delivered(ms: u64, ue: UeId, octets: u64, entered_ms: u64) -> (u64, TraceEvent) {
    let (direction, size, entered) = (Direction::Downlink, Bytes(octets), at(entered_ms));
    (ms, TraceEvent::SduDelivered { ue, direction, sdu: PacketId(0), size, entered })
}

#[track_caller]
fn expect(run: &RunMetrics, name: &str, expected: f64) {
    let value = run.network.value(name).unwrap_or_else(|| panic!("{name} has no value"));
    assert!((value - expected).abs() < 1e-9, "{name}: {value}, not {expected}");
}

/// The first connection is switched to a DCH, the second one finds the DCH, the third one stays on
/// the FACH.
fn three_connections() -> Vec<(u64, TraceEvent)> {
    vec![
        state(0, CellFach),
        opened(9_500, UE, 1),
        delivered(10_100, UE, 100, 10_000),
        (10_500, TraceEvent::DchGranted { ue: UE, after_release: true }),
        switch(10_500, CellFach, CellDch),
        state(11_500, CellDch),
        delivered(11_700, UE, 500, 10_400),
        delivered(11_800, UE, 400, 11_600),
        closed(12_000, 1),
        opened(13_000, UE, 2),
        closed(14_000, 2),
        switch(15_000, CellDch, CellFach),
        state(15_500, CellFach),
        opened(16_000, UE, 3),
        delivered(16_300, UE, 1000, 16_200),
        closed(18_000, 3),
    ]
}

#[test]
fn connections_with_and_without_a_dch_are_counted() {
    let run = measure(&three_connections());
    // The first two of three connections; the second finds the DCH.
    expect(&run, "connections_with_dch_pct", 200.0 / 3.0);
    expect(&run, "dch_reuse_pct", 100.0 / 3.0);
    // From the opening at 9.5 s to the switch at 10.5 s.
    expect(&run, "time_to_upswitch_s", 1.0);
    // From the allocation at 10.5 s to the DCH at 11.5 s.
    expect(&run, "dch_set_up_after_release_s", 1.0);
    assert_eq!(run.network.value("dch_set_up_s"), None, "another user lost each DCH");
}

#[test]
fn fach_goodput_counts_only_time_with_a_connection_and_no_switch() {
    let run = measure(&three_connections());
    // 100 and 1000 of 2000 octets.
    expect(&run, "bytes_on_fach_pct", 100.0 * 1100.0 / 2000.0);
    // From 10 s, the start of the window, to the switch at 10.5 s, and the 2 s of the third
    // connection.
    expect(&run, "fach_goodput_kbps", 1100.0 * 8.0 / 2.5 / 1e3);
}

/// The same events are measured with data that continues during a switch between CELL_FACH and
/// CELL_DCH, and with data that stops.
#[test]
fn switch_with_continuing_data_counts_as_time_on_the_fach() {
    let events = [
        state(0, CellFach),
        opened(10_000, UE, 1),
        switch(11_000, CellFach, CellDch),
        delivered(11_500, UE, 1000, 10_400),
        state(12_000, CellDch),
        delivered(13_000, UE, 500, 12_400),
        switch(14_000, CellDch, CellFach),
        delivered(14_200, UE, 500, 13_900),
        state(15_000, CellFach),
        switch(16_000, CellFach, RrcState::CellPch),
        state(17_000, RrcState::CellPch),
    ];
    // On the FACH from 10 s to the DCH at 12 s, and from 15 s to the switch to CELL_PCH at 16 s.
    let continuing = measure_with_continuing_data(&events, &[false, true]);
    expect(&continuing, "fach_goodput_kbps", 1000.0 * 8.0 / 3.0 / 1e3);
    // On the FACH from 10 s to the switch at 11 s, and from 15 s to 16 s.
    let stopping = measure(&events);
    expect(&stopping, "fach_goodput_kbps", 1000.0 * 8.0 / 2.0 / 1e3);
}

#[test]
fn packets_queued_before_the_dch_count_as_delayed_by_the_switch() {
    let run = measure(&three_connections());
    // The packet that entered at 10.4 s, before the DCH at 11.5 s.
    expect(&run, "sdu_delay_switch_s", 1.3);
    expect(&run, "sdu_delay_no_switch_s", (0.1 + 0.2 + 0.1) / 3.0);
}

#[test]
fn fixed_channels_and_events_outside_the_window_do_not_count() {
    let run = measure(&[
        state(0, CellFach),
        opened(1_000, UE, 1),
        delivered(2_000, UE, 70, 1_500),
        closed(3_000, 1),
        opened(11_000, FIXED, 2),
        delivered(12_000, FIXED, 70, 11_500),
        closed(13_000, 2),
    ]);
    for name in
        ["connections_with_dch_pct", "bytes_on_fach_pct", "fach_goodput_kbps", "sdu_delay_no_switch_s"]
    {
        assert_eq!(run.network.value(name), None, "{name}");
    }
}
