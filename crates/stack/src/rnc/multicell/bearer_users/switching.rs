//! DCHs and HS-DSCHs that RRC allocates to users of a layout, changes and releases.
//!
//! The code of a DCH is taken when the DCH is granted, before the switch to it begins, and released when
//! the switch from it ends. The same holds for the DCH beside an HS-DSCH, if it has a code. A DCH of another rate has
//! its codes in all cells of the active set beside those of the DCH in use. Users change their cells only between two
//! switches, so no code moves during a switch.

use umts_units::Time;

use super::{BearerUser, BearerUsers, DOWN, Downlink, Dpch, without_code};
use crate::ids::{CellId, UeId};
use crate::radio::phy::ovsf::Code;
use crate::rnc::calls::PowerControlLoops;
use crate::rnc::multicell::DownlinkConfig;
use crate::rnc::multicell::codes::DchCodes;
use crate::rnc::multicell::hs_dsch::HsDschs;
use crate::rnc::multicell::mobility::CellChange;
use crate::rnc::multicell::power_admission::PowerAdmission;
use crate::rnc::multicell::power_solver::PowerSolver;
use crate::ue::{COMMON, UeContext};

/// A DCH or HS-DSCH that RRC has granted to a user, which does not use it yet.
#[derive(Debug, Default)]
pub(super) struct GrantedDch {
    /// The channel, if it replaces another DCH or HS-DSCH.
    pub next: Option<NextDch>,
    /// Power in mW that the best cell of the user is expected to transmit for it. Only with admission by power.
    expected_power: f64,
}

/// A DCH or HS-DSCH that replaces the one in use when the switch to it ends.
#[derive(Debug)]
pub(super) struct NextDch {
    dch: DownlinkConfig,
    /// Its codes, in the order of the links of the user. An HS-DSCH has at most one code, in the first of them.
    pub codes: Vec<Code>,
}

impl BearerUsers {
    /// Whether `cell` and the other cells of a user have codes for its channel number `dch`. False if the user
    /// is about to leave `cell`.
    pub fn has_free_codes(&self, codes: &DchCodes, ue: UeId, cell: CellId, dch: usize) -> bool {
        let Some(user) = self.of_ue(ue) else { return true };
        let dpch = user.dchs[dch].dpch(self.associated);
        let has_free = |cell| dpch.is_none_or(|dpch| codes.has_free(cell, dpch.spreading_factor));
        user.at.main.cell == cell && user.cells_of(&user.dchs[dch]).all(has_free)
    }

    /// Whether the best cell of a user has power for its channel number `dch`, beside the channels that are granted
    /// but not in use.
    pub fn has_power(&self, admission: &PowerAdmission, solver: &PowerSolver, ue: UeId, dch: usize) -> bool {
        let Some(user) = self.of_ue(ue) else { return true };
        let cell = user.at.main.cell;
        let of_cell = self.users.iter().filter(|other| other.at.main.cell == cell);
        let granted: f64 = of_cell.map(|other| other.granted.expected_power).sum();
        admission.admits(cell, granted + user.further_power(admission, solver, self.associated, dch))
    }

    /// A user has been granted its channel number `dch`, which counts with its expected power until it is in use.
    pub fn expect_power(&mut self, admission: &PowerAdmission, solver: &PowerSolver, ue: UeId, dch: usize) {
        let associated = self.associated;
        let Some(user) = self.of_ue_mut(ue) else { return };
        user.granted.expected_power = user.further_power(admission, solver, associated, dch);
    }

    /// Takes the codes of channel number `dch`, which RRC has granted to a user.
    pub fn allocate(&mut self, codes: &mut DchCodes, powers: &[f64], ue: UeId, dch: usize) {
        let associated = self.associated;
        let Some(user) = self.of_ue_mut(ue) else { return };
        let granted = user.dchs[dch].clone();
        let dpch = granted.dpch(associated);
        if user.dch.is_none() {
            dpch.into_iter().for_each(|dpch| user.take_code(codes, dpch.spreading_factor, powers));
            user.loops = PowerControlLoops::default();
            user.dch = Some(granted);
        } else {
            let codes = dpch.map_or_else(Vec::new, |dpch| {
                let taken = take_all(codes, user.cells_of(&granted), dpch.spreading_factor);
                taken.expect("admission checked that they are free")
            });
            user.granted.next = Some(NextDch { dch: granted, codes });
        }
    }

    /// Changes the channel of a user to number `dch`: to the allocated larger one, or to a smaller one. A smaller
    /// DCH has room in the released code of a DCH. After an HS-DSCH it may find no code.
    pub fn change(&mut self, codes: &mut DchCodes, ue: UeId, dch: usize) {
        let associated = self.associated;
        let Some(user) = self.of_ue_mut(ue) else { return };
        let next = user.granted.next.take();
        if std::mem::take(&mut user.has_code) {
            user.at.legs().for_each(|leg| codes.release(leg.cell, leg.code));
        }
        let (channel, taken) = match next {
            Some(NextDch { dch, codes }) => (dch, Some(codes)),
            None => (user.dchs[dch].clone(), None),
        };
        if matches!(channel, DownlinkConfig::HsDsch) {
            user.at.further.clear();
        }
        if let Some(dpch) = channel.dpch(associated) {
            let take = || take_all(codes, user.cells_of(&channel), dpch.spreading_factor);
            if let Some(taken) = taken.or_else(take) {
                user.at.legs_mut().zip(taken).for_each(|(leg, code)| leg.code = code);
                user.has_code = true;
            }
        }
        if user.dch.as_ref().is_none_or(|former| former.kind() != channel.kind()) {
            user.loops = PowerControlLoops::default();
        }
        user.dch = Some(channel);
    }

