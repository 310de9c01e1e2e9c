//! The users of DSCHs: their positions, their cells, and whether they are measured.

use umts_units::{Bytes, Time};

use super::{HandoverConfig, Multicell, ready};
use crate::environment::{Environment, Mobile, MobilityConfig};
use crate::ids::{CellId, Direction, UeId};
use crate::radio::phy::ovsf::Code;
use crate::rnc::calls::PowerControlLoops;
use crate::rnc::mac_sh::Decision;
use crate::ue::Ues;

/// A handover that UTRAN must execute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handover {
    pub ue: UeId,
    pub from: CellId,
    pub to: CellId,
    pub config: HandoverConfig,
}

/// One user.
#[derive(Debug)]
pub(super) struct User {
    pub mobile: Mobile,
    pub cell: CellId,
    /// The share of its cell's power that arrives, as last measured.
    pub gain: f64,
    /// Where it is decided each frame: whether TTIs of its begin with odd ones, and the first turn after the last of them.
    is_odd: bool,
    pub free_from: u64,
    /// The code of the DCH beside its DSCH, where that is charged.
    pub dch: Option<Code>,
    /// The outer loop of its power control.
    pub loops: PowerControlLoops,
    /// Whether it is measured each 100 ms.
    is_awake: bool,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Users {
    /// By UE; none for those that are not in the layout.
    list: Vec<Option<User>>,
    /// Users that are measured, by the TTI in which that is done.
    awake: Vec<Vec<UeId>>,
}

impl Users {
    /// Each where it is at the beginning, in its best cell.
    pub fn new(environment: &Environment, mobilities: &[Option<MobilityConfig>], phases: usize) -> Self {
        let user = |(ue, mobility): (usize, &Option<MobilityConfig>)| {
            let mut mobile = environment.appear(ue as u64, mobility.as_ref()?, None, Time::ZERO);
            environment.measure(&mut mobile, Time::ZERO);
            let cell = mobile.gains().best();
            let (gain, loops) = (mobile.gains().of(cell), PowerControlLoops::default());
            let (is_odd, free_from) = (ue % 2 == 1, 0);
            Some(User { mobile, cell, gain, is_odd, free_from, dch: None, loops, is_awake: false })
        };
        let list = mobilities.iter().enumerate().map(user).collect();
        Users { list, awake: vec![Vec::new(); phases] }
    }

    pub fn cell_of(&self, ue: UeId) -> Option<CellId> {
        self.list.get(ue.index())?.as_ref().map(|user| user.cell)
    }

    /// Those with something in RLC.
    pub fn awake(&self) -> impl Iterator<Item = UeId> {
        self.awake.iter().flatten().copied()
    }

    /// One that has something on a DSCH.
    pub fn get(&self, ue: UeId) -> &User {
        self.list[ue.index()].as_ref().expect("users of a DSCH are in a layout")
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, ue: UeId) -> &mut User {
        self.list[ue.index()].as_mut().expect("users of a DSCH are in a layout")
    }
}

impl User {
    /// Whether a TTI of its may begin with turn number `turn`.
    #[inline]
    pub fn is_decided_on(&self, decision: Decision, turn: u64) -> bool {
        match decision {
            Decision::EachTti => true,
            Decision::EachFrame => self.is_odd == (turn % 2 == 1),
            Decision::AnyFrame => self.free_from <= turn,
        }
    }

    /// What it receives from cells that are not its own and send `powers`, in mW.
    pub fn interference(&self, powers: &[f64]) -> f64 {
        self.mobile.gains().from_others(powers, self.cell)
    }
}

impl Multicell {
    /// `ue` has data for its DSCH. A user that had none is measured first, which may cause a handover.
    pub(super) fn user_has_data(&mut self, now: Time, ue: UeId) {
        let user = self.users.get_mut(ue);
        if !std::mem::replace(&mut user.is_awake, true) {
            self.users.awake[(u64::from(ue.0) % self.phases) as usize].push(ue);
            self.measure(now, ue);
        }
        self.open_associated(ue);
        ready::insert(&mut self.cells[self.users.get(ue).cell.index()].ready, ue);
    }

    /// Measures the users and calls of this TTI. Users without data are not measured again until they
    /// have data.
    pub(super) fn measure_all(&mut self, now: Time, ues: &Ues) {
        let phase = self.tti % self.phases;
        let mut awake = std::mem::take(&mut self.users.awake[phase as usize]);
        awake.retain(|&ue| {
            let holds =
                |direction: Direction| ues[ue].rlc[direction.index()].buffer_occupancy() > Bytes::ZERO;
            let stays = Direction::BOTH.into_iter().any(holds);
            self.users.get_mut(ue).is_awake = stays;
            if stays {
                self.measure(now, ue);
            } else {
                self.close_associated(ue, self.users.get(ue).cell);
            }
            stays
        });
        self.users.awake[phase as usize] = awake;
        self.look_at_calls(now, phase);
    }

    /// Measures a user, and moves it to another cell if that is better.
    fn measure(&mut self, now: Time, ue: UeId) {
        let user = self.users.get_mut(ue);
        self.environment.measure(&mut user.mobile, now);
        let gains = user.mobile.gains();
        let (from, better) = (user.cell, self.dchs.selection.better(user.cell, gains));
        user.gain = gains.of(better.unwrap_or(from));
        let Some(to) = better else { return };
        user.cell = to;
        let [old, new] = self.cells.get_disjoint_mut([from.index(), to.index()]).expect("two cells");
        if ready::remove(&mut old.ready, ue) {
            ready::insert(&mut new.ready, ue);
        }
        if let Some(credit) = old.mac.leave(ue) {
            new.mac.join(ue, credit);
        }
        self.close_associated(ue, from);
        self.handovers.push_back(Handover { ue, from, to, config: self.handover });
    }

    /// The next handover to execute.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.handovers.pop_front()
    }

    /// The same for calls, which have nothing to lose; they come and go.
    fn look_at_calls(&mut self, now: Time, phase: u64) {
        let Multicell { environment, call_classes, dchs, before, phases, .. } = self;
        for class in call_classes {
            let (names, mobility, spreading_factor) = (class.names, &class.mobility, class.spreading_factor);
            class.calls.end_until(now, |call| dchs.leave(&call.at));
            class.calls.begin_until(now, |number| {
                let mut mobile = environment.appear(names + number, mobility, None, now);
                environment.measure(&mut mobile, now);
                dchs.admit(mobile, spreading_factor, before)
            });
            let mut is_dropped = false;
            for call in class.calls.under_way_mut().iter_mut().filter(|call| call.number % *phases == phase) {
                environment.measure(&mut call.at.mobile, now);
                if !dchs.follow(&mut call.at, spreading_factor, before) {
                    call.drop_at(now);
                    is_dropped = true;
                }
            }
            if is_dropped {
                class.calls.sweep(now, |call| dchs.leave(&call.at));
            }
        }
    }
}
