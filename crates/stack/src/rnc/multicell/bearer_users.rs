//! Users of DCHs, of HS-DSCHs and of the FACH in the cells of a layout: their cells and codes,
//! their links in a turn, and the Eb/N0 of their downlink. MAC-d, MAC-hs and MAC-c serve them as
//! outside a layout (`mac::Dedicated`, `mac::hs`, `mac::Shared`). The Eb/N0 decides the losses of
//! the blocks that are sent until the next turn (`EbN0Errors`), on an HS-DSCH the SNR
//! (`hs_dsch.rs`).
//!
//! In each turn `measure` updates the cells of users, `begin` decides which users receive power,
//! `add_links` adds their links to the power solver, and `receive` sets the Eb/N0 of their
//! downlink.
//!
//! A user of a DCH keeps its codes. Its DCH takes the power of the full rate in turns that begin
//! with data in RLC, sent or not, and no power otherwise. The S-CCPCH of a cell, which carries the
//! FACH, takes its power in turns that begin with data for a user of the FACH. Users are measured
//! with or without data.
//!
//! RRC may switch users between these channels (`switching.rs`).

mod e_dch;
mod fach;
mod hs_dsch;
mod switching;

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use self::switching::GrantedDch;
use super::active_sets::ActiveSets;
use super::clock::MeasuredTurn;
use super::codes::DchCodes;
use super::mobility::{CellChange, Handover};
use super::power_solver::{DownlinkLink, LinkKind, PowerSolver, Receiver};
use super::voice_calls::{Aim, PoweredDch, link, receive_links, share_target};
use super::{
    BufferAtHandover, DchUserConfig, DownlinkConfig, HandoverConfig, MulticellConfig, RlcAtHandover,
    SccpchConfig,
};
use crate::EventContext;
use crate::environment::{Environment, MobilityConfig};
use crate::ids::{CellId, Direction, UeId};
use crate::radio::phy::LinkTable;
use crate::radio::phy::ovsf::{Code, LARGEST_SF};
use crate::radio::phy::power_control::PowerConfig;
use crate::rnc::calls::{CallLocation, PowerControlLoops, RadioLink};
use crate::rnc::rrc::CellSelection;
use crate::trace::{Real, TraceEvent};
use crate::ue::{COMMON, UeContext, Ues};

const DOWN: Direction = Direction::Downlink;

/// A UE with its movement and its downlink channels.
#[derive(Debug)]
pub(super) struct PlacedUser {
    pub ue: UeId,
    pub mobility: MobilityConfig,
    /// The DCH or HS-DSCH of the UE, or each one that RRC may allocate. Empty for users that stay
    /// on the FACH.
    pub dchs: Vec<DownlinkConfig>,
    /// Whether RRC switches the UE. It then starts on the FACH.
    pub is_switched: bool,
}

/// A downlink channel that carries the data of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Downlink {
    Fach,
    Dch,
    HsDsch,
}

/// The dedicated physical channel of a user in the downlink: its DCH, or the DCH beside its
/// HS-DSCH.
#[derive(Debug, Clone, Copy)]
struct Dpch {
    spreading_factor: u16,
    aim: Aim,
}

/// A user of a DCH, of an HS-DSCH or of the FACH.
#[derive(Debug)]
pub(super) struct BearerUser {
    pub ue: UeId,
    /// Place of the user, and the links from its cells.
    pub at: CallLocation,

    // Channels.
    /// The DCH or HS-DSCH of the user, or each one that RRC may allocate.
    dchs: Vec<DownlinkConfig>,
    is_switched: bool,
    /// The current DCH or HS-DSCH: fixed, or allocated by RRC. `None`: neither.
    dch: Option<DownlinkConfig>,
    /// The channel in use.
    downlink: Downlink,
    /// Whether RRC has suspended the transmission to a switched user.
    is_suspended: bool,
    /// The DCH to which RRC is switching the user.
    granted: GrantedDch,

    // The DCH in a turn.
    loops: PowerControlLoops,
    /// Whether the user has a code in its cells. Without a code a DCH neither sends nor receives.
    has_code: bool,
    /// Whether data for the user is sent in this turn: the DCH, also beside an HS-DSCH, or the
    /// S-CCPCH of the cell, takes power.
    is_sent: bool,
    /// Whether the power of the DCH was limited in the previous turn. The target of the outer loop
    /// then stays, because losses do not show that it is too low.
    is_limited: bool,
    /// Blocks on HS-DSCHs that were sent to it in the last turn.
    hs_blocks: u32,
}

