//! The active sets of calls: which cells send to each call, and on which codes. After each
//! measurement of a call [`ActiveSets::update_cells`] follows the path gains of its mobile.
//!
//! Without soft handover a call has one cell: the best one, with a hysteresis. With soft handover
//! all cells of its active set transmit the same data. Each cell allocates a code, or refuses the
//! call if it has none.

use super::MulticellConfig;
use super::codes::{DchCodes, WithoutCode};
use crate::environment::{Gains, Mobile};
use crate::ids::CellId;
use crate::rnc::calls::{CallLocation, RadioLink};
use crate::rnc::rrc::{ActiveSet, CellSelection, CompressedBy, CompressedMode};
use crate::trace::CallStep;

/// Selection of the cells and codes of calls.
#[derive(Debug)]
pub(super) struct ActiveSets {
    pub selection: CellSelection,
    /// Rule for active sets. `None`: hard handover.
    pub soft: Option<ActiveSet>,
    /// `None`: no compressed mode.
    pub compressed: Option<CompressedMode>,
    /// Treatment of a call that a better cell has refused.
    pub without: WithoutCode,
    /// Whether call events are recorded.
    pub is_recorded: bool,
    /// Call events that are not recorded yet.
    pub events: Vec<(CellId, CallStep)>,
}

impl ActiveSets {
    pub fn new(config: &MulticellConfig) -> Self {
        let (handover, dch) = (&config.handover, &config.dch);
        ActiveSets {
            selection: CellSelection::new(handover.hysteresis.0),
            soft: handover.soft.as_ref().map(ActiveSet::new),
            compressed: handover.compressed_mode,
            without: dch.without_code,
            is_recorded: dch.has_one_tree()
                || config.admission_power.is_some()
                || handover.soft.is_some()
                || handover.compressed_mode.is_some(),
            events: Vec::new(),
        }
    }

    /// Begins a call in the best cell of `mobile`. Returns `None` if that cell has no code.
    pub fn admit(
        &mut self,
        codes: &mut DchCodes,
        mobile: Mobile,
        spreading_factor: u16,
        powers: &[f64],
    ) -> Option<CallLocation> {
        let cell = mobile.gains().best();
        let code = codes.take(cell, spreading_factor);
        self.note_step(cell, if code.is_some() { CallStep::Begun } else { CallStep::Blocked });
        let mut leg = RadioLink::new(cell, code?);
        leg.measure(mobile.gains(), powers);
        Some(CallLocation::new(mobile, leg))
    }

    /// Frees the codes of a call that ended.
    pub fn leave(&self, codes: &mut DchCodes, at: &CallLocation) {
        for leg in at.legs() {
            codes.release(leg.cell, leg.code);
        }
    }

    /// Updates the cells of a call after a measurement. Returns false if the call must be dropped.
    pub fn update_cells(
        &mut self,
        codes: &mut DchCodes,
        at: &mut CallLocation,
        spreading_factor: u16,
        powers: &[f64],
    ) -> bool {
        let factor = self.factor_of(at, spreading_factor);
        let stays = match self.soft {
            None => self.hard_handover(codes, at, factor),
            Some(set) => self.soft_handover(codes, &set, at, factor),
        };
        if let Some(mode) = self.compressed {
            self.compress(codes, &mode, at, spreading_factor);
        }
        let CallLocation { mobile, main, further, .. } = at;
        for leg in std::iter::once(main).chain(further) {
            leg.measure(mobile.gains(), powers);
        }
        stays
    }

    /// Changes to the best cell if that is better by the hysteresis. Returns false if the call must
    /// be dropped.
    pub fn hard_handover(
        &mut self,
        codes: &mut DchCodes,
        at: &mut CallLocation,
        spreading_factor: u16,
    ) -> bool {
        let Some(better) = self.selection.better(at.main.cell, at.mobile.gains()) else { return true };
        let Some(code) = codes.take(better, spreading_factor) else {
            self.note_step(better, CallStep::Refused);
            return self.is_kept(at);
        };
        codes.release(at.main.cell, at.main.code);
        at.main = RadioLink::new(better, code);
        self.note_step(better, CallStep::HandedOver);
        true
    }

