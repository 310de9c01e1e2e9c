//! Power control in steps: every call obeys one command in each slot. Its interference is the power of
//! all cells in that slot.

use umts_units::Duration;

use super::power_solver::{LinkKind, PowerSolver};
use super::voice_calls::{VoiceCalls, link};
use crate::radio::phy::power_control::{InnerLoop, PowerConfig, Sent};
use crate::radio::phy::sir::Link;
use crate::rnc::calls::{Call, RadioLink};

/// Minimum power of a call as a fraction of its cell's maximum power: 60 dB below, more than the
/// dynamic range of any transmitter.
const LEAST: f64 = 1e-6;

/// Simulates the slots of this turn. Users of DSCHs keep the power that they were granted. Calls follow
/// their commands. In a slot without enough power, a cell scales the powers of all its calls alike.
pub(super) fn follow_commands(solver: &mut PowerSolver, calls: &mut VoiceCalls, interval: Duration) {
    let slots = (interval.as_secs() * f64::from(InnerLoop::SLOTS_PER_SECOND)) as u32;
    for (call, of) in calls.each_mut().zip(solver.links(LinkKind::Call)) {
        // New calls start with the power that they need.
        call.loops.inner.get_or_insert(InnerLoop::new(of.power_mw));
        call.loops.achieved = 0.0;
    }
    let constant = constant_powers(solver);
    let mut totals = solver.powers.clone();
    solver.powers.fill(0.0);
    let mut least = vec![1.0; totals.len()];
    for _ in 0..slots {
        let factors = totals_of_slot(solver.power.max, calls, &constant, &mut totals);
        one_slot(&solver.power, calls, &totals, &factors);
        for (least, factor) in least.iter_mut().zip(&factors) {
            *least = f64::min(*least, *factor);
        }
        for (mean, total) in solver.powers.iter_mut().zip(&totals) {
            *mean += total / f64::from(slots);
        }
    }
    for (cell, (&total, &factor)) in solver.cells.iter_mut().zip(solver.powers.iter().zip(&least)) {
        cell.sent = Sent { total, factor };
    }
    for call in calls.each_mut() {
        call.loops.achieved /= f64::from(slots);
    }
    let requested = |call: &Call| call.loops.inner.map_or(0.0, |inner| inner.power);
    let legs = calls.each().flat_map(|call| call.at.further.iter().map(move |leg| (leg, requested(call))));
    for (at, (leg, power)) in legs.enumerate() {
        let factor = solver.cells[leg.cell.index()].sent.factor;
        solver.links_mut(LinkKind::SoftLeg)[at].power_mw = factor * power;
    }
}

/// Returns the power of each cell without its calls, in mW.
fn constant_powers(solver: &PowerSolver) -> Vec<f64> {
    let sums = |kind| {
        let mut sums = vec![0.0; solver.cells.len()];
        solver.links(kind).iter().for_each(|of| sums[of.cell.index()] += of.power_mw);
        sums
    };
    let (grants, in_progress) = (sums(LinkKind::Dsch), sums(LinkKind::InProgress));
    let each = solver.cells.iter().zip(grants).zip(in_progress);
    each.map(|((cell, grants), in_progress)| solver.power.common + grants + cell.associated.1 + in_progress)
        .collect()
}

/// Sets `totals` to the power of each cell in a slot. Returns by which factor each cell scales the
/// powers of its calls so as not to exceed its limit `max`.
fn totals_of_slot(max: f64, calls: &VoiceCalls, constant: &[f64], totals: &mut [f64]) -> Vec<f64> {
    let mut wanted = vec![0.0; constant.len()];
    for call in calls.each() {
        let power = call.loops.inner.map_or(0.0, |inner| inner.power);
        call.at.legs().for_each(|leg| wanted[leg.cell.index()] += power);
    }
    let each = constant.iter().zip(&wanted).zip(totals);
    let share = |((constant, wanted), total): ((&f64, &f64), &mut f64)| {
        let share = if *wanted > 0.0 { ((max - constant) / wanted).min(1.0) } else { 1.0 };
        *total = constant + share * wanted;
        share
    };
    each.map(share).collect()
}

/// Every call measures its Eb/N0 in a slot, and sends its command.
fn one_slot(power: &PowerConfig, calls: &mut VoiceCalls, totals: &[f64], factors: &[f64]) {
    let step = libm::exp10(power.step_db / 10.0);
    for class in &mut calls.classes {
        for call in class.calls.under_way_mut() {
            let Some(mut inner) = call.loops.inner else { continue };
            // A UE out of reach commands ever more power, so the power is limited.
            inner.power = inner.power.clamp(LEAST * power.max, power.dch_max.unwrap_or(power.max));
            let ebn0 = |leg: &RadioLink| {
                achieved(power, (&*call, leg, class.target), (totals, factors), inner.power)
            };
            let ebn0 = ebn0(&call.at.main) + call.at.further.iter().map(ebn0).sum::<f64>();
            let target = link(call, &call.at.main, class.target).target / call.at.main.share;
            call.loops.achieved += ebn0;
            inner.handle_slot(ebn0, target, step);
            call.loops.inner = Some(inner);
        }
    }
}

/// Eb/N0 of a leg in a slot in which the cells send `totals` and scale requested powers by `factors`.
fn achieved(
    power: &PowerConfig,
    (call, leg, target): (&Call, &RadioLink, f64),
    (totals, factors): (&[f64], &[f64]),
    requested: f64,
) -> f64 {
    let cell = leg.cell.index();
    let interference = call.at.mobile.gains().from_others(totals, leg.cell);
    let met = Link { interference, ..link(call, leg, target) };
    met.achieved(power.own_share, power.noise, totals[cell], requested * factors[cell])
}
