//! Metrics of the cells of a layout. Powers are in mW. The cell's supply power is 130 W and 4.7 W
//! for each watt sent.

use umts_stack::trace::{CallStep, CellUpdateCause, ELimit, Postponed, Real};

use super::*;

const DOWN: Direction = Direction::Downlink;

/// A TTI of a cell with its transmit power and load factor, and with 24 calls that send 48 blocks.
/// No block is lost in cell 0, one in cell 1. A cell with a load factor of 1 or more has too little
/// power.
fn power(cell: u16, power: f32, load: f32) -> TraceEvent {
    let (lost, scaled) = (cell.into(), load >= 1.0);
    TraceEvent::CellPower { cell, power: Real(power), load: Real(load), calls: 24, sent: 48, lost, scaled }
}

/// A grant with this spreading factor and the requested one, and with capacity for `blocks`, of
/// which `sent` are sent.
fn granted(ue: u16, [spreading_factor, wanted]: [u16; 2], [blocks, sent]: [u8; 2]) -> TraceEvent {
    let ue = UeId(ue);
    let power = Real(50.0);
    TraceEvent::DschGranted { ue, cell: 0, blocks, sent, spreading_factor, wanted, code: 0, power }
}

/// Two cells with two TTIs, and a third TTI outside the window.
fn script() -> EventScript {
    let mut script = EventScript::default();
    let postponed = |why| TraceEvent::DschPostponed { ue: UeId(3), cell: 1, why };
    let handover = TraceEvent::Handover { ue: UeId(1), from: 0, to: 1, interruption: Duration::ZERO };
    script.at(0).event(power(0, 100.0, 0.5)).event(power(1, 900.0, 0.75));
    script.event(granted(1, [8, 8], [16, 15])).event(granted(2, [16, 8], [8, 5]));
    script.event(postponed(Postponed::Codes)).event(postponed(Postponed::Power)).event(handover);
    script.at(20).event(power(0, 100.0, 0.5)).event(power(1, 900.0, 1.25));
    script.event(granted(1, [128, 128], [1, 1])).event(postponed(Postponed::LeftOut));
    script.event(TraceEvent::HandoverLost { ue: UeId(1), cell: 0, size: Bytes(1500) });
    script.event(TraceEvent::SduQueued { ue: UeId(1), direction: DOWN, sdu: PacketId(1), size: Bytes(500) });
    for (ue, entered) in [(1, 10), (2, 0), (1, 5), (1, 18)] {
        let (ue, sdu) = (UeId(ue), PacketId(1));
        let entered = ms(entered);
        script.event(TraceEvent::SduDelivered { ue, direction: DOWN, sdu, size: Bytes(500), entered });
    }
    script.at(2000).event(power(0, 1e4, 3.0));
    script
}

#[test]
fn load_power_and_grants_of_all_cells() {
    let result = script().result_of_layout(0, 1000);
    check(
        &result.network,
        &[
            // Load factors 0.5, 0.75, 0.5 and 1.25: mean 0.75, sum of squared deviations 0.375,
            // which divided by n - 1 = 3 is 0.125.
            ("load_factor_pct", 75.0),
            ("load_factor_sd_pct", 100.0 * 0.125_f64.sqrt()),
            ("overload_pct", 25.0),
            // 100, 900, 100 and 900 mW: arithmetic mean 500 mW; the mean in dBm is half of
            // 10 log10(100 x 900).
            ("tx_power_dbm", 10.0 * libm::log10(500.0)),
            ("tx_power_mean_dbm", 5.0 * libm::log10(90_000.0)),
            // Three grants with 50 mW, of 2,000 mW.
            ("dsch_power_pct", 7.5),
            ("power_limited_pct", 25.0),
            // 0.5 W sent on average: 130 + 4.7 x 0.5 = 132.35 W. Two cells for one second: 264.7 J.
            // 16,000 bits of SDUs and 190 blocks of 640 bits: 0.1376 Mbit.
            ("cell_supply_w", 132.35),
            ("cell_energy_j", 264.7),
            ("cell_energy_j_per_mbit", 264.7 / 0.1376),
            // 150 mW in 4 TTIs of cells: 0.0375 W on average.
            ("dsch_energy_j_per_mbit", 4.7 * 0.0375 * 2.0 / 0.016),
            ("mean_calls", 24.0),
            // Four TTIs with 48 blocks; one block lost in each of the two TTIs of cell 1.
            ("call_bler_pct", 100.0 * 2.0 / 192.0),
            // 500 octets in one second and two cells.
            ("dsch_offered_kbps", 2.0),
            // Three grants in four TTIs, with the factors 8, 16 and 128 for 15, 5 and 1 blocks.
            ("dsch_users_per_tti", 0.75),
            ("mean_sf", 152.0 / 3.0),
            ("mean_sf_by_blocks", (8.0 * 15.0 + 16.0 * 5.0 + 128.0) / 21.0),
            ("dsch_codes_pct", 100.0 * (0.125 + 0.0625 + 1.0 / 128.0) / 4.0),
            // 21 blocks sent of 16 + 8 + 1 = 25.
            ("dsch_filled_pct", 84.0),
            ("dsch_halved_pct", 100.0 / 3.0),
            // Three of six requests.
            ("dsch_postponed_pct", 50.0),
            ("dsch_postponed_codes_pct", 100.0 / 6.0),
            ("dsch_postponed_power_pct", 100.0 / 6.0),
            ("dsch_postponed_credit_pct", 100.0 / 6.0),
            ("dsch_postponed_handover_pct", 0.0),
            ("handovers", 1.0),
            ("handover_lost_octets", 1500.0),
            // The SDUs of UE 1 took 10, 15 and 2 ms: differences of 5 and 13 ms.
            ("sdu_delay_step_ms", 9.0),
        ],
    );
}

