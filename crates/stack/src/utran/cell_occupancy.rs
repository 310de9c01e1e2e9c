//! Records the reservations for the DCHs (dedicated channels) of a cell, and whether the cell is full. A
//! cell is full if no DCH is free or preemptible. Here a DCH is preemptible if its UE has not used it
//! for a time. A DCH in use is not preemptible, although admission may preempt it for a UE of a higher
//! service class.

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

    /// Records the reservations without a new check whether the cell is full.
    fn record_cell_reserved<T: TraceSink<TraceEvent>>(&self, ctx: &mut EventContext<'_, T>, id: CellId) {
        let cell = &self.cells[id.index()];
        let (reserved, is_full) = (cell.admission.reserved(), cell.is_full);
        ctx.cx.record(|| TraceEvent::CellReserved {
            cell: id.0,
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
        if !context.counts_as_preemptible || context.preemptible().is_some_and(is_unused) {
            return;
        }
        context.counts_as_preemptible = false;
        let cell = context.cell;
        self.record_if_full_changed(ctx, cell);
    }

    /// A DCH may have become preemptible.
    pub fn cell_opens<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, cell: CellId) {
        self.cells[cell.index()].opening_wake.fired(ctx.cx.now);
        self.record_if_full_changed(ctx, cell);
    }

    /// Determines whether the cell is full. A full cell is checked again when the next DCH becomes
    /// preemptible, and a cell with preemptible DCHs when one of them is used.
    fn update_is_full<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, id: CellId) {
        let cell = &mut self.cells[id.index()];
        cell.is_full = false;
        if cell.admission.has_room() {
            return;
        }
        let ues = &mut self.ues;
        cell.is_full = cell.admission.is_full(ctx.cx.now, |ue| ues[ue].preemptible());
        let mut next_preemptible = Time::NEVER;
        for ue in cell.admission.holders() {
            let holder = &mut ues[ue];
            match holder.preemptible().and_then(|dch| dch.unused_from()) {
                Some(from) if from <= ctx.cx.now => holder.counts_as_preemptible = true,
                Some(from) => next_preemptible = next_preemptible.min(from),
                None => {}
            }
        }
        if cell.is_full {
            ctx.wake(&mut cell.opening_wake, Some(next_preemptible), Phase::Rrc, Event::CellOpens(id));
        }
    }
}
