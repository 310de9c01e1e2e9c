//! Dedicated channels: lack of codes, soft handover, compressed mode, and DCHs beside DSCHs.

use super::*;
use crate::environment::Environment;
use crate::radio::phy::ovsf::TreeShare;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::calls;
use crate::rnc::multicell::{AssociatedConfig, CodeLimit, WithoutCode};
use crate::rnc::rrc::{CompressedBy, CompressedMode, SoftHandover};
use crate::trace::{CallStep, Postponed, Real};

/// Soft handover: a cell within 3 dB of the best one is added, and removed beyond 5 dB.
const SOFT: SoftHandover = SoftHandover { add: Db(3.0), drop: Db(5.0), legs: 3 };

/// Codes from the one tree of the cell, without common channels.
fn one_tree() -> DchConfig {
    DchConfig { codes: CodeLimit::OneTree, common: None, ..DchConfig::default() }
}

/// Number of changes of calls that are of one kind.
fn call_steps(bench: &Bench, kind: CallStep) -> usize {
    bench
        .trace
        .iter()
        .filter(|(_, event)| matches!(event, TraceEvent::Call { step, .. } if *step == kind))
        .count()
}

/// Cells with `offered` calls on average, all at `place`, under ideal power control.
fn standing_calls(place: Place, offered: f64, soft: Option<SoftHandover>) -> MulticellConfig {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.power.control = PowerControl::Ideal;
    config.handover.soft = soft;
    let calls = offered_calls(offered, Offered::Network, Duration::from_secs(36_000));
    config.calls = vec![CallClassConfig { mobility: standing(place), ..call_class(calls) }];
    config
}

/// Gains from all cells at a place.
fn gains_at(config: &MulticellConfig, place: Place) -> Vec<f64> {
    let environment = Environment::new(&config.environment, &Streams::new(1, 0));
    let mut gains = vec![0.0; environment.cells()];
    environment.gains_at(place, &mut gains);
    gains
}

/// A cell in a TTI.
#[derive(Debug, Clone, Copy)]
struct CellTti {
    /// In mW.
    power: f64,
    load: f64,
    calls: f64,
}

/// The last TTI of a cell.
fn last_tti(bench: &Bench, of_cell: u16) -> CellTti {
    let last = bench.trace.iter().rev().find_map(|(_, event)| match *event {
        TraceEvent::CellPower { cell, power: Real(power), load: Real(load), calls, .. }
            if cell == of_cell =>
        {
            Some(CellTti { power: power.into(), load: load.into(), calls: calls.into() })
        }
        _ => None,
    });
    last.expect("there was a TTI")
}

#[test]
fn calls_between_two_cells_of_equal_gain_have_the_powers_of_the_closed_form() {
    let still = layout_cells(4.0, ERROR_FREE);
    let layout = &still.environment.layout;
    let [here, there] = [CellId(0), CellId(1)].map(|cell| layout.centre(cell));
    // Half way between the middles of two sectors of a site.
    let place = Place { x: (here.x + there.x) / 2.0, y: (here.y + there.y) / 2.0 };
    let gains = gains_at(&still, place);
    assert!((gains[0] / gains[1] - 1.0).abs() < 1e-9, "{gains:?}");
    let (gain, others) = (gains[0], gains[2..].iter().sum::<f64>());
    let power = still.power;
    // Power received from the cells that send only their pilots, plus noise, divided by the gain.
    let outside = (power.noise + power.common * others) / gain;
    let margin = CHIP_RATE / calls::RATE / linear(2.25);
    let run = |soft| {
        let mut bench = Bench::new(&standing_calls(place, 8.0, soft), &[]);
        bench.seconds(2);
        [last_tti(&bench, 0), last_tti(&bench, 1)]
    };

    // P is the cell's power, P_c the power of its common channels, N the noise, G the processing gain
    // over the target, om the fraction of the own cell's power that interferes, L the path loss, and chi
    // the power received from other cells. Hard handover: the only cell of each of n calls sends p = (om
    // P + L (chi + N)) / (G + om) for it, where P = P_c + n p.
    let hard = run(None);
    let n = hard[0].calls + hard[1].calls;
    assert!(
        n >= 3.0 && hard.iter().any(|cell| cell.calls == 0.0),
        "one of the two is better by a rounding: {hard:?}"
    );
    let weight = 1.0 / (margin + power.own_share);
    let alone = (power.common + n * weight * (outside + power.common)) / (1.0 - n * weight * power.own_share);
    let [serving, idle] = if hard[0].calls > 0.0 { hard } else { [hard[1], hard[0]] };
    assert!((serving.power / alone - 1.0).abs() < 1e-4, "{serving:?}, not {alone} mW");
    assert!((idle.power / power.common - 1.0).abs() < 1e-4);

    // Soft handover: both cells send, each for half of the target (2 G instead of G). The other
    // cell's P is a part of chi, so P = (P_c + n w L I) / (1 - n w (om + 1)), where w = 1 / (2 G +
    // om), and I is the power received from all further cells and as noise. `outside` is L I.
    let soft = run(Some(SOFT));
    let weight = 1.0 / (2.0 * margin + power.own_share);
    let both = (power.common + n * weight * outside) / (1.0 - n * weight * (power.own_share + 1.0));
    for CellTti { power: sent, load, .. } in soft {
        assert!((sent / both - 1.0).abs() < 1e-4, "{sent} mW, {both}");
        let eta = n * weight * (power.own_share + 1.0 + power.common * others / gain / both);
        assert!((load / eta - 1.0).abs() < 1e-3, "{load}, {eta}");
    }
    // Without fading soft handover saves no power: the second signal replaces half of the first
    // one, and both interfere in both cells.
    assert!(2.0 * both > alone + power.common, "{both}, {alone}");
}

