//! Radio resource control of one UE: TS 25.331 §7 (states), §14.4 (traffic volume). Decides which
//! channels carry the UE's data, and when no channel does.
//!
//! ```text
//!                 buffer above the threshold, DCH admitted
//!   CELL_FACH ────────────────────────────────────────────► CELL_DCH
//!     │   ▲   ◄────────────────────────────────────────────
//!     │   │          no data for both timers, or preempted
//!     │   │ data from the UE, or paging          (promotion may lead directly to CELL_DCH)
//!     ▼   │
//!   CELL_PCH ─► URA_PCH ─► idle                  by timers; each may be skipped
//! ```
//!
//! A cell update (`cell_update.rs`) leads from any state except idle mode to CELL_FACH, or to idle mode
//! if it is not answered. After a cell reselection in CELL_PCH it leads back there. `evaluation.rs`
//! decides about switches, `switching.rs` makes them.
//!
//! Messages are not exchanged: a switch takes its configured delay and no capacity on the air. The RNC
//! and the UE share one state. After any `handle_*`, call [`Rrc::poll_order`] until it returns `None`,
//! and [`Rrc::handle_timeout`] at [`Rrc::poll_timeout`].

mod active_set;
mod cell_selection;
mod cell_update;
mod compressed_mode;
mod config;
mod evaluation;
mod order;
mod radio_link;
mod switching;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

pub use active_set::{ActiveSet, SoftHandover};
pub use cell_selection::CellSelection;
pub use cell_update::{CellUpdate, ConnectionConfig, RadioLinkConfig};
pub use compressed_mode::{CompressedBy, CompressedMode};
pub use config::{
    DataWhileSwitching, DchRates, Measured, Promotion, RestingState, RlcAtSwitch, RlcUnrecoverableError,
    RrcConfig, StatePower, TrafficVolume,
};
pub use order::{Answer, Order};
pub use radio_link::{FRAME, RadioLinkSupervision};

pub use crate::radio::RrcState;

use crate::Context;
use crate::ids::UeId;
use crate::trace::{CellUpdateCause, CellUpdateOutcome, SwitchCause, TraceEvent};

/// A state, or a switch between two states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    In(RrcState),
    /// `until`: end of the switch. `Time::NEVER` for a cell update, which no timer ends.
    Switching {
        from: RrcState,
        to: RrcState,
        until: Time,
    },
}

/// The window over which the throughput of a DCH is measured.
#[derive(Debug, Clone, Copy)]
struct ThroughputWindow {
    /// End of the window. `Time::NEVER`: nothing is measured.
    end: Time,
    /// Bits carried until the start of the window, by direction.
    carried_at_start: [u64; 2],
}

/// RRC of one UE.
#[derive(Debug, Clone)]
pub struct Rrc {
    ue: UeId,
    config: Arc<RrcConfig>,

    // State.
    phase: Phase,
    /// Start of the current state.
    since: Time,
    /// End of the last TTI with data.
    active_until: Time,
    /// DCH in use, or to which the UE is switching: index in the configured DCHs.
    dch: u8,
    /// Throughput of the DCH in use.
    window: ThroughputWindow,

    // Need for a DCH, or for a larger one.
    /// Time at which a DCH is requested if the need for it lasts until then.
    trigger: Option<Time>,
    /// No DCH is requested before this time.
    barred_until: Time,
    /// Whether a DCH was requested since the need for it began.
    requested: bool,
    /// Whether the request waits in the cell's queue.
    queued: bool,

    /// Time at which the UE is paged for downlink data.
    paged_at: Option<Time>,
    /// Cause of a failure during a switch. The cell update starts when the switch ends.
    failure_in_switch: Option<CellUpdateCause>,
    /// Orders to execute, in order.
    orders: VecDeque<Order>,
}

/// Expiry of an inactivity timer.
#[derive(Debug, Clone, Copy)]
struct Inactivity {
    expires_at: Time,
    /// The state that follows.
    next_state: RrcState,
}

impl Rrc {
    /// RRC of `ue`, before [`handle_start`](Self::handle_start).
    ///
    /// # Panics
    /// Panics if the configuration has no DCH.
    pub fn new(ue: UeId, config: Arc<RrcConfig>) -> Self {
        assert!(!config.dch_rates.is_empty(), "there is a DCH to switch to");
        Rrc {
            ue,
            phase: Phase::In(config.initial_state.into()),
            config,
            since: Time::ZERO,
            active_until: Time::ZERO,
            dch: 0,
            window: ThroughputWindow { end: Time::NEVER, carried_at_start: [0; 2] },
            trigger: None,
            barred_until: Time::ZERO,
            requested: false,
            queued: false,
            paged_at: None,
            failure_in_switch: None,
            orders: VecDeque::new(),
        }
    }

