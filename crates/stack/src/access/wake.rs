//! When an RLC entity is next looked at: at the next tick while it has something to send, else when a timer expires.

use umts_kernel::{Phase, TraceSink};

use super::Access;
use super::carrier::Carrier;
use super::sharing::Sharing;
use crate::Step;
use crate::event::Event;
use crate::ids::{Direction, UeId};
use crate::trace::TraceEvent;
use crate::ue::{UeContext, Ues};

impl Access {
    /// The entity of `ue` that sends in `direction` may have something to send, or a timer.
    #[inline(always)]
    pub(super) fn rlc_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let context = &mut self.ues[ue];
        let (id, is_member) = (context.leg(direction).carrier, &mut context.on_carrier[direction.index()]);
        let rlc = &context.rlc[direction.index()];
        if rlc.has_work(step.cx.now) {
            let carrier = &mut self.carriers[id];
            match &mut carrier.sharing {
                // Its timers run while it waits for capacity.
                Sharing::Granted(mac) => mac.changed(step, id, rlc, ue, direction),
                Sharing::Sectors(_) => return self.dsch_wanted(step, id, ue),
                _ => {
                    if let Some(tick) = carrier.activate(step.cx.now, ue, is_member) {
                        step.at(tick, Phase::Transmit, Event::Tick(id));
                    }
                    return;
                }
            }
        } else if self.sectors.is_some()
            && let Sharing::Sectors(sectors) = &mut self.carriers[id].sharing
        {
            sectors.changed(ue);
        }
        schedule_wake(step, context, direction);
    }

    /// The same, and what it holds may be other than RRC was told.
    #[inline(always)]
    pub(super) fn buffers_changed<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let is_measured = self.ues[ue].is_measured();
        self.rlc_changed(step, ue, direction);
        if is_measured {
            self.measure(step, ue);
        }
    }

    /// A timer of an RLC entity may be due; waking early, it sleeps again.
    #[inline(never)]
    pub fn rlc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let context = &mut self.ues[ue];
        context.wake[direction.index()].has_come(step.cx.now);
        context.rlc[direction.index()].handle_timeout(&mut step.cx);
        self.buffers_changed(step, ue, direction);
    }
}

/// UEs of a carrier that have nothing more to send leave it, with a wake-up for their timers.
#[inline]
pub(super) fn put_to_sleep<T: TraceSink<TraceEvent>>(
    step: &mut Step<'_, T>,
    carrier: &mut Carrier,
    ues: &mut Ues,
) {
    let direction = carrier.plan.direction;
    carrier.keep(|ue| {
        let context = &mut ues[ue];
        let has_more = std::mem::take(&mut context.has_more[direction.index()]);
        let stays = has_more || context.rlc[direction.index()].has_work(step.cx.now);
        if !stays {
            context.on_carrier[direction.index()] = false;
            schedule_wake(step, context, direction);
        }
        stays
    });
}

/// One wake-up at a time: a later deadline is found when the earlier one wakes.
#[inline(always)]
pub(super) fn schedule_wake<T: TraceSink<TraceEvent>>(
    step: &mut Step<'_, T>,
    context: &mut UeContext,
    direction: Direction,
) {
    let deadline = context.rlc[direction.index()].poll_timeout();
    let event = Event::RlcWake(context.id, direction);
    step.wake(&mut context.wake[direction.index()], deadline, Phase::Timers, event);
}
