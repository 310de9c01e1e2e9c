//! Power control in steps: every call obeys one command in each slot. Its interference is the power of
//! all cells in that slot.

use super::legs::achieved_beside;
use super::{DownlinkCell, Multicell, link};
use crate::radio::phy::power_control::{InnerLoop, Sent};
use crate::radio::phy::sir::Link;

/// The least power of a call, as a share of its cell's: 60 dB, more than any transmitter's dynamic range.
const LEAST: f64 = 1e-6;

impl Multicell {
    /// The slots of this turn. Users of DSCHs keep the power that they were granted; calls follow their commands, and are all cut
    /// alike in a slot for which the power is not enough.
    pub(super) fn follow_commands(&mut self) {
        let slots = (self.interval().as_secs() * f64::from(InnerLoop::SLOTS_PER_SECOND)) as u32;
        let granted = self.begin_slots();
        let mut totals = self.powers.clone();
        self.powers.fill(0.0);
        let mut least = vec![1.0; totals.len()];
        for _ in 0..slots {
            let factors = self.totals_of_slot(&granted, &mut totals);
            self.one_slot(&totals, &factors);
            for (least, factor) in least.iter_mut().zip(&factors) {
                *least = f64::min(*least, *factor);
            }
            for (mean, total) in self.powers.iter_mut().zip(&totals) {
                *mean += total / f64::from(slots);
            }
        }
        for class in &mut self.call_classes {
            class.calls.under_way_mut().iter_mut().for_each(|call| call.loops.achieved /= f64::from(slots));
        }
        for (cell, (&total, &factor)) in self.cells.iter_mut().zip(self.powers.iter().zip(&least)) {
            cell.sent = Sent { total, factor };
        }
    }

    /// Returns the power of each cell without its calls. New calls start with the power that they need.
    fn begin_slots(&mut self) -> Vec<f64> {
        let power = self.power;
        for class in &mut self.call_classes {
            for call in class.calls.under_way_mut() {
                let sent = &self.cells[call.at.main.cell.index()].sent;
                let needed = power.dch_power(sent, &link(call, class.target));
                call.loops.inner.get_or_insert(InnerLoop::new(needed));
                call.loops.achieved = 0.0;
            }
        }
        let granted = |cell: &DownlinkCell| {
            let begun = power.common + cell.granted.iter().sum::<f64>() + cell.used.associated_power;
            if cell.in_progress.ttis.is_empty() { begun } else { begun + cell.in_progress.power() }
        };
        self.cells.iter().map(granted).collect()
    }

    /// Sets `totals` to the power of each cell in a slot. Returns by which factor each cell scales the
    /// powers of its calls so as not to exceed its limit.
    fn totals_of_slot(&self, granted: &[f64], totals: &mut [f64]) -> Vec<f64> {
        let mut wanted = vec![0.0; granted.len()];
        for call in self.call_classes.iter().flat_map(|class| class.calls.under_way()) {
            let power = call.loops.inner.map_or(0.0, |inner| inner.power);
            call.at.legs().for_each(|leg| wanted[leg.cell.index()] += power);
        }
        let each = granted.iter().zip(&wanted).zip(totals);
        let share = |((granted, wanted), total): ((&f64, &f64), &mut f64)| {
            let share = if *wanted > 0.0 { ((self.power.max - granted) / wanted).min(1.0) } else { 1.0 };
            *total = granted + share * wanted;
            share
        };
        each.map(share).collect()
    }

    /// Every call measures its Eb/N0 in a slot, and sends its command.
    fn one_slot(&mut self, totals: &[f64], factors: &[f64]) {
        let power = self.power;
        let step = libm::exp10(power.step_db / 10.0);
        for class in &mut self.call_classes {
            for call in class.calls.under_way_mut() {
                let main = call.at.main.cell;
                let interference = call.at.mobile.gains().from_others(totals, main);
                let meets = Link { interference, ..link(call, class.target) };
                let target = meets.target / call.at.main.share;
                let Some(mut inner) = call.loops.inner else { continue };
                // A UE out of reach commands ever more power, so the power is limited.
                inner.power = inner.power.clamp(LEAST * power.max, power.dch_max.unwrap_or(power.max));
                let sent = inner.power * factors[main.index()];
                let achieved = meets.achieved(power.own_share, power.noise, totals[main.index()], sent)
                    + achieved_beside(&power, (&*call, class.target), (totals, factors), inner.power);
                call.loops.achieved += achieved;
                inner.handle_slot(achieved, target, step);
                call.loops.inner = Some(inner);
            }
        }
    }
}
