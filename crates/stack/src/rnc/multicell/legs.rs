//! Load and Eb/N0 of calls with several cells (soft handover) and of calls with gaps (compressed mode).
//!
//! All cells of an active set transmit with the same power, because they obey the same commands
//! (TS 25.214 §5.2.1.4.1). The rake receiver adds the signals of all legs, whether they come from one
//! site or several (Holma and Toskala 2000, §9.3.1.3). Selection combining between sites concerns the
//! uplink only.
//!
//! ```text
//! Eb/N0          = sum over legs k of W/R p g_k / D_k      D_k = om P_k g_k + chi_k + P_N
//! share of leg k = (g_k / D_k) / sum (g_j / D_j)           of the target: the target of this leg
//! ```
//!
//! With its share of the target, a leg adds to the load and power of its cell like any other link. All
//! legs then have the same power if p is small compared with P_k.

use super::{Multicell, leg_link};
use crate::radio::phy::power_control::{Load, PowerConfig, PowerControl};
use crate::radio::phy::sir::Link;
use crate::rnc::calls::{self, Call, CallLocation, RadioLink};

impl Multicell {
    /// Begins a TTI: determines the contribution of each leg from the interference known so far,
    /// and the calls with a gap.
    pub(super) fn aim_of_calls(&mut self) {
        if self.dchs.soft.is_some() {
            self.share_out();
        }
        if self.dchs.compressed.is_some() {
            self.raise_targets();
        }
    }

    fn share_out(&mut self) {
        let (power, before) = (self.power, &self.before);
        for call in self.call_classes.iter_mut().flat_map(|class| class.calls.under_way_mut()) {
            let CallLocation { main, further, .. } = &mut call.at;
            if further.is_empty() {
                continue;
            }
            let worth = |leg: &RadioLink| {
                let sent = before[leg.cell.index()];
                leg.gain / (power.own_share * sent * leg.gain + leg.interference + power.noise)
            };
            let sum = worth(main) + further.iter().map(worth).sum::<f64>();
            for leg in std::iter::once(main).chain(further) {
                leg.share = worth(leg) / sum;
            }
        }
    }

    /// Raises the target of calls with a gap in this TTI.
    fn raise_targets(&mut self) {
        let Some(mode) = self.dchs.compressed else { return };
        let (factor, every) = (mode.factor(), mode.every / calls::TTI);
        for call in self.call_classes.iter_mut().flat_map(|class| class.calls.under_way_mut()) {
            let tti = (self.tti + call.number) / self.call_ttis;
            let has_gap = call.at.is_compressed && tti.is_multiple_of(every);
            call.at.raise = if has_gap { factor } else { 1.0 };
        }
    }

    /// Adds the load of further legs to their cells.
    pub(super) fn add_further_legs(&mut self) {
        if self.dchs.soft.is_none() {
            return;
        }
        for class in &self.call_classes {
            for call in class.calls.under_way() {
                for leg in &call.at.further {
                    let cell = &mut self.cells[leg.cell.index()];
                    cell.load = cell.load.with(Load::of(&self.power, &leg_link(call, leg, class.target)));
                }
            }
        }
    }

    /// Adds further legs to the equations of all cells.
    pub(super) fn couple_further_legs(&mut self) {
        for class in &self.call_classes {
            for call in class.calls.under_way() {
                for leg in &call.at.further {
                    let link = leg_link(call, leg, class.target);
                    self.coupled.add(&self.power, leg.cell.index(), &link, call.at.mobile.gains().iter());
                }
            }
        }
    }

    /// Updates the interference of further legs with the powers of this TTI.
    pub(super) fn hear_further_legs(&mut self) {
        for call in self.call_classes.iter_mut().flat_map(|class| class.calls.under_way_mut()) {
            let gains = call.at.mobile.gains();
            for leg in &mut call.at.further {
                leg.interference = gains.from_others(&self.powers, leg.cell);
            }
        }
    }

    /// Determines the Eb/N0 of the further legs of each call, and their load, with the powers of
    /// this TTI.
    pub(super) fn judge_further_legs(&mut self) {
        if self.dchs.soft.is_none() {
            return;
        }
        for class in &mut self.call_classes {
            for call in class.calls.under_way_mut() {
                let (mut beside, mut legs) = (0.0, std::mem::take(&mut call.at.further));
                for leg in &mut legs {
                    let known = leg_link(call, leg, class.target);
                    leg.interference = call.at.mobile.gains().from_others(&self.powers, leg.cell);
                    let meets = Link { interference: leg.interference, ..known };
                    let cell = &mut self.cells[leg.cell.index()];
                    let sent = match (self.power.control, &call.loops.inner) {
                        (PowerControl::Steps, Some(inner)) => cell.sent.factor * inner.power,
                        _ => self.power.dch_power(&cell.sent, &known),
                    };
                    beside += meets.achieved(self.power.own_share, self.power.noise, cell.sent.total, sent);
                    cell.used.load = cell.used.load.with(Load::of(&self.power, &meets));
                    cell.used.further += 1;
                    cell.used.further_power += sent;
                }
                call.at.further = legs;
                call.at.beside = beside;
            }
        }
    }
}

/// Eb/N0 that the further legs of a call contribute in a slot in which the cells send `totals` and
/// scale requested powers by `factors`.
pub(super) fn achieved_beside(
    power: &PowerConfig,
    (call, target): (&Call, f64),
    (totals, factors): (&[f64], &[f64]),
    sent: f64,
) -> f64 {
    let of = |leg: &RadioLink| {
        let cell = leg.cell.index();
        let interference = call.at.mobile.gains().from_others(totals, leg.cell);
        let meets = Link { interference, ..leg_link(call, leg, target) };
        meets.achieved(power.own_share, power.noise, totals[cell], sent * factors[cell])
    };
    call.at.further.iter().map(of).sum()
}
