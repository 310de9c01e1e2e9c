//! Power control in steps: every call and every DCH of a user obeys one command in each slot. Its
//! interference is the power of all cells in that slot.
//!
//! Each slot has two steps: the powers of all cells follow from the powers that the DCHs request
//! ([`Slot::new`]), and then each receiver measures its Eb/N0 and sends a command
//! ([`send_command`]). Powers are in mW.

use umts_units::Duration;

use super::bearer_users::BearerUsers;
use super::power_solver::{LinkKind, PowerSolver};
use super::voice_calls::{PoweredDch, VoiceCalls, link};
use crate::radio::phy::power_control::{InnerLoop, PowerConfig, Sent};
use crate::radio::phy::sir::Link;
use crate::rnc::calls::{PowerControlLoops, RadioLink};

/// Minimum power of a DCH as a fraction of its cell's maximum power: 60 dB below, more than the
/// dynamic range of any transmitter.
const MIN_POWER: f64 = 1e-6;

/// Simulates the slots of an interval, and sets the mean powers of all cells and links. Users of
/// DSCHs keep the power that they were granted. Calls and DCHs of users follow their commands.
pub(super) fn follow_commands(
    solver: &mut PowerSolver,
    calls: &mut VoiceCalls,
    bearers: &mut BearerUsers,
    interval: Duration,
) {
    let slots = (interval.as_secs() * f64::from(InnerLoop::SLOTS_PER_SECOND)) as u32;
    let mut dchs = Dchs { calls, bearers };
    start_loops(solver, &mut dchs);
    let constant = constant_powers(solver);
    let step = libm::exp10(solver.power.step_db / 10.0);
    let mut sums = Sums::new(solver.cells.len(), f64::from(slots));
    for _ in 0..slots {
        let slot = Slot::new(solver, &mut dchs, &constant);
        sums.add(&slot, dchs.bearers);
        for dch in dchs.powered() {
            send_command(&solver.power, dch, step, &slot);
        }
    }
    for dch in dchs.powered() {
        dch.loops.achieved /= f64::from(slots);
    }
    sums.set_means(solver, dchs.bearers);
    set_soft_leg_powers(solver, dchs.calls);
}

/// The DCHs that follow commands, calls first.
struct Dchs<'a> {
    calls: &'a mut VoiceCalls,
    bearers: &'a mut BearerUsers,
}

impl Dchs<'_> {
    fn powered(&mut self) -> impl Iterator<Item = PoweredDch<'_>> {
        self.calls.powered().chain(self.bearers.powered())
    }
}

/// Starts the measurement of the interval. New DCHs start with the power that they need.
fn start_loops(solver: &PowerSolver, dchs: &mut Dchs<'_>) {
    let main_links = solver.links(LinkKind::Call).iter().chain(solver.links(LinkKind::Dch));
    for (dch, link) in dchs.powered().zip(main_links) {
        dch.loops.inner.get_or_insert(InnerLoop::new(link.power_mw));
        dch.loops.achieved = 0.0;
    }
}

/// Returns the power of each cell without the DCHs that follow commands and the HS-DSCH, in mW.
fn constant_powers(solver: &PowerSolver) -> Vec<f64> {
    let sums = |kind| {
        let mut sums = vec![0.0; solver.cells.len()];
        solver.links(kind).iter().for_each(|downlink| sums[downlink.cell.index()] += downlink.power_mw);
        sums
    };
    let (grants, in_progress) = (sums(LinkKind::Dsch), sums(LinkKind::InProgress));
    let of_cell = |cell: usize| {
        let associated = solver.cells[cell].associated.power;
        solver.commons[cell] + grants[cell] + associated + in_progress[cell]
    };
    (0..solver.cells.len()).map(of_cell).collect()
}

/// The powers of all cells in a slot. In a slot without enough power, a cell scales the powers of
/// all its DCHs alike.
struct Slot {
    /// Power of each cell, in mW.
    totals: Vec<f64>,
    /// Factor by which each cell scales the powers that its DCHs request: at most 1.
    factors: Vec<f64>,
    /// Power of the HS-DSCH of each cell while that is sent, in mW.
    hs_dschs: Vec<f64>,
}

impl Slot {
    /// The slot in which the DCHs request their current powers. `constant`: see
    /// [`constant_powers`].
    fn new(solver: &PowerSolver, dchs: &mut Dchs<'_>, constant: &[f64]) -> Self {
        let max = solver.power.max;
        let mut requested = vec![0.0; constant.len()];
        for dch in dchs.powered() {
            let power = requested_power(dch.loops);
            dch.at.legs().for_each(|leg| requested[leg.cell.index()] += power);
        }
        let mut slot = Slot { totals: Vec::new(), factors: Vec::new(), hs_dschs: Vec::new() };
        for ((&constant, requested), hs_dsch) in constant.iter().zip(requested).zip(&solver.hs_dschs) {
            let factor = if requested > 0.0 { ((max - constant) / requested).min(1.0) } else { 1.0 };
            let others = constant + factor * requested;
            let sending = hs_dsch.within(max - others);
            slot.totals.push(others + hs_dsch.share * sending);
            slot.factors.push(factor);
            slot.hs_dschs.push(sending);
        }
        slot
    }
}

