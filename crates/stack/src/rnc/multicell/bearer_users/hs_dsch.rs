//! Users of the HS-DSCH of a cell of a layout: their serving cells, their blocks and their mean SNR.
//!
//! The DCH beside the HS-DSCH of a user has a code and power if the cells charge for it (`dch.associated`). It is
//! handed over as hard as the HS-DSCH, also with soft handover of DCHs. Nothing on it is lost, and a user without a
//! code for it is served as well.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::{BearerUser, BearerUsers, Downlink, Dpch};
use crate::EventContext;
use crate::radio::phy::sir::CHIP_RATE;
use crate::rnc::multicell::AssociatedConfig;
use crate::rnc::multicell::active_sets::ActiveSets;
use crate::rnc::multicell::codes::DchCodes;
use crate::rnc::multicell::hs_dsch::HsDschs;
use crate::rnc::multicell::power_solver::PowerSolver;
use crate::rnc::multicell::voice_calls::Aim;
use crate::trace::{Real, TraceEvent};
use crate::ue::{UeContext, Ues};

impl Dpch {
    /// The DCH beside an HS-DSCH.
    pub(super) fn associated(config: &AssociatedConfig) -> Self {
        let aim = Aim {
            processing: CHIP_RATE / config.rate.bps() as f64,
            target: libm::exp10(config.ebn0.0 / 10.0),
        };
        Dpch { spreading_factor: config.spreading_factor, aim }
    }
}

impl BearerUsers {
    /// Counts the blocks on HS-DSCHs since the last turn, by the cell that sent them.
    pub fn count_hs_blocks(&mut self, hs_dschs: &mut HsDschs, ues: &mut Ues) {
        hs_dschs.begin_count();
        for user in &mut self.users {
            // A user that RRC has switched to another channel may have received blocks before.
            let Some(in_layout) = &mut ues[user.ue].hs_in_layout else { continue };
            user.hs_blocks = in_layout.take_blocks();
            hs_dschs.count(user.at.main.cell, user.hs_blocks);
        }
    }

    /// Sets the mean SNR of each user of an HS-DSCH until the next turn. It is recorded for users that received
    /// blocks in the last turn.
    pub fn receive_hs_dsch<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        hs_dschs: &HsDschs,
        solver: &PowerSolver,
        ues: &mut Ues,
    ) {
        for user in self.users.iter().filter(|user| user.downlink == Downlink::HsDsch) {
            let Some(in_layout) = &mut ues[user.ue].hs_in_layout else { continue };
            let (ue, cell) = (user.ue, user.at.main.cell);
            let snr = hs_dschs.snr(user.at.mobile.gains(), cell, solver, &solver.powers);
            in_layout.set_snr(ctx.cx.now, snr);
            if user.hs_blocks > 0 {
                ctx.cx.record(|| TraceEvent::HsSnr { ue, cell: cell.0, snr: Real(snr as f32) });
            }
        }
    }
}

impl BearerUser {
    /// RRC has switched the user to the HS-DSCH: until the next turn its SNR follows from the powers of the last one.
    pub(super) fn begin_hs_dsch(
        &self,
        now: Time,
        hs_dschs: &HsDschs,
        solver: &PowerSolver,
        context: &mut UeContext,
    ) {
        let snr = hs_dschs.snr(self.at.mobile.gains(), self.at.main.cell, solver, &solver.before);
        if let Some(in_layout) = &mut context.hs_in_layout {
            in_layout.begin(now, snr);
        }
    }

    /// Selects the serving cell. `factor`: spreading factor of the DCH beside the HS-DSCH, if it needs a code. Returns
    /// false if a better cell has no code, and the user cannot stay in its cell.
    pub(super) fn update_serving_cell(
        &mut self,
        sets: &mut ActiveSets,
        codes: &mut DchCodes,
        factor: Option<u16>,
        powers: &[f64],
    ) -> bool {
        let mut stays = true;
        match factor {
            Some(factor) if self.has_code => stays = sets.hard_handover(codes, &mut self.at, factor),
            factor => {
                self.select_cell(&sets.selection);
                factor.into_iter().for_each(|factor| self.take_code(codes, factor, powers));
            }
        }
        if !stays {
            codes.release(self.at.main.cell, self.at.main.code);
            self.has_code = false;
        }
        self.measure_links(powers);
        stays
    }
}
