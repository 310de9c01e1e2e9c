//! Metrics of the channel use of switched users, which are the UEs that RRC switches between common
//! channels (FACH) and a DCH: connections with a DCH, times until and after the switch, and octets
//! on the common channels.

use std::collections::BTreeMap;

use umts_stack::ids::{ConnectionId, Direction, ProxyLeg, UeId};
use umts_stack::rnc::rrc::RrcState;
use umts_stack::trace::TraceEvent;
use umts_units::{Duration, Time};

use super::totals::ChannelTotals;
use super::window::Window;

/// An open connection.
#[derive(Debug, Clone, Copy)]
struct Open {
    id: ConnectionId,
    since: Time,
    /// Whether its user was on a DCH when the connection opened.
    began_on_dch: bool,
    /// Whether the user had a DCH at some time since the opening.
    had_dch: bool,
    /// Whether a switch to a DCH has begun since the opening.
    has_switched: bool,
}

/// An allocation of a DCH that is not used yet.
#[derive(Debug, Clone, Copy)]
struct Allocation {
    at: Time,
    /// Whether the DCH of another user was released for it.
    after_release: bool,
}

/// State of a UE.
#[derive(Debug, Default)]
struct Ue {
    /// Whether RRC switches the UE. Other UEs are not recorded.
    is_switched: bool,
    /// Whether data continues during a switch between CELL_FACH and CELL_DCH.
    data_continues: bool,
    state: Option<RrcState>,
    /// Whether the UE is being switched from `state` to another one.
    is_switching: bool,
    /// Whether no data moves during the current switch.
    is_suspended: bool,
    open: Vec<Open>,
    /// Start of the current time on the common channels with an open connection.
    busy_on_common: Option<Time>,
    allocation: Option<Allocation>,
    /// Time of the last switch from the common channels to a DCH.
    reached_dch: Option<Time>,
}

impl Ue {
    /// Whether the UE is in `state`, and no switch is in progress.
    fn is_in(&self, state: RrcState) -> bool {
        self.state == Some(state) && !self.is_switching
    }
}

#[derive(Debug)]
pub(super) struct ChannelRecorder {
    window: Window,
    ues: Vec<Ue>,
    ue_of: BTreeMap<ConnectionId, UeId>,
    totals: ChannelTotals,
}

impl ChannelRecorder {
    /// Records the UEs for which `are_switched` is true.
    pub fn new(window: Window, are_switched: impl Iterator<Item = bool>, data_continues: &[bool]) -> Self {
        let continues = data_continues.iter().copied().chain(std::iter::repeat(false));
        let ues = are_switched.zip(continues).map(|(is_switched, data_continues)| Ue {
            is_switched,
            data_continues,
            ..Ue::default()
        });
        ChannelRecorder {
            window,
            ues: ues.collect(),
            ue_of: BTreeMap::new(),
            totals: ChannelTotals::default(),
        }
    }

    /// A connection of UE `number` opened.
    fn opened(&mut self, at: Time, id: ConnectionId, number: UeId) {
        let Some(ue) = self.ues.get_mut(number.index()).filter(|ue| ue.is_switched) else { return };
        let began_on_dch = ue.is_in(RrcState::CellDch);
        ue.open.push(Open { id, since: at, began_on_dch, had_dch: began_on_dch, has_switched: false });
        self.ue_of.insert(id, number);
        self.update_busy_time(at, number);
    }

    fn closed(&mut self, at: Time, id: ConnectionId) {
        let Some(number) = self.ue_of.remove(&id) else { return };
        let ue = &mut self.ues[number.index()];
        let position = ue
            .open
            .iter()
            .position(|open| open.id == id)
            .expect("the list of its UE contains an open connection");
        let open = ue.open.swap_remove(position);
        self.update_busy_time(at, number);
        if self.window.contains(at) {
            self.totals.connections += 1;
            self.totals.with_dch += u64::from(open.had_dch);
            self.totals.reused_dch += u64::from(open.began_on_dch);
        }
    }