/// Power that a DCH requests from each of its cells, in mW.
fn requested_power(loops: &PowerControlLoops) -> f64 {
    loops.inner.map_or(0.0, |inner| inner.power)
}

/// The receiver of a DCH measures its Eb/N0 in a slot, and sends a command. `step`: factor of a
/// step of the power.
fn send_command(power: &PowerConfig, dch: PoweredDch<'_>, step: f64, slot: &Slot) {
    let PoweredDch { at, loops, aim } = dch;
    let Some(mut inner) = loops.inner else { return };
    // A UE out of reach commands ever more power, so the power is limited.
    inner.power = inner.power.clamp(MIN_POWER * power.max, power.dch_max.unwrap_or(power.max));
    let ebn0 = |leg: &RadioLink| {
        let cell = leg.cell.index();
        let interference = at.mobile.gains().from_others(&slot.totals, leg.cell);
        let measured = Link { interference, ..link(at, loops, leg, aim) };
        let sent = inner.power * slot.factors[cell];
        measured.achieved(power.own_share, power.noise, slot.totals[cell], sent)
    };
    let ebn0 = ebn0(&at.main) + at.further.iter().map(ebn0).sum::<f64>();
    // The target of all legs together.
    let target = link(at, loops, &at.main, aim).target / at.main.share;
    loops.achieved += ebn0;
    inner.handle_slot(ebn0, target, step);
    loops.inner = Some(inner);
}

/// Sums over the slots of an interval.
struct Sums {
    slots: f64,
    /// By cell: sum of the powers, divided by `slots`, in mW.
    totals: Vec<f64>,
    /// By cell: the smallest factor.
    min_factors: Vec<f64>,
    /// By cell: sum of the powers of the HS-DSCH while that is sent, in mW.
    hs_dschs: Vec<f64>,
    /// By leg of the DCHs of users, in their order: sum of the powers, divided by `slots`, in mW.
    legs: Vec<f64>,
}

impl Sums {
    fn new(cells: usize, slots: f64) -> Self {
        Sums {
            slots,
            totals: vec![0.0; cells],
            min_factors: vec![1.0; cells],
            hs_dschs: vec![0.0; cells],
            legs: Vec::new(),
        }
    }

    /// Adds a slot. Call before the commands of the slot change the requested powers.
    fn add(&mut self, slot: &Slot, bearers: &mut BearerUsers) {
        for (sum, total) in self.totals.iter_mut().zip(&slot.totals) {
            *sum += total / self.slots;
        }
        for (min, factor) in self.min_factors.iter_mut().zip(&slot.factors) {
            *min = f64::min(*min, *factor);
        }
        for (sum, sending) in self.hs_dschs.iter_mut().zip(&slot.hs_dschs) {
            *sum += sending;
        }
        let weight = 1.0 / self.slots;
        let mut number = 0;
        for dch in bearers.powered() {
            let power = requested_power(dch.loops);
            for leg in dch.at.legs() {
                if self.legs.len() == number {
                    self.legs.push(0.0);
                }
                self.legs[number] += weight * power * slot.factors[leg.cell.index()];
                number += 1;
            }
        }
    }

    /// Sets the powers of the cells, their HS-DSCHs and the DCHs of users to their means.
    fn set_means(self, solver: &mut PowerSolver, bearers: &mut BearerUsers) {
        for (cell, (&total, &factor)) in
            solver.cells.iter_mut().zip(self.totals.iter().zip(&self.min_factors))
        {
            cell.sent = Sent { total, factor };
        }
        solver.powers.copy_from_slice(&self.totals);
        for (hs_dsch, sum) in solver.hs_dschs.iter_mut().zip(&self.hs_dschs) {
            hs_dsch.sending = sum / self.slots;
        }
        let mut leg_powers = self.legs.into_iter();
        let mut next = || leg_powers.next().expect("the legs have not changed since the first slot");
        let mut further = 0;
        for (main, dch) in bearers.powered().enumerate() {
            solver.links_mut(LinkKind::Dch)[main].power_mw = next();
            for _ in &dch.at.further {
                solver.links_mut(LinkKind::DchLeg)[further].power_mw = next();
                further += 1;
            }
        }
    }
}

/// Sets the powers of the legs of calls in soft handover to the requested powers, scaled by their
/// cells.
fn set_soft_leg_powers(solver: &mut PowerSolver, calls: &VoiceCalls) {
    let legs = calls.each().flat_map(|call| call.at.further.iter().map(|leg| (leg.cell, &call.loops)));
    for (number, (cell, loops)) in legs.enumerate() {
        let factor = solver.cells[cell.index()].sent.factor;
        solver.links_mut(LinkKind::SoftLeg)[number].power_mw = factor * requested_power(loops);
    }
}
