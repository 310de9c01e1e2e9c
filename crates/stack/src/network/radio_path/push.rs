//! EURANE's FACH: the RNC pushes each UE's blocks at the full rate, the Node B queues what it can hold.

use umts_kernel::{Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use super::super::Network;
use super::super::carrier::{Carrier, Sharing};
use crate::Step;
use crate::detail::{Detail, Stage};
use crate::event::Event;
use crate::ids::{CarrierId, UeId};
use crate::nodeb::Pushed;
use crate::trace::TraceEvent;

impl Network {
    /// Each UE sends as if it were alone; the Node B sorts it out.
    pub(super) fn tick_push<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
    ) {
        let carrier = &mut self.carriers[id.index()];
        let (direction, channel) = (carrier.plan.direction, carrier.plan.channel);
        let blocks = carrier.plan.shared_blocks;
        let iub_rate = carrier.plan.iub_rate;
        let sending = |bits: u32| {
            let octets = Bytes(u64::from(bits).div_ceil(8));
            iub_rate.map_or(Duration::ZERO, |rate| rate.time_to_send(octets))
        };
        let iub_delay = carrier.plan.iub_delay;
        let Sharing::Push(ref mut push) = carrier.sharing else {
            unreachable!("only pushed carriers come here")
        };
        let draws = push.draws.tti(frame);
        for &ue in active {
            let context = &mut self.ues[ue.index()];
            let bits = context.legs[direction.index()].block_bits;
            // Blocks of one UE do not overtake each other: RLC would take what is late for lost.
            let mut before = step.cx.now;
            for block in 0..blocks {
                let mut spare = self.flights.spare_set();
                if context.take_blocks(&mut step.cx, direction, channel, 1, &mut spare) == 0 {
                    self.flights.return_set(spare);
                    break;
                }
                let late = push.jitter.as_nanos() as f64 * draws.uniform(u32::from(ue.0) * blocks + block);
                let at = step.cx.now + sending(bits) + iub_delay + Duration::from_nanos(late as u64);
                before = at.max(before);
                push.queue.push(Pushed { at: before, ue, set: spare, epoch: context.epoch });
            }
        }
        schedule_frame(step, carrier, step.cx.now, id);
    }

    /// A frame begins at the Node B: what has come over the Iub queues or is dropped, and the head of the queue goes out.
    pub(in crate::network) fn nodeb_tick<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        id: CarrierId,
    ) {
        let carrier = &mut self.carriers[id.index()];
        let (direction, tti, channel) = (carrier.plan.direction, carrier.plan.tti, carrier.plan.channel);
        let frame = step.cx.now.as_nanos() / tti.as_nanos();
        let mut flight = self.flights.begin(direction, carrier.plan.channel);
        let Sharing::Push(ref mut push) = carrier.sharing else {
            unreachable!("only pushed carriers come here")
        };
        push.frame_scheduled = false;
        let flights = &mut self.flights;
        push.queue.settle(step.cx.now, |block| {
            let (ue, set) = (block.ue, &block.set);
            step.cx.record(|| TraceEvent::FachQueueDropped { ue, blocks: 1 });
            step.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Dropped });
            flights.return_set(block.set);
        });
        for block in 0..carrier.plan.shared_blocks {
            let Some(next) = push.queue.pop() else { break };
            let errors = &mut self.ues[next.ue.index()].legs[direction.index()].errors;
            let sent = flight.add(next.ue);
            let emptied = std::mem::replace(&mut sent.set, next.set);
            flights.return_set(emptied);
            sent.epoch = next.epoch;
            sent.lost = errors.verdict_from(frame, block, 1);
            let (ue, set) = (sent.ue, &sent.set);
            step.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::OnAir });
        }
        self.depart(step, flight, step.cx.now + tti);
        schedule_frame(step, &mut self.carriers[id.index()], step.cx.now + tti, id);
    }
}

/// The Node B's next frame, not before `from`, if it has something to send.
fn schedule_frame<T: TraceSink<TraceEvent>>(
    step: &mut Step<'_, T>,
    carrier: &mut Carrier,
    from: Time,
    id: CarrierId,
) {
    let tti = carrier.plan.tti;
    let Sharing::Push(ref mut push) = carrier.sharing else { return };
    if push.frame_scheduled {
        return;
    }
    if let Some(next) = push.queue.next(from) {
        push.frame_scheduled = true;
        step.at(next.max(from).round_up_to(tti), Phase::Transmit, Event::NodeBTick(id));
    }
}