/// A run with moving calls.
struct MovingCalls {
    /// Mean number of cells that send to a call.
    legs: f64,
    block_error_ratio: f64,
    bench: Bench,
}

#[test]
fn moving_calls_have_up_to_three_cells_and_the_target_losses() {
    for control in [PowerControl::Frame, PowerControl::Steps, PowerControl::Ideal] {
        let run_with = |soft| {
            let mut config = layout_cells(4.0, ERROR_FREE);
            config.power.control = control;
            config.environment.propagation.shadowing = ShadowingConfig::default();
            config.handover.soft = soft;
            let calls = offered_calls(12.0, Offered::Cell, Duration::from_secs(120));
            let mobility = MobilityConfig::Legs(crate::environment::Legs::vehicular(50.0 / 3.6));
            config.calls = vec![CallClassConfig { mobility, ..call_class(calls) }];
            let mut bench = Bench::new(&config, &[]);
            bench.seconds(6);
            let (mut legs, mut calls, mut blocks, mut losses) = (0.0, 0.0, 0.0, 0.0);
            for (at, event) in bench.trace.iter().filter(|(at, _)| at.as_secs() > 1.0) {
                match *event {
                    TraceEvent::CellDchs { further, .. } => legs += f64::from(further),
                    TraceEvent::CellPower { calls: calls_of_cell, sent, lost, .. } => {
                        calls += f64::from(calls_of_cell);
                        (blocks, losses) = (blocks + f64::from(sent), losses + f64::from(lost));
                    }
                    _ => assert!(*at > Time::ZERO),
                }
            }
            MovingCalls { legs: 1.0 + legs / calls, block_error_ratio: losses / blocks, bench }
        };
        let soft = run_with(Some(SOFT));
        assert!((1.1..1.8).contains(&soft.legs), "{} legs", soft.legs);
        let updates = [CallStep::LegAdded, CallStep::LegRemoved].map(|kind| call_steps(&soft.bench, kind));
        assert!(updates.iter().all(|&number| number > 100), "{updates:?}");
        assert_eq!(call_steps(&soft.bench, CallStep::HandedOver), 0);
        let hard = run_with(None);
        assert_eq!(hard.legs, 1.0);
        let (soft_losses, hard_losses) = (soft.block_error_ratio, hard.block_error_ratio);
        assert!(soft_losses < 1.3 * hard_losses + 0.002, "{control:?}: {soft_losses}, {hard_losses}");
    }
}

