//! The cells of a layout: one TTI of all their DSCHs, and users who change cells.

#[cfg(test)]
mod tests;

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Bytes, Time};

use super::Utran;
use super::carrier::CarrierKey;
use super::carrier_mac::CarrierMac;
use super::wake::schedule_wake;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{CarrierId, CellId, Direction, UeId};
use crate::rnc::multicell::{BufferAtHandover, Change, RlcAtHandover};
use crate::scheduling::{SchedulerKind, UserSchedulers};
use crate::trace::TraceEvent;
use crate::ue::ChannelConfig;

impl Utran {
    /// The DSCHs of the cells of a layout, if there is one, are given away by these from now on.
    pub fn set_schedulers(&mut self, schedulers: &UserSchedulers) {
        let Some(id) = self.sectors else { return };
        if let CarrierMac::Multicell(sectors) = &mut self.carriers[id].sharing {
            sectors.set_schedulers(schedulers);
        }
    }

    /// Schedules the first TTI.
    pub(super) fn start_multicell(&self, agenda: &mut EventQueue<Event>) {
        if let Some(id) = self.sectors {
            agenda.push(Time::ZERO, Phase::Schedule, Event::Tick(id));
        }
    }

    /// A UE has something to send on the DSCH of its cell.
    pub(super) fn dsch_wanted<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
        ue: UeId,
    ) {
        let CarrierMac::Multicell(sectors) = &mut self.carriers[id].sharing else { return };
        let change = sectors.wants(ctx.cx.now, ue);
        schedule_wake(ctx, &mut self.ues[ue], Direction::Downlink);
        if let Some(change) = change {
            self.change_cell(ctx, change);
        }
    }

    /// A turn of all cells begins: who moves, changes cells; then all cells schedule; then all of them transmit.
    // Large, and of one carrier: the turns of all others are not to be made dearer by it.
    #[inline(never)]
    pub(super) fn multicell_turn<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        id: CarrierId,
    ) {
        let CarrierMac::Multicell(sectors) = &mut self.carriers[id].sharing else { return };
        let changes = sectors.look_around(ctx.cx.now, &self.ues);
        for &change in &changes {
            self.change_cell(ctx, change);
        }
        let carrier = &mut self.carriers[id];
        let CarrierMac::Multicell(sectors) = &mut carrier.sharing else { return };
        sectors.return_changes(changes);
        let mut served = std::mem::take(&mut self.scratch);
        sectors.turn(ctx, &carrier.plan, &mut self.ues, &mut self.air, &mut served);
        for &ue in &served {
            let context = &mut self.ues[ue];
            if context.rlc[Direction::Downlink.index()].has_work(ctx.cx.now) {
                sectors.changed(ue);
            } else {
                sectors.rests(ue);
            }
            schedule_wake(ctx, context, Direction::Downlink);
        }
        ctx.at(ctx.cx.now + sectors.interval(), Phase::Schedule, Event::Tick(id));
        served.clear();
        self.scratch = served;
    }

    /// A UE is in another cell from now on. What is on its way arrives, unless RLC begins anew.
    fn change_cell<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, change: Change) {
        let Change { ue, from, to, how } = change;
        let interruption = how.interruption;
        ctx.cx.record(|| TraceEvent::Handover { ue, from: from.0, to: to.0, interruption });
        let context = &mut self.ues[ue];
        context.cell = to;
        context.channels.iter_mut().for_each(|leg| leg.cell = to);
        if how.rlc == RlcAtHandover::Reestablished {
            context.reestablish(&mut ctx.cx);
        }
        if how.buffer == BufferAtHandover::Lost {
            self.lose_buffer(ctx, ue, from);
        }
        if (how.rlc, how.buffer) != (RlcAtHandover::Kept, BufferAtHandover::Kept) {
            self.rlc_changed(ctx, ue, Direction::Downlink);
        }
        self.move_uplink(ctx, ue, to);
    }

    /// What was buffered for a UE in the cell that it has left is lost.
    fn lose_buffer<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        from: CellId,
    ) {
        let context = &mut self.ues[ue];
        let rlc = &mut context.rlc[Direction::Downlink.index()];
        let before = rlc.buffer_occupancy();
        rlc.lose_unsent(&mut ctx.cx);
        let octets = before - rlc.buffer_occupancy();
        if octets > Bytes::ZERO {
            ctx.cx.record(|| TraceEvent::HandoverLost { ue, cell: from.0, size: octets });
        }
        if !rlc.has_work(ctx.cx.now) {
            let id = context.channel(Direction::Downlink).carrier;
            let CarrierMac::Multicell(sectors) = &mut self.carriers[id].sharing else { return };
            sectors.rests(ue);
        }
    }

    /// The DCH of the uplink is one of the new cell.
    fn move_uplink<T: TraceSink<TraceEvent>>(&mut self, ctx: &mut EventContext<'_, T>, ue: UeId, to: CellId) {
        self.leave_carrier(ue, Direction::Uplink);
        let leg = self.ues[ue].channel(Direction::Uplink);
        let before = &self.carriers[leg.carrier];
        let channel = ChannelConfig {
            channel: before.plan.channel,
            number: 0,
            scheduler: SchedulerKind::default(),
            format: leg.format,
            block_bits: leg.block_bits,
        };
        let key = CarrierKey::new(to, Direction::Uplink, channel);
        let config = &self.cells[to.index()].config;
        let carrier = self.carriers.find_or_make(key, config, channel, &self.streams);
        self.ues[ue].channels[Direction::Uplink.index()].carrier = carrier;
        self.rlc_changed(ctx, ue, Direction::Uplink);
    }
}
