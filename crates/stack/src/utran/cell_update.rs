//! Cell updates. After a failure of RLC or of the radio link a cell update is followed by the
//! re-establishment of RLC at both ends (TS 25.322 §11.4.4, TS 25.331 §8.3.1). After a cell reselection RLC
//! continues.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Duration, Time};

use super::Utran;
use super::carrier::Carriers;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, UeId};
use crate::radio::mac::Channel;
use crate::trace::{CellUpdateCause, CellUpdateOutcome, TraceEvent};
use crate::ue::{COMMON, UeContext};

impl Utran {
    /// Schedules the supervision of the radio links of UEs that have a DCH from the beginning.
    pub(super) fn start_radio_links(&mut self, agenda: &mut EventQueue<Event>) {
        for ue in self.ues.iter_mut().filter(|ue| ue.control.is_none()) {
            let has_dch = has_dch(&self.carriers, ue);
            ue.connection.supervise(Time::ZERO, has_dch);
            if ue.connection.poll_timeout().is_some() {
                agenda.push(Time::ZERO, Phase::Rrc, Event::ConnectionWake(ue.id));
            }
        }
    }

    /// Starts supervision of the radio link if the UE has a DCH, otherwise stops it.
    pub(super) fn supervise_radio_link<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
    ) {
        let context = &mut self.ues[ue];
        let has_dch = has_dch(&self.carriers, context);
        context.connection.supervise(ctx.cx.now, has_dch);
        self.schedule_connection_wake(ctx, ue);
    }

    /// An RLC entity of `ue` reported an unrecoverable error.
    pub(super) fn rlc_failed<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        if self.ues[ue].connection.recovers_rlc() {
            self.connection_failed(ctx, ue, CellUpdateCause::RlcUnrecoverableError);
        }
    }

    pub(super) fn connection_failed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        cause: CellUpdateCause,
    ) {
        let context = &mut self.ues[ue];
        if context.connection.updates_cell() {
            return context.connection.handle_failure_in_update();
        }
        if context.notify_rrc_with(|rrc| rrc.handle_failure(&mut ctx.cx, cause)).is_some() {
            return self.obey(ctx, ue);
        }
        self.suspend_for_update(ctx, ue, cause);
    }

    /// Suspends a UE that RRC does not switch, and begins its cell update.
    pub(super) fn suspend_for_update<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        cause: CellUpdateCause,
    ) {
        self.suspend(ctx, ue);
        Direction::BOTH.into_iter().for_each(|direction| self.rlc_changed(ctx, ue, direction));
        self.begin_cell_update(ctx, ue, cause);
    }

    /// Begins the cell update of a UE with suspended RLC. A switched UE uses the common channels
    /// for the update.
    pub(super) fn begin_cell_update<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        cause: CellUpdateCause,
    ) {
        ctx.cx.record(|| TraceEvent::CellUpdateStarted { ue, cause });
        self.attach(ue, COMMON);
        let now = ctx.cx.now;
        self.in_multicell(|mac, ues| mac.use_channels(now, COMMON, &mut ues[ue]));
        self.ues[ue].connection.begin_update(ctx.cx.now, cause);
        self.schedule_connection_wake(ctx, ue);
    }

    /// A step of a cell update may be due, or a frame of a supervised radio link ends.
    pub fn connection_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        self.ues[ue].connection.wake.fired(ctx.cx.now);
        if self.ues[ue].connection.updates_cell() {
            self.update_cell(ctx, ue);
        } else {
            self.check_radio_link(ctx, ue);
        }
        self.schedule_connection_wake(ctx, ue);
    }

    fn update_cell<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let ttis = self.ttis(ctx.cx.now, ue);
        let UeContext { connection, channels, silent_until, .. } = &mut self.ues[ue];
        let arrives =
            |direction: Direction| !channels[direction.index()].loses_signalling(ttis[direction.index()]);
        if let Some(outcome) = connection.handle_update(&mut ctx.cx, ue, *silent_until, arrives) {
            self.end_cell_update(ctx, ue, outcome);
        }
    }

    fn end_cell_update<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        outcome: CellUpdateOutcome,
    ) {
        let context = &mut self.ues[ue];
        let measured = context.measured(ctx.cx.now);
        let keeps_rlc = context.connection.keeps_rlc(outcome);
        let is_switched = context
            .notify_rrc_with(|rrc| rrc.handle_cell_update_end(&mut ctx.cx, outcome, keeps_rlc, measured))
            .is_some();
        ctx.cx.record(|| TraceEvent::CellUpdateEnded { ue, outcome });
        if is_switched {
            return self.obey(ctx, ue);
        }
        if !keeps_rlc {
            context.reestablish(&mut ctx.cx);
        }
        self.resume(ctx, ue);
    }

    fn check_radio_link<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let now = ctx.cx.now;
        let [tti, _] = self.ttis(now, ue);
        let UeContext { connection, channels, .. } = &mut self.ues[ue];
        let channel = &mut channels[Direction::Downlink.index()];
        if connection.handle_frame(now, || channel.would_lose(tti)) {
            self.connection_failed(ctx, ue, CellUpdateCause::RadioLinkFailure);
        }
    }

    /// By direction, the number of the TTI that is on the air at `now`.
    fn ttis(&self, now: Time, ue: UeId) -> [u64; 2] {
        Direction::BOTH.map(|direction| {
            let channel = self.ues[ue].channel(direction);
            let lead: Duration = self.carriers[channel.carrier].config.iub.lead;
            (now + lead).as_nanos() / channel.format.tti.as_nanos()
        })
    }

    fn schedule_connection_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
    ) {
        let connection = &mut self.ues[ue].connection;
        let deadline = connection.poll_timeout();
        ctx.wake(&mut connection.wake, deadline, Phase::Rrc, Event::ConnectionWake(ue));
    }
}

/// Whether the downlink of `ue` is a DCH.
fn has_dch(carriers: &Carriers, ue: &UeContext) -> bool {
    carriers[ue.channel(Direction::Downlink).carrier].config.channel == Channel::Dch
}
