//! DCHs that RRC requests for the users of a layout: codes and power of their cells, and the
//! switches to them.

use umts_units::Time;

use super::Multicell;
use crate::ids::{CellId, UeId};
use crate::ue::UeContext;

impl Multicell {
    /// Whether `cell` can set up DCH number `dch` of a UE: it has codes and, with admission by
    /// power, power.
    pub fn has_room_for_dch(&self, ue: UeId, cell: CellId, dch: usize) -> bool {
        let Multicell { bearers, codes, admission, solver, .. } = self;
        bearers.has_free_codes(codes, ue, cell, dch)
            && admission.as_ref().is_none_or(|admission| bearers.has_power(admission, solver, ue, dch))
    }

    /// Takes the codes of DCH number `dch`, which a UE will use.
    pub fn allocate_dch(&mut self, ue: UeId, dch: usize) {
        let Multicell { bearers, codes, admission, solver, .. } = self;
        bearers.allocate(codes, &solver.before, ue, dch);
        if let Some(admission) = admission {
            bearers.expect_power(admission, solver, ue, dch);
        }
    }

    /// Changes the DCH of a UE to number `dch`.
    pub fn change_dch(&mut self, ue: UeId, dch: usize) {
        self.bearers.change(&mut self.codes, ue, dch);
    }

    /// Releases the DCH of a UE.
    pub fn release_dch(&mut self, ue: UeId) {
        self.bearers.release(&mut self.codes, ue);
    }

    /// RRC suspends a UE.
    pub fn suspend(&mut self, ue: UeId) {
        self.bearers.suspend(ue);
    }

    /// A UE has new channels, with this number, from `now` on.
    pub fn use_channels(&mut self, now: Time, number: usize, context: &mut UeContext) {
        let Multicell { bearers, hs_dschs, solver, admission, .. } = self;
        bearers.use_channels(now, number, solver, hs_dschs.as_ref(), admission.as_mut(), context);
    }

    /// Whether requests that wait for a DCH should be repeated, once per period of the
    /// measurements: codes or power may have become free.
    pub fn take_is_retry_due(&mut self) -> bool {
        std::mem::take(&mut self.is_retry_due)
    }
}
