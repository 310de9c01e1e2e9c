//! Metrics of radio resource control (RRC): times and energy of the states of UEs, switches between
//! states, requests for DCHs, and the reserved capacity of cells.

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
    /// Power drawn in a state or during a switch.
    fn at(&self, current: StateOrSwitch) -> f64 {
        use RrcState::{CellDch, CellFach, CellPch, Idle, UraPch};
        match (current.state, current.towards) {
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

/// An RRC state, or a switch from this state to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StateOrSwitch {
    state: RrcState,
    /// The target of the switch. `None` if no switch is in progress.
    towards: Option<RrcState>,
}

#[derive(Debug, Default)]
struct Ue {
    power: StatePower,
    current: Option<StateOrSwitch>,
    /// When `current` began.
    since: Time,
    /// Time of the first request for the DCH that the UE currently needs.
    requested_at: Option<Time>,
}

/// The reserved capacity of a cell since its last change.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// When the reservation last changed.
    since: Time,
    /// Reserved rate on the downlink, in bit/s.
    downlink: u64,
    /// Number of DCHs.
    dchs: u32,
    /// Whether a further DCH would be refused.
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
        // 1 for an event inside the window and 0 outside: the addend of the counters.
        let in_window = u64::from(self.window.contains(at));
        let totals = &mut self.totals;
        match *event {
            TraceEvent::RrcState { ue, state } => {
                self.change_state(at, ue, StateOrSwitch { state, towards: None });
                let ue_state = &mut self.ues[ue.index()];
                if state == RrcState::CellDch
                    && let Some(requested_at) = ue_state.requested_at.take()
                    && in_window > 0
                {
                    self.totals.dch_waits.add(at - requested_at);
                }
            }
            TraceEvent::RrcSwitch { ue, from, to, cause } => {
                totals.switches[from as usize][to as usize] += in_window;
                totals.preemptions += if cause == SwitchCause::Preempted { in_window } else { 0 };
                self.change_state(at, ue, StateOrSwitch { state: from, towards: Some(to) });
            }
            TraceEvent::DchRequested { ue, again: is_repeated } => {
                totals.dch_requests += in_window;
                totals.dch_needs += if is_repeated { 0 } else { in_window };
                let ue_state = self.ue_mut(ue);
                if ue_state.current.is_some_and(|current| current.state != RrcState::CellDch) {
                    ue_state.requested_at.get_or_insert(at);
                }
            }
            TraceEvent::DchGranted { after_release, .. } => {
                totals.dch_grants += in_window;
                totals.dch_grants_after_release += if after_release { in_window } else { 0 };
            }
            TraceEvent::DchRefused { .. } => totals.dch_refusals += in_window,
            TraceEvent::DchQueued { .. } => totals.dch_queued += in_window,
            TraceEvent::DchWithdrawn { ue } => self.ue_mut(ue).requested_at = None,
            TraceEvent::CellReserved { cell, rates, dchs, is_full } => {
                let [downlink, _] = rates;
                self.change_reservation(at, usize::from(cell), Cell { since: at, downlink, dchs, is_full });
            }
            _ => {}
        }
    }

    fn ue_mut(&mut self, ue: UeId) -> &mut Ue {
        if ue.index() >= self.ues.len() {
            self.ues.resize_with(ue.index() + 1, Ue::default);
        }
        &mut self.ues[ue.index()]
    }

    /// Adds the time and the energy of the current state or switch, and begins the next one.
    fn change_state(&mut self, at: Time, ue: UeId, to: StateOrSwitch) {
        self.ue_mut(ue);
        let ue_state = &mut self.ues[ue.index()];
        if let Some(current) = ue_state.current {
            let time = self.window.overlap(ue_state.since, at);
            self.totals.add_time_in(current, time);
            self.totals.energy_j += ue_state.power.at(current) * time.as_secs();
        }
        (ue_state.current, ue_state.since) = (Some(to), at);
    }

    /// Adds the reserved rate and the DCHs of a cell since its last change, and begins the next
    /// reservation.
    fn change_reservation(&mut self, at: Time, number: usize, next: Cell) {
        if number >= self.cells.len() {
            self.cells.resize(number + 1, Cell { since: at, ..Cell::default() });
        }
        let previous = std::mem::replace(&mut self.cells[number], next);
        let time = self.window.overlap(previous.since, at);
        self.totals.reserved_bit_ns += u128::from(previous.downlink) * u128::from(time.as_nanos());
        self.totals.dch_time += time * u64::from(previous.dchs);
        self.totals.full += if previous.is_full { time } else { Duration::ZERO };
        // The new number counts from this instant on, if it is in the window.
        let is_in_window = self.window.contains(at);
        if !time.is_zero() || is_in_window {
            let max_dchs = if is_in_window { next.dchs.max(previous.dchs) } else { previous.dchs };
            self.totals.max_dchs = self.totals.max_dchs.max(u64::from(max_dchs));
        }
    }

    /// The totals of a run that ended at `end`: adds the current states and reservations up to
    /// `end`.
    pub fn finish(mut self, end: Time) -> CellTotals {
        self.totals.window = self.window.length();
        for number in 0..self.ues.len() {
            if let Some(current) = self.ues[number].current {
                self.change_state(end, UeId(number as u16), current);
            }
        }
        for number in 0..self.cells.len() {
            let cell = self.cells[number];
            self.change_reservation(end, number, Cell { since: end, ..cell });
        }
        self.totals
    }
}

impl CellTotals {
    /// Adds time in a state, or in a switch.
    fn add_time_in(&mut self, current: StateOrSwitch, time: Duration) {
        match current.towards {
            Some(_) => self.switching += time,
            None => self.time_in[current.state as usize] += time,
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
