//! Users of DSCHs: their positions, and the cells that serve them. Users with data are measured
//! periodically. The others are measured when they get data, so an idle user costs nothing.

use std::collections::VecDeque;

use umts_units::Time;

use super::HandoverConfig;
use crate::environment::{Environment, Mobile, MobilityConfig};
use crate::ids::{CellId, UeId};
use crate::radio::phy::ovsf::Code;
use crate::rnc::calls::PowerControlLoops;
use crate::rnc::mac_sh::Decision;
use crate::rnc::rrc::CellSelection;

/// How a UE changes its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellChange {
    /// Hard handover: the transmission to the UE is interrupted.
    Hard,
    /// The new cell has sent to the UE before: nothing is interrupted.
    Soft,
    /// The UE on common channels selects the cell and informs the RNC by a cell update.
    Reselection,
    /// No cell in reach has a code for the DCH of a switched UE: its radio link fails, and it
    /// selects the best cell.
    DchLost,
}

/// A change of cells that UTRAN must execute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handover {
    pub ue: UeId,
    pub from: CellId,
    pub to: CellId,
    pub config: HandoverConfig,
    pub change: CellChange,
}

/// A user of a DSCH.
#[derive(Debug)]
pub(super) struct User {
    pub mobile: Mobile,
    pub cell: CellId,
    /// Path gain from its cell, as of the last measurement.
    pub gain: f64,
    /// First turn in which the next TTI of the user can begin, if the DSCH is scheduled every
    /// frame.
    pub free_from: u64,
    /// Code of the associated DCH.
    pub dch: Option<Code>,
    /// Outer loop of power control.
    pub loops: PowerControlLoops,
    /// Whether the user is in the list of measured users.
    is_measured: bool,
}

/// All users of DSCHs.
#[derive(Debug)]
pub(super) struct Mobility {
    pub environment: Environment,
    /// By UE. `None` for UEs outside the layout.
    users: Vec<Option<User>>,
    /// Measured users, by the turn of the period in which they are measured.
    measured: Vec<Vec<UeId>>,
    selection: CellSelection,
    config: HandoverConfig,
    /// Handovers that UTRAN has not executed yet.
    pub handovers: VecDeque<Handover>,
}

impl Mobility {
    /// Each user starts in its best cell. Measurements are repeated after `period` turns.
    pub fn new(
        environment: Environment,
        config: HandoverConfig,
        mobilities: &[Option<MobilityConfig>],
        period: u64,
    ) -> Self {
        let user = |(ue, mobility): (usize, &Option<MobilityConfig>)| {
            let mut mobile = environment.appear(ue as u64, mobility.as_ref()?, None, Time::ZERO);
            environment.measure(&mut mobile, Time::ZERO);
            let cell = mobile.gains().best();
            let (gain, loops) = (mobile.gains().of(cell), PowerControlLoops::default());
            Some(User { mobile, cell, gain, free_from: 0, dch: None, loops, is_measured: false })
        };
        Mobility {
            users: mobilities.iter().enumerate().map(user).collect(),
            measured: vec![Vec::new(); period as usize],
            selection: CellSelection::new(config.hysteresis.0),
            config,
            handovers: VecDeque::new(),
            environment,
        }
    }

    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        self.users.get(ue.index())?.as_ref().map(|user| user.cell)
    }

    pub fn user(&self, ue: UeId) -> &User {
        self.users[ue.index()].as_ref().expect("users of a DSCH are in a layout")
    }

    pub fn user_mut(&mut self, ue: UeId) -> &mut User {
        self.users[ue.index()].as_mut().expect("users of a DSCH are in a layout")
    }

    /// The users that are measured, which have data.
    pub fn measured(&self) -> impl Iterator<Item = UeId> {
        self.measured.iter().flatten().copied()
    }

    /// Starts measuring `ue`. Returns false if it is measured already.
    pub fn start_measuring(&mut self, ue: UeId) -> bool {
        let is_new = !std::mem::replace(&mut self.user_mut(ue).is_measured, true);
        if is_new {
            let period = self.measured.len();
            self.measured[ue.index() % period].push(ue);
        }
        is_new
    }

    /// Removes and returns the users that are measured in turn number `turn`. The caller must pass
    /// those with data to [`start_measuring`](Self::start_measuring) again.
    pub fn due(&mut self, turn: u64) -> Vec<UeId> {
        let phase = (turn % self.measured.len() as u64) as usize;
        let due = std::mem::take(&mut self.measured[phase]);
        due.iter().for_each(|&ue| self.user_mut(ue).is_measured = false);
        due
    }

    /// Measures a user. Returns its former cell if another one is better, to which it moves.
    pub fn measure(&mut self, now: Time, ue: UeId) -> Option<CellId> {
        let Mobility { environment, users, selection, .. } = self;
        let user = users[ue.index()].as_mut().expect("users of a DSCH are in a layout");
        environment.measure(&mut user.mobile, now);
        let gains = user.mobile.gains();
        let (from, better) = (user.cell, selection.better(user.cell, gains));
        user.gain = gains.of(better.unwrap_or(from));
        user.cell = better?;
        let (to, config) = (user.cell, self.config);
        self.handovers.push_back(Handover { ue, from, to, config, change: CellChange::Hard });
        Some(from)
    }
}

