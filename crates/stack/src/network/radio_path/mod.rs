//! From RLC to RLC: ticks ask the entities for blocks, the radio decides which are lost, the peer takes the rest.
//!
//! ```text
//!   rlc_changed ─► tick of the carrier ─► UeContext::send: RLC, verdict, Iub ─► flight ─► blocks_arrive ─► RLC of the peer
//!    (wake.rs)      (mod.rs)  │
//!                             ├ sharing.rs: dedicated, pulled, by contention
//!                             └ push.rs: EURANE's FACH, with a queue at the Node B
//! ```

mod push;
mod sharing;
mod wake;

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::carrier::Sharing;
use super::event::{CarrierId, Event, FlightId};
use super::flight::Flight;
use crate::Cx;
use crate::detail::{Detail, Stage};
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
        let receiving = direction.reversed();
        for sent in flight.sets() {
            let (ue, blocks, errors) = (sent.ue, sent.set.blocks, sent.lost.count());
            cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
            let (set, stage) = (&sent.set, Stage::Arrives(sent.lost));
            cx.show(|| Detail::Blocks { ue, direction, channel, set, stage });
            if sent.epoch != self.ues[ue.index()].epoch {
                continue;
            }
            self.ues[ue.index()].rlc[receiving.index()].handle_blocks(cx, &sent.set, sent.lost);
            while let Some(sdu) = self.ues[ue.index()].rlc[receiving.index()].poll_delivered() {
                self.leave_rlc(cx, direction, sdu.packet, queue);
            }
            while let Some((sdu, is_marked)) = self.ues[ue.index()].rlc[receiving.index()].poll_erroneous() {
                // The IP and TCP checksums find what nobody marked.
                let place = if is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
                cx.record(|| TraceEvent::PacketDropped { place, packet: sdu.packet });
            }
            self.rlc_changed(cx.now, ue, receiving, queue);
            self.buffers_changed(cx, ue, queue);
        }
        self.flights.finish(flight);
    }
}
