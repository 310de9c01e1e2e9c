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

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::carrier::Sharing;
use super::flight::Flight;
use crate::Step;
use crate::detail::{Detail, Stage};
use crate::event::Event;
use crate::ids::{CarrierId, FlightId};
use crate::trace::{DropPlace, TraceEvent};

impl Network {
    /// A TTI begins for RLC on this carrier.
    pub(super) fn tick<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, id: CarrierId) {
        let mut active = std::mem::take(&mut self.active);
        let carrier = &mut self.carriers[id.index()];
        let frame = carrier.begin_tick(step.cx.now, &mut active);
        match carrier.sharing {
            Sharing::Dedicated => self.tick_dedicated(step, id, frame, &active),
            Sharing::Pull(_) => self.tick_pull(step, id, frame, &active),
            Sharing::Push(_) => self.tick_push(step, id, frame, &active),
            Sharing::Contention(_) | Sharing::PrivateAccess(..) => {
                self.tick_rach(step, id, frame, &active);
            }
        }
        self.put_to_sleep(step, id, &active);
        if let Some(next) = self.carriers[id.index()].end_tick(step.cx.now) {
            step.at(next, Phase::Transmit, Event::Tick(id));
        }
        self.active = active;
    }

    fn depart<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, flight: Flight, arrival: Time) {
        if flight.is_empty() {
            self.flights.finish(flight);
        } else {
            let id = self.flights.depart(flight);
            step.at(arrival, Phase::Receive, Event::BlocksArrive(id));
        }
    }

    /// Block sets reach their RLC entities.
    pub(super) fn blocks_arrive<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, id: FlightId) {
        let flight = self.flights.arrive(id);
        let (direction, channel) = (flight.direction, flight.channel);
        let receiving = direction.reversed();
        for sent in flight.sets() {
            let (ue, blocks, errors) = (sent.ue, sent.set.blocks, sent.lost.count());
            step.cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
            let (set, stage) = (&sent.set, Stage::Arrives(sent.lost));
            step.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage });
            if sent.epoch != self.ues[ue.index()].epoch {
                continue;
            }
            self.ues[ue.index()].rlc[receiving.index()].handle_blocks(&mut step.cx, &sent.set, sent.lost);
            while let Some(sdu) = self.ues[ue.index()].rlc[receiving.index()].poll_delivered() {
                self.leave_rlc(step, direction, sdu.packet);
            }
            while let Some((sdu, is_marked)) = self.ues[ue.index()].rlc[receiving.index()].poll_erroneous() {
                // The IP and TCP checksums find what nobody marked.
                let place = if is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
                step.cx.record(|| TraceEvent::PacketDropped { place, packet: sdu.packet });
            }
            self.rlc_changed(step, ue, receiving);
            self.buffers_changed(step, ue);
        }
        self.flights.finish(flight);
    }
}