/// A grant can occupy two frames. The second frame is reported as held, with its own power.
#[test]
fn grant_of_two_frames_counts_in_both() {
    let mut script = EventScript::default();
    script.at(0).event(power(0, 100.0, 0.5)).event(granted(2, [16, 16], [8, 8]));
    script.at(10).event(power(0, 300.0, 0.5));
    script.event(TraceEvent::DschHeld { cell: 0, users: 1, codes: Real(0.0625), power: Real(150.0) });
    let result = script.result_of_layout(0, 1000);
    check(
        &result.network,
        &[
            ("dsch_users_per_tti", 1.0),
            ("dsch_codes_pct", 6.25),
            // 50 and 150 mW of 100 and 300 mW.
            ("dsch_power_pct", 50.0),
            ("mean_sf", 16.0),
            ("dsch_filled_pct", 100.0),
        ],
    );
}

/// A user of a DCH bearer receives power in four TTIs of the window: 100, 40, 20 and 40 mW from its
/// best cell, in one of them also 60 mW from two other cells (soft handover).
#[test]
fn power_and_cells_of_dch_bearers() {
    let mut script = script();
    let sent = |legs, power, further_power| {
        let (ue, power, further_power) = (UeId(4), Real(power), Real(further_power));
        TraceEvent::DchSent { ue, cell: 0, legs, power, further_power, ebn0: Real(10.0) }
    };
    script.at(40).event(sent(1, 100.0, 0.0)).event(sent(1, 40.0, 0.0));
    script.at(60).event(sent(3, 20.0, 60.0)).event(sent(1, 40.0, 0.0));
    // Outside the window.
    script.at(2000).event(sent(1, 9000.0, 0.0));
    check(
        &script.result_of_layout(0, 1000).network,
        &[
            // Mean of the best cells: 200 mW in 4 TTIs.
            ("dch_code_power_dbm", 10.0 * libm::log10(50.0)),
            ("dch_code_power_max_dbm", 20.0),
            // 260 of the 2,000 mW of all TTIs of cells.
            ("dch_power_pct", 13.0),
            ("dch_ebn0_db", 10.0),
            // (1 + 1 + 3 + 1) / 4.
            ("dch_legs", 1.5),
            ("dch_soft_pct", 25.0),
        ],
    );
}

#[test]
fn power_and_quality_of_the_fach() {
    let mut script = script();
    let sent = |ebn0| TraceEvent::FachSent { ue: UeId(4), cell: 0, ebn0: Real(ebn0) };
    script.at(40).event(sent(10.0)).event(TraceEvent::SccpchSent { cell: 0, power: Real(60.0) });
    script.at(60).event(sent(1000.0)).event(TraceEvent::SccpchSent { cell: 0, power: Real(40.0) });
    let started = |cause| TraceEvent::CellUpdateStarted { ue: UeId(4), cause };
    script.event(started(CellUpdateCause::CellReselection));
    script.event(started(CellUpdateCause::RlcUnrecoverableError));
    // Outside the window.
    script.at(2000).event(sent(1.0));
    check(
        &script.result_of_layout(0, 1000).network,
        &[
            // 10 dB and 30 dB.
            ("fach_ebn0_db", 20.0),
            // 2 of the 4 TTIs of cells, and 100 of their 2,000 mW.
            ("sccpch_pct", 50.0),
            ("sccpch_power_pct", 5.0),
            ("cell_reselections", 1.0),
        ],
    );
}