    /// Adds cells to the active set and removes cells from it. The best cell becomes the main one.
    /// Returns false if the call must be dropped.
    fn soft_handover(
        &mut self,
        codes: &mut DchCodes,
        set: &ActiveSet,
        at: &mut CallLocation,
        spreading_factor: u16,
    ) -> bool {
        let gains = at.mobile.gains();
        let mut legs = std::mem::take(&mut at.further);
        legs.insert(0, at.main);
        for cell in set.wanted(gains) {
            if legs.iter().all(|leg| leg.cell != cell) {
                self.add(codes, set, &mut legs, cell, gains, spreading_factor);
            }
        }
        let gain = |leg: &RadioLink| gains.of(leg.cell);
        legs.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let good_legs = legs.iter().take_while(|leg| set.keeps(leg.cell, gains)).count();
        for leg in legs.drain(good_legs.max(1)..) {
            self.remove(codes, &leg);
        }
        at.main = legs.remove(0);
        at.main.share = 1.0;
        at.further = legs;
        // If no cell of the call is good enough, the better cells have refused the call.
        good_legs > 0 || self.is_kept(at)
    }

    /// Adds a cell, if it has a code. In a full set the cell replaces the worst one, if that is
    /// worse by the hysteresis.
    fn add(
        &mut self,
        codes: &mut DchCodes,
        set: &ActiveSet,
        legs: &mut Vec<RadioLink>,
        cell: CellId,
        gains: &Gains,
        spreading_factor: u16,
    ) {
        let gain = |leg: &RadioLink| gains.of(leg.cell);
        let is_full = legs.len() >= set.legs;
        let worst = (0..legs.len()).min_by(|&a, &b| gain(&legs[a]).total_cmp(&gain(&legs[b])));
        let replaced = worst.filter(|_| is_full);
        if replaced.is_some_and(|worst| !self.selection.is_better(legs[worst].cell, cell, gains)) {
            return;
        }
        let Some(code) = codes.take(cell, spreading_factor) else {
            return self.note_step(cell, CallStep::Refused);
        };
        if let Some(worst) = replaced {
            self.remove(codes, &legs.remove(worst));
        }
        legs.push(RadioLink::new(cell, code));
        self.note_step(cell, CallStep::LegAdded);
    }

    fn remove(&mut self, codes: &mut DchCodes, leg: &RadioLink) {
        codes.release(leg.cell, leg.code);
        self.note_step(leg.cell, CallStep::LegRemoved);
    }

    /// Whether a call stays in its cell after a better one has refused it: not if its own cell is
    /// out of reach, and only with [`WithoutCode::Kept`].
    fn is_kept(&mut self, at: &CallLocation) -> bool {
        let is_within_reach = at.mobile.gains().of(at.main.cell) > 0.0;
        let stays = self.without == WithoutCode::Kept && is_within_reach;
        if !stays {
            self.note_step(at.main.cell, CallStep::Dropped);
        }
        stays
    }

    /// Notes a call event of `cell`, if call events are recorded.
    pub fn note_step(&mut self, cell: CellId, step: CallStep) {
        if self.is_recorded {
            self.events.push((cell, step));
        }
    }

    /// The spreading factor that a call has now.
    fn factor_of(&self, at: &CallLocation, spreading_factor: u16) -> u16 {
        let is_half =
            at.is_compressed && self.compressed.is_some_and(|mode| mode.method == CompressedBy::HalfSf);
        if is_half { spreading_factor / 2 } else { spreading_factor }
    }

    /// Starts compressed mode of a call near another cell, if there are codes for it, or ends it.
    fn compress(
        &mut self,
        codes: &mut DchCodes,
        mode: &CompressedMode,
        at: &mut CallLocation,
        spreading_factor: u16,
    ) {
        let is_near = mode.is_near(at.main.cell, at.mobile.gains());
        if is_near == at.is_compressed {
            return;
        }
        if mode.method == CompressedBy::HalfSf {
            if !is_near {
                exchange_for_longer(codes, at, spreading_factor);
            } else if !exchange_for_shorter(codes, at, spreading_factor / 2) {
                return;
            }
        }
        at.is_compressed = is_near;
    }
}

/// Allocates codes of a smaller spreading factor to all legs. Returns false, without effect, if a
/// cell has none.
fn exchange_for_shorter(codes: &mut DchCodes, at: &mut CallLocation, spreading_factor: u16) -> bool {
    let mut taken = Vec::new();
    for leg in at.legs() {
        let Some(code) = codes.take(leg.cell, spreading_factor) else {
            at.legs().zip(taken).for_each(|(leg, code)| codes.release(leg.cell, code));
            return false;
        };
        taken.push(code);
    }
    for (leg, code) in at.legs_mut().zip(taken) {
        codes.release(leg.cell, std::mem::replace(&mut leg.code, code));
    }
    true
}

