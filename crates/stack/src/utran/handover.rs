//! Handovers between the cells of a layout.

use umts_kernel::TraceSink;
use umts_units::Bytes;

use super::Utran;
use super::carrier::CarrierKey;
use crate::EventContext;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::rnc::multicell::{BufferAtHandover, Handover, RlcAtHandover};
use crate::scheduling::{SchedulerKind, UserSchedulers};
use crate::trace::TraceEvent;
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
        let Handover { ue, from, to, config } = handover;
        let interruption = config.interruption;
        ctx.cx.record(|| TraceEvent::Handover { ue, from: from.0, to: to.0, interruption });
        let context = &mut self.ues[ue];
        context.cell = to;
        context.silent_until = ctx.cx.now + interruption;
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
        self.move_uplink(ctx, ue, to);
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

    /// Moves the uplink DCH to the new cell.
    fn move_uplink<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        self.leave_carrier(ctx, ue, Direction::Uplink);
        let uplink = self.ues[ue].channel(Direction::Uplink);
        let before = &self.carriers[uplink.carrier];
        let channel = ChannelConfig {
            channel: before.config.channel,
            number: 0,
            scheduler: SchedulerKind::default(),
            format: uplink.format,
            block_bits: uplink.block_bits,
        };
        let key = CarrierKey::new(to, Direction::Uplink, channel);
        let config = &self.cells[to.index()].config;
        let carrier = self.carriers.find_or_make(key, config, channel, &self.streams);
        self.ues[ue].channels[Direction::Uplink.index()].carrier = carrier;
        self.update_backlog(ctx, ue, Direction::Uplink);
    }
}
