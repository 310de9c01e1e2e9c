//! The DCH that each user of a DSCH has beside the DSCH, if it is charged: a code and power while
//! the user's RLC holds data. The traffic of this DCH is not modelled, so none of it is lost.

use super::Multicell;
use crate::ids::{CellId, UeId};
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;

/// Code and power of an associated DCH.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssociatedConfig {
    /// The spreading factor of its code.
    pub spreading_factor: u16,
    /// Processing gain W/R, chips per bit.
    pub processing: f64,
    /// Target Eb/N0 of power control, linear.
    pub target: f64,
}

/// An associated DCH in a TTI, as power control knows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Associated {
    ue: UeId,
    cell: CellId,
    link: Link,
}

impl Multicell {
    /// Gives a user with something to send a code of its cell, if one is free.
    pub(super) fn open_associated(&mut self, ue: UeId) {
        let Some(config) = self.dch.associated else { return };
        let user = self.users.get_mut(ue);
        if user.dch.is_none() {
            user.dch = self.dchs.codes.take(user.cell, config.spreading_factor);
        }
    }

    /// A user leaves `cell`, or has nothing to send any more.
    pub(super) fn close_associated(&mut self, ue: UeId, cell: CellId) {
        if let Some(code) = self.users.get_mut(ue).dch.take() {
            self.dchs.codes.release(cell, code);
        }
    }

    /// Begins a TTI: UEs without a code for their DCH try again, then all DCHs add to the load of
    /// their cells.
    pub(super) fn add_associated(&mut self) {
        let Some(config) = self.dch.associated else { return };
        let awake: Vec<UeId> = self.users.awake().collect();
        awake.iter().for_each(|&ue| self.open_associated(ue));
        let of = |ue: UeId| {
            let user = self.users.get(ue);
            user.dch?;
            let (gain, interference) = (user.gain, user.interference(&self.before));
            let link = Link { processing: config.processing, target: config.target, gain, interference };
            Some(Associated { ue, cell: user.cell, link })
        };
        self.associated = awake.into_iter().filter_map(of).collect();
        self.load_of_associated();
    }

    fn load_of_associated(&mut self) {
        for dch in &self.associated {
            let cell = &mut self.cells[dch.cell.index()];
            cell.load = cell.load.with(Load::of(&self.power, &dch.link));
        }
    }

    /// Adds the load of the DCHs again, with the interference by the powers of this TTI.
    pub(super) fn solve_associated(&mut self) {
        self.hear_associated();
        self.load_of_associated();
    }

    fn hear_associated(&mut self) {
        let Multicell { associated, users, powers, .. } = self;
        for dch in associated {
            dch.link.interference = users.get(dch.ue).mobile.gains().from_others(powers, dch.cell);
        }
    }

    /// Adds the DCHs to the equations of all cells.
    pub(super) fn couple_associated(&mut self) {
        for dch in &self.associated {
            let gains = self.users.get(dch.ue).mobile.gains().iter();
            self.coupled.add(&self.power, dch.cell.index(), &dch.link, gains);
        }
    }

    /// Sets the powers of the DCHs.
    pub(super) fn power_associated(&mut self) {
        for dch in &self.associated {
            let cell = &mut self.cells[dch.cell.index()];
            cell.used.associated += 1;
            cell.used.associated_power += cell.sent.power_of(&self.power, &dch.link);
        }
    }

    /// Adds the load of the DCHs with the powers of this TTI.
    pub(super) fn judge_associated(&mut self) {
        self.hear_associated();
        for dch in &self.associated {
            let used = &mut self.cells[dch.cell.index()].used;
            used.load = used.load.with(Load::of(&self.power, &dch.link));
        }
    }
}
