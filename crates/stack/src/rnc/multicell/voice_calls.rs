//! The calls of a layout. In each turn (a TTI, or a frame if the DSCH is scheduled every frame)
//! `measure` begins and ends calls and updates their cells, `add_links` adds their links to the
//! power solver, and `receive` decides the losses of their blocks.
//!
//! All cells of an active set transmit with the same power, because they obey the same commands (TS
//! 25.214 §5.2.1.4.1). The rake receiver adds the signals of all legs, whether they come from one
//! site or several (Holma and Toskala 2000, §9.3.1.3). Selection combining between sites concerns
//! the uplink only.
//!
//! ```text
//! Eb/N0          = sum over legs k of W/R p g_k / D_k      D_k = om P_k g_k + chi_k + P_N
//! share of leg k = (g_k / D_k) / sum (g_j / D_j)           of the target: the target of this leg
//! ```
//!
//! W/R is the processing gain, p the power of each leg, P_k the power of cell k, g_k its path gain,
//! om the share of the own cell's power that interferes, chi_k the power received from other cells,
//! and P_N the noise. With its share of the target, a leg adds to the load and power of its cell
//! like any other link. All legs then have the same power if p is small compared with P_k.

use std::sync::Arc;

use umts_kernel::random::{AddressedStream, Streams};
use umts_units::{Duration, Time};

use super::active_sets::ActiveSets;
use super::clock::MeasuredTurn;
use super::codes::DchCodes;
use super::power_admission::PowerAdmission;
use super::power_solver::{DownlinkLink, LinkKind, PowerSolver, Receiver};
use super::{CallClassConfig, MulticellConfig};
use crate::environment::{Environment, Gains, MobilityConfig};
use crate::ids::CellId;
use crate::radio::phy::LinkTable;
use crate::radio::phy::power_control::{PowerConfig, PowerControl};
use crate::radio::phy::sir::{self, Link};
use crate::rnc::calls::{self, Call, CallLocation, Calls, EbN0Average, PowerControlLoops, RadioLink};
use crate::rnc::rrc::CompressedMode;
use crate::trace::CallStep;

/// Call numbers modulo this value address the random draws of blocks: 2³⁰, so that the index of a
/// block fits into 32 bits. Calls under way at one time have different indices.
const NUMBERS: u64 = 1 << 30;

/// Calls of one class.
#[derive(Debug)]
pub(super) struct CallClass {
    pub calls: Calls,
    mobility: MobilityConfig,
    spreading_factor: u16,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
    errors: Arc<LinkTable>,
    /// First mobile identity of this class. Call `n` has the identity `first_mobile_id + n`.
    first_mobile_id: u64,
    /// Random draws of the losses of blocks.
    draws: AddressedStream,
}

/// Calls of all classes.
#[derive(Debug)]
pub(super) struct VoiceCalls {
    pub classes: Vec<CallClass>,
    /// Turns between two measurements of a call.
    measurement_period: u64,
    /// Turns in a TTI of a call.
    turns_per_tti: u64,
}

/// Goal of the power control of a DCH.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Processing gain, chips per bit.
    pub processing: f64,
    /// Target Eb/N0, linear.
    pub target: f64,
}

impl Aim {
    /// The link of a DCH from `cell` alone if the cells send `powers`.
    pub fn link(self, gains: &Gains, cell: CellId, powers: &[f64]) -> Link {
        Link {
            processing: self.processing,
            target: self.target,
            gain: gains.of(cell),
            interference: gains.from_others(powers, cell),
        }
    }
}

/// A DCH under power control: the one of a call, or of a user.
#[derive(Debug)]
pub(super) struct PoweredDch<'a> {
    pub at: &'a CallLocation,
    pub loops: &'a mut PowerControlLoops,
    pub aim: Aim,
}

/// Counts of the calls of a cell and of their blocks in a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallCounts {
    pub calls: u32,
    /// Calls with a gap of compressed mode.
    pub compressed: u32,
    /// Blocks sent.
    pub sent: u32,
    /// Blocks lost.
    pub lost: u32,
}

impl VoiceCalls {
    pub fn new(config: &MulticellConfig, cells: usize, measured_each: Duration, streams: &Streams) -> Self {
        let turns_in = |time: Duration| time / config.dsch.interval();
        let class = |(group, class): (usize, &CallClassConfig)| CallClass {
            calls: Calls::new(&class.calls, group, cells, streams),
            mobility: class.mobility.clone(),
            spreading_factor: class.calls.spreading_factor,
            target: class.target,
            errors: class.errors.clone(),
            // Above the numbers of all UEs.
            first_mobile_id: (group as u64 + 1) << 32,
            draws: streams.addressed(&format!("calls{group}/blocks")),
        };
        VoiceCalls {
            classes: config.calls.iter().enumerate().map(class).collect(),
            measurement_period: turns_in(measured_each),
            turns_per_tti: turns_in(calls::TTI),
        }
    }

