//! What a cell has reserved, and when it is full: no DCH is free, and none can be taken away. It opens when a holder has been
//! inactive for long enough, and is full again when that holder sends.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::event::Event;
use crate::Cx;
use crate::ids::UeId;
use crate::trace::TraceEvent;

impl Network {
    /// Tells what is reserved in a cell.
    pub(super) fn record_reserved<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        cell: u16,
        queue: &mut EventQueue<Event>,
    ) {
        self.watch_holders(cx.now, cell, queue);
        self.tell_reserved(cx, cell);
    }

    fn tell_reserved<T: TraceSink<TraceEvent>>(&self, cx: &mut Cx<'_, T>, cell: u16) {
        let context = &self.cells[usize::from(cell)];
        let (reserved, is_full) = (context.admission.reserved(), context.is_full);
        cx.record(|| TraceEvent::CellReserved { cell, rates: reserved.rates, dchs: reserved.dchs, is_full });
    }

    /// Tells it if the cell is full or no longer so.
    pub(super) fn look_whether_full<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        cell: u16,
        queue: &mut EventQueue<Event>,
    ) {
        let before = self.cells[usize::from(cell)].is_full;
        self.watch_holders(cx.now, cell, queue);
        if self.cells[usize::from(cell)].is_full != before {
            self.tell_reserved(cx, cell);
        }
    }

    /// A DCH that could be taken away is used or given up.
    pub(super) fn holder_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        if !context.control.as_ref().is_some_and(|control| control.is_takeable)
            || context.preemptible().is_some_and(|holder| holder.since <= cx.now)
        {
            return;
        }
        if let Some(control) = &mut context.control {
            control.is_takeable = false;
        }
        let cell = context.cell;
        self.look_whether_full(cx, cell, queue);
    }

    /// A holder may have been inactive for long enough.
    pub(super) fn cell_opens<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        cell: u16,
        queue: &mut EventQueue<Event>,
    ) {
        self.cells[usize::from(cell)].opens = Time::NEVER;
        self.look_whether_full(cx, cell, queue);
    }

    /// Finds out whether the cell is full. If it is, it will be looked at again when the next DCH can be taken away; if it is
    /// not because some can, when one of them is used.
    fn watch_holders(&mut self, now: Time, cell: u16, queue: &mut EventQueue<Event>) {
        let context = &mut self.cells[usize::from(cell)];
        context.is_full = false;
        if context.admission.has_room() {
            return;
        }
        let ues = &mut self.ues;
        context.is_full = context.admission.is_full(now, |ue| ues[ue.index()].preemptible());
        let mut next = Time::NEVER;
        for ue in context.admission.holders() {
            let holder = &mut ues[ue.index()];
            match (holder.preemptible(), &mut holder.control) {
                (Some(takeable), Some(control)) if takeable.since <= now => control.is_takeable = true,
                (Some(later), _) => next = next.min(later.since),
                (None, _) => {}
            }
        }
        if context.is_full && next < context.opens {
            context.opens = next;
            queue.push(next, Phase::Rrc, Event::CellOpens(cell));
        }
    }
}
