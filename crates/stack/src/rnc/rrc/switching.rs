//! Switches between states: what happens when a state is left and when the next one is entered.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::{Measured, Order, Phase, RlcAtSwitch, Rrc};
use crate::Context;
use crate::radio::RrcState;
use crate::trace::{CellUpdateCause, SwitchCause, TraceEvent};

impl Rrc {
    /// Starts a switch to state `to`. `after`: time until the DCH of another UE is released, which the
    /// switch has to wait for.
    pub(super) fn begin_switch<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        to: RrcState,
        after: Duration,
        cause: SwitchCause,
    ) {
        let Phase::In(from) = self.phase else { return };
        let until = cx.now + after + self.config.delay(from, to);
        self.leave(cx, Phase::Switching { from, to, until }, cause);
        let is_between_data_states = from.carries_data() && to.carries_data();
        let data_continues = self.config.data_continues() && is_between_data_states;
        if !data_continues {
            self.orders.push_back(Order::Suspend);
        }
    }

    /// Whether a cell update is in progress. It is a switch to CELL_FACH that no timer ends.
    pub(super) fn is_in_cell_update(&self) -> bool {
        matches!(self.phase, Phase::Switching { until, .. } if until == Time::NEVER)
    }

    /// Starts a cell update, which ends in CELL_FACH or in idle mode.
    pub(super) fn update_cell<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        cause: CellUpdateCause,
    ) {
        let Phase::In(from) = self.phase else { return };
        let switching = Phase::Switching { from, to: RrcState::CellFach, until: Time::NEVER };
        self.leave(cx, switching, SwitchCause::CellUpdate);
        self.orders.extend([Order::Suspend, Order::UpdateCell(cause)]);
    }

    /// Leaves the current state for `phase`, a switch.
    fn leave<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, phase: Phase, cause: SwitchCause) {
        let Phase::Switching { from, to, .. } = phase else { return };
        let ue = self.ue;
        cx.record(|| TraceEvent::RrcSwitch { ue, from, to, cause });
        self.phase = phase;
        self.trigger = None;
        self.paged_at = None;
        if to != RrcState::CellDch {
            self.forget_need(cx);
        }
    }

    /// Enters `state` at the end of a switch, or at the start of the run.
    pub(super) fn enter<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        state: RrcState,
        measured: Measured,
    ) {
        self.enter_with(cx, state, measured, false);
    }

    /// Like [`enter`](Self::enter). With `keeps_rlc` RLC continues after a cell update.
    pub(super) fn enter_with<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        state: RrcState,
        measured: Measured,
        keeps_rlc: bool,
    ) {
        let from = match self.phase {
            Phase::Switching { from, .. } => Some(from),
            Phase::In(_) => None,
        };
        let ends_cell_update = self.is_in_cell_update() && !keeps_rlc;
        self.phase = Phase::In(state);
        self.since = cx.now;
        self.barred_until = cx.now;
        self.window.end = Time::NEVER;
        let ue = self.ue;
        cx.record(|| TraceEvent::RrcState { ue, state });
        if from == Some(RrcState::CellDch) {
            let keeps_a_dch = state == RrcState::CellDch;
            self.orders.push_back(if keeps_a_dch { Order::ChangeDch(self.dch) } else { Order::ReleaseDch });
        }
        let reestablishes = from.is_some_and(|from| ends_cell_update || self.reestablishes_rlc(from, state));
        if reestablishes {
            self.orders.push_back(Order::Reestablish);
        }
        match state {
            RrcState::CellDch => {
                self.requested = false;
                self.open_window(cx.now, measured);
                self.orders.push_back(Order::UseDch(self.dch));
            }
            RrcState::CellFach => self.orders.push_back(Order::UseCommon),
            RrcState::CellPch | RrcState::UraPch | RrcState::Idle => self.orders.push_back(Order::Suspend),
        }
        // A failure during the switch has no effect on an RLC that was re-established.
        match self.failure_in_switch.take().filter(|_| !reestablishes) {
            Some(cause) => self.update_cell(cx, cause),
            None => self.evaluate(cx, measured),
        }
    }

    /// Whether a switch re-establishes RLC: a change of the channel if it is configured, and a release of
    /// the connection, because idle mode has no bearer.
    fn reestablishes_rlc(&self, from: RrcState, to: RrcState) -> bool {
        let changes_channel = from.carries_data() && to.carries_data();
        let is_configured = self.config.rlc_at_switch == RlcAtSwitch::Reestablished;
        to == RrcState::Idle || (changes_channel && is_configured)
    }
}
