//! From RLC to RLC: ticks ask the entities for blocks, the radio decides which are lost, the peer takes the rest.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::{Duration, Time};

use super::carrier::{Carrier, Sharing};
use super::event::{CarrierId, Event, FlightId};
use super::flight::{Flight, FlightSet};
use super::{Bearer, Network};
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::nodeb::Pushed;
use crate::radio::mac::Access;
use crate::radio::phy::Lost;
use crate::radio::rlc::Rlc;
use crate::trace::{DropPlace, TraceEvent};

impl Network {
    /// A TTI begins for RLC on this carrier.
    pub(super) fn tick<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        queue: &mut EventQueue<Event>,
    ) {
        let mut active = std::mem::take(&mut self.active);
        let carrier = &mut self.carriers[usize::from(id.0)];
        let frame = carrier.begin_tick(cx.now, &mut active);
        match carrier.sharing {
            Sharing::Dedicated => self.tick_dedicated(cx, id, frame, &active, queue),
            Sharing::Pull(_) => self.tick_pull(cx, id, frame, &active, queue),
            Sharing::Push(_) => self.tick_push(cx, id, frame, &active, queue),
            Sharing::Contention(_) | Sharing::PrivateAccess(..) => {
                self.tick_rach(cx, id, frame, &active, queue);
            }
        }
        self.put_to_sleep(cx.now, id, &active, queue);
        if let Some(next) = self.carriers[usize::from(id.0)].end_tick(cx.now) {
            queue.push(next, Phase::Transmit, Event::Tick(id));
        }
        self.active = active;
    }

    /// UEs that have nothing more to send leave the carrier, with a wake-up for their timers.
    fn put_to_sleep(&mut self, now: Time, id: CarrierId, active: &[UeId], queue: &mut EventQueue<Event>) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let direction = carrier.plan.direction;
        for &ue in active {
            let rlc = &self.rlc[direction.index()][ue.index()];
            if !rlc.has_work(now) {
                carrier.deactivate(ue);
                schedule_wake(&mut self.bearers[ue.index()], ue, direction, rlc.poll_timeout(), queue);
            }
        }
    }

    /// Each UE has a channel of its own.
    fn tick_dedicated<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &self.carriers[usize::from(id.0)];
        let (direction, mut arrival) = (carrier.plan.direction, cx.now);
        let mut flight = self.flights.begin(direction, carrier.plan.channel);
        for &ue in active {
            let bearer = &mut self.bearers[ue.index()];
            let blocks = bearer.blocks[direction.index()];
            let rlc = &mut self.rlc[direction.index()][ue.index()];
            if let Some(sent) = ask(cx, rlc, ue, blocks, &mut flight) {
                let sent_blocks = sent.set.blocks;
                sent.lost = bearer.errors[direction.index()].verdict(frame, sent_blocks);
                let bits = bearer.block_bits[direction.index()];
                cross_iub(cx, ue, direction, sent_blocks, bits);
                arrival = arrival.max(carrier.plan.arrival(cx.now, sent_blocks, bits, Duration::ZERO));
            }
        }
        self.depart(flight, arrival, queue);
    }

    /// MAC-c fills one TTI with the blocks of the UEs whose turn it is.
    fn tick_pull<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let Sharing::Pull(ref mut turns) = carrier.sharing else {
            unreachable!("only pulled carriers come here")
        };
        let (direction, mut left) = (carrier.plan.direction, carrier.plan.shared_blocks);
        let (mut flight, order) = (self.flights.begin(direction, carrier.plan.channel), *turns);
        let mut bits = 0;
        for ue in order.order(active) {
            let bearer = &mut self.bearers[ue.index()];
            let rlc = &mut self.rlc[direction.index()][ue.index()];
            if let Some(sent) = ask(cx, rlc, ue, left, &mut flight) {
                let sent_blocks = sent.set.blocks;
                sent.lost = bearer.errors[direction.index()].verdict(frame, sent_blocks);
                bits = bearer.block_bits[direction.index()];
                cross_iub(cx, ue, direction, sent_blocks, bits);
                turns.served(ue);
                left -= sent_blocks;
                if left == 0 {
                    break;
                }
            }
        }
        let arrival = carrier.plan.arrival(cx.now, carrier.plan.shared_blocks - left, bits, Duration::ZERO);
        self.depart(flight, arrival, queue);
    }

    /// EURANE's FACH: each UE sends as if it were alone; the Node B sorts it out.
    fn tick_push<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let (direction, blocks) = (carrier.plan.direction, carrier.plan.shared_blocks);
        let sending = |bits: u32| {
            let octets = umts_units::Bytes(u64::from(bits).div_ceil(8));
            carrier.plan.iub_rate.map_or(Duration::ZERO, |rate| rate.time_to_send(octets))
        };
        let iub_delay = carrier.plan.iub_delay;
        let Sharing::Push(ref mut push) = carrier.sharing else {
            unreachable!("only pushed carriers come here")
        };
        let draws = push.draws.tti(frame);
        for &ue in active {
            let bearer = &mut self.bearers[ue.index()];
            let bits = bearer.block_bits[direction.index()];
            let rlc = &mut self.rlc[direction.index()][ue.index()];
            for block in 0..blocks {
                let mut spare = self.flights.spare_set();
                rlc.poll_transmit(cx, 1, &mut spare);
                if spare.blocks == 0 {
                    self.flights.return_set(spare);
                    break;
                }
                cross_iub(cx, ue, direction, 1, bits);
                let late = push.jitter.as_nanos() as f64 * draws.uniform(u32::from(ue.0) * blocks + block);
                let at = cx.now + sending(bits) + iub_delay + Duration::from_nanos(late as u64);
                push.queue.push(Pushed { at, ue, set: spare });
            }
        }
        schedule_frame(carrier, cx.now, id, queue);
    }

    /// A frame begins at the Node B: what has come over the Iub queues or is dropped, and the head of the queue goes out.
    pub(super) fn nodeb_tick<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &mut self.carriers[usize::from(id.0)];
        let (direction, tti) = (carrier.plan.direction, carrier.plan.tti);
        let frame = cx.now.as_nanos() / tti.as_nanos();
        let mut flight = self.flights.begin(direction, carrier.plan.channel);
        let Sharing::Push(ref mut push) = carrier.sharing else {
            unreachable!("only pushed carriers come here")
        };
        push.frame_scheduled = false;
        let flights = &mut self.flights;
        push.queue.settle(cx.now, |block| {
            cx.record(|| TraceEvent::FachQueueDropped { ue: block.ue, blocks: 1 });
            flights.return_set(block.set);
        });
        for block in 0..carrier.plan.shared_blocks {
            let Some(next) = push.queue.pop() else { break };
            let errors = &mut self.bearers[next.ue.index()].errors[direction.index()];
            let sent = flight.add(next.ue);
            let emptied = std::mem::replace(&mut sent.set, next.set);
            flights.return_set(emptied);
            sent.lost = errors.verdict_from(frame, block, 1);
        }
        self.depart(flight, cx.now + tti, queue);
        schedule_frame(&mut self.carriers[usize::from(id.0)], cx.now + tti, id, queue);
    }

    /// The RACH: whoever gets access sends.
    fn tick_rach<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        active: &[UeId],
        queue: &mut EventQueue<Event>,
    ) {
        let mut acquired = Vec::new();
        match &self.carriers[usize::from(id.0)].sharing {
            Sharing::Contention(rach) => rach.resolve(frame, active.iter().copied(), &mut acquired),
            Sharing::PrivateAccess(most, draws) => {
                let draws = draws.tti(frame);
                acquired.extend(active.iter().map(|&ue| {
                    let delay = most.as_nanos() as f64 * draws.uniform(u32::from(ue.0));
                    Access { ue, delay: Duration::from_nanos(delay as u64), collides: false }
                }));
            }
            _ => unreachable!("only random access channels come here"),
        }
        for access in acquired {
            self.send_on_rach(cx, id, frame, access, queue);
        }
    }

    fn send_on_rach<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: CarrierId,
        frame: u64,
        access: Access,
        queue: &mut EventQueue<Event>,
    ) {
        let carrier = &self.carriers[usize::from(id.0)];
        let (direction, ue) = (carrier.plan.direction, access.ue);
        let bearer = &mut self.bearers[ue.index()];
        let rlc = &mut self.rlc[direction.index()][ue.index()];
        let mut flight = self.flights.begin(direction, carrier.plan.channel);
        let Some(sent) = ask(cx, rlc, ue, carrier.plan.shared_blocks, &mut flight) else {
            self.flights.finish(flight);
            return;
        };
        let blocks = sent.set.blocks;
        sent.lost = bearer.errors[direction.index()].verdict(frame, blocks);
        if access.collides {
            sent.lost = Lost::all(blocks);
            cx.record(|| TraceEvent::RachCollision { ue });
        }
        let bits = bearer.block_bits[direction.index()];
        cross_iub(cx, ue, direction, blocks, bits);
        let arrival = carrier.plan.arrival(cx.now, blocks, bits, access.delay);
        self.depart(flight, arrival, queue);
    }

    fn depart(&mut self, flight: Flight, arrival: Time, queue: &mut EventQueue<Event>) {
        if flight.is_empty() {
            self.flights.finish(flight);
        } else {
            let id = self.flights.depart(flight);
            queue.push(arrival, Phase::Receive, Event::BlocksArrive(id));
        }
    }

    /// Block sets reach their RLC entities.
    pub(super) fn blocks_arrive<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        id: FlightId,
        queue: &mut EventQueue<Event>,
    ) {
        let flight = self.flights.arrive(id);
        let (direction, channel) = (flight.direction, flight.channel);
        for sent in flight.sets() {
            let (ue, blocks, errors) = (sent.ue, sent.set.blocks, sent.lost.count());
            cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
            let receiving = direction.reversed();
            let rlc = &mut self.rlc[receiving.index()][ue.index()];
            rlc.handle_blocks(cx, &sent.set, sent.lost);
            while let Some(sdu) = self.rlc[receiving.index()][ue.index()].poll_delivered() {
                self.leave_rlc(cx, direction, sdu.packet, queue);
            }
            while let Some((sdu, is_marked)) = self.rlc[receiving.index()][ue.index()].poll_erroneous() {
                // The IP and TCP checksums find what nobody marked.
                let place = if is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
                cx.record(|| TraceEvent::PacketDropped { place, packet: sdu.packet });
            }
            self.rlc_changed(cx.now, ue, receiving, queue);
        }
        self.flights.finish(flight);
    }

    /// The entity of `ue` that sends in `direction` may have something to send, or a timer.
    #[inline]
    pub(super) fn rlc_changed(
        &mut self,
        now: Time,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let rlc = &self.rlc[direction.index()][ue.index()];
        let bearer = &mut self.bearers[ue.index()];
        if rlc.has_work(now) {
            let id = bearer.carrier[direction.index()];
            if let Some(tick) = self.carriers[usize::from(id)].activate(now, ue) {
                queue.push(tick, Phase::Transmit, Event::Tick(CarrierId(id)));
            }
        } else {
            schedule_wake(bearer, ue, direction, rlc.poll_timeout(), queue);
        }
    }

    /// A timer of an RLC entity may be due; waking early, it sleeps again.
    pub(super) fn rlc_wake<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        self.bearers[ue.index()].wake[direction.index()] = Time::NEVER;
        self.rlc[direction.index()][ue.index()].handle_timeout(cx);
        self.rlc_changed(cx.now, ue, direction, queue);
    }
}

