//! Users of DCH bearers in the cells of a layout: their cells and codes, their links in a turn, and the
//! Eb/N0 of their downlink. MAC-d serves them as everywhere (`mac::Dedicated`). The Eb/N0 decides the
//! losses of the blocks that it sends until the next turn (`EbN0Errors`).
//!
//! A user keeps its codes and is measured all the time. Its DCH takes the power of the full rate in turns
//! that begin with data in RLC, sent or not, and no power otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use super::active_sets::ActiveSets;
use super::codes::DchCodes;
use super::mobility::Handover;
use super::power_solver::{LinkKind, PowerSolver, Receiver};
use super::voice_calls::{Aim, PoweredDch, link, share_target};
use super::{BufferAtHandover, DchUserConfig, HandoverConfig, MulticellConfig, RlcAtHandover};
use crate::EventContext;
use crate::environment::{Environment, MobilityConfig};
use crate::ids::{CellId, Direction, UeId};
use crate::radio::phy::ovsf::Code;
use crate::radio::phy::power_control::{PowerConfig, PowerControl};
use crate::rnc::calls::{CallLocation, PowerControlLoops, RadioLink};
use crate::trace::{Real, TraceEvent};
use crate::ue::{UeContext, Ues};

const DOWN: Direction = Direction::Downlink;

/// A UE with a DCH bearer: its movement, and its downlink.
pub(super) type PlacedUser = (UeId, MobilityConfig, Arc<DchUserConfig>);

/// A user with a DCH bearer.
#[derive(Debug)]
pub(super) struct BearerUser {
    pub ue: UeId,
    /// Its place, and the links from its cells.
    pub at: CallLocation,
    config: Arc<DchUserConfig>,
    loops: PowerControlLoops,
    /// Whether it has a code in its cells. Without a code it neither sends nor receives.
    has_code: bool,
    /// Whether its DCH takes power in this turn.
    is_sent: bool,
    /// Whether its power was limited in the previous turn. The target of the outer loop then stays, because
    /// losses do not show that it is too low.
    is_limited: bool,
}

/// All users of DCH bearers, by UE number.
#[derive(Debug)]
pub(super) struct BearerUsers {
    users: Vec<BearerUser>,
    sets: ActiveSets,
    handover: HandoverConfig,
    /// Turns between two measurements of a user.
    period: u64,
}

impl BearerUsers {
    /// Each user starts in its best cell, with a code of this cell if one is free.
    pub fn new(
        config: &MulticellConfig,
        users: &[PlacedUser],
        environment: &Environment,
        codes: &mut DchCodes,
        period: u64,
    ) -> Self {
        let powers = vec![config.power.common; environment.cells()];
        let users = users.iter().map(|user| BearerUser::new(user, environment, codes, &powers)).collect();
        // Steps of active sets are recorded for calls only, and only calls have gaps.
        let sets = ActiveSets { is_recorded: false, compressed: None, ..ActiveSets::new(config) };
        BearerUsers { users, sets, handover: config.handover, period }
    }

    #[cfg(test)]
    pub fn none(config: HandoverConfig, sets: ActiveSets) -> Self {
        BearerUsers { users: Vec::new(), sets, handover: config, period: 1 }
    }

    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    pub fn user(&self, number: usize) -> &BearerUser {
        &self.users[number]
    }