#[test]
fn blocking_follows_erlang_b() {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.dch = one_tree();
    let calls = offered_calls(24.0, Offered::Cell, Duration::from_secs(20));
    config.calls = vec![call_class(calls)];
    let mut bench = Bench::new(&config, &[]);
    bench.seconds(240);
    let [blocked, begun] = [CallStep::Blocked, CallStep::Begun].map(|kind| call_steps(&bench, kind) as f64);
    // Erlang B for a = 24 Erl on 24 codes: B(n) = a B(n-1) / (n + a B(n-1)).
    let erlang_b = (1..=24).fold(1.0, |b, n| 24.0 * b / (f64::from(n) + 24.0 * b));
    let ratio = blocked / (blocked + begun);
    assert!((erlang_b - 0.146).abs() < 0.001, "{erlang_b}");
    assert!((ratio - erlang_b).abs() < 0.01, "{ratio}, {erlang_b}: {blocked} of {}", blocked + begun);
    // No cell has more than 24 calls. The codes of 24 calls are three quarters of a tree.
    for (_, event) in &bench.trace {
        match *event {
            TraceEvent::CellPower { calls, .. } => assert!(calls <= 24),
            TraceEvent::CellDchs { codes, .. } => assert!(codes.0 <= 0.75),
            _ => {}
        }
    }
}

/// Moving calls in cells with few codes. `without`: what happens to a call if its next cell has no
/// code.
fn driving(without: WithoutCode, soft: Option<SoftHandover>) -> Bench {
    let mut config = layout_cells(4.0, ERROR_FREE);
    config.dch = DchConfig { without_code: without, ..one_tree() };
    config.environment.propagation.shadowing = ShadowingConfig::default();
    config.handover.soft = soft;
    let calls = offered_calls(22.0, Offered::Cell, Duration::from_secs(60));
    let mobility = MobilityConfig::Legs(crate::environment::Legs::vehicular(50.0 / 3.6));
    config.calls = vec![CallClassConfig { mobility, ..call_class(calls) }];
    let mut bench = Bench::new(&config, &[]);
    bench.seconds(20);
    bench
}

#[test]
fn call_without_a_code_in_the_next_cell_is_kept_or_dropped() {
    /// Numbers of calls that changed their cell, that found no code in another cell, and that were
    /// dropped.
    #[derive(Debug)]
    struct Changes {
        handed_over: usize,
        refused: usize,
        dropped: usize,
    }
    let changes = |without, soft| {
        let bench = driving(without, soft);
        Changes {
            handed_over: call_steps(&bench, CallStep::HandedOver),
            refused: call_steps(&bench, CallStep::Refused),
            dropped: call_steps(&bench, CallStep::Dropped),
        }
    };
    let kept = changes(WithoutCode::Kept, None);
    assert!(kept.handed_over > 100 && kept.refused > 0 && kept.dropped == 0, "{kept:?}");
    let dropped = changes(WithoutCode::Dropped, None);
    assert!(
        dropped.handed_over > 100 && dropped.refused > 0 && dropped.dropped == dropped.refused,
        "{dropped:?}"
    );
    // With several cells a call is dropped only when none of them is good enough.
    let soft = changes(WithoutCode::Dropped, Some(SOFT));
    assert!(soft.handed_over == 0 && soft.dropped < soft.refused / 10, "{soft:?}");
}

/// Sums and ratios of a run with or without compressed mode.
struct CompressedRun {
    /// Sum of the powers of all cells and TTIs, in mW.
    power: f64,
    /// Sum of the shares of the code trees.
    codes: f64,
    /// Share of TTIs with a gap.
    gaps: f64,
    /// Share of lost blocks.
    losses: f64,
}