    /// Releases the DCH or HS-DSCH of a user with its codes.
    pub fn release(&mut self, codes: &mut DchCodes, ue: UeId) {
        if let Some(user) = self.of_ue_mut(ue) {
            user.release_codes(codes);
            user.dch = None;
        }
    }

    /// RRC suspends the transmission to a user.
    pub fn suspend(&mut self, ue: UeId) {
        if let Some(user) = self.of_ue_mut(ue).filter(|user| user.is_switched) {
            user.is_suspended = true;
        }
    }

    /// A switched user has new channels, with this number, from `now` on. Sets the Eb/N0 or SNR of its downlink
    /// until the next turn.
    pub fn use_channels(
        &mut self,
        now: Time,
        number: usize,
        solver: &PowerSolver,
        hs_dschs: Option<&HsDschs>,
        admission: Option<&mut PowerAdmission>,
        context: &mut UeContext,
    ) {
        let sccpch = self.sccpch.clone();
        let Some(user) = self.of_ue_mut(context.id).filter(|user| user.is_switched) else { return };
        user.downlink = match number {
            COMMON => Downlink::Fach,
            of_rrc => user.dchs[of_rrc - 1].kind(),
        };
        user.is_suspended = false;
        user.is_sent = false;
        user.is_limited = false;
        let expected = std::mem::take(&mut user.granted.expected_power);
        if let Some(admission) = admission {
            admission.begin_link(user.at.main.cell, expected);
        }
        let ebn0 = match (user.downlink, &user.dch, sccpch) {
            (Downlink::Fach, _, Some(sccpch)) => user.ebn0_of_fach(&sccpch, solver, &solver.before),
            (Downlink::Dch, Some(DownlinkConfig::Dch(dch)), _) => dch.target * user.loops.target_scale,
            (Downlink::HsDsch, ..) => {
                hs_dschs.into_iter().for_each(|hs_dschs| user.begin_hs_dsch(now, hs_dschs, solver, context));
                return;
            }
            (Downlink::Fach | Downlink::Dch, ..) => return,
        };
        if let Some(errors) = &mut context.channels[DOWN.index()].in_layout {
            errors.set_ebn0(ebn0);
            // Blocks at the end of an earlier use of the channel say nothing about this one.
            errors.take_counts();
        }
    }
}

impl BearerUser {
    /// The cells that have a code for `channel`: an HS-DSCH has only its serving cell.
    fn cells_of(&self, channel: &DownlinkConfig) -> impl Iterator<Item = CellId> {
        let cells = match channel {
            DownlinkConfig::Dch(_) => usize::MAX,
            DownlinkConfig::HsDsch => 1,
        };
        self.at.legs().take(cells).map(|leg| leg.cell)
    }

    /// Updates the links of a user that stays in its cells.
    pub(super) fn measure_links(&mut self, powers: &[f64]) {
        let gains = self.at.mobile.gains();
        for leg in std::iter::once(&mut self.at.main).chain(&mut self.at.further) {
            leg.measure(gains, powers);
        }
    }

    /// A switched user without a code any more continues in its best cell, where it has no DCH.
    pub(super) fn lose_dch(&mut self) -> CellChange {
        self.at.main = without_code(self.at.mobile.gains().best());
        CellChange::DchLost
    }

    /// Power in mW that its best cell is expected to transmit for the DCH of channel number `dch`, less the power
    /// for the DCH in use.
    fn further_power(
        &self,
        admission: &PowerAdmission,
        solver: &PowerSolver,
        associated: Option<Dpch>,
        dch: usize,
    ) -> f64 {
        let (cell, gains) = (self.at.main.cell, self.at.mobile.gains());
        let expected = |channel: &DownlinkConfig| {
            channel.dpch(associated).map_or(0.0, |Dpch { aim, .. }| {
                admission.expected(&solver.power, &aim.link(gains, cell, &solver.before), cell)
            })
        };
        let in_use = self.dch.as_ref().filter(|_| self.downlink != Downlink::Fach);
        expected(&self.dchs[dch]) - in_use.map_or(0.0, expected)
    }

    fn release_codes(&mut self, codes: &mut DchCodes) {
        let next = self.granted.next.take().map(|next| next.codes).unwrap_or_default();
        for (leg, code) in self.at.legs().zip(next) {
            codes.release(leg.cell, code);
        }
        if std::mem::take(&mut self.has_code) {
            self.at.legs().for_each(|leg| codes.release(leg.cell, leg.code));
        }
        self.granted.expected_power = 0.0;
        self.at.further.clear();
        self.at.main = without_code(self.at.main.cell);
    }
}

/// Takes a code in each of `cells`. Returns `None`, without effect, if one of them has none.
fn take_all(
    codes: &mut DchCodes,
    cells: impl Iterator<Item = CellId>,
    spreading_factor: u16,
) -> Option<Vec<Code>> {
    let cells: Vec<CellId> = cells.collect();
    let all_have_one = cells.iter().all(|&cell| codes.has_free(cell, spreading_factor));
    all_have_one.then(|| cells.into_iter().filter_map(|cell| codes.take(cell, spreading_factor)).collect())
}
