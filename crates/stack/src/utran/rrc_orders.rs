//! Executes the orders of RRC on the RLC entities and channels of a UE. Requests for DCHs are decided by
//! the admission control of the cell.

use umts_kernel::{Phase, TraceSink};

use super::Utran;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{CellId, Direction, UeId};
use crate::radio::rlc::Rlc;
use crate::rnc::Decision;
use crate::rnc::rrc::{Answer, Order};
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
            self.announce(ctx, cell);
        }
        self.obey(ctx, ue);
    }

    /// Records the reservations at the start of a cell. The UE may move to every cell of a layout.
    fn announce<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        let of_layout = self.multicell.map(|_| (0..self.cells.len() as u16).map(CellId));
        let cells: Vec<CellId> = of_layout.map_or_else(|| vec![cell], Iterator::collect);
        for cell in cells {
            if !std::mem::replace(&mut self.cells[cell.index()].announced, true) {
                self.record_reserved(ctx, cell);
            }
        }
    }

    /// A DCH may have become preemptible for a waiting UE.
    pub fn cell_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        self.cells[cell.index()].wake.fired(ctx.cx.now);
        self.serve_waiting(ctx, cell);
    }

    /// Executes the orders of the RRC of `ue`, and schedules its next wake-up.
    pub(super) fn obey<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let cell = self.ues[ue].cell;
        let (mut freed, mut settled) = (false, false);
        while let Some(order) = self.ues[ue].control.as_mut().and_then(|control| control.poll_order()) {
            match order {
                Order::Suspend => self.suspend(ctx, ue),
                Order::UseCommon => self.use_channels(ctx, ue, COMMON),
                Order::UseDch(dch) => {
                    self.cells[cell.index()].admission.holder_settled();
                    settled = true;
                    self.record_if_full_changed(ctx, cell);
                    self.use_channels(ctx, ue, 1 + usize::from(dch));
                }
                Order::Reestablish => self.ues[ue].reestablish(&mut ctx.cx),
                Order::UpdateCell(cause) => self.begin_cell_update(ctx, ue, cause),
                Order::RequestDch { instead_of } => self.request_dch(ctx, ue, instead_of),
                Order::Withdraw => settled |= self.cells[cell.index()].admission.withdraw(ue),
                Order::ReleaseDch => {
                    self.cells[cell.index()].admission.release(ue);
                    self.in_multicell(|mac, _| mac.release_dch(ue));
                    freed = true;
                }
                Order::ChangeDch(dch) => {
                    let rates = self.ues[ue].dchs()[usize::from(dch)];
                    self.cells[cell.index()].admission.change(ue, rates);
                    self.in_multicell(|mac, _| mac.change_dch(ue, usize::from(dch)));
                    freed = true;
                }
            }
        }
        self.schedule_rrc_wake(ctx, ue);
        self.holder_changed(ctx, ue);
        if freed {
            self.record_reserved(ctx, cell);
        }
        // Waiting UEs repeat their requests. This also determines when the DCH of a settled UE can
        // be preempted.
        if freed || settled {
            self.serve_waiting(ctx, cell);
        }
    }

    fn schedule_rrc_wake<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId) {
        let Some(control) = &mut self.ues[ue].control else { return };
        let deadline = control.rrc().poll_timeout();
        ctx.wake(&mut control.wake, deadline, Phase::Rrc, Event::RrcWake(ue));
    }

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
        self.in_multicell(|mac, ues| mac.use_channels(channels, &mut ues[ue]));
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

    fn request_dch<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        instead_of: Option<u8>,
    ) {
        let Utran { ues, carriers, multicell, cells, .. } = self;
        let cell = ues[ue].cell;
        let wanted = ues[ue].dchs();
        let wanted = &wanted[..instead_of.map_or(wanted.len(), usize::from)];
        let preemptible = |holder: UeId| ues[holder].preemptible();
        let request = (ue, ues[ue].qos.class);
        let layout = multicell.and_then(|id| carriers[id].mac.multicell());
        let is_possible = |dch| layout.is_none_or(|mac| mac.has_room_for_dch(ue, cell, dch));
        let admission = &mut cells[cell.index()].admission;
        let decision = admission.decide(ctx.cx.now, request, wanted, preemptible, is_possible);
        if let Decision::Granted { dch, .. } = decision {
            self.in_multicell(|mac, _| mac.allocate_dch(ue, usize::from(dch)));
        }
        let answer = match &decision {
            Decision::Granted { dch, after, .. } => Answer::Granted { dch: *dch, after: *after },
            Decision::Queued { .. } => Answer::Queued,
            Decision::Refused => Answer::Refused,
        };
        match decision {
            Decision::Granted { preempted, .. } => {
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
        let context = &mut self.cells[cell.index()];
        let deadline = context.admission.retry_at();
        ctx.wake(&mut context.wake, deadline, Phase::Rrc, Event::CellWake(cell));
    }
}