/// All users of DCHs, of HS-DSCHs and of the FACH, by UE number.
#[derive(Debug)]
pub(super) struct BearerUsers {
    users: Vec<BearerUser>,
    /// The S-CCPCH of each cell. `None`: the cells have no FACH.
    sccpch: Option<SccpchConfig>,
    /// The DCH beside an HS-DSCH. `None`: it takes neither code nor power.
    associated: Option<Dpch>,
    sets: ActiveSets,
    handover: HandoverConfig,
    /// Turns between two measurements of a user.
    period: u64,
}

impl BearerUsers {
    /// Each user starts in its best cell. A user of a DCH or HS-DSCH has a code of this cell if one
    /// is free.
    pub fn new(
        config: &MulticellConfig,
        users: &[PlacedUser],
        environment: &Environment,
        codes: &mut DchCodes,
        period: u64,
    ) -> Self {
        let powers = vec![config.power.common; environment.cells()];
        let associated = config.dch.associated.as_ref().map(Dpch::associated);
        let user = |user: &PlacedUser| BearerUser::new(user, environment, codes, associated, &powers);
        let users = users.iter().map(user).collect();
        // Steps of active sets are recorded for calls only, and only calls have gaps.
        let sets = ActiveSets { is_recorded: false, compressed: None, ..ActiveSets::new(config) };
        let (sccpch, handover) = (config.sccpch.clone(), config.handover);
        BearerUsers { users, sccpch, associated, sets, handover, period }
    }

    #[cfg(test)]
    pub fn none(config: HandoverConfig, sets: ActiveSets) -> Self {
        BearerUsers { users: Vec::new(), sccpch: None, associated: None, sets, handover: config, period: 1 }
    }

    /// Whether there are users with another channel than an HS-DSCH, or with a DCH beside it.
    pub fn have_dedicated_channels(&self) -> bool {
        self.associated.is_some()
            || self.users.iter().any(|user| user.is_switched || user.downlink != Downlink::HsDsch)
    }

    pub fn user(&self, number: usize) -> &BearerUser {
        &self.users[number]
    }

