//! EURANE's FACH: the RNC pushes each UE's blocks at the full rate, the Node B queues what it can hold.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Bytes, Duration, Time};

use super::super::Network;
use super::super::carrier::{Carrier, Sharing};
use super::super::event::{CarrierId, Event};
use crate::Cx;
use crate::detail::{Detail, Stage};
use crate::ids::UeId;
use crate::nodeb::Pushed;
use crate::trace::TraceEvent;

impl Network {
    /// Each UE sends as if it were alone; the Node B sorts it out.
    pub(super) fn tick_push<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
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
            let mut before = cx.now;
            for block in 0..blocks {
                let mut spare = self.flights.spare_set();
                if context.take_blocks(cx, direction, channel, 1, &mut spare) == 0 {
                    self.flights.return_set(spare);
                    break;
                }
                let late = push.jitter.as_nanos() as f64 * draws.uniform(u32::from(ue.0) * blocks + block);
                let at = cx.now + sending(bits) + iub_delay + Duration::from_nanos(late as u64);
                before = at.max(before);
                push.queue.push(Pushed { at: before, ue, set: spare, epoch: context.epoch });
            }
        }
        schedule_frame(carrier, cx.now, id, queue);
    }

    /// A frame begins at the Node B: what has come over the Iub queues or is dropped, and the head of the queue goes out.
    pub(in crate::network) fn nodeb_tick<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let (direction, tti, channel) = (carrier.plan.direction, carrier.plan.tti, carrier.plan.channel);
        let frame = cx.now.as_nanos() / tti.as_nanos();
        let mut flight = self.flights.begin(direction, carrier.plan.channel);
        let Sharing::Push(ref mut push) = carrier.sharing else {
            unreachable!("only pushed carriers come here")
        };
        push.frame_scheduled = false;
        let flights = &mut self.flights;
        push.queue.settle(cx.now, |block| {
            let (ue, set) = (block.ue, &block.set);
            cx.record(|| TraceEvent::FachQueueDropped { ue, blocks: 1 });
            cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::Dropped });
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
            cx.show(|| Detail::Blocks { ue, direction, channel, set, stage: Stage::OnAir });
        }
        self.depart(flight, cx.now + tti, queue);
        schedule_frame(&mut self.carriers[usize::from(id.0)], cx.now + tti, id, queue);
    }
}

/// The Node B's next frame, not before `from`, if it has something to send.
fn schedule_frame(carrier: &mut Carrier, from: Time, id: CarrierId, queue: &mut EventQueue<Event>) {
    let tti = carrier.plan.tti;
    let Sharing::Push(ref mut push) = carrier.sharing else { return };
    if push.frame_scheduled {
        return;
    }
    if let Some(next) = push.queue.next(from) {
        push.frame_scheduled = true;
        queue.push(next.max(from).round_up_to(tti), Phase::Transmit, Event::NodeBTick(id));
    }
}