    #[cfg(test)]
    pub fn none() -> Self {
        VoiceCalls { classes: Vec::new(), measurement_period: 1, turns_per_tti: 1 }
    }

    pub fn call(&self, class: usize, call: usize) -> &Call {
        &self.classes[class].calls.under_way()[call]
    }

    /// All calls, in the order of their links.
    pub fn each(&self) -> impl Iterator<Item = &Call> {
        self.classes.iter().flat_map(|class| class.calls.under_way())
    }

    /// All calls, in the order of their links.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        self.classes.iter_mut().flat_map(|class| class.calls.under_way_mut())
    }

    /// The DCHs of all calls, in the order of their links.
    pub fn powered(&mut self) -> impl Iterator<Item = PoweredDch<'_>> {
        self.classes.iter_mut().flat_map(|class| {
            let aim = class.aim();
            class.calls.under_way_mut().iter_mut().map(move |call| PoweredDch {
                at: &call.at,
                loops: &mut call.loops,
                aim,
            })
        })
    }

    /// Ends and begins the calls that are due. Then measures the calls that `turn` measures, and
    /// updates their cells. With admission by power, a new call may be blocked.
    pub fn measure(
        &mut self,
        turn: MeasuredTurn,
        environment: &Environment,
        sets: &mut ActiveSets,
        codes: &mut DchCodes,
        solver: &PowerSolver,
        mut admission: Option<&mut PowerAdmission>,
    ) {
        let period = self.measurement_period;
        for class in &mut self.classes {
            class.calls.end_until(turn.now, |call| sets.leave(codes, &call.at));
            class.begin_calls(turn.now, environment, sets, codes, solver, admission.as_deref_mut());
            let measured = |call: &Call| turn.measures(call.number, period);
            class.update_cells(turn.now, measured, environment, sets, codes, &solver.before);
        }
    }

    /// Adds the links of all calls in turn number `turn` to `solver`, with the share of each leg in
    /// the target and the higher targets of calls with a gap.
    pub fn add_links(&mut self, turn: u64, sets: &ActiveSets, solver: &mut PowerSolver) {
        if sets.soft.is_some() {
            self.each_mut().for_each(|call| share_target(&mut call.at, &solver.power, &solver.before));
        }
        if let Some(mode) = sets.compressed {
            self.raise_targets(turn, &mode);
        }
        for (number, class) in self.classes.iter().enumerate() {
            for (index, call) in class.calls.under_way().iter().enumerate() {
                let receiver = Receiver::Call { class: number, call: index };
                let Call { at, loops, .. } = call;
                solver.add(LinkKind::Call, receiver, at.main.cell, link(at, loops, &at.main, class.aim()));
                for leg in &at.further {
                    solver.add(LinkKind::SoftLeg, receiver, leg.cell, link(at, loops, leg, class.aim()));
                }
            }
        }
    }

    /// Raises the targets of calls in compressed mode that have a gap in this turn.
    fn raise_targets(&mut self, turn: u64, mode: &CompressedMode) {
        let ttis_between_gaps = mode.every / calls::TTI;
        let turns_per_tti = self.turns_per_tti;
        for call in self.each_mut() {
            // The TTIs of calls start in different turns.
            let tti = (turn + call.number) / turns_per_tti;
            let has_gap = call.at.is_compressed && tti.is_multiple_of(ttis_between_gaps);
            call.at.raise = if has_gap { mode.factor() } else { 1.0 };
        }
    }

    /// Receives all links of calls in turn number `turn`. If a TTI of a call ends with this turn,
    /// decides the losses of its blocks. Returns the counts of each cell.
    pub fn receive(&mut self, turn: u64, solver: &PowerSolver) -> Vec<CallCounts> {
        let mut counts = vec![CallCounts::default(); solver.cells.len()];
        let mut mains = solver.links(LinkKind::Call).iter();
        let mut legs = solver.links(LinkKind::SoftLeg).iter();
        for class in &mut self.classes {
            let draws = class.draws.tti(turn);
            for call in class.calls.under_way_mut() {
                let main = mains.next().expect("each call has a main link");
                let received =
                    receive_links(&mut call.at, &call.loops, solver.power.control, main, &mut legs);
                let counts = &mut counts[main.cell.index()];
                counts.calls += 1;
                counts.compressed += u32::from(call.at.raise > 1.0);
                // The losses of a TTI depend on the mean over its turns. In a TTI with a gap, the raise of
                // the target makes up for the gap.
                let mean_ebn0 = call.ebn0_average.mean_with(received.ebn0 / call.at.raise);
                let ends_tti = (turn + call.number + 1).is_multiple_of(self.turns_per_tti);
                if ends_tti {
                    call.ebn0_average = EbN0Average::default();
                    let first_block = (call.number % NUMBERS) as u32 * calls::BLOCKS;
                    let lost = class.errors.losses(draws, first_block, calls::BLOCKS, mean_ebn0).count();
                    call.loops.handle_blocks(&solver.power, calls::BLOCKS, lost);
                    counts.sent += calls::BLOCKS;
                    counts.lost += lost;
                }
            }
        }
        counts
    }
}