    /// The best of the cells of a UE. `None` if it has no DCH bearer.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        let number = self.users.binary_search_by_key(&ue, |user| user.ue).ok()?;
        Some(self.users[number].at.main.cell)
    }

    /// Measures the part of the users that turn number `turn` measures, and updates their cells. Adds the
    /// changes that UTRAN must execute to `handovers`.
    pub fn measure(
        &mut self,
        now: Time,
        turn: u64,
        environment: &Environment,
        codes: &mut DchCodes,
        powers: &[f64],
        handovers: &mut VecDeque<Handover>,
    ) {
        let BearerUsers { users, sets, handover, period } = self;
        let phase = turn % *period;
        for user in users.iter_mut().filter(|user| u64::from(user.ue.0) % *period == phase) {
            environment.measure(&mut user.at.mobile, now);
            let from = user.at.main.cell;
            let had_code = user.has_code;
            if !had_code {
                user.at.main.cell = user.at.mobile.gains().best();
                user.take_code(codes, powers);
            } else if !sets.update_cells(codes, &mut user.at, user.config.spreading_factor, powers) {
                sets.leave(codes, &user.at);
                user.at.further.clear();
                user.has_code = false;
            }
            let (ue, to) = (user.ue, user.at.main.cell);
            if to != from {
                let is_soft = had_code && sets.soft.is_some();
                let config = if is_soft { WITHOUT_LOSS } else { *handover };
                handovers.push_back(Handover { ue, from, to, config, is_soft });
            }
        }
    }

    /// Begins a turn: decides which users receive power, and adds the losses since the previous turn to the
    /// outer loops.
    pub fn begin(&mut self, now: Time, power: &PowerConfig, ues: &mut Ues) {
        for user in &mut self.users {
            let context = &mut ues[user.ue];
            user.is_sent = user.has_code && has_data(now, context);
            if let Some(errors) = &mut context.channels[DOWN.index()].in_layout {
                let [blocks, lost] = errors.take_counts();
                if !user.is_limited {
                    user.loops.handle_blocks(power, blocks, lost);
                }
            }
            if !user.is_sent {
                user.loops.inner = None;
            }
        }
    }

    /// Adds the links of the users that receive power in this turn to `solver`.
    pub fn add_links(&mut self, solver: &mut PowerSolver) {
        let users = self.users.iter_mut().enumerate();
        for (number, user) in users.filter(|(_, user)| user.is_sent) {
            share_target(&mut user.at, &solver.power, &solver.before);
            let BearerUser { at, loops, config, .. } = &*user;
            let (receiver, aim) = (Receiver::BearerUser(number), config.aim());
            solver.add(LinkKind::Dch, receiver, at.main.cell, link(at, loops, &at.main, aim));
            for leg in &at.further {
                solver.add(LinkKind::DchLeg, receiver, leg.cell, link(at, loops, leg, aim));
            }
        }
    }

    /// The DCHs with power in this turn, for power control.
    pub fn powered(&mut self) -> impl Iterator<Item = PoweredDch<'_>> {
        self.users.iter_mut().filter(|user| user.is_sent).map(|user| PoweredDch {
            at: &user.at,
            loops: &mut user.loops,
            aim: user.config.aim(),
        })
    }

    /// Ends a turn at `now`: sets the Eb/N0 at which blocks are received until the next turn, after
    /// `interval`. A DCH without data has its target: its next block may leave before it has power again.
    pub fn receive<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        interval: Duration,
        solver: &PowerSolver,
        ues: &mut Ues,
    ) {
        let mut mains = solver.links(LinkKind::Dch).iter();
        let mut others = solver.links(LinkKind::DchLeg).iter();
        for user in &mut self.users {
            let context = &mut ues[user.ue];
            let mut ebn0 = user.config.target * user.loops.target_scale;
            if user.is_sent {
                let main = mains.next().expect("each DCH with power has a link from its best cell");
                user.at.main.interference = main.interference;
                let most = solver.power.dch_max.unwrap_or(f64::INFINITY);
                user.is_limited = main.power_mw >= most || solver.cells[main.cell.index()].sent.factor < 1.0;
                let (mut beside, mut further_power) = (0.0, 0.0);
                for (leg, of) in user.at.further.iter_mut().zip(&mut others) {
                    leg.interference = of.interference;
                    beside += of.ebn0;
                    further_power += of.power_mw;
                }
                ebn0 = match solver.power.control {
                    PowerControl::Steps => user.loops.achieved,
                    PowerControl::Ideal | PowerControl::Frame => main.ebn0 + beside,
                };
                ctx.cx.record(|| TraceEvent::DchSent {
                    ue: user.ue,
                    cell: main.cell.0,
                    legs: 1 + user.at.further.len() as u8,
                    power: Real(main.power_mw as f32),
                    further_power: Real(further_power as f32),
                    ebn0: Real(ebn0 as f32),
                });
            } else if !user.has_code {
                // The next turn is later than any TTI that begins before it.
                context.silent_until = context.silent_until.max(ctx.cx.now + interval);
            }
            if let Some(errors) = &mut context.channels[DOWN.index()].in_layout {
                errors.set_ebn0(ebn0);
            }
        }
    }
}