    /// Handles the start of the run.
    pub fn handle_start<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, measured: Measured) {
        self.enter(cx, self.config.initial_state.into(), measured);
    }

    /// Whether the RLC buffers have no effect in the current state, so that they need not be measured.
    #[inline]
    pub fn ignores_buffers(&self) -> bool {
        match self.phase {
            Phase::Switching { .. } => true,
            Phase::In(state) => state == RrcState::CellDch && self.config.rate_upswitch_threshold.is_none(),
        }
    }

    /// Whether [`handle_buffers`](Self::handle_buffers) must also be called when blocks leave. True
    /// during the time to trigger, because the need for a DCH ends when the traffic volume falls below
    /// the threshold.
    #[inline]
    pub fn awaits_fall(&self) -> bool {
        self.trigger.is_some() && self.config.traffic_volume == TrafficVolume::BufferOccupancy
    }

    /// Handles a change of the RLC buffers. Returns whether the change was evaluated. If so, orders or
    /// timers may have changed.
    #[inline]
    pub fn handle_buffers<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        measured: Measured,
    ) -> bool {
        let is_on_fach = self.phase == Phase::In(RrcState::CellFach);
        let is_without_need = || is_on_fach && self.trigger.is_none() && !self.needs_dch(&measured);
        if self.ignores_buffers() || is_without_need() {
            return false;
        }
        self.active_until = measured.active_until;
        self.evaluate(cx, measured);
        true
    }

    /// Handles the timers that are due.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, measured: Measured) {
        self.active_until = measured.active_until;
        match self.phase {
            Phase::Switching { to, until, .. } if until <= cx.now => self.enter(cx, to, measured),
            Phase::Switching { .. } => {}
            Phase::In(state) => match self.inactivity(state).filter(|timer| timer.expires_at <= cx.now) {
                Some(Inactivity { next_state, .. }) => {
                    self.handle_inactivity(cx, state, next_state, measured)
                }
                None => self.evaluate(cx, measured),
            },
        }
    }

    /// Handles the expiry of the inactivity timer of `state`.
    fn handle_inactivity<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        state: RrcState,
        next_state: RrcState,
        measured: Measured,
    ) {
        let has_data = measured.buffered.iter().any(|octets| octets.0 > 0);
        let waits_for_common_channels = has_data && state != RrcState::CellDch;
        if waits_for_common_channels {
            // The UE is not inactive. The timer starts again.
            self.since = cx.now;
            self.evaluate(cx, measured);
        } else {
            self.begin_switch(cx, next_state, Duration::ZERO, SwitchCause::Inactivity);
        }
    }

    /// Handles an answer of admission.
    pub fn handle_answer<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, answer: Answer) {
        let ue = self.ue;
        let was_queued = std::mem::replace(&mut self.queued, answer == Answer::Queued);
        let Phase::In(state) = self.phase else {
            debug_assert!(
                !matches!(answer, Answer::Granted { .. }),
                "nothing is granted to a UE that is switching"
            );
            return;
        };
        match answer {
            Answer::Granted { dch, after } => return self.handle_grant(cx, state, dch, after),
            Answer::Queued if was_queued => {}
            Answer::Queued => cx.record(|| TraceEvent::DchQueued { ue }),
            Answer::Refused => {
                cx.record(|| TraceEvent::DchRefused { ue });
                self.barred_until = cx.now + self.config.retry;
            }
        }
        // A UE does not wait in a state that carries no data: it repeats the request in CELL_FACH.
        if !state.carries_data() {
            self.begin_switch(cx, RrcState::CellFach, Duration::ZERO, SwitchCause::Data);
        }
    }

    /// Switches from `state` to the granted DCH, which is free after the duration `after`.
    fn handle_grant<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        state: RrcState,
        dch: u8,
        after: Duration,
    ) {
        let ue = self.ue;
        let cause = if state == RrcState::CellDch { SwitchCause::LargerRate } else { SwitchCause::Data };
        self.dch = dch;
        cx.record(|| TraceEvent::DchGranted { ue, after_release: !after.is_zero() });
        self.begin_switch(cx, RrcState::CellDch, after, cause);
    }

    /// Handles the preemption of the DCH by another UE.
    pub fn handle_preemption<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.begin_switch(cx, self.config.after_dch.into(), Duration::ZERO, SwitchCause::Preempted);
    }

    /// Handles a failure of RLC or the radio link: starts a cell update. During a switch the cell update
    /// waits until the switch ends, and is dropped if the switch re-establishes RLC.
    pub fn handle_failure<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        cause: CellUpdateCause,
    ) {
        match self.phase {
            Phase::In(RrcState::Idle) => {}
            Phase::In(_) => self.update_cell(cx, cause),
            Phase::Switching { .. } if self.is_in_cell_update() => {}
            Phase::Switching { .. } => drop(self.failure_in_switch.get_or_insert(cause)),
        }
    }

    /// Handles the selection of another cell. In CELL_FACH and CELL_PCH the UE informs the network by a cell
    /// update. In URA_PCH and in idle mode the network pages it wherever it is.
    pub fn handle_reselection<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if let Phase::In(RrcState::CellFach | RrcState::CellPch) = self.phase {
            self.update_cell(cx, CellUpdateCause::CellReselection);
        }
    }

    /// Handles the end of the cell update: the UE enters CELL_FACH, or idle mode if its connection was
    /// released. `keeps_rlc`: the cell update followed a cell reselection without any failure. Then RLC and
    /// the timers of the former state continue.
    pub fn handle_cell_update_end<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        outcome: CellUpdateOutcome,
        keeps_rlc: bool,
        measured: Measured,
    ) {
        self.active_until = measured.active_until;
        let state = match (outcome, self.phase) {
            (CellUpdateOutcome::ConnectionReleased, _) => RrcState::Idle,
            (CellUpdateOutcome::Confirmed, Phase::Switching { from: RrcState::CellPch, .. }) if keeps_rlc => {
                RrcState::CellPch
            }
            (CellUpdateOutcome::Confirmed, _) => RrcState::CellFach,
        };
        let since = self.since;
        self.enter_with(cx, state, measured, keeps_rlc);
        if keeps_rlc {
            self.since = since;
        }
    }

    /// The next order to execute.
    #[inline]
    pub fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let state = match self.phase {
            Phase::Switching { until, .. } => return Some(until),
            Phase::In(state) => state,
        };
        let request = self.trigger.filter(|_| !self.queued).map(|at| at.max(self.barred_until));
        let inactivity = self.inactivity(state).map(|timer| timer.expires_at);
        let is_measuring = state == RrcState::CellDch && self.window.end != Time::NEVER;
        let window_end = is_measuring.then_some(self.window.end);
        [request, inactivity, self.paged_at, window_end].into_iter().flatten().min()
    }

    /// The state, `None` during a switch.
    pub fn state(&self) -> Option<RrcState> {
        match self.phase {
            Phase::In(state) => Some(state),
            Phase::Switching { .. } => None,
        }
    }

    /// Time up to which the UE uses its DCH if it stays inactive from `active_until` on: the end of the
    /// inactivity timer. `None` if it has no DCH.
    pub fn dch_used_until(&self, active_until: Time) -> Option<Time> {
        // One nanosecond more than the timer: with a timer of 0 a UE that sends in every TTI would
        // otherwise be inactive for an instant between two TTIs.
        let instant = Duration::from_nanos(1);
        let has_dch = self.phase == Phase::In(RrcState::CellDch);
        has_dch.then(|| active_until.max(self.since) + self.config.inactivity + instant)
    }

    /// Whether other UEs may take the DCH when it is not used any more.
    pub fn gives_unused_dch(&self) -> bool {
        !self.config.preemptive_inactivity.is_zero()
    }

    /// Time that the release of the DCH takes.
    pub fn release_time(&self) -> Duration {
        self.config.dch_to_fach
    }

    /// The configuration.
    pub fn config(&self) -> &RrcConfig {
        &self.config
    }

    /// The inactivity timer of `state`. `None`: the state has none.
    fn inactivity(&self, state: RrcState) -> Option<Inactivity> {
        let (timer, next_state) = self.config.inactivity_of(state)?;
        Some(Inactivity { expires_at: self.active_until.max(self.since) + timer, next_state })
    }
}