impl CallClass {
    /// Begins the calls that are due at `now`, unless their best cell has no code or, with
    /// admission by power, no power.
    fn begin_calls(
        &mut self,
        now: Time,
        environment: &Environment,
        sets: &mut ActiveSets,
        codes: &mut DchCodes,
        solver: &PowerSolver,
        mut admission: Option<&mut PowerAdmission>,
    ) {
        let aim = self.aim();
        let powers = &solver.before;
        let CallClass { calls, mobility, spreading_factor, first_mobile_id, .. } = self;
        calls.begin_until(now, |number| {
            let mut mobile = environment.appear(*first_mobile_id + number, mobility, None, now);
            environment.measure(&mut mobile, now);
            let Some(admission) = admission.as_deref_mut() else {
                return sets.admit(codes, mobile, *spreading_factor, powers);
            };
            let (cell, gains) = (mobile.gains().best(), mobile.gains());
            let expected = admission.expected(&solver.power, &aim.link(gains, cell, powers), cell);
            if !admission.admits(cell, expected) {
                sets.note_step(cell, CallStep::Blocked);
                return None;
            }
            let at = sets.admit(codes, mobile, *spreading_factor, powers)?;
            admission.begin_link(cell, expected);
            Some(at)
        });
    }

    /// Measures the calls that are `measured`, and updates their cells. Calls that no cell can
    /// carry are dropped.
    fn update_cells(
        &mut self,
        now: Time,
        measured: impl Fn(&Call) -> bool,
        environment: &Environment,
        sets: &mut ActiveSets,
        codes: &mut DchCodes,
        powers: &[f64],
    ) {
        let mut is_any_dropped = false;
        for call in self.calls.under_way_mut().iter_mut().filter(|call| measured(call)) {
            environment.measure(&mut call.at.mobile, now);
            if !sets.update_cells(codes, &mut call.at, self.spreading_factor, powers) {
                call.drop_at(now);
                is_any_dropped = true;
            }
        }
        if is_any_dropped {
            self.calls.sweep(now, |call| sets.leave(codes, &call.at));
        }
    }

    fn aim(&self) -> Aim {
        Aim { processing: sir::CHIP_RATE / calls::RATE, target: self.target }
    }
}

/// Divides the target among the legs of a DCH in proportion to g_k / D_k (see above). `before`:
/// powers of the cells in the previous turn, in mW.
pub(super) fn share_target(at: &mut CallLocation, power: &PowerConfig, before: &[f64]) {
    if at.further.is_empty() {
        return;
    }
    let ebn0_per_power = |leg: &RadioLink| {
        let own_cell = power.own_share * before[leg.cell.index()] * leg.gain;
        leg.gain / (own_cell + leg.interference + power.noise)
    };
    let sum = ebn0_per_power(&at.main) + at.further.iter().map(ebn0_per_power).sum::<f64>();
    for leg in at.legs_mut() {
        leg.share = ebn0_per_power(leg) / sum;
    }
}

/// The links of a DCH as received in a turn.
pub(super) struct ReceivedLinks {
    /// Sum of the Eb/N0 of all links, linear. Under power control in steps the mean over the slots.
    pub ebn0: f64,
    /// Power of the links beside the main one, in mW.
    pub further_power: f64,
}

/// Records the interference of each link of a DCH. `further` begins with the links beside `main`,
/// which are taken from it.
pub(super) fn receive_links<'a>(
    at: &mut CallLocation,
    loops: &PowerControlLoops,
    control: PowerControl,
    main: &DownlinkLink,
    further: &mut impl Iterator<Item = &'a DownlinkLink>,
) -> ReceivedLinks {
    at.main.interference = main.interference;
    let (mut further_ebn0, mut further_power) = (0.0, 0.0);
    for (leg, downlink) in at.further.iter_mut().zip(further) {
        leg.interference = downlink.interference;
        further_ebn0 += downlink.ebn0;
        further_power += downlink.power_mw;
    }
    let ebn0 = match control {
        PowerControl::Steps => loops.achieved,
        PowerControl::Ideal | PowerControl::Frame => main.ebn0 + further_ebn0,
    };
    ReceivedLinks { ebn0, further_power }
}