/// A change of the best cell within an active set.
const WITHOUT_LOSS: HandoverConfig = HandoverConfig {
    hysteresis: umts_units::Db(0.0),
    interruption: Duration::ZERO,
    rlc: RlcAtHandover::Kept,
    buffer: BufferAtHandover::Kept,
    soft: None,
    compressed_mode: None,
};

/// Whether RLC has downlink data that are not acknowledged, or anything to send.
fn has_data(now: Time, context: &UeContext) -> bool {
    let rlc = &context.rlc[DOWN.index()];
    rlc.buffer_occupancy() > Bytes::ZERO || rlc.has_work(now)
}

impl BearerUser {
    /// A user in its best cell when the cells send `powers`.
    fn new(
        (ue, mobility, config): &PlacedUser,
        environment: &Environment,
        codes: &mut DchCodes,
        powers: &[f64],
    ) -> Self {
        let mut mobile = environment.appear(u64::from(ue.0), mobility, None, Time::ZERO);
        environment.measure(&mut mobile, Time::ZERO);
        let main = RadioLink::new(mobile.gains().best(), Code::last(config.spreading_factor));
        let mut user = BearerUser {
            ue: *ue,
            at: CallLocation::new(mobile, main),
            config: config.clone(),
            loops: PowerControlLoops::default(),
            has_code: false,
            is_sent: false,
            is_limited: false,
        };
        user.take_code(codes, powers);
        user
    }

    /// Takes a code of its cell, if one is free.
    fn take_code(&mut self, codes: &mut DchCodes, powers: &[f64]) {
        let cell = self.at.main.cell;
        let Some(code) = codes.take(cell, self.config.spreading_factor) else { return };
        self.at.main = RadioLink::new(cell, code);
        self.at.main.measure(self.at.mobile.gains(), powers);
        self.has_code = true;
    }
}

