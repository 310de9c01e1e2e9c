//! Records the reservations of a cell, and whether the cell is full. A cell is full if no DCH is
//! free or preemptible. Here a DCH is preemptible if its UE has not used it for a time. A DCH in
//! use is not, whatever the service classes.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::Utran;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{CellId, UeId};
use crate::rnc::Preemptible;
use crate::trace::TraceEvent;

impl Utran {
    /// Records the reservations of a cell.
    pub(super) fn record_reserved<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
    ) {
        self.update_is_full(ctx, cell);
        self.record_cell_reserved(ctx, cell);
    }

    fn record_cell_reserved<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        let context = &self.cells[cell.index()];
        let cell = cell.0;
        let (reserved, is_full) = (context.admission.reserved(), context.is_full);
        ctx.cx.record(|| TraceEvent::CellReserved {
            cell,
            rates: reserved.rates,
            dchs: reserved.dchs,
            is_full,
        });
    }

    /// Records whether the cell is full, if that changed.
    pub(super) fn record_if_full_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        cell: CellId,
    ) {
        let before = self.cells[cell.index()].is_full;
        self.update_is_full(ctx, cell);
        if self.cells[cell.index()].is_full != before {
            self.record_cell_reserved(ctx, cell);
        }
    }

    /// A preemptible DCH is used or released.
    pub(super) fn holder_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
    ) {
        let context = &mut self.ues[ue];
        let is_unused = |holder: Preemptible| holder.unused_from().is_some_and(|from| from <= ctx.cx.now);
        if !context.is_takeable || context.preemptible().is_some_and(is_unused) {
            return;
        }
        context.is_takeable = false;
        let cell = context.cell;
        self.record_if_full_changed(ctx, cell);
    }

    /// A DCH may have become preemptible.
    pub fn cell_opens<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        self.cells[cell.index()].opens.fired(ctx.cx.now);
        self.record_if_full_changed(ctx, cell);
    }

    /// Determines whether the cell is full. A full cell is checked again when the next DCH becomes
    /// preemptible, and a cell with preemptible DCHs when one of them is used.
    fn update_is_full<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        let context = &mut self.cells[cell.index()];
        context.is_full = false;
        if context.admission.has_room() {
            return;
        }
        let ues = &mut self.ues;
        context.is_full = context.admission.is_full(ctx.cx.now, |ue| ues[ue].preemptible());
        let mut next = Time::NEVER;
        for ue in context.admission.holders() {
            let holder = &mut ues[ue];
            match holder.preemptible().and_then(|dch| dch.unused_from()) {
                Some(from) if from <= ctx.cx.now => holder.is_takeable = true,
                Some(from) => next = next.min(from),
                None => {}
            }
        }
        if context.is_full {
            ctx.wake(&mut context.opens, Some(next), Phase::Rrc, Event::CellOpens(cell));
        }
    }
}
