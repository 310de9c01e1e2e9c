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

/// A place half way between the middles of two sectors of a site, at which cells 0 and 1 have equal
/// gains, and calls that all stand there.
///
/// The formulas use: P, the power of a cell; P_c, the power of its common channels; N, the noise; G, the
/// processing gain over the target; om, the share of the own cell's power that interferes; L, the path
/// loss; chi, the power received from other cells; n, the number of calls.
struct BetweenTwoCells {
    power: PowerConfig,
    place: Place,
    /// 1 / L for both cells.
    gain: f64,
    /// Sum of the gains of all further cells.
    others: f64,
    /// G.
    margin: f64,
}

impl BetweenTwoCells {
    fn new() -> Self {
        let config = layout_cells(4.0, ERROR_FREE);
        let layout = &config.environment.layout;
        let [here, there] = [CellId(0), CellId(1)].map(|cell| layout.centre(cell));
        let place = Place { x: (here.x + there.x) / 2.0, y: (here.y + there.y) / 2.0 };
        let gains = gains_at(&config, place);
        assert!((gains[0] / gains[1] - 1.0).abs() < 1e-9, "{gains:?}");
        BetweenTwoCells {
            power: config.power,
            place,
            gain: gains[0],
            others: gains[2..].iter().sum(),
            margin: CHIP_RATE / calls::RATE / linear(2.25),
        }
    }

    /// The last TTI of both cells after two seconds with about eight calls.
    fn run(&self, soft: Option<SoftHandover>) -> [CellTti; 2] {
        let mut bench = Bench::new(&standing_calls(self.place, 8.0, soft), &[]);
        bench.seconds(2);
        [last_tti(&bench, 0), last_tti(&bench, 1)]
    }

    /// L times the noise and the power received from the further cells, which send only their common
    /// channels.
    fn outside(&self) -> f64 {
        (self.power.noise + self.power.common * self.others) / self.gain
    }

    /// P of the only cell that sends to the calls. It sends p = (om P + L (chi + N)) / (G + om) for each
    /// call, and P = P_c + n p. The other cell sends P_c, which is a part of chi.
    fn power_of_one_cell(&self, calls: f64) -> f64 {
        let weight = calls / (self.margin + self.power.own_share);
        let interference = self.outside() + self.power.common;
        (self.power.common + weight * interference) / (1.0 - weight * self.power.own_share)
    }

    /// n w, where w = 1 / (2 G + om): in soft handover each of two cells sends for half of the target.
    fn weight_of_two_cells(&self, calls: f64) -> f64 {
        calls / (2.0 * self.margin + self.power.own_share)
    }

    /// P of each of two cells that both send to all calls: P = (P_c + n w L I) / (1 - n w (om + 1)), where
    /// I is the power from all further cells and the noise. The other cell's P is a part of chi.
    fn power_of_two_cells(&self, calls: f64) -> f64 {
        let weight = self.weight_of_two_cells(calls);
        (self.power.common + weight * self.outside()) / (1.0 - weight * (self.power.own_share + 1.0))
    }

    /// Load of each of these two cells.
    fn load_of_two_cells(&self, calls: f64) -> f64 {
        let from_others = self.power.common * self.others / self.gain / self.power_of_two_cells(calls);
        self.weight_of_two_cells(calls) * (self.power.own_share + 1.0 + from_others)
    }
}

#[test]
fn one_of_two_equal_cells_serves_all_calls_with_the_power_of_the_closed_form() {
    let between = BetweenTwoCells::new();
    let cells = between.run(None);
    let calls = cells[0].calls + cells[1].calls;
    assert!(calls >= 3.0, "{cells:?}");
    // One of the two is better by a rounding.
    let [serving, idle] = if cells[0].calls > 0.0 { cells } else { [cells[1], cells[0]] };
    assert_eq!(idle.calls, 0.0, "{cells:?}");
    let expected = between.power_of_one_cell(calls);
    assert!((serving.power / expected - 1.0).abs() < 1e-4, "{serving:?}, not {expected} mW");
    assert!((idle.power / between.power.common - 1.0).abs() < 1e-4, "{idle:?}");
}

#[test]
fn two_equal_cells_in_soft_handover_have_the_power_and_load_of_the_closed_form() {
    let between = BetweenTwoCells::new();
    // The same calls arrive with hard handover, in which each is counted once.
    let calls: f64 = between.run(None).iter().map(|cell| cell.calls).sum();
    let [expected_power, expected_load] =
        [between.power_of_two_cells(calls), between.load_of_two_cells(calls)];
    for CellTti { power, load, .. } in between.run(Some(SOFT)) {
        assert!((power / expected_power - 1.0).abs() < 1e-4, "{power} mW, not {expected_power}");
        assert!((load / expected_load - 1.0).abs() < 1e-3, "{load}, not {expected_load}");
    }
    // Without fading soft handover saves no power: the second signal replaces half of the first
    // one, and both interfere in both cells.
    let one_cell = between.power_of_one_cell(calls) + between.power.common;
    assert!(2.0 * expected_power > one_cell, "{expected_power}, {one_cell}");
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
            let mut further_legs = 0.0;
            let mut calls = 0.0;
            let mut sent_blocks = 0.0;
            let mut lost_blocks = 0.0;
            for (_, event) in bench.trace.iter().filter(|(at, _)| at.as_secs() > 1.0) {
                match *event {
                    TraceEvent::CellDchs { further, .. } => further_legs += f64::from(further),
                    TraceEvent::CellPower { calls: calls_of_cell, sent, lost, .. } => {
                        calls += f64::from(calls_of_cell);
                        sent_blocks += f64::from(sent);
                        lost_blocks += f64::from(lost);
                    }
                    _ => {}
                }
            }
            MovingCalls {
                legs: 1.0 + further_legs / calls,
                block_error_ratio: lost_blocks / sent_blocks,
                bench,
            }
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
        let (mut power, mut codes) = (0.0, 0.0);
        let (mut gaps, mut calls, mut lost_blocks) = (0.0, 0.0, 0.0);
        for (_, event) in bench.trace.iter().filter(|(at, _)| at.as_secs() > 1.0) {
            match *event {
                TraceEvent::CellPower {
                    power: Real(sent), calls: calls_of_cell, lost: lost_of_cell, ..
                } => {
                    power += f64::from(sent);
                    calls += f64::from(calls_of_cell);
                    lost_blocks += f64::from(lost_of_cell);
                }
                TraceEvent::CellDchs { codes: Real(share), compressed, .. } => {
                    codes += f64::from(share);
                    gaps += f64::from(compressed);
                }
                _ => {}
            }
        }
        // A call has two blocks per TTI.
        CompressedRun { power, codes, gaps: gaps / calls, losses: lost_blocks / (2.0 * calls) }
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
    let mut has_active_tti = false;
    for (at, event) in &bench.trace {
        let TraceEvent::CellDchs { cell: 0, associated, associated_power, codes, .. } = *event else {
            continue;
        };
        // The packet enters at 100 ms and is delivered within a second.
        let may_have_data = (0.1..1.0).contains(&at.as_secs());
        let is_idle = associated == 0 && associated_power.0 == 0.0 && codes.0 == 0.0;
        assert!(may_have_data || is_idle, "{at}: {event:?}");
        // The DCH has a code of spreading factor 256.
        has_active_tti |= associated == 1 && associated_power.0 > 0.0 && codes.0 == 1.0 / 256.0;
    }
    assert!(has_active_tti);
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