impl DchUserConfig {
    fn aim(&self) -> Aim {
        Aim { processing: self.processing, target: self.target }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use umts_kernel::random::Streams;
    use umts_units::Db;

    use super::*;
    use crate::environment::Legs;
    use crate::radio::phy::LinkTable;
    use crate::radio::phy::sir::CHIP_RATE;
    use crate::rnc::multicell::mobility::Mobility;
    use crate::rnc::multicell::power_solver::Receivers;
    use crate::rnc::multicell::steps;
    use crate::rnc::multicell::testing::{CELLS, HANDOVER, active_sets, environment_with};
    use crate::rnc::multicell::voice_calls::VoiceCalls;
    use crate::rnc::multicell::{CodeLimit, DchConfig, WithoutCode};
    use crate::rnc::rrc::SoftHandover;

    const DSCH: Code = Code { spreading_factor: 4, number: 3 };
    const TURN: Duration = Duration::from_millis(20);
    const PERIOD: u64 = 5;

    /// Users at 50 km/h, each with a code of its spreading factor.
    fn users(
        factors: &[u16],
        environment: &Environment,
        codes: &mut DchCodes,
        soft: Option<SoftHandover>,
    ) -> BearerUsers {
        let mobility = MobilityConfig::Legs(Legs::vehicular(50.0 / 3.6));
        let config = |factor: u16| DchUserConfig {
            processing: CHIP_RATE / (64e3 * 32.0 / f64::from(factor)),
            spreading_factor: factor,
            target: 1.7,
            errors: LinkTable::logistic(2.25, 2.5).into(),
        };
        let users: Vec<_> = (0..)
            .map(UeId)
            .zip(factors)
            .map(|(ue, &factor)| (ue, mobility.clone(), Arc::new(config(factor))))
            .collect();
        let mut dchs = BearerUsers::none(HANDOVER, active_sets(soft, WithoutCode::Kept));
        let powers = [10.0; CELLS];
        dchs.users = users.iter().map(|of| BearerUser::new(of, environment, codes, &powers)).collect();
        dchs.period = PERIOD;
        dchs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// In every turn of every kind of power control: the power of a cell is that of its common channels
        /// and of the codes that it sends, at most its limit, and the codes in use are those of the legs.
        #[test]
        fn powers_and_codes_of_each_cell_add_up(
            factors in prop::collection::vec((3_u32..8).prop_map(|level| 1_u16 << level), 1..80),
            control in prop::sample::select(vec![PowerControl::Frame, PowerControl::Ideal, PowerControl::Steps]),
            is_soft in any::<bool>(),
            silent in any::<prop::sample::Index>(),
            has_limit in any::<bool>(),
            seed in 0_u64..1000,
        ) {
            let environment = environment_with(Db(8.0), &Streams::new(seed, 0));
            let config = DchConfig { codes: CodeLimit::OneTree, ..DchConfig::default() };
            let mut codes = DchCodes::new(&config, DSCH, CELLS);
            let soft = is_soft.then(SoftHandover::default);
            let mut dchs = users(&factors, &environment, &mut codes, soft);
            let mobility = Mobility::new(environment, HANDOVER, &[], PERIOD);
            let mut calls = VoiceCalls::none();
            // With a limit of 13 dBm for a DCH.
            let dch_max = has_limit.then_some(20.0);
            let power = PowerConfig { control, dch_max, ..PowerConfig::default() };
            let mut solver = PowerSolver::new(power, CELLS);
            let mut handovers = VecDeque::new();
            for turn in 0..40 {
                let now = Time::ZERO + TURN * turn;
                dchs.measure(now, turn, &mobility.environment, &mut codes, &solver.before, &mut handovers);
                for (number, user) in dchs.users.iter_mut().enumerate() {
                    user.is_sent = user.has_code && number != silent.index(factors.len());
                }
                solver.begin();
                dchs.add_links(&mut solver);
                solver.add_up();
                solver.control(Receivers { calls: &calls, mobility: &mobility, dchs: &dchs });
                if control == PowerControl::Steps {
                    steps::follow_commands(&mut solver, &mut calls, &mut dchs, TURN);
                }
                solver.measure(Receivers { calls: &calls, mobility: &mobility, dchs: &dchs });
                let links = || solver.links(LinkKind::Dch).iter().chain(solver.links(LinkKind::DchLeg));
                for (cell, &total) in solver.powers.iter().enumerate() {
                    let sent: f64 = links().filter(|of| of.cell.index() == cell).map(|of| of.power_mw).sum();
                    prop_assert!((power.common + sent - total).abs() < 1e-9 * total, "cell {cell}: {sent}, {total}");
                    prop_assert!(total <= power.max * (1.0 + 1e-9));
                    let of_cell = dchs.users.iter().filter(|user| user.has_code).flat_map(|user| {
                        user.at.legs().filter(move |leg| leg.cell.index() == cell)
                    });
                    let share: f64 = of_cell.map(|leg| 1.0 / f64::from(leg.code.spreading_factor)).sum();
                    prop_assert_eq!(codes.used(cell), share);
                }
                let legs: usize = dchs.powered().map(|dch| dch.at.legs().count()).sum();
                prop_assert_eq!(links().count(), legs);
                solver.end();
            }
        }
    }
}