/// The link of a DCH from one of its cells. Its target is the share of this leg.
#[inline]
pub(super) fn link(at: &CallLocation, loops: &PowerControlLoops, leg: &RadioLink, aim: Aim) -> Link {
    Link {
        processing: aim.processing,
        target: aim.target * loops.target_scale * at.raise * leg.share,
        gain: leg.gain,
        interference: leg.interference,
    }
}

#[cfg(test)]
mod tests {
    use umts_units::Erlang;

    use super::*;
    use crate::radio::phy::ovsf::Code;
    use crate::rnc::calls::{CallsConfig, Offered};
    use crate::rnc::multicell::bearer_users::BearerUsers;
    use crate::rnc::multicell::mobility::Mobility;
    use crate::rnc::multicell::power_solver::Receivers;
    use crate::rnc::multicell::testing::{CELLS, HANDOVER, active_sets, environment, mobile_between};
    use crate::rnc::multicell::{DchConfig, FixedCodes, WithoutCode};

    /// Calls of one class that lose no block at their target.
    fn calls(offered: f64) -> VoiceCalls {
        let streams = Streams::new(1, 0);
        let config = CallsConfig {
            offered: Erlang::new(offered).expect("it is not negative"),
            per: Offered::Network,
            holding: Duration::from_secs(36_000),
            ..CallsConfig::default()
        };
        let class = CallClass {
            calls: Calls::new(&config, 0, CELLS, &streams),
            mobility: MobilityConfig::Still,
            spreading_factor: config.spreading_factor,
            target: 2.0,
            errors: LinkTable::logistic(-30.0, 2.5).into(),
            first_mobile_id: 1 << 32,
            draws: streams.addressed("calls0/blocks"),
        };
        VoiceCalls { classes: vec![class], measurement_period: 5, turns_per_tti: 1 }
    }

    /// Without soft handover, 40 erlang of calls at their target are one link each, and each block
    /// counts as received in the cell of the call.
    #[test]
    fn every_call_is_one_link_and_counts_in_its_cell() {
        let mobility = Mobility::new(environment(), HANDOVER, &[], 5);
        let power = PowerConfig { control: PowerControl::Ideal, ..PowerConfig::default() };
        let (mut calls, mut sets) = (calls(40.0), active_sets(None, WithoutCode::Kept));
        let mut codes = DchCodes::new(&DchConfig::default(), &FixedCodes::default(), CELLS);
        let mut solver = PowerSolver::new(power, CELLS);
        let turn = MeasuredTurn { now: Time::ZERO, number: 0 };
        let admission = None;
        calls.measure(turn, &mobility.environment, &mut sets, &mut codes, &solver, admission);
        calls.add_links(turn.number, &sets, &mut solver);
        solver.add_up();
        let bearers = BearerUsers::none(HANDOVER, active_sets(None, WithoutCode::Kept));
        let receivers = Receivers { calls: &calls, mobility: &mobility, bearers: &bearers };
        solver.control(receivers);
        solver.measure(receivers);
        let counts = calls.receive(turn.number, &solver);

        let cells: Vec<CellId> = calls.each().map(|call| call.at.main.cell).collect();
        assert!(cells.len() > 20, "{} calls", cells.len());
        assert!(solver.links(LinkKind::Call).iter().map(|link| link.cell).eq(cells.iter().copied()));
        assert!(solver.links(LinkKind::SoftLeg).is_empty());
        for (cell, counts) in (0..).map(CellId).zip(&counts) {
            let number = cells.iter().filter(|&&of| of == cell).count() as u32;
            let CallCounts { calls, compressed, sent, lost } = *counts;
            assert_eq!((calls, compressed, sent, lost), (number, 0, number * calls::BLOCKS, 0));
        }
    }

    #[test]
    fn legs_divide_the_target_by_their_signal() {
        let (power, before) = (PowerConfig::default(), [1e3; CELLS]);
        let leg = |cell, gain| RadioLink {
            gain,
            interference: 1e-9,
            ..RadioLink::new(CellId(cell), Code::last(32))
        };
        let mut at = CallLocation::new(mobile_between(&environment(), [0, 1]), leg(0, 2e-12));
        share_target(&mut at, &power, &before);
        assert_eq!(at.main.share, 1.0, "a single leg has the whole target");
        // The second leg has the same gain as the first one, the third leg half of it.
        at.further = vec![leg(1, 2e-12), leg(2, 1e-12)];
        share_target(&mut at, &power, &before);
        assert_eq!(at.main.share, at.further[0].share);
        assert!(at.further[1].share < at.main.share);
        assert!((at.legs().map(|leg| leg.share).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
