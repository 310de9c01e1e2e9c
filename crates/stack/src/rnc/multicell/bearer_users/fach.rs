//! Reception of the FACH by users of a layout: the Eb/N0 of the S-CCPCH of their cell.

use umts_kernel::TraceSink;

use super::{BearerUser, DOWN};
use crate::EventContext;
use crate::radio::phy::sir::Link;
use crate::rnc::multicell::SccpchConfig;
use crate::rnc::multicell::power_solver::PowerSolver;
use crate::trace::{Real, TraceEvent};
use crate::ue::UeContext;

impl BearerUser {
    /// Sets the Eb/N0 of the FACH with the powers of a turn. Outside a transmission it is the Eb/N0
    /// with which the S-CCPCH would be received.
    pub(super) fn receive_fach<T: TraceSink<TraceEvent>>(
        &self,
        ctx: &mut EventContext<'_, T>,
        sccpch: &SccpchConfig,
        solver: &PowerSolver,
        context: &mut UeContext,
    ) {
        let (ue, cell) = (self.ue, self.at.main.cell);
        let ebn0 = self.ebn0_of_fach(sccpch, solver, &solver.powers);
        if self.is_sent {
            ctx.cx.record(|| TraceEvent::FachSent { ue, cell: cell.0, ebn0: Real(ebn0 as f32) });
        }
        if let Some(errors) = &mut context.channels[DOWN.index()].in_layout {
            errors.set_ebn0(ebn0);
        }
    }

    /// Eb/N0 of the FACH if the cells send `powers`, linear.
    pub(super) fn ebn0_of_fach(&self, sccpch: &SccpchConfig, solver: &PowerSolver, powers: &[f64]) -> f64 {
        let (cell, gains) = (self.at.main.cell, self.at.mobile.gains());
        let is_transmitted = solver.commons[cell.index()] > solver.power.common;
        let total = powers[cell.index()] + if is_transmitted { 0.0 } else { sccpch.power };
        let interference = gains.from_others(powers, cell);
        let link = Link { processing: sccpch.processing, target: 1.0, gain: gains.of(cell), interference };
        link.achieved(solver.power.own_share, solver.power.noise, total, sccpch.power)
    }
}
