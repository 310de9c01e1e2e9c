//! Users in the middle of their TTI, if the DSCH is scheduled every frame of 10 ms.
//!
//! ```text
//! frame        |   2n    |  2n + 1 |  2n + 2 |
//! even UEs     |<------ TTI ------>|<--------          TTIs start in even frames
//! odd UEs   ------------>|<------ TTI ------>|         TTIs start in odd frames (with `AnyFrame` both in any frame)
//! ```
//!
//! A TTI covers two frames. From one to the next, the powers of the cells and the other users
//! change, and power control sets the power of the TTI again. Its blocks are interleaved over both
//! frames, so their loss depends on the linear mean of the two Eb/N0, as the loss of a call's
//! blocks depends on the mean of its slots under [`PowerControl::Steps`]. This is an assumption,
//! exact if the interference is equal in both frames. RLC is queried for blocks when the TTI
//! begins.
//!
//! [`PowerControl::Steps`]: crate::radio::phy::power_control::PowerControl::Steps

use umts_kernel::TraceSink;

use super::Multicell;
use super::dsch::Dschs;
use super::power_solver::{LinkKind, Receiver};
use crate::EventContext;
use crate::ids::CellId;
use crate::radio::Air;
use crate::radio::phy::sir::Link;
use crate::rnc::mac_sh::Grant;
use crate::trace::{Real, TraceEvent};

/// A user in the middle of a TTI.
#[derive(Debug)]
pub(super) struct TtiInProgress {
    pub grant: Grant,
    /// Blocks sent to the user.
    pub sent: u32,
    /// Eb/N0 in the first frame, linear.
    pub first_ebn0: f64,
    /// Index among the links of the second frame.
    link: usize,
}

impl Multicell {
    /// Adds the TTIs in progress to the links, with the interference of the previous frame.
    pub(super) fn add_in_progress(&mut self) {
        let Multicell { dschs: Dschs { cells, .. }, mobility, solver, .. } = self;
        for (number, cell) in (0..).map(CellId).zip(cells) {
            for tti in &mut cell.in_progress {
                let gains = mobility.user(tti.grant.ue).mobile.gains();
                let interference = gains.from_others(&solver.before, number);
                tti.link = solver.links(LinkKind::InProgress).len();
                let link = Link { interference, ..tti.grant.link };
                solver.add(LinkKind::InProgress, Receiver::User(tti.grant.ue), number, link);
            }
        }
    }

    /// Begins a TTI of `sent` blocks with this grant. `first_ebn0` is the Eb/N0 in its first frame.
    pub(super) fn begin_tti(&mut self, cell: CellId, grant: Grant, sent: u32, first_ebn0: f64) {
        self.mobility.user_mut(grant.ue).free_from = self.clock.turn + self.clock.turns_per_tti;
        self.dschs.cells[cell.index()].in_progress.push(TtiInProgress { grant, sent, first_ebn0, link: 0 });
    }

    /// Ends the TTIs in progress with this frame: decides their losses and puts them on the air.
    pub(super) fn end_in_progress<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        air: &mut Air,
    ) {
        let Some((mut transmission, arrival)) = self.dschs.cells[cell.index()].transmission.take() else {
            return;
        };
        let ttis = std::mem::take(&mut self.dschs.cells[cell.index()].in_progress);
        let mut sets = transmission.sets_mut().iter_mut();
        let first_turn = self.clock.turn - 1;
        // Share of the code tree, and power in mW.
        let (mut codes, mut power) = (0.0, 0.0);
        for tti in &ttis {
            let TtiInProgress { grant, sent, .. } = tti;
            let link = &self.solver.links(LinkKind::InProgress)[tti.link];
            codes += 1.0 / f64::from(grant.code.spreading_factor);
            power += link.power_mw;
            let mean_ebn0 = f64::midpoint(tti.first_ebn0, link.ebn0);
            let lost = self.lost(cell, grant, mean_ebn0, *sent);
            // A user with nothing to send after all has no blocks in the transmission.
            if *sent > 0
                && let Some(set) = sets.next()
            {
                set.lost = lost;
            }
            let user = self.mobility.user_mut(grant.ue);
            user.loops.handle_blocks(&self.solver.power, *sent, lost.count());
            // A user that has changed cells since then has taken its credits along.
            let (home, received) = (user.cell, sent - lost.count());
            self.dschs.cells[cell.index()].mac.record_grant(first_turn, grant, *sent, received);
            self.dschs.cells[home.index()].mac.debit_credit(first_turn, grant, *sent);
        }
        if !ttis.is_empty() {
            ctx.cx.record(|| TraceEvent::DschHeld {
                cell: cell.0,
                users: ttis.len() as u32,
                codes: Real(codes as f32),
                power: Real(power as f32),
            });
        }
        air.depart(ctx, transmission, arrival);
    }
}
