//! DCHs that RRC allocates to users of a layout, changes and releases.
//!
//! The code of a DCH is taken when the DCH is granted, before the switch to it begins, and released when
//! the switch from it ends. A DCH of another rate has its codes in all cells of the active set beside those
//! of the DCH in use. Users change their cells only between two switches, so no code moves during a switch.

use std::sync::Arc;

use super::{BearerUser, BearerUsers, DOWN, Downlink, without_code};
use crate::ids::{CellId, UeId};
use crate::radio::phy::ovsf::Code;
use crate::rnc::calls::PowerControlLoops;
use crate::rnc::multicell::DchUserConfig;
use crate::rnc::multicell::codes::DchCodes;
use crate::rnc::multicell::mobility::CellChange;
use crate::rnc::multicell::power_admission::PowerAdmission;
use crate::rnc::multicell::power_solver::PowerSolver;
use crate::ue::{COMMON, UeContext};

/// A DCH that RRC has granted to a user, which does not use it yet.
#[derive(Debug, Default)]
pub(super) struct GrantedDch {
    /// The DCH, if it has another rate than the one in use.
    pub next: Option<NextDch>,
    /// Power in mW that the best cell of the user is expected to transmit for it. Only with admission by power.
    expected_power: f64,
}

/// A DCH that replaces the one in use when the switch to it ends.
#[derive(Debug)]
pub(super) struct NextDch {
    dch: Arc<DchUserConfig>,
    /// Its codes, in the order of the links of the user.
    pub codes: Vec<Code>,
}

impl BearerUsers {
    /// Whether `cell` and the other cells of a user have codes for its DCH number `dch`. False if the user is
    /// about to leave `cell`.
    pub fn has_free_codes(&self, codes: &DchCodes, ue: UeId, cell: CellId, dch: usize) -> bool {
        let Some(user) = self.of_ue(ue) else { return true };
        let factor = user.dchs[dch].spreading_factor;
        user.at.main.cell == cell && user.at.legs().all(|leg| codes.has_free(leg.cell, factor))
    }

    /// Whether the best cell of a user has power for its DCH number `dch`, beside the DCHs that are granted
    /// but not in use.
    pub fn has_power(&self, admission: &PowerAdmission, solver: &PowerSolver, ue: UeId, dch: usize) -> bool {
        let Some(user) = self.of_ue(ue) else { return true };
        let cell = user.at.main.cell;
        let of_cell = self.users.iter().filter(|other| other.at.main.cell == cell);
        let granted: f64 = of_cell.map(|other| other.granted.expected_power).sum();
        admission.admits(cell, granted + user.further_power(admission, solver, dch))
    }

    /// A user has been granted its DCH number `dch`, which counts with its expected power until it is in use.
    pub fn expect_power(&mut self, admission: &PowerAdmission, solver: &PowerSolver, ue: UeId, dch: usize) {
        let Some(user) = self.of_ue_mut(ue) else { return };
        user.granted.expected_power = user.further_power(admission, solver, dch);
    }

    /// Takes the codes of DCH number `dch`, which RRC has granted to a user.
    pub fn allocate(&mut self, codes: &mut DchCodes, powers: &[f64], ue: UeId, dch: usize) {
        let Some(user) = self.of_ue_mut(ue) else { return };
        let granted = user.dchs[dch].clone();
        let factor = granted.spreading_factor;
        if user.dch.is_none() {
            user.take_code(codes, factor, powers);
            user.loops = PowerControlLoops::default();
            user.dch = Some(granted);
        } else {
            let take = |cell| codes.take(cell, factor).expect("admission checked that it is free");
            let codes = user.at.legs().map(|leg| leg.cell).map(take).collect();
            user.granted.next = Some(NextDch { dch: granted, codes });
        }
    }

    /// Changes the DCH of a user to number `dch`: to the allocated larger one, or to a smaller one.
    pub fn change(&mut self, codes: &mut DchCodes, ue: UeId, dch: usize) {
        let Some(user) = self.of_ue_mut(ue) else { return };
        let next = user.granted.next.take();
        if !user.has_code {
            return;
        }
        for (number, leg) in user.at.legs_mut().enumerate() {
            codes.release(leg.cell, leg.code);
            leg.code = match &next {
                Some(next) => next.codes[number],
                None => {
                    let factor = user.dchs[dch].spreading_factor;
                    codes.take(leg.cell, factor).expect("a smaller DCH has room in the released code")
                }
            };
        }
        user.dch = Some(next.map_or_else(|| user.dchs[dch].clone(), |next| next.dch));
    }

    /// Releases the DCH of a user with its codes.
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

    /// A switched user has new channels, with this number, from now on. Sets the Eb/N0 of its downlink until
    /// the next turn.
    pub fn use_channels(
        &mut self,
        number: usize,
        solver: &PowerSolver,
        admission: Option<&mut PowerAdmission>,
        context: &mut UeContext,
    ) {
        let sccpch = self.sccpch.clone();
        let Some(user) = self.of_ue_mut(context.id).filter(|user| user.is_switched) else { return };
        user.downlink = if number == COMMON { Downlink::Fach } else { Downlink::Dch };
        user.is_suspended = false;
        user.is_sent = false;
        user.is_limited = false;
        let expected = std::mem::take(&mut user.granted.expected_power);
        if let Some(admission) = admission {
            admission.begin_link(user.at.main.cell, expected);
        }
        let ebn0 = match (user.downlink, &user.dch, sccpch) {
            (Downlink::Fach, _, Some(sccpch)) => user.ebn0_of_fach(&sccpch, solver, &solver.before),
            (Downlink::Dch, Some(dch), _) => dch.target * user.loops.target_scale,
            (Downlink::Fach, _, None) | (Downlink::Dch, None, _) => return,
        };
        if let Some(errors) = &mut context.channels[DOWN.index()].in_layout {
            errors.set_ebn0(ebn0);
            // Blocks at the end of an earlier use of the channel say nothing about this one.
            errors.take_counts();
        }
    }
}

impl BearerUser {
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

    /// Power in mW that its best cell is expected to transmit for DCH number `dch`, less that for the smaller DCH
    /// in use.
    fn further_power(&self, admission: &PowerAdmission, solver: &PowerSolver, dch: usize) -> f64 {
        let (cell, gains) = (self.at.main.cell, self.at.mobile.gains());
        let expected = |dch: &DchUserConfig| {
            admission.expected(&solver.power, &dch.aim().link(gains, cell, &solver.before), cell)
        };
        let in_use = self.dch.as_ref().filter(|_| self.downlink == Downlink::Dch);
        expected(&self.dchs[dch]) - in_use.map_or(0.0, |dch| expected(dch))
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
