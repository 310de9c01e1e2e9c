//! When an RLC entity is next looked at: at the next tick while it has something to send, else when a timer expires.

use umts_kernel::{Phase, TraceSink};

use super::Utran;
use super::carrier::{Carrier, Carriers};
use super::carrier_mac::CarrierMac;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{CarrierId, Direction, UeId};
use crate::radio::rlc::Rlc;
use crate::trace::TraceEvent;
use crate::ue::{UeContext, Ues};

impl Utran {
    /// The entity of `ue` that sends in `direction` may have something to send, or a timer.
    #[inline]
    pub(super) fn rlc_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let Utran { ues, carriers, sectors, .. } = self;
        if let Some(id) = tell_carrier(ctx, carriers, sectors.is_some(), &mut ues[ue], direction) {
            self.dsch_wanted(ctx, id, ue);
        }
    }

    /// The same, and what it holds may be other than RRC was told.
    #[inline]
    pub(super) fn buffers_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        self.buffers_changed_by(ctx, ue, direction, |_, _| ());
    }

    /// The same, once `what` was done to the entity.
    #[inline]
    pub(super) fn buffers_changed_by<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
        what: impl FnOnce(&mut EventContext<'_, T>, &mut Rlc),
    ) {
        let Utran { ues, carriers, sectors, .. } = self;
        let context = &mut ues[ue];
        what(ctx, &mut context.rlc[direction.index()]);
        let is_measured = context.is_measured;
        if let Some(id) = tell_carrier(ctx, carriers, sectors.is_some(), context, direction) {
            self.dsch_wanted(ctx, id, ue);
        }
        if is_measured {
            self.measure(ctx, ue);
        }
    }

    /// A timer of an RLC entity may be due; waking early, it sleeps again.
    #[inline]
    pub fn rlc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let context = &mut self.ues[ue];
        context.wake[direction.index()].fired(ctx.cx.now);
        if context.rlc[direction.index()].take_unrecoverable_error() {
            self.rlc_failed(ctx, ue);
        }
        self.buffers_changed_by(ctx, ue, direction, |ctx, rlc| rlc.handle_timeout(&mut ctx.cx));
    }
}

/// The carrier of the UE is told what its entity has to send in `direction`, or the UE sleeps until the next of its timers. Returns
/// the carrier of the DSCHs if the UE wants one, by which it may change its cell.
#[inline]
fn tell_carrier<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    carriers: &mut Carriers,
    has_sectors: bool,
    context: &mut UeContext,
    direction: Direction,
) -> Option<CarrierId> {
    let (id, is_member) = (context.channel(direction).carrier, &mut context.on_carrier[direction.index()]);
    let rlc = &context.rlc[direction.index()];
    if rlc.has_work(ctx.cx.now) {
        let carrier = &mut carriers[id];
        match &mut carrier.sharing {
            // Its timers run while it waits for capacity.
            CarrierMac::Granted(mac) => mac.changed(ctx, id, rlc, context.id, direction),
            CarrierMac::Multicell(_) => return Some(id),
            _ => {
                if let Some(tick) = carrier.activate(ctx.cx.now, context.id, is_member) {
                    ctx.at(tick, Phase::Transmit, Event::Tick(id));
                }
                return None;
            }
        }
    } else if has_sectors && let CarrierMac::Multicell(sectors) = &mut carriers[id].sharing {
        sectors.changed(context.id);
    }
    schedule_wake(ctx, context, direction);
    None
}

/// UEs of a carrier that have nothing more to send leave it, with a wake-up for their timers.
#[inline]
pub(super) fn put_to_sleep<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    carrier: &mut Carrier,
    ues: &mut Ues,
) {
    let direction = carrier.plan.direction;
    carrier.keep(|ue| {
        let context = &mut ues[ue];
        let has_more = std::mem::take(&mut context.has_more[direction.index()]);
        let stays = has_more || context.rlc[direction.index()].has_work(ctx.cx.now);
        if !stays {
            context.on_carrier[direction.index()] = false;
            schedule_wake(ctx, context, direction);
        }
        stays
    });
}

/// One wake-up at a time: a later deadline is found when the earlier one wakes.
#[inline]
pub(super) fn schedule_wake<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    context: &mut UeContext,
    direction: Direction,
) {
    let deadline = context.rlc[direction.index()].poll_timeout();
    let event = Event::RlcWake(context.id, direction);
    ctx.wake(&mut context.wake[direction.index()], deadline, Phase::Timers, event);
}
