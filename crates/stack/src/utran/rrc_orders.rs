//! Executes the orders of RRC on the RLC entities and channels of a UE. Requests for DCHs are decided by
//! the admission control of the cell.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::{Cell, Utran};
use crate::EventContext;
use crate::event::Event;
use crate::ids::{CellId, Direction, UeId};
use crate::radio::rlc::Rlc;
use crate::rnc::rrc::{Answer, Order};
use crate::rnc::{Decision, Request};
use crate::trace::TraceEvent;
use crate::ue::COMMON;

impl Utran {
    /// Passes the traffic volume of a UE to its RRC.
    #[inline(never)]
    pub(super) fn measure<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let context = &mut self.ues[ue];
        let measured = context.measured(ctx.cx.now);
        if context.notify_rrc_with(|rrc| rrc.handle_buffers(&mut ctx.cx, measured)) == Some(true) {
            self.obey(ctx, ue);
        }
    }

    /// A timer of a UE's RRC may be due. An event that comes early changes nothing.
    pub fn rrc_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let context = &mut self.ues[ue];
        let measured = context.measured(ctx.cx.now);
        let Some(control) = &mut context.control else { return };
        control.wake.fired(ctx.cx.now);
        if control.started {
            context.notify_rrc_with(|rrc| rrc.handle_timeout(&mut ctx.cx, measured));
        } else {
            control.started = true;
            context.notify_rrc_with(|rrc| rrc.handle_start(&mut ctx.cx, measured));
            let cell = context.cell;
            self.record_reserved_at_start(ctx, cell);
        }
        self.obey(ctx, ue);
    }

    /// Records the reservations at the start of the cells that a UE of `cell` can use: of all cells in a
    /// layout. Each cell is recorded once.
    fn record_reserved_at_start<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
    ) {
        let cells = match self.multicell {
            Some(_) => 0..self.cells.len() as u16,
            None => cell.0..cell.0 + 1,
        };
        for cell in cells.map(CellId) {
            let was_recorded = std::mem::replace(&mut self.cells[cell.index()].start_is_recorded, true);
            if !was_recorded {
                self.record_reserved(ctx, cell);
            }
        }
    }

    /// A DCH may have become preemptible for a waiting UE.
    pub fn cell_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        self.cells[cell.index()].retry_wake.fired(ctx.cx.now);
        self.serve_waiting(ctx, cell);
    }

    /// Executes the orders of the RRC of `ue`, and schedules its next wake-up.
    pub(super) fn obey<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let cell = self.ues[ue].cell;
        let mut has_freed_rates = false;
        let mut may_serve_waiting = false;
        while let Some(order) = self.ues[ue].control.as_mut().and_then(|control| control.poll_order()) {
            match order {
                Order::Suspend => self.suspend(ctx, ue),
                Order::UseCommon => self.use_channels(ctx, ue, COMMON),
                Order::UseDch(dch) => {
                    self.cells[cell.index()].admission.holder_settled();
                    may_serve_waiting = true;
                    self.record_if_full_changed(ctx, cell);
                    self.use_channels(ctx, ue, 1 + usize::from(dch));
                }
                Order::Reestablish => self.ues[ue].reestablish(&mut ctx.cx),
                Order::UpdateCell(cause) => self.begin_cell_update(ctx, ue, cause),
                Order::RequestDch { instead_of } => self.request_dch(ctx, ue, instead_of),
                Order::Withdraw => may_serve_waiting |= self.cells[cell.index()].admission.withdraw(ue),
                Order::ReleaseDch => {
                    self.cells[cell.index()].admission.release(ue);
                    self.in_multicell(|mac, _| mac.release_dch(ue));
                    has_freed_rates = true;
                }
                Order::ChangeDch(dch) => {
                    let rates = self.ues[ue].dchs()[usize::from(dch)];
                    self.cells[cell.index()].admission.change(ue, rates);
                    self.in_multicell(|mac, _| mac.change_dch(ue, usize::from(dch)));
                    has_freed_rates = true;
                }
            }
        }
        self.schedule_rrc_wake(ctx, ue);
        self.holder_changed(ctx, ue);
        if has_freed_rates {
            self.record_reserved(ctx, cell);
        }
        // Waiting UEs repeat their requests. After `UseDch` this also determines when the DCH of the
        // UE can be preempted.
        if has_freed_rates || may_serve_waiting {
            self.serve_waiting(ctx, cell);
        }
    }

    fn schedule_rrc_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let Some(control) = &mut self.ues[ue].control else { return };
        let deadline = control.rrc().poll_timeout();
        ctx.wake(&mut control.wake, deadline, Phase::Rrc, Event::RrcWake(ue));
    }

    /// Stops RLC of a UE and removes it from its carriers.
    pub(super) fn suspend<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let context = &mut self.ues[ue];
        context.rlc.iter_mut().for_each(Rlc::suspend);
        context.connection.stop_supervision();
        self.in_multicell(|mac, _| mac.suspend(ue));
        self.detach(ctx, ue);
    }

    /// Switches the UE to its channels number `channels`.
    fn use_channels<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        channels: usize,
    ) {
        self.detach(ctx, ue);
        self.attach(ue, channels);
        let now = ctx.cx.now;
        self.in_multicell(|mac, ues| mac.use_channels(now, channels, &mut ues[ue]));
        self.resume(ctx, ue);
    }

    /// Resumes RLC on the attached channels, and supervises the radio link of a DCH.
    pub(super) fn resume<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        for direction in Direction::BOTH {
            let context = &mut self.ues[ue];
            let blocks = context.channel(direction).format.blocks;
            context.rlc[direction.index()].resume(blocks);
            self.rlc_changed(ctx, ue, direction);
        }
        self.supervise_radio_link(ctx, ue);
    }

    /// Requests a DCH for `ue`, or a larger one than `instead_of`, and executes the decision of
    /// admission.
    fn request_dch<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        instead_of: Option<u8>,
    ) {
        let cell = self.ues[ue].cell;
        let decision = self.decide_on_dch(ctx.cx.now, ue, instead_of);
        let answer = match &decision {
            Decision::Granted { dch, after, .. } => Answer::Granted { dch: *dch, after: *after },
            Decision::Queued { .. } => Answer::Queued,
            Decision::Refused => Answer::Refused,
        };
        match decision {
            Decision::Granted { dch, preempted, .. } => {
                self.in_multicell(|mac, _| mac.allocate_dch(ue, usize::from(dch)));
                for victim in preempted {
                    self.ues[victim].notify_rrc_with(|rrc| rrc.handle_preemption(&mut ctx.cx));
                    self.obey(ctx, victim);
                }
                self.record_reserved(ctx, cell);
            }
            Decision::Queued { displaced: Some(displaced) } => {
                self.ues[displaced].notify_rrc_with(|rrc| rrc.handle_answer(&mut ctx.cx, Answer::Refused));
                self.obey(ctx, displaced);
            }
            Decision::Queued { displaced: None } | Decision::Refused => {}
        }
        self.ues[ue].notify_rrc_with(|rrc| rrc.handle_answer(&mut ctx.cx, answer));
        self.schedule_cell_wake(ctx, cell);
    }

    /// The decision of admission on a request for a DCH, or for a larger one than `instead_of`.
    fn decide_on_dch(&mut self, now: Time, ue: UeId, instead_of: Option<u8>) -> Decision {
        let Utran { ues, carriers, multicell, cells, .. } = self;
        let cell = ues[ue].cell;
        let all_dchs = ues[ue].dchs();
        // The DCHs are sorted, the largest first.
        let wanted = &all_dchs[..instead_of.map_or(all_dchs.len(), usize::from)];
        let request = Request { ue, class: ues[ue].qos.class, dchs: wanted };
        let layout = multicell.and_then(|id| carriers[id].mac.multicell());
        let radio_has_room = |dch| layout.is_none_or(|mac| mac.has_room_for_dch(ue, cell, dch));
        let preemptible = |holder: UeId| ues[holder].preemptible();
        cells[cell.index()].admission.decide(now, &request, preemptible, radio_has_room)
    }

    /// Repeats the requests of waiting UEs in order, until one gets no DCH.
    pub(super) fn serve_waiting<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
    ) {
        while let Some(ue) = self.cells[cell.index()].admission.first_waiting() {
            self.request_dch(ctx, ue, None);
            if self.cells[cell.index()].admission.first_waiting() == Some(ue) {
                break;
            }
            self.obey(ctx, ue);
        }
    }

    fn schedule_cell_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        let Cell { admission, retry_wake, .. } = &mut self.cells[cell.index()];
        ctx.wake(retry_wake, admission.retry_at(), Phase::Rrc, Event::CellWake(cell));
    }
}