impl User {
    /// Whether a TTI of user `ue` can begin in turn number `turn`.
    #[inline]
    pub fn can_start(&self, ue: UeId, decision: Decision, turn: u64) -> bool {
        match decision {
            Decision::EachTti => true,
            Decision::EachFrame => u64::from(ue.0) % 2 == turn % 2,
            Decision::AnyFrame => self.free_from <= turn,
        }
    }

    /// Power received from cells other than its own, in mW, if the cells send `powers`.
    pub fn interference(&self, powers: &[f64]) -> f64 {
        self.mobile.gains().from_others(powers, self.cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rnc::multicell::testing::{HANDOVER, environment};

    const PERIOD: u64 = 5;

    fn mobility(ues: usize) -> Mobility {
        Mobility::new(environment(), HANDOVER, &vec![Some(MobilityConfig::Still); ues], PERIOD)
    }

    #[test]
    fn user_with_data_is_measured_once_per_period() {
        let mut mobility = mobility(7);
        assert!(mobility.start_measuring(UeId(6)) && !mobility.start_measuring(UeId(6)));
        assert!(mobility.start_measuring(UeId(1)));
        let due: Vec<_> = (0..PERIOD).map(|tti| mobility.due(tti)).collect();
        assert_eq!(due, [vec![], vec![UeId(6), UeId(1)], vec![], vec![], vec![]]);
        // Without data they are not measured again.
        assert_eq!((mobility.due(6), mobility.measured().count()), (vec![], 0));
        assert!(mobility.start_measuring(UeId(6)));
    }

    #[test]
    fn user_that_stands_still_keeps_its_best_cell() {
        let mut mobility = mobility(20);
        for ue in (0..20).map(UeId) {
            let cell = mobility.user(ue).cell;
            assert_eq!(mobility.measure(Time::ZERO, ue), None);
            assert_eq!((mobility.user(ue).cell, mobility.user(ue).mobile.gains().best()), (cell, cell));
        }
        assert!(mobility.handovers.is_empty());
    }

    #[test]
    fn user_in_a_worse_cell_is_handed_over() {
        let mut mobility = mobility(1);
        let best = mobility.user(UeId(0)).cell;
        let worse = CellId((best.0 + 18) % 36);
        mobility.user_mut(UeId(0)).cell = worse;
        assert_eq!(mobility.measure(Time::ZERO, UeId(0)), Some(worse));
        let handover = mobility.handovers.pop_front().expect("it is to be executed");
        assert_eq!((handover.from, handover.to, mobility.user(UeId(0)).cell), (worse, best, best));
    }
}