#[test]
fn power_quality_and_handovers_of_hs_dschs() {
    let mut script = script();
    let snr = |snr| TraceEvent::HsSnr { ue: UeId(4), cell: 0, snr: Real(snr) };
    let sent = |power| TraceEvent::HsDschSent { cell: 0, power: Real(power), share: Real(0.5) };
    script.at(40).event(sent(60.0)).event(snr(10.0));
    script.at(60).event(sent(140.0)).event(snr(1000.0));
    script.event(TraceEvent::HsCellChanged { ue: UeId(4), queued: 20, in_harq: 9 });
    script.event(TraceEvent::HsCellChanged { ue: UeId(5), queued: 0, in_harq: 1 });
    // Outside the window.
    script.at(2000).event(snr(1.0)).event(sent(1.0));
    check(
        &script.result_of_layout(0, 1000).network,
        &[
            // 10 dB and 30 dB.
            ("hs_snr_db", 20.0),
            // 200 of the 2,000 mW of all TTIs of cells.
            ("hs_power_pct", 10.0),
            ("hs_handover_flushed", 20.0),
            ("hs_handover_lost", 10.0),
        ],
    );
}

#[test]
fn dedicated_channel_metrics_need_recorded_events() {
    let of_channels = [
        "dch_codes_pct",
        "calls_blocked",
        "calls_blocked_pct",
        "calls_dropped",
        "call_handovers",
        "call_legs_refused",
        "active_set_updates",
        "mean_legs",
        "further_legs_power_pct",
        "associated_power_pct",
        "call_gaps_pct",
    ];
    let without_events = script().result_of_layout(0, 1000);
    for name in of_channels {
        assert_eq!(without_events.network.value(name), None, "{name}");
    }
    let mut script = script();
    script.at(40).event(power(0, 100.0, 0.5)).event(power(1, 300.0, 0.5));
    for cell in [0, 1] {
        let (further, further_power) = (12, Real(50.0));
        script.event(TraceEvent::CellDchs {
            cell,
            further,
            further_power,
            associated: 3,
            associated_power: Real(30.0),
            compressed: 6,
            codes: Real(0.5),
        });
    }
    use CallStep::{Begun, Blocked, Dropped, HandedOver, LegAdded, LegRemoved, Refused};
    let steps =
        [Begun, Begun, Begun, Blocked, HandedOver, Refused, Refused, Dropped, LegAdded, LegAdded, LegRemoved];
    for step in steps {
        script.event(TraceEvent::Call { cell: 1, step });
    }
    // All six TTIs of cells have 24 calls each, and 2,400 mW together. In two of them dedicated
    // channels were recorded.
    check(
        &script.result_of_layout(0, 1000).network,
        &[
            ("dch_codes_pct", 50.0),
            ("calls_blocked", 1.0),
            // One of four calls.
            ("calls_blocked_pct", 25.0),
            ("calls_dropped", 1.0),
            ("call_handovers", 1.0),
            ("call_legs_refused", 2.0),
            ("active_set_updates", 3.0),
            // 2 x 12 legs for calls of other cells, 6 x 24 calls.
            ("mean_legs", 1.0 + 24.0 / 144.0),
            ("further_legs_power_pct", 100.0 * 100.0 / 2400.0),
            ("associated_power_pct", 100.0 * 60.0 / 2400.0),
            ("call_gaps_pct", 100.0 * 12.0 / 144.0),
        ],
    );
}

#[test]
fn layout_metrics_need_a_layout() {
    let result = script().result(0, 1000);
    let of_layout = definitions().filter(|metric| metric.scope == Scope::Layout);
    for metric in of_layout {
        assert!(result.network.iter().all(|(name, _)| name != metric.name), "{}", metric.name);
    }
}

#[test]
fn power_and_limits_of_e_dch_users() {
    let mut script = EventScript::default();
    let sent = |power, limit| TraceEvent::EPowerSent { ue: UeId(4), cell: 0, power: Real(power), limit };
    let from_others =
        |share, ms| TraceEvent::EFromOthers { cell: 1, share: Real(share), time: Duration::from_millis(ms) };
    // A repetition has no limit.
    script.at(0).event(sent(10.0, Some(ELimit::Power))).event(sent(30.0, None));
    script.event(from_others(0.5, 2)).event(from_others(0.25, 6));
    script.at(20).event(sent(10.0, Some(ELimit::Grant))).event(sent(10.0, Some(ELimit::Grant)));
    script.event(sent(15.0, Some(ELimit::Data)));
    let result = script.result_of_layout(0, 1000);
    check(
        &result.network,
        &[
            ("e_tx_power_dbm", 10.0 * libm::log10(15.0)),
            ("e_power_limited_pct", 25.0),
            ("e_grant_limited_pct", 50.0),
            // (0.5 x 2 ms + 0.25 x 6 ms) / 8 ms.
            ("e_other_cells_pct", 31.25),
        ],
    );
}