    /// The best cell of a UE. `None` for UEs without a DCH, an HS-DSCH and the FACH.
    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        Some(self.of_ue(ue)?.at.main.cell)
    }

    /// Block error ratio by Eb/N0 of the downlink of a UE with this channel number: [`COMMON`], or
    /// 1 + the index of a channel that RRC allocates. `None` for an HS-DSCH and for other UEs.
    pub fn errors_of(&self, ue: UeId, number: usize) -> Option<Arc<LinkTable>> {
        let user = self.of_ue(ue)?;
        let dch = match number {
            COMMON => user.dchs.first().filter(|_| !user.is_switched),
            of_rrc => Some(&user.dchs[of_rrc - 1]),
        };
        match dch {
            Some(DownlinkConfig::Dch(dch)) => Some(dch.errors.clone()),
            Some(DownlinkConfig::HsDsch) => None,
            None => self.sccpch.as_ref().map(|sccpch| sccpch.errors.clone()),
        }
    }

    fn of_ue(&self, ue: UeId) -> Option<&BearerUser> {
        let number = self.users.binary_search_by_key(&ue, |user| user.ue).ok()?;
        Some(&self.users[number])
    }

    fn of_ue_mut(&mut self, ue: UeId) -> Option<&mut BearerUser> {
        let number = self.users.binary_search_by_key(&ue, |user| user.ue).ok()?;
        Some(&mut self.users[number])
    }

    /// Measures the users that `turn` measures, and updates their cells. Adds the changes that
    /// UTRAN must execute to `handovers`. `can_change_cell`: whether a user that is switched or has
    /// the FACH or an HS-DSCH may change its cell.
    pub fn measure(
        &mut self,
        turn: MeasuredTurn,
        environment: &Environment,
        codes: &mut DchCodes,
        powers: &[f64],
        can_change_cell: impl Fn(UeId) -> bool,
        handovers: &mut VecDeque<Handover>,
    ) {
        let BearerUsers { users, sets, handover, period, associated, .. } = self;
        let associated_factor = associated.map(|dpch| dpch.spreading_factor);
        for user in users.iter_mut().filter(|user| turn.measures(user.ue.0.into(), *period)) {
            environment.measure(&mut user.at.mobile, turn.now);
            let may_wait = user.is_switched || user.downlink != Downlink::Dch;
            if may_wait && !can_change_cell(user.ue) {
                user.measure_links(powers);
                continue;
            }
            let from = user.at.main.cell;
            let change = user.change_cell(sets, codes, associated_factor, powers);
            let (ue, to) = (user.ue, user.at.main.cell);
            if to != from || change == CellChange::DchLost {
                let config = if change == CellChange::Hard { *handover } else { WITHOUT_LOSS };
                handovers.push_back(Handover { ue, from, to, config, change });
            }
        }
    }

    /// Begins a turn: decides which users receive power, and adds the losses since the previous
    /// turn to the outer loops.
    pub fn begin(&mut self, now: Time, power: &PowerConfig, ues: &mut Ues) {
        for user in &mut self.users {
            let context = &mut ues[user.ue];
            if user.downlink == Downlink::Fach {
                user.is_sent = context.rlc[DOWN.index()].has_work(now);
                continue;
            }
            user.is_sent = user.has_code && !user.is_suspended && has_data(now, context);
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

    /// Adds the power of each S-CCPCH and the links of the DCHs that take power in this turn to
    /// `solver`.
    pub fn add_links(&mut self, solver: &mut PowerSolver) {
        let BearerUsers { users, sccpch, associated, .. } = self;
        for (number, user) in users.iter_mut().enumerate().filter(|(_, user)| user.is_sent) {
            let (receiver, cell) = (Receiver::BearerUser(number), user.at.main.cell);
            let dpch = user.dch.as_ref().and_then(|dch| dch.dpch(*associated));
            let Some(Dpch { aim, .. }) = dpch.filter(|_| user.downlink != Downlink::Fach) else {
                let sccpch = sccpch.as_ref().expect("users of the FACH have an S-CCPCH");
                solver.commons[cell.index()] = solver.power.common + sccpch.power;
                continue;
            };
            if user.downlink == Downlink::HsDsch {
                let link = aim.link(user.at.mobile.gains(), cell, &solver.before);
                solver.add(LinkKind::AssociatedDch, receiver, cell, link);
                continue;
            }
            share_target(&mut user.at, &solver.power, &solver.before);
            let BearerUser { at, loops, .. } = &*user;
            solver.add(LinkKind::Dch, receiver, at.main.cell, link(at, loops, &at.main, aim));
            for leg in &at.further {
                solver.add(LinkKind::DchLeg, receiver, leg.cell, link(at, loops, leg, aim));
            }
        }
    }

    /// The DCHs with power in this turn, for power control.
    pub fn powered(&mut self) -> impl Iterator<Item = PoweredDch<'_>> {
        let on_dch = |user: &&mut BearerUser| user.is_sent && user.downlink == Downlink::Dch;
        self.users.iter_mut().filter(on_dch).filter_map(|user| {
            let aim = user.dch.as_ref()?.dpch(None)?.aim;
            Some(PoweredDch { at: &user.at, loops: &mut user.loops, aim })
        })
    }

    /// Ends a turn: sets the Eb/N0 at which blocks are received until the next turn, after
    /// `interval`.
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
            if user.downlink == Downlink::Fach {
                let sccpch = self.sccpch.as_ref().expect("users of the FACH have an S-CCPCH");
                if context.uses_common_channels() {
                    user.receive_fach(ctx, sccpch, solver, context);
                }
                continue;
            }
            // After its release a switched user has no DCH until RRC has changed the channel.
            let Some(DownlinkConfig::Dch(dch)) = &user.dch else { continue };
            // A DCH without data has its target: its next block may leave before it has power
            // again.
            let mut ebn0 = dch.target * user.loops.target_scale;
            if user.is_sent {
                let main = mains.next().expect("each DCH with power has a link from its best cell");
                ebn0 = user.receive_dch(ctx, solver, main, &mut others);
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

/// Configuration of changes that interrupt nothing by themselves: changes of the best cell in soft
/// handover, and changes that RRC executes by a cell update.
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
        placed: &PlacedUser,
        environment: &Environment,
        codes: &mut DchCodes,
        associated: Option<Dpch>,
        powers: &[f64],
    ) -> Self {
        let PlacedUser { ue, mobility, dchs, is_switched } = placed;
        let dch = dchs.first().filter(|_| !is_switched);
        let mut mobile = environment.appear(u64::from(ue.0), mobility, None, Time::ZERO);
        environment.measure(&mut mobile, Time::ZERO);
        let main = without_code(mobile.gains().best());
        let mut user = BearerUser {
            ue: *ue,
            at: CallLocation::new(mobile, main),
            dchs: dchs.clone(),
            is_switched: *is_switched,
            dch: dch.cloned(),
            downlink: dch.map_or(Downlink::Fach, DownlinkConfig::kind),
            is_suspended: false,
            granted: GrantedDch::default(),
            loops: PowerControlLoops::default(),
            has_code: false,
            is_sent: false,
            is_limited: false,
            hs_blocks: 0,
        };
        if let Some(dpch) = dch.and_then(|dch| dch.dpch(associated)) {
            user.take_code(codes, dpch.spreading_factor, powers);
        }
        user
    }

    /// Updates the cells after a measurement, with the rules of the channel in use. Returns the
    /// kind of the change if the best cell has changed. `associated_factor`: spreading factor of
    /// the DCH beside an HS-DSCH, if it has a code.
    fn change_cell(
        &mut self,
        sets: &mut ActiveSets,
        codes: &mut DchCodes,
        associated_factor: Option<u16>,
        powers: &[f64],
    ) -> CellChange {
        match self.dch.clone() {
            None => {
                self.select_cell(&sets.selection);
                CellChange::Reselection
            }
            Some(DownlinkConfig::HsDsch) => {
                let stays = self.update_serving_cell(sets, codes, associated_factor, powers);
                if stays || !self.is_switched { CellChange::Hard } else { self.lose_dch() }
            }
            Some(DownlinkConfig::Dch(dch)) => {
                let had_code = self.has_code;
                self.update_cells(sets, codes, dch.spreading_factor, powers);
                if self.is_switched && !self.has_code {
                    self.lose_dch()
                } else if had_code && sets.soft.is_some() {
                    CellChange::Soft
                } else {
                    CellChange::Hard
                }
            }
        }
    }

    /// Receives the DCH in a turn in which it is sent. `further` begins with its links beside
    /// `main`. Returns the Eb/N0, linear.
    fn receive_dch<'a, T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        solver: &PowerSolver,
        main: &DownlinkLink,
        further: &mut impl Iterator<Item = &'a DownlinkLink>,
    ) -> f64 {
        let max_power = solver.power.dch_max.unwrap_or(f64::INFINITY);
        let is_scaled = solver.cells[main.cell.index()].sent.factor < 1.0;
        self.is_limited = main.power_mw >= max_power || is_scaled;
        let received = receive_links(&mut self.at, &self.loops, solver.power.control, main, further);
        ctx.cx.record(|| TraceEvent::DchSent {
            ue: self.ue,
            cell: main.cell.0,
            legs: 1 + self.at.further.len() as u8,
            power: Real(main.power_mw as f32),
            further_power: Real(received.further_power as f32),
            ebn0: Real(received.ebn0 as f32),
        });
        received.ebn0
    }

    /// Selects the best cell, with the hysteresis of handovers.
    fn select_cell(&mut self, selection: &CellSelection) {
        let CallLocation { mobile, main, .. } = &mut self.at;
        if let Some(better) = selection.better(main.cell, mobile.gains()) {
            *main = RadioLink::new(better, main.code);
        }
    }

    /// Updates the cells of a DCH. A DCH without a code tries to take one of the best cell. A DCH
    /// that no cell can carry loses its codes.
    fn update_cells(&mut self, sets: &mut ActiveSets, codes: &mut DchCodes, factor: u16, powers: &[f64]) {
        if !self.has_code {
            self.at.main.cell = self.at.mobile.gains().best();
            self.take_code(codes, factor, powers);
        } else if !sets.update_cells(codes, &mut self.at, factor, powers) {
            sets.leave(codes, &self.at);
            self.at.further.clear();
            self.has_code = false;
        }
    }

    /// Takes a code of its cell for a DCH, if one is free.
    fn take_code(&mut self, codes: &mut DchCodes, spreading_factor: u16, powers: &[f64]) {
        let cell = self.at.main.cell;
        let Some(code) = codes.take(cell, spreading_factor) else { return };
        self.at.main = RadioLink::new(cell, code);
        self.at.main.measure(self.at.mobile.gains(), powers);
        self.has_code = true;
    }
}

/// The link of a user without a code. The code is a placeholder that no cell has allocated.
fn without_code(cell: CellId) -> RadioLink {
    RadioLink::new(cell, Code::last(LARGEST_SF))
}

impl DownlinkConfig {
    fn kind(&self) -> Downlink {
        match self {
            DownlinkConfig::Dch(_) => Downlink::Dch,
            DownlinkConfig::HsDsch => Downlink::HsDsch,
        }
    }

    /// Its dedicated physical channel. `associated`: the DCH beside an HS-DSCH.
    fn dpch(&self, associated: Option<Dpch>) -> Option<Dpch> {
        match self {
            DownlinkConfig::Dch(dch) => Some(dch.dpch()),
            DownlinkConfig::HsDsch => associated,
        }
    }
}

impl DchUserConfig {
    fn dpch(&self) -> Dpch {
        let aim = Aim { processing: self.processing, target: self.target };
        Dpch { spreading_factor: self.spreading_factor, aim }
    }
}

#[cfg(test)]
mod tests;
