//! When an RLC entity is next looked at: at the next tick while it has something to send, else when a timer expires.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::super::Network;
use super::super::event::{CarrierId, Event};
use super::super::ue::UeContext;
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::trace::TraceEvent;

impl Network {
    /// The entity of `ue` that sends in `direction` may have something to send, or a timer.
    #[inline]
    pub(in crate::network) fn rlc_changed(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        if context.rlc[direction.index()].has_work(now) {
            let id = context.legs[direction.index()].carrier;
            if let Some(tick) = self.carriers[usize::from(id)].activate(now, ue) {
                queue.push(tick, Phase::Transmit, Event::Tick(CarrierId(id)));
            }
        } else {
            schedule_wake(context, direction, queue);
        }
    }

    /// UEs that have nothing more to send leave the carrier, with a wake-up for their timers.
    pub(super) fn put_to_sleep(
        &mut self,
        now: Time,
        id: CarrierId,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let direction = carrier.plan.direction;
        for &ue in active {
            let context = &mut self.ues[ue.index()];
            if !context.rlc[direction.index()].has_work(now) {
                carrier.deactivate(ue);
                schedule_wake(context, direction, queue);
            }
        }
    }

    /// A timer of an RLC entity may be due; waking early, it sleeps again.
    pub(in crate::network) fn rlc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let context = &mut self.ues[ue.index()];
        context.wake[direction.index()] = Time::NEVER;
        context.rlc[direction.index()].handle_timeout(cx);
        self.rlc_changed(cx.now, ue, direction, queue);
        self.buffers_changed(cx, ue, queue);
    }
}

/// One wake-up at a time: a later deadline is found when the earlier one wakes.
#[inline]
fn schedule_wake(context: &mut UeContext, direction: Direction, queue: &mut EventQueue<Event>) {
    let deadline = context.rlc[direction.index()].poll_timeout();
    let wake = &mut context.wake[direction.index()];
    if let Some(at) = deadline.filter(|at| at < wake) {
        // A deadline that passed while its owner was busy is seen now.
        let at = at.max(queue.now());
        *wake = at;
        queue.push(at, Phase::Timers, Event::RlcWake(context.id, direction));
    }
}
