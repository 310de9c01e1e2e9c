//! Users in the middle of their TTI, where it is decided each frame of 10 ms who has the DSCH.
//!
//! ```text
//! frame        |   2n    |  2n + 1 |  2n + 2 |
//! even UEs     |<------ TTI ------>|<--------          decided on when even frames begin
//! odd UEs   ------------>|<------ TTI ------>|         when odd ones do; or both in any frame
//! ```
//!
//! A TTI meets two frames: in each all cells have powers of their own, others are beside it, and power control sets its own power
//! anew. Its blocks are interleaved over both, so they are judged by the mean of the two Eb/N0, linear, as those of a call are by the
//! mean of its slots under [`PowerControl::Steps`]. That is an assumption of ours, exact where both frames disturb alike.
//! RLC is pulled when the TTI begins.
//!
//! [`PowerControl::Steps`]: crate::radio::phy::power_control::PowerControl::Steps

use umts_kernel::TraceSink;
use umts_units::Time;

use super::users::Users;
use super::{Sector, Sectors};
use crate::EventContext;
use crate::ids::CellId;
use crate::radio::Air;
use crate::radio::air::Flight;
use crate::radio::phy::power_control::Load;
use crate::radio::phy::sir::Link;
use crate::rnc::mac_sh::Grant;
use crate::trace::{Real, TraceEvent};

/// Those of a cell who are in the middle of a TTI.
#[derive(Debug, Default)]
pub(super) struct HalfWay {
    /// In the order of their priority.
    pub held: Vec<Held>,
    /// What they sent, and when it arrives.
    pub flight: Option<(Box<Flight>, Time)>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Held {
    pub grant: Grant,
    /// How he hears, as power control knows it.
    pub link: Link,
    /// What he is sent, in mW.
    pub power: f64,
    /// Blocks that he was given.
    pub sent: u32,
    /// His Eb/N0 in the first frame.
    pub first: f64,
}

impl HalfWay {
    /// What all of them are sent, in mW.
    pub fn power(&self) -> f64 {
        self.held.iter().map(|held| held.power).sum()
    }

    /// The share of the code tree that they have.
    fn codes(&self) -> f64 {
        self.held.iter().map(|held| 1.0 / f64::from(held.grant.code.spreading_factor)).sum()
    }
}

impl Sectors {
    /// A frame begins: what those need who are in the middle of a TTI, as far as interference is known, that of the frame before.
    pub(super) fn add_held(&mut self) {
        if self.tti_phases > 1 {
            hear(&mut self.cells, &self.users, &self.before);
            self.load_of_held();
        }
    }

    /// The powers of all cells are those of this frame: what is known of interference is what it is.
    pub(super) fn solve_held(&mut self) {
        if self.tti_phases > 1 {
            hear(&mut self.cells, &self.users, &self.powers);
            self.load_of_held();
        }
    }

    fn load_of_held(&mut self) {
        for sector in &mut self.cells {
            for held in &sector.half_way.held {
                sector.load = sector.load.with(Load::of(&self.power, &held.link));
            }
        }
    }

    /// What these are for the equations of all cells.
    pub(super) fn couple_held(&mut self) {
        for (cell, sector) in self.cells.iter().enumerate() {
            for held in &sector.half_way.held {
                let gains = self.users.get(held.grant.ue).mobile.gains().iter();
                self.coupled.add(&self.power, cell, &held.link, gains);
            }
        }
    }

    /// What each cell sends them.
    pub(super) fn power_held(&mut self) {
        for sector in &mut self.cells {
            for held in &mut sector.half_way.held {
                held.power = sector.sent.power_of(&self.power, &held.link);
            }
        }
    }

    /// A TTI begins with this grant, which hears so well in its first frame.
    pub(super) fn hold(&mut self, cell: CellId, (grant, power, sent): (Grant, f64, u32)) {
        let first = self.meets(cell, &grant.link, grant.ue, power);
        self.users.get_mut(grant.ue).free_from = self.tti + self.tti_phases;
        let held = &mut self.cells[cell.index()].half_way.held;
        held.push(Held { grant, link: grant.link, power, sent, first });
    }

    /// TTIs end with this frame: their blocks are judged, and on their way.
    pub(super) fn land_held<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
        air: &mut Air,
    ) {
        let Some((mut flight, arrival)) = self.cells[cell.index()].half_way.flight.take() else { return };
        let mut half_way = std::mem::take(&mut self.cells[cell.index()].half_way);
        let mut sets = flight.sets_mut().iter_mut();
        let begun = self.tti - 1;
        for held in &half_way.held {
            let Held { grant, sent, .. } = held;
            let second = self.meets(cell, &held.link, grant.ue, held.power);
            let lost = self.lost(cell, grant, f64::midpoint(held.first, second), *sent);
            // Who had nothing to send after all has no blocks in it.
            if *sent > 0
                && let Some(set) = sets.next()
            {
                set.lost = lost;
            }
            let user = self.users.get_mut(grant.ue);
            user.loops.handle_blocks(&self.power, *sent, lost.count());
            // Who has changed cells since has taken his credits along.
            let home = user.cell;
            let received = sent - lost.count();
            self.cells[cell.index()].mac.had_turn(begun, grant, *sent, received);
            self.cells[home.index()].mac.pays(begun, grant, *sent, received);
        }
        if !half_way.held.is_empty() {
            let (users, codes, power) = (half_way.held.len(), half_way.codes(), half_way.power());
            ctx.cx.record(|| TraceEvent::DschHeld {
                cell: cell.0,
                users: users as u32,
                codes: Real(codes as f32),
                power: Real(power as f32),
            });
        }
        half_way.held.clear();
        self.cells[cell.index()].half_way = half_way;
        air.depart(ctx, flight, arrival);
    }
}

/// How users hear who are in the middle of a TTI, in a network whose cells send `powers`.
fn hear(cells: &mut [Sector], users: &Users, powers: &[f64]) {
    for (cell, sector) in (0..).map(CellId).zip(cells) {
        for held in &mut sector.half_way.held {
            held.link.interference = users.get(held.grant.ue).mobile.gains().from_others(powers, cell);
        }
    }
}
