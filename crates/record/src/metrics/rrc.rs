//! Radio resource control: states of users, their switches, and the reserved capacity of cells.

use umts_stack::ids::UeId;
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::{SwitchCause, TraceEvent};
use umts_units::{Duration, Time};

use super::totals::CellTotals;
use super::window::Window;

/// Power drawn by a device, in watts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StatePower {
    /// Power in idle mode.
    pub idle: f64,
    /// Power in URA_PCH.
    pub ura_pch: f64,
    /// Power in CELL_PCH.
    pub cell_pch: f64,
    /// Power in CELL_FACH.
    pub cell_fach: f64,
    /// Power in CELL_DCH.
    pub cell_dch: f64,
    /// Power during a promotion from a PCH state or idle mode.
    pub promotion_from_idle: f64,
    /// Power during a promotion from CELL_FACH.
    pub promotion_from_fach: f64,
}

impl StatePower {
    /// Power drawn in this state or switch.
    fn at(&self, place: Place) -> f64 {
        use RrcState::{CellDch, CellFach, CellPch, Idle, UraPch};
        match (place.state, place.towards) {
            (CellFach, Some(CellDch)) => self.promotion_from_fach,
            (Idle | UraPch | CellPch, Some(CellFach | CellDch)) => self.promotion_from_idle,
            (Idle, _) => self.idle,
            (UraPch, _) => self.ura_pch,
            (CellPch, _) => self.cell_pch,
            (CellFach, _) => self.cell_fach,
            (CellDch, _) => self.cell_dch,
        }
    }
}

/// A state, or a switch from it to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    state: RrcState,
    towards: Option<RrcState>,
}

#[derive(Debug, Default)]
struct Ue {
    power: StatePower,
    place: Option<Place>,
    since: Time,
    /// Time of the first request for the DCH that the UE needs now.
    asked: Option<Time>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    since: Time,
    downlink: u64,
    dchs: u32,
    is_full: bool,
}

#[derive(Debug)]
pub(super) struct RrcRecorder {
    pub window: Window,
    ues: Vec<Ue>,
    cells: Vec<Cell>,
    totals: CellTotals,
}

impl RrcRecorder {
    pub fn new(window: Window, power: Vec<Option<StatePower>>) -> Self {
        let switched = power.iter().flatten().count() as u64;
        let ues = power.into_iter().map(|power| Ue { power: power.unwrap_or_default(), ..Ue::default() });
        let totals = CellTotals { switched, ..CellTotals::default() };
        RrcRecorder { window, ues: ues.collect(), cells: Vec::new(), totals }
    }

    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        let counts = u64::from(self.window.contains(at));
        let totals = &mut self.totals;
        match *event {
            TraceEvent::RrcState { ue, state } => {
                self.moves(at, ue, Place { state, towards: None });
                let of = &mut self.ues[ue.index()];
                if state == RrcState::CellDch
                    && let Some(asked) = of.asked.take()
                    && counts > 0
                {
                    self.totals.dch_waits.add(at - asked);
                }
            }
            TraceEvent::RrcSwitch { ue, from, to, cause } => {
                totals.switches[from as usize][to as usize] += counts;
                totals.preemptions += if cause == SwitchCause::Preempted { counts } else { 0 };
                self.moves(at, ue, Place { state: from, towards: Some(to) });
            }
            TraceEvent::DchRequested { ue, again } => {
                totals.dch_requests += counts;
                totals.dch_needs += if again { 0 } else { counts };
                let of = self.of(ue);
                if of.place.is_some_and(|place| place.state != RrcState::CellDch) {
                    of.asked.get_or_insert(at);
                }
            }
            TraceEvent::DchGranted { after_release, .. } => {
                totals.dch_grants += counts;
                totals.dch_grants_after_release += if after_release { counts } else { 0 };
            }
            TraceEvent::DchRefused { .. } => totals.dch_refusals += counts,
            TraceEvent::DchQueued { .. } => totals.dch_queued += counts,
            TraceEvent::DchWithdrawn { ue } => self.of(ue).asked = None,
            TraceEvent::CellReserved { cell, rates, dchs, is_full } => {
                self.reserves(at, usize::from(cell), Cell { since: at, downlink: rates[0], dchs, is_full });
            }
            _ => {}
        }
    }

    fn of(&mut self, ue: UeId) -> &mut Ue {
        if ue.index() >= self.ues.len() {
            self.ues.resize_with(ue.index() + 1, Ue::default);
        }
        &mut self.ues[ue.index()]
    }

    fn moves(&mut self, at: Time, ue: UeId, to: Place) {
        self.of(ue);
        let of = &mut self.ues[ue.index()];
        if let Some(place) = of.place {
            self.totals.stay(place.state, place.towards.is_some(), self.window.overlap(of.since, at));
            self.totals.energy_j += of.power.at(place) * self.window.overlap(of.since, at).as_secs();
        }
        (of.place, of.since) = (Some(to), at);
    }

    fn reserves(&mut self, at: Time, number: usize, now: Cell) {
        if number >= self.cells.len() {
            self.cells.resize(number + 1, Cell { since: at, ..Cell::default() });
        }
        let before = std::mem::replace(&mut self.cells[number], now);
        let time = self.window.overlap(before.since, at);
        self.totals.reserved_bit_ns += u128::from(before.downlink) * u128::from(time.as_nanos());
        self.totals.dch_time += time * u64::from(before.dchs);
        self.totals.full += if before.is_full { time } else { Duration::ZERO };
        if !time.is_zero() || self.window.contains(at) {
            let most = if self.window.contains(at) { now.dchs.max(before.dchs) } else { before.dchs };
            self.totals.most_dchs = self.totals.most_dchs.max(u64::from(most));
        }
    }

    pub fn finish(mut self, end: Time) -> CellTotals {
        self.totals.window = self.window.length();
        for number in 0..self.ues.len() {
            if let Some(place) = self.ues[number].place {
                self.moves(end, UeId(number as u16), place);
            }
        }
        for number in 0..self.cells.len() {
            let cell = self.cells[number];
            self.reserves(end, number, Cell { since: end, ..cell });
        }
        self.totals
    }
}

impl CellTotals {
    /// Adds time in `state`, or in a switch from it.
    fn stay(&mut self, state: RrcState, switching: bool, time: Duration) {
        if switching {
            self.switching += time;
        } else {
            self.time_in[state as usize] += time;
        }
    }

    /// Number of switches between these states.
    pub fn switches_of(&self, from: &[RrcState], to: &[RrcState]) -> u64 {
        let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        pairs.map(|(from, to)| self.switches[from as usize][to as usize]).sum()
    }

    /// Mean of `time` per switched user.
    pub fn per_user_s(&self, time: Duration) -> Option<f64> {
        (self.switched > 0).then(|| time.as_secs() / self.switched as f64)
    }
}

#[cfg(test)]
mod tests;