#[test]
fn compressed_mode_takes_codes_and_power() {
    let run_with = |compressed| {
        let mut config = layout_cells(4.0, ERROR_FREE);
        config.handover.compressed_mode = compressed;
        let calls = offered_calls(12.0, Offered::Cell, Duration::from_secs(600));
        config.calls = vec![call_class(calls)];
        let mut bench = Bench::new(&config, &[]);
        bench.seconds(4);
        let (mut power, mut codes, mut gaps, mut calls, mut lost) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (_, event) in bench.trace.iter().filter(|(at, _)| at.as_secs() > 1.0) {
            match *event {
                TraceEvent::CellPower {
                    power: Real(sent), calls: calls_of_cell, lost: lost_of_cell, ..
                } => {
                    power += f64::from(sent);
                    calls += f64::from(calls_of_cell);
                    lost += f64::from(lost_of_cell);
                }
                TraceEvent::CellDchs { codes: Real(share), compressed, .. } => {
                    (codes, gaps) = (codes + f64::from(share), gaps + f64::from(compressed));
                }
                _ => {}
            }
        }
        // A call has two blocks per TTI.
        CompressedRun { power, codes, gaps: gaps / calls, losses: lost / (2.0 * calls) }
    };
    let mode = |method, within| CompressedMode {
        within: Db(within),
        gap: 14,
        every: Duration::from_millis(80),
        method,
        raise: Db(2.0),
    };
    let plain = run_with(None);
    assert_eq!((plain.codes, plain.gaps), (0.0, 0.0), "no cell reports it");
    // Each call has another cell within 200 dB, and so a gap in every fourth TTI.
    let half_sf = run_with(Some(mode(CompressedBy::HalfSf, 200.0)));
    assert!((half_sf.gaps - 0.25).abs() < 0.01, "{}", half_sf.gaps);
    assert!(half_sf.power > 1.05 * plain.power, "{}, {}", half_sf.power, plain.power);
    assert!(
        (half_sf.losses - plain.losses).abs() < 0.002,
        "targets are raised because blocks need it: {}, {}",
        half_sf.losses,
        plain.losses
    );
    let puncturing = run_with(Some(mode(CompressedBy::Puncturing, 200.0)));
    // New calls have no gaps before their first measurement.
    assert!((half_sf.codes / puncturing.codes - 2.0).abs() < 1e-3, "{}, {}", half_sf.codes, puncturing.codes);
    // Few calls have another cell within 3 dB.
    let at_cell_edges = run_with(Some(mode(CompressedBy::HalfSf, 3.0)));
    assert!(at_cell_edges.gaps > 0.01 && at_cell_edges.gaps < 0.15, "{}", at_cell_edges.gaps);
}

/// Cells in which each DSCH user has a DCH beside the DSCH, with one free code of SF 4.
fn with_associated_dchs() -> MulticellConfig {
    let mut config = layout_cells(4.0, ERROR_FREE);
    // The DSCH has a quarter of the tree, and the common channels have half of it.
    let (common, associated) = (Some(TreeShare::of(2)), Some(AssociatedConfig::default()));
    config.dch = DchConfig { common, associated, ..one_tree() };
    config
}

/// One packet for a UE at `place`.
fn one_packet(config: &MulticellConfig, place: Place) -> Bench {
    let mut bench = Bench::new(config, &[standing(place)]);
    bench.sends(SentPacket { at_ms: 100, ue: 0, id: 1, octets: 570 });
    bench.seconds(2);
    bench
}

#[test]
fn associated_dch_has_a_code_and_power_while_there_is_data() {
    let config = with_associated_dchs();
    let bench = one_packet(&config, config.environment.layout.centre(CellId(0)));
    assert_eq!(bench.delivered_ids(), [1]);
    let reports: Vec<_> = bench
        .trace
        .iter()
        .filter_map(|(at, event)| match *event {
            TraceEvent::CellDchs { cell: 0, associated, associated_power, codes, .. } => {
                Some((at.as_secs(), associated, associated_power.0, codes.0))
            }
            _ => None,
        })
        .collect();
    assert!(reports.iter().any(|&(_, dchs, power, codes)| dchs == 1 && power > 0.0 && codes == 1.0 / 256.0));
    for (at, dchs, power, codes) in reports {
        let may_have_data = (0.1..1.0).contains(&at);
        assert!(
            may_have_data || (dchs, power, codes) == (0, 0.0, 0.0),
            "{at} s: {dchs}, {power} mW, {codes}"
        );
    }
}

#[test]
fn a_user_without_a_code_is_postponed() {
    let mut config = with_associated_dchs();
    let place = config.environment.layout.centre(CellId(0));
    // A call takes the free code.
    let calls = offered_calls(10.0, Offered::Network, Duration::from_secs(36_000));
    config.calls = vec![CallClassConfig {
        mobility: standing(place),
        ..call_class(CallsConfig { spreading_factor: 4, ..calls })
    }];
    let bench = one_packet(&config, place);
    assert!(bench.delivered_ids().is_empty() && bench.grants().is_empty());
    let lacks_code =
        |event: &TraceEvent| matches!(event, TraceEvent::DschPostponed { why: Postponed::Codes, .. });
    assert!(bench.trace.iter().filter(|(_, event)| lacks_code(event)).count() > 50);
}
