//! Handovers between the cells of a layout.

use umts_kernel::TraceSink;
use umts_units::Bytes;

use super::Utran;
use super::carrier::CarrierKey;
use crate::EventContext;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::mac::hs::HeldPdus;
use crate::radio::mac::Channel;
use crate::rnc::multicell::{BufferAtHandover, CellChange, Handover, RlcAtHandover};
use crate::trace::{CellUpdateCause, TraceEvent};

impl Utran {
    /// Executes the handovers that the MAC of a carrier requires.
    #[inline]
    pub(super) fn execute_handovers<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
    ) {
        while let Some(handover) = self.carriers[id].mac.poll_handover() {
            self.execute_handover(ctx, handover);
        }
    }

    /// Moves a UE to another cell. Blocks on the air arrive, unless RLC is re-established.
    #[inline(never)]
    fn execute_handover<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        handover: Handover,
    ) {
        let Handover { ue, from, to, config, change } = handover;
        match change {
            CellChange::Reselection => return self.reselect(ctx, ue, to),
            CellChange::DchLost => return self.lose_dch(ctx, ue, to),
            CellChange::Hard | CellChange::Soft => {}
        }
        let interruption = config.interruption;
        if change == CellChange::Hard {
            ctx.cx.record(|| TraceEvent::Handover { ue, from: from.0, to: to.0, interruption });
            self.ues[ue].silent_until = ctx.cx.now + interruption;
        }
        self.enter_cell(ctx, ue, to);
        self.change_rlc(ctx, ue, from, config.rlc, config.buffer);
        let downlink = self.ues[ue].channel(Direction::Downlink).carrier;
        if let Some(HeldPdus { queued, in_harq }) = self.carriers[downlink].mac.held_on_hs_dsch(ue) {
            ctx.cx.record(|| TraceEvent::HsCellChanged { ue, queued, in_harq });
        }
        if matches!(self.carriers[downlink].config.channel, Channel::Dch | Channel::HsDsch) {
            self.move_channel(ctx, ue, to, Direction::Downlink);
        }
        self.move_channel(ctx, ue, to, Direction::Uplink);
        self.serve_waiting(ctx, from);
    }

    /// Treats RLC and its buffer as the configuration requires when a UE leaves cell `from`.
    fn change_rlc<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        from: CellId,
        rlc: RlcAtHandover,
        buffer: BufferAtHandover,
    ) {
        let is_reestablished = rlc == RlcAtHandover::Reestablished;
        let is_buffer_lost = buffer == BufferAtHandover::Lost;
        if is_reestablished {
            self.ues[ue].reestablish(&mut ctx.cx);
        }
        if is_buffer_lost {
            self.lose_buffer(ctx, ue, from);
        }
        if is_reestablished || is_buffer_lost {
            self.update_backlog(ctx, ue, Direction::Downlink);
        }
    }

    /// A UE without a DCH selects another cell. On the FACH and RACH it carries no data until the cell update
    /// there ends.
    fn reselect<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        let context = &mut self.ues[ue];
        match context.notify_rrc_with(|rrc| rrc.handle_reselection(&mut ctx.cx)) {
            // Its RRC withdraws a request for a DCH of the former cell.
            Some(()) => self.obey(ctx, ue),
            None => self.suspend_for_update(ctx, ue, CellUpdateCause::CellReselection),
        }
        self.enter_cell(ctx, ue, to);
        Direction::BOTH.into_iter().for_each(|direction| self.move_channel(ctx, ue, to, direction));
    }

    /// The cells of a switched UE have no code for its DCH any more.
    fn lose_dch<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        let from = self.ues[ue].cell;
        self.connection_failed(ctx, ue, CellUpdateCause::RadioLinkFailure);
        self.enter_cell(ctx, ue, to);
        Direction::BOTH.into_iter().for_each(|direction| self.move_channel(ctx, ue, to, direction));
        self.serve_waiting(ctx, from);
    }

    /// Moves a UE to cell `to`, without the channels that it uses.
    fn enter_cell<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        let Utran { ues, cells, carriers, streams, .. } = self;
        let context = &mut ues[ue];
        let from = std::mem::replace(&mut context.cell, to);
        context.channels.iter_mut().for_each(|channel| channel.cell = to);
        let config = &cells[to.index()].config;
        if let Some(control) = &mut context.control {
            for direction in Direction::BOTH {
                for kept in control.kept_channels(direction) {
                    let channel = kept.config(carriers[kept.carrier].config.channel);
                    let key = CarrierKey::new(to, direction, channel);
                    kept.cell = to;
                    kept.carrier = carriers.find_or_make(key, config, channel, streams);
                }
            }
        }
        // The DCH of the UE moves to the admission of the new cell, unless the cells are the same.
        if let Ok([former, next]) = cells.get_disjoint_mut([from.index(), to.index()])
            && next.admission.take_over(ue, &mut former.admission)
        {
            [from, to].into_iter().for_each(|cell| self.record_reserved(ctx, cell));
        }
    }

    /// Repeats the requests of UEs that wait for a DCH, in all cells.
    pub(super) fn repeat_requests<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>) {
        let mut is_due = false;
        self.in_multicell(|mac, _| is_due = mac.take_is_retry_due());
        if is_due {
            (0..self.cells.len() as u16).for_each(|cell| self.serve_waiting(ctx, CellId(cell)));
        }
    }

    /// Discards the SDUs that were buffered for a UE in the cell that it leaves.
    fn lose_buffer<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        from: CellId,
    ) {
        let rlc = &mut self.ues[ue].rlc[Direction::Downlink.index()];
        let before = rlc.buffer_occupancy();
        rlc.lose_unsent(&mut ctx.cx);
        let octets = before - rlc.buffer_occupancy();
        if octets > Bytes::ZERO {
            ctx.cx.record(|| TraceEvent::HandoverLost { ue, cell: from.0, size: octets });
        }
    }

    /// Moves the DCH, HS-DSCH, FACH or RACH of this direction to the new cell.
    fn move_channel<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        to: CellId,
        direction: Direction,
    ) {
        self.leave_carrier(ctx, ue, direction);
        let before = self.ues[ue].channel(direction);
        let channel = before.config(self.carriers[before.carrier].config.channel);
        let key = CarrierKey::new(to, direction, channel);
        let config = &self.cells[to.index()].config;
        let carrier = self.carriers.find_or_make(key, config, channel, &self.streams);
        self.ues[ue].channels[direction.index()].carrier = carrier;
        self.update_backlog(ctx, ue, direction);
    }
}
