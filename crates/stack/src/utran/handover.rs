//! Handovers between the cells of a layout.

use umts_kernel::TraceSink;
use umts_units::Bytes;

use super::Utran;
use super::carrier::CarrierKey;
use crate::EventContext;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::radio::mac::Channel;
use crate::rnc::multicell::{BufferAtHandover, CellChange, Handover, RlcAtHandover};
use crate::scheduling::UserSchedulers;
use crate::trace::{CellUpdateCause, TraceEvent};
use crate::ue::ChannelConfig;

impl Utran {
    /// Sets the schedulers of the DSCHs of a layout.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        self.carriers.iter_mut().for_each(|carrier| carrier.mac.set_schedulers(schedulers));
    }

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
        if change == CellChange::Reselection {
            return self.reselect(ctx, ue, to);
        }
        let interruption = config.interruption;
        if change == CellChange::Hard {
            ctx.cx.record(|| TraceEvent::Handover { ue, from: from.0, to: to.0, interruption });
            self.ues[ue].silent_until = ctx.cx.now + interruption;
        }
        let context = &mut self.ues[ue];
        context.cell = to;
        context.channels.iter_mut().for_each(|channel| channel.cell = to);
        if config.rlc == RlcAtHandover::Reestablished {
            context.reestablish(&mut ctx.cx);
        }
        if config.buffer == BufferAtHandover::Lost {
            self.lose_buffer(ctx, ue, from);
        }
        if (config.rlc, config.buffer) != (RlcAtHandover::Kept, BufferAtHandover::Kept) {
            self.update_backlog(ctx, ue, Direction::Downlink);
        }
        let downlink = self.ues[ue].channel(Direction::Downlink).carrier;
        if self.carriers[downlink].config.channel == Channel::Dch {
            self.move_channel(ctx, ue, to, Direction::Downlink);
        }
        self.move_channel(ctx, ue, to, Direction::Uplink);
    }

    /// A UE on the FACH and RACH selects another cell. It carries no data until the cell update there ends.
    fn reselect<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        self.suspend_for_update(ctx, ue, CellUpdateCause::CellReselection);
        let context = &mut self.ues[ue];
        context.cell = to;
        context.channels.iter_mut().for_each(|channel| channel.cell = to);
        Direction::BOTH.into_iter().for_each(|direction| self.move_channel(ctx, ue, to, direction));
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

    /// Moves the DCH, FACH or RACH of this direction to the new cell.
    fn move_channel<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        to: CellId,
        direction: Direction,
    ) {
        self.leave_carrier(ctx, ue, direction);
        let before = self.ues[ue].channel(direction);
        let channel = ChannelConfig {
            channel: self.carriers[before.carrier].config.channel,
            number: before.number,
            scheduler: before.scheduler,
            format: before.format,
            block_bits: before.block_bits,
        };
        let key = CarrierKey::new(to, direction, channel);
        let config = &self.cells[to.index()].config;
        let carrier = self.carriers.find_or_make(key, config, channel, &self.streams);
        self.ues[ue].channels[direction.index()].carrier = carrier;
        self.update_backlog(ctx, ue, direction);
    }
}