    /// RLC delivered a downlink packet that entered RLC at `entered`. It waited for a switch if it
    /// entered before the UE reached the DCH.
    fn delivered(&mut self, at: Time, number: UeId, octets: u64, entered: Time) {
        let Some(ue) = self.ues.get(number.index()).filter(|ue| ue.is_switched) else { return };
        if !self.window.contains(at) {
            return;
        }
        self.totals.octets += octets;
        self.totals.octets_on_common += if ue.state == Some(RrcState::CellFach) { octets } else { 0 };
        let waited_for_switch = ue.reached_dch.is_some_and(|reached| entered <= reached);
        let delays = if waited_for_switch {
            &mut self.totals.delays_with_switch
        } else {
            &mut self.totals.delays_without_switch
        };
        delays.add(at - entered);
    }

    pub fn record(&mut self, at: Time, event: &TraceEvent) {
        let in_window = self.window.contains(at);
        match *event {
            TraceEvent::RrcState { ue: number, state } => {
                let Some(ue) = self.ues.get_mut(number.index()) else { return };
                let previous_state = ue.state.replace(state);
                (ue.is_switching, ue.is_suspended) = (false, false);
                if state == RrcState::CellDch {
                    for open in &mut ue.open {
                        open.had_dch = true;
                    }
                    if previous_state == Some(RrcState::CellFach) {
                        ue.reached_dch = Some(at);
                    }
                    if let Some(allocation) = ue.allocation.take()
                        && in_window
                    {
                        let set_ups = &mut self.totals.set_ups[usize::from(allocation.after_release)];
                        set_ups.add(at - allocation.at);
                    }
                }
                self.update_busy_time(at, number);
            }
            TraceEvent::RrcSwitch { ue: number, from, to, .. } => {
                let Some(ue) = self.ues.get_mut(number.index()) else { return };
                ue.is_switching = true;
                ue.is_suspended = !(ue.data_continues && from.carries_data() && to.carries_data());
                if to == RrcState::CellDch {
                    for open in ue.open.iter_mut().filter(|open| !open.has_switched && !open.had_dch) {
                        open.has_switched = true;
                        if in_window {
                            self.totals.until_switch.add(at - open.since);
                        }
                    }
                }
                self.update_busy_time(at, number);
            }
            TraceEvent::DchGranted { ue: number, after_release } => {
                if let Some(ue) = self.ues.get_mut(number.index()) {
                    ue.allocation = Some(Allocation { at, after_release });
                }
            }
            // The proxy's connection with the server does not use the radio channels.
            TraceEvent::ConnectionOpened { leg: ProxyLeg::Server, .. } => {}
            TraceEvent::ConnectionOpened { connection, ue, .. } => self.opened(at, connection, ue),
            TraceEvent::ConnectionClosed { connection } | TraceEvent::ConnectionFailed { connection, .. } => {
                self.closed(at, connection);
            }
            TraceEvent::SduDelivered { ue, direction: Direction::Downlink, size, entered, .. } => {
                self.delivered(at, ue, size.0, entered);
            }
            _ => {}
        }
    }

    /// Adds the time since the last event to the time on the common channels with an open
    /// connection.
    fn update_busy_time(&mut self, at: Time, number: UeId) {
        let ue = &mut self.ues[number.index()];
        let is_busy = ue.state == Some(RrcState::CellFach) && !ue.is_suspended && !ue.open.is_empty();
        if let Some(since) = ue.busy_on_common.take() {
            self.totals.busy_on_common += self.window.overlap(since, at);
        }
        ue.busy_on_common = is_busy.then_some(at);
    }

    pub fn finish(mut self, end: Time) -> ChannelTotals {
        for number in 0..self.ues.len() {
            self.update_busy_time(end, UeId(number as u16));
        }
        self.totals
    }
}

impl ChannelTotals {
    /// Rate of data to users on the common channels while they had an open connection.
    pub fn common_kbps(&self) -> Option<f64> {
        let time = self.busy_on_common;
        (time > Duration::ZERO).then(|| self.octets_on_common as f64 * 8.0 / time.as_secs() / 1e3)
    }
}

#[cfg(test)]
mod tests;
