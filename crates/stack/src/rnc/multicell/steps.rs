//! Power control in steps: every call and every DCH of a user obeys one command in each slot. Its
//! interference is the power of all cells in that slot.

use umts_units::Duration;

use super::bearer_users::BearerUsers;
use super::power_solver::{LinkKind, PowerSolver};
use super::voice_calls::{PoweredDch, VoiceCalls, link};
use crate::radio::phy::power_control::{InnerLoop, PowerConfig, Sent};
use crate::radio::phy::sir::Link;
use crate::rnc::calls::{Call, RadioLink};

/// Minimum power of a DCH as a fraction of its cell's maximum power: 60 dB below, more than the
/// dynamic range of any transmitter.
const LEAST: f64 = 1e-6;

/// Simulates the slots of an interval. Users of DSCHs keep the power that they were granted. Calls and DCHs of
/// users follow their commands. In a slot without enough power, a cell scales all their powers alike.
pub(super) fn follow_commands(
    solver: &mut PowerSolver,
    calls: &mut VoiceCalls,
    bearers: &mut BearerUsers,
    interval: Duration,
) {
    let slots = (interval.as_secs() * f64::from(InnerLoop::SLOTS_PER_SECOND)) as u32;
    let main_links = solver.links(LinkKind::Call).iter().chain(solver.links(LinkKind::Dch));
    for (dch, link) in calls.powered().chain(bearers.powered()).zip(main_links) {
        // New DCHs start with the power that they need.
        dch.loops.inner.get_or_insert(InnerLoop::new(link.power_mw));
        dch.loops.achieved = 0.0;
    }
    let constant = constant_powers(solver);
    let mut totals = solver.powers.clone();
    let mut hs_powers = vec![0.0; totals.len()];
    solver.powers.fill(0.0);
    let mut least = vec![1.0; totals.len()];
    let mut means = Vec::new();
    let step = libm::exp10(solver.power.step_db / 10.0);
    for _ in 0..slots {
        let factors =
            totals_of_slot(solver, (&mut *calls, &mut *bearers), &constant, &mut totals, &mut hs_powers);
        add_powers(&mut means, bearers, &factors, 1.0 / f64::from(slots));
        for dch in calls.powered().chain(bearers.powered()) {
            one_slot(&solver.power, dch, step, (&totals, &factors));
        }
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
    for (hs_dsch, sum) in solver.hs_dschs.iter_mut().zip(hs_powers) {
        hs_dsch.sending = sum / f64::from(slots);
    }
    for dch in calls.powered().chain(bearers.powered()) {
        dch.loops.achieved /= f64::from(slots);
    }
    set_powers(solver, bearers, &means);
    let requested = |call: &Call| call.loops.inner.map_or(0.0, |inner| inner.power);
    let legs = calls.each().flat_map(|call| call.at.further.iter().map(move |leg| (leg, requested(call))));
    for (at, (leg, power)) in legs.enumerate() {
        let factor = solver.cells[leg.cell.index()].sent.factor;
        solver.links_mut(LinkKind::SoftLeg)[at].power_mw = factor * power;
    }
}

/// Adds the powers of the legs of all users in a slot, times `weight`, to `sums`.
fn add_powers(sums: &mut Vec<f64>, bearers: &mut BearerUsers, factors: &[f64], weight: f64) {
    let mut number = 0;
    for dch in bearers.powered() {
        let power = dch.loops.inner.map_or(0.0, |inner| inner.power);
        for leg in dch.at.legs() {
            if sums.len() == number {
                sums.push(0.0);
            }
            sums[number] += weight * power * factors[leg.cell.index()];
            number += 1;
        }
    }
}

/// Sets the powers of the legs of all users, in the order of [`add_powers`].
fn set_powers(solver: &mut PowerSolver, bearers: &mut BearerUsers, powers: &[f64]) {
    let (mut number, mut further) = (0, 0);
    for (main, dch) in bearers.powered().enumerate() {
        solver.links_mut(LinkKind::Dch)[main].power_mw = powers[number];
        number += 1;
        for _ in &dch.at.further {
            solver.links_mut(LinkKind::DchLeg)[further].power_mw = powers[number];
            (number, further) = (number + 1, further + 1);
        }
    }
}

/// Returns the power of each cell without the DCHs that follow commands and the HS-DSCH, in mW.
fn constant_powers(solver: &PowerSolver) -> Vec<f64> {
    let sums = |kind| {
        let mut sums = vec![0.0; solver.cells.len()];
        solver.links(kind).iter().for_each(|of| sums[of.cell.index()] += of.power_mw);
        sums
    };
    let (grants, in_progress) = (sums(LinkKind::Dsch), sums(LinkKind::InProgress));
    let each = solver.cells.iter().zip(&solver.commons).zip(grants).zip(in_progress);
    each.map(|(((cell, common), grants), in_progress)| common + grants + cell.associated.1 + in_progress)
        .collect()
}

/// Sets `totals` to the power of each cell in a slot, and adds the power of its HS-DSCH while that is sent to
/// `hs_powers`. Returns by which factor each cell scales the powers of its DCHs so as not to exceed its limit.
fn totals_of_slot(
    solver: &PowerSolver,
    (calls, bearers): (&mut VoiceCalls, &mut BearerUsers),
    constant: &[f64],
    totals: &mut [f64],
    hs_powers: &mut [f64],
) -> Vec<f64> {
    let max = solver.power.max;
    let mut wanted = vec![0.0; constant.len()];
    for dch in calls.powered().chain(bearers.powered()) {
        let power = dch.loops.inner.map_or(0.0, |inner| inner.power);
        dch.at.legs().for_each(|leg| wanted[leg.cell.index()] += power);
    }
    let factor = |cell: usize| {
        let (constant, wanted) = (constant[cell], wanted[cell]);
        let share = if wanted > 0.0 { ((max - constant) / wanted).min(1.0) } else { 1.0 };
        let (hs_dsch, others) = (&solver.hs_dschs[cell], constant + share * wanted);
        let sending = hs_dsch.within(max - others);
        hs_powers[cell] += sending;
        totals[cell] = others + hs_dsch.share * sending;
        share
    };
    (0..constant.len()).map(factor).collect()
}

/// The receiver of a DCH measures its Eb/N0 in a slot in which the cells send `totals` and scale requested
/// powers by `factors`, and sends a command.
fn one_slot(power: &PowerConfig, dch: PoweredDch<'_>, step: f64, (totals, factors): (&[f64], &[f64])) {
    let PoweredDch { at, loops, aim } = dch;
    let Some(mut inner) = loops.inner else { return };
    // A UE out of reach commands ever more power, so the power is limited.
    inner.power = inner.power.clamp(LEAST * power.max, power.dch_max.unwrap_or(power.max));
    let ebn0 = |leg: &RadioLink| {
        let cell = leg.cell.index();
        let interference = at.mobile.gains().from_others(totals, leg.cell);
        let met = Link { interference, ..link(at, loops, leg, aim) };
        met.achieved(power.own_share, power.noise, totals[cell], inner.power * factors[cell])
    };
    let ebn0 = ebn0(&at.main) + at.further.iter().map(ebn0).sum::<f64>();
    let target = link(at, loops, &at.main, aim).target / at.main.share;
    loops.achieved += ebn0;
    inner.handle_slot(ebn0, target, step);
    loops.inner = Some(inner);
}
