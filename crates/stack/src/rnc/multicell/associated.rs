//! The DCH that each user of a DSCH has beside the DSCH, if it is charged: a code and power while
//! the user's RLC holds data. The traffic of this DCH is not modelled, so none of it is lost.

use super::Multicell;
use super::power_solver::{LinkKind, Receiver};
use crate::ids::{CellId, UeId};
use crate::radio::phy::sir::{CHIP_RATE, Link};

impl Multicell {
    /// Gives a user with something to send a code of its cell, if one is free.
    pub(super) fn open_associated(&mut self, ue: UeId) {
        let Some(config) = self.dschs.associated else { return };
        let user = self.mobility.user_mut(ue);
        if user.dch.is_none() {
            user.dch = self.codes.take(user.cell, config.spreading_factor);
        }
    }

    /// Releases the code of a user that leaves `cell` or has nothing to send any more.
    pub(super) fn close_associated(&mut self, ue: UeId, cell: CellId) {
        if let Some(code) = self.mobility.user_mut(ue).dch.take() {
            self.codes.release(cell, code);
        }
    }

    /// Adds the associated DCHs of this TTI to the links. Users without a code try again first.
    pub(super) fn add_associated(&mut self) {
        let Some(config) = self.dschs.associated else { return };
        let users: Vec<UeId> = self.mobility.measured().collect();
        users.iter().for_each(|&ue| self.open_associated(ue));
        let (processing, target) = (CHIP_RATE / config.rate.bps() as f64, libm::exp10(config.ebn0.0 / 10.0));
        for ue in users {
            let user = self.mobility.user(ue);
            if user.dch.is_some() {
                let (gain, interference) = (user.gain, user.interference(&self.solver.before));
                let link = Link { processing, target, gain, interference };
                self.solver.add(LinkKind::AssociatedDch, Receiver::User(ue), user.cell, link);
            }
        }
    }
}