/// Asks an entity for `blocks` blocks; `None` if it has none to give.
#[inline]
fn ask<'a, T: TraceSink<TraceEvent>>(
    cx: &mut Cx<'_, T>,
    rlc: &mut Rlc,
    ue: UeId,
    blocks: u32,
    flight: &'a mut Flight,
) -> Option<&'a mut FlightSet> {
    rlc.poll_transmit(cx, blocks, &mut flight.add(ue).set);
    if flight.last().set.blocks == 0 {
        flight.drop_last();
        return None;
    }
    Some(flight.last())
}

#[inline]
fn cross_iub<T: TraceSink<TraceEvent>>(
    cx: &mut Cx<'_, T>,
    ue: UeId,
    direction: Direction,
    blocks: u32,
    bits: u32,
) {
    cx.record(|| TraceEvent::IubSent { ue, direction, blocks, bits });
}

/// One wake-up at a time: a later deadline is found when the earlier one wakes.
#[inline]
fn schedule_wake(
    bearer: &mut Bearer,
    ue: UeId,
    direction: Direction,
    deadline: Option<Time>,
    queue: &mut EventQueue<Event>,
) {
    let wake = &mut bearer.wake[direction.index()];
    if let Some(at) = deadline.filter(|at| at < wake) {
        // A deadline that passed while its owner was busy is seen now.
        let at = at.max(queue.now());
        *wake = at;
        queue.push(at, Phase::Timers, Event::RlcWake(ue, direction));
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