/// Allocates codes of a larger spreading factor to all legs. A released code has room for two.
fn exchange_for_longer(codes: &mut DchCodes, at: &mut CallLocation, spreading_factor: u16) {
    for leg in at.legs_mut() {
        codes.release(leg.cell, leg.code);
        leg.code = codes.take(leg.cell, spreading_factor).expect("the released code has room");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::phy::ovsf::Code;
    use crate::rnc::multicell::testing::{CELLS, active_sets, environment, mobile_between};
    use crate::rnc::multicell::{CodeLimit, DchConfig, FixedCodes};
    use crate::rnc::rrc::SoftHandover;

    const FACTOR: u16 = 32;
    const DSCH: Code = Code { spreading_factor: 4, number: 3 };
    const POWERS: [f64; CELLS] = [1e3; CELLS];

    /// Active sets, and the codes of their cells, all of which are free.
    fn with(soft: Option<SoftHandover>, without: WithoutCode) -> (ActiveSets, DchCodes) {
        let config = DchConfig {
            codes: CodeLimit::OneTree,
            common: None,
            without_code: without,
            ..DchConfig::default()
        };
        let codes = DchCodes::new(&config, &FixedCodes::new(&config, Some(DSCH), None), CELLS);
        (active_sets(soft, without), codes)
    }

    #[test]
    fn hard_handover_moves_the_code_to_the_better_cell() {
        let environment = environment();
        let (mut sets, mut codes) = with(None, WithoutCode::Kept);
        let mobile = mobile_between(&environment, [0, 0]);
        let mut at = sets.admit(&mut codes, mobile, FACTOR, &POWERS).expect("a code is free");
        let first = at.main.cell;
        at.mobile = mobile_between(&environment, [20, 20]);
        let better = at.mobile.gains().best();
        assert!(sets.update_cells(&mut codes, &mut at, FACTOR, &POWERS));
        assert_eq!((at.main.cell, codes.used(first.index())), (better, 0.0));
        assert_eq!(codes.used(better.index()), 1.0 / f64::from(FACTOR));
        assert_eq!(sets.events, [(first, CallStep::Begun), (better, CallStep::HandedOver)]);
        sets.leave(&mut codes, &at);
        assert_eq!(codes.used(better.index()), 0.0);
    }

    #[test]
    fn call_without_a_code_in_the_better_cell_stays_or_is_dropped() {
        let environment = environment();
        for (without, stays) in [(WithoutCode::Kept, true), (WithoutCode::Dropped, false)] {
            let (mut sets, mut codes) = with(None, without);
            let mobile = mobile_between(&environment, [0, 0]);
            let mut at = sets.admit(&mut codes, mobile, FACTOR, &POWERS).expect("a code is free");
            let first = at.main.cell;
            at.mobile = mobile_between(&environment, [1, 1]);
            let better = at.mobile.gains().best();
            while codes.take(better, FACTOR).is_some() {}
            assert_eq!(sets.update_cells(&mut codes, &mut at, FACTOR, &POWERS), stays);
            assert_eq!(at.main.cell, first);
            let dropped = (!stays).then_some((first, CallStep::Dropped));
            let refused = [(better, CallStep::Refused)].into_iter().chain(dropped);
            assert!(sets.events[1..].iter().copied().eq(refused), "{:?}", sets.events);
        }
    }

    #[test]
    fn call_between_two_cells_in_soft_handover_has_a_code_in_both() {
        let (mut sets, mut codes) = with(Some(SoftHandover::default()), WithoutCode::Kept);
        let mobile = mobile_between(&environment(), [0, 1]);
        let mut at = sets.admit(&mut codes, mobile, FACTOR, &POWERS).expect("a code is free");
        assert!(sets.update_cells(&mut codes, &mut at, FACTOR, &POWERS));
        let mut cells: Vec<u16> = at.legs().map(|leg| leg.cell.0).collect();
        cells.sort_unstable();
        assert_eq!(cells, [0, 1]);
        assert_eq!([0, 1].map(|cell| codes.used(cell)), [1.0 / f64::from(FACTOR); 2]);
        sets.leave(&mut codes, &at);
        assert_eq!([0, 1].map(|cell| codes.used(cell)), [0.0; 2]);
    }
}
