//! Users in the middle of their TTI, if the DSCH is scheduled every frame of 10 ms.
//!
//! ```text
//! frame        |   2n    |  2n + 1 |  2n + 2 |
//! even UEs     |<------ TTI ------>|<--------          decided on when even frames begin
//! odd UEs   ------------>|<------ TTI ------>|         when odd ones do; or both in any frame
//! ```
//!
//! A TTI covers two frames. From one to the next, the powers of the cells and the other users
//! change, and power control sets the power of the TTI again. Its blocks are interleaved over both
//! frames, so their loss depends on the mean of the two Eb/N0, linear, as the loss of a call's
//! blocks depends on the mean of its slots under [`PowerControl::Steps`]. That is our assumption,
//! exact if the interference is equal in both frames. RLC is pulled when the TTI begins.
//!
//! [`PowerControl::Steps`]: crate::radio::phy::power_control::PowerControl::Steps

use umts_kernel::TraceSink;
use umts_units::Time;

use super::users::Users;
use super::{DownlinkCell, Multicell};
use crate::EventContext;
use crate::ids::CellId;
use crate::radio::Air;
use crate::radio::air::Transmission;
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;
use crate::rnc::mac_sh::Grant;
use crate::trace::{Real, TraceEvent};

/// The users of a cell that are in the middle of a TTI.
#[derive(Debug, Default)]
pub(super) struct TtisInProgress {
    /// In the order of their priority.
    pub ttis: Vec<TtiInProgress>,
    /// Their transmission, and its time of arrival.
    pub transmission: Option<(Box<Transmission>, Time)>,
}

/// A user in the middle of a TTI.
#[derive(Debug)]
pub(super) struct TtiInProgress {
    pub grant: Grant,
    /// The link of the user, as power control knows it.
    pub link: Link,
    /// Transmit power for the user, in mW.
    pub power: f64,
    /// Blocks sent to the user.
    pub sent: u32,
    /// Eb/N0 in the first frame.
    pub first: f64,
}

impl TtisInProgress {
    /// Sum of the transmit powers in mW.
    pub fn power(&self) -> f64 {
        self.ttis.iter().map(|tti| tti.power).sum()
    }

    /// The share of the code tree that they have.
    fn codes(&self) -> f64 {
        self.ttis.iter().map(|tti| 1.0 / f64::from(tti.grant.code.spreading_factor)).sum()
    }
}

impl Multicell {
    /// Begins a frame: adds the load of users in the middle of a TTI, with the interference of the
    /// previous frame.
    pub(super) fn add_held(&mut self) {
        if self.tti_phases > 1 {
            hear(&mut self.cells, &self.users, &self.before);
            self.load_of_held();
        }
    }

    /// Adds the load of these users again, with the interference by the powers of this frame.
    pub(super) fn solve_held(&mut self) {
        if self.tti_phases > 1 {
            hear(&mut self.cells, &self.users, &self.powers);
            self.load_of_held();
        }
    }

    fn load_of_held(&mut self) {
        for sector in &mut self.cells {
            for tti in &sector.in_progress.ttis {
                sector.load = sector.load.with(Load::of(&self.power, &tti.link));
            }
        }
    }

    /// Adds TTIs in progress to the equations of all cells.
    pub(super) fn couple_held(&mut self) {
        for (cell, sector) in self.cells.iter().enumerate() {
            for tti in &sector.in_progress.ttis {
                let gains = self.users.get(tti.grant.ue).mobile.gains().iter();
                self.coupled.add(&self.power, cell, &tti.link, gains);
            }
        }
    }

    /// Sets the powers of TTIs in progress.
    pub(super) fn power_held(&mut self) {
        for sector in &mut self.cells {
            for tti in &mut sector.in_progress.ttis {
                tti.power = sector.sent.power_of(&self.power, &tti.link);
            }
        }
    }

    /// Begins a TTI with this grant, and records its Eb/N0 in the first frame.
    pub(super) fn hold(&mut self, cell: CellId, (grant, power, sent): (Grant, f64, u32)) {
        let first = self.meets(cell, &grant.link, grant.ue, power);
        self.users.get_mut(grant.ue).free_from = self.tti + self.tti_phases;
        let tti = &mut self.cells[cell.index()].in_progress.ttis;
        tti.push(TtiInProgress { grant, link: grant.link, power, sent, first });
    }

    /// Ends the TTIs in progress with this frame: decides their losses and puts them on the air.
    pub(super) fn land_held<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        air: &mut Air,
    ) {
        let Some((mut transmission, arrival)) = self.cells[cell.index()].in_progress.transmission.take()
        else {
            return;
        };
        let mut in_progress = std::mem::take(&mut self.cells[cell.index()].in_progress);
        let mut sets = transmission.sets_mut().iter_mut();
        let begun = self.tti - 1;
        for tti in &in_progress.ttis {
            let TtiInProgress { grant, sent, .. } = tti;
            let second = self.meets(cell, &tti.link, grant.ue, tti.power);
            let lost = self.lost(cell, grant, f64::midpoint(tti.first, second), *sent);
            // A user with nothing to send after all has no blocks in the transmission.
            if *sent > 0
                && let Some(set) = sets.next()
            {
                set.lost = lost;
            }
            let user = self.users.get_mut(grant.ue);
            user.loops.handle_blocks(&self.power, *sent, lost.count());
            // A user that has changed cells since then has taken its credits along.
            let home = user.cell;
            let received = sent - lost.count();
            self.cells[cell.index()].mac.had_turn(begun, grant, *sent, received);
            self.cells[home.index()].mac.pays(begun, grant, *sent, received);
        }
        if !in_progress.ttis.is_empty() {
            let (users, codes, power) = (in_progress.ttis.len(), in_progress.codes(), in_progress.power());
            ctx.cx.record(|| TraceEvent::DschHeld {
                cell: cell.0,
                users: users as u32,
                codes: Real(codes as f32),
                power: Real(power as f32),
            });
        }
        in_progress.ttis.clear();
        self.cells[cell.index()].in_progress = in_progress;
        air.depart(ctx, transmission, arrival);
    }
}

/// Updates the interference of users in the middle of a TTI when the cells send `powers`.
fn hear(cells: &mut [DownlinkCell], users: &Users, powers: &[f64]) {
    for (cell, sector) in (0..).map(CellId).zip(cells) {
        for tti in &mut sector.in_progress.ttis {
            tti.link.interference = users.get(tti.grant.ue).mobile.gains().from_others(powers, cell);
        }
    }
}
