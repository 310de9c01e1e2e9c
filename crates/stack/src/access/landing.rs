//! What comes down from the air at one instant, and is pulled up SDU by SDU.

use umts_kernel::TraceSink;

use super::Access;
use crate::Step;
use crate::detail::{Detail, Stage};
use crate::ids::{Direction, FlightId, UeId};
use crate::packet::Packet;
use crate::radio::air::Flight;
use crate::radio::rlc::Rlc;
use crate::trace::{DropPlace, TraceEvent};

/// What has come down, and how much of it was taken up. Pull [`Access::next_sdu`] until there is none, then tell
/// [`Access::landed`].
#[derive(Debug)]
pub struct Landing {
    /// The way it went.
    pub direction: Direction,
    pub(super) rest: Rest,
}

/// What is still to be taken up.
#[derive(Debug)]
pub(super) enum Rest {
    /// Block sets, from number `at` on; `is_open`: that one has gone into RLC, and SDUs may come out.
    Blocks { flight: Box<Flight>, at: usize, is_open: bool },
    /// Packets that used an opportunity of a measured radio. `ue` then waits for the next.
    Opportunity { ue: UeId, through: std::vec::IntoIter<Packet> },
    /// A packet of a flat radio.
    Flat(Option<Packet>),
}

impl Access {
    /// Block sets end on the air or reach the RNC.
    #[inline]
    pub fn land(&mut self, id: FlightId) -> Landing {
        let flight = self.air.arrive(id);
        Landing { direction: flight.direction, rest: Rest::Blocks { flight, at: 0, is_open: false } }
    }

    /// The next packet that goes up: to the UE for the downlink, to the RNC for the uplink.
    #[inline(always)]
    pub fn next_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        landing: &mut Landing,
    ) -> Option<Packet> {
        match &mut landing.rest {
            Rest::Blocks { flight, at, is_open } => self.next_of_flight(step, flight, at, is_open),
            Rest::Opportunity { through, .. } => through.next(),
            Rest::Flat(packet) => packet.take(),
        }
    }

    /// All of it was taken up.
    #[inline(always)]
    pub fn landed<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, landing: Landing) {
        match landing.rest {
            Rest::Blocks { flight, .. } => self.air.finish(flight),
            Rest::Opportunity { ue, .. } => self.wait_for_opportunity(step, ue, landing.direction),
            Rest::Flat(_) => {}
        }
    }

    #[inline(always)]
    fn next_of_flight<T: TraceSink<TraceEvent>>(
        &mut self,
        step: &mut Step<'_, T>,
        flight: &Flight,
        at: &mut usize,
        is_open: &mut bool,
    ) -> Option<Packet> {
        let (direction, channel) = (flight.direction, flight.channel);
        let receiving = direction.reversed();
        while let Some(sent) = flight.sets().get(*at) {
            let ue = sent.ue;
            let context = &mut self.ues[ue];
            let rlc = &mut context.rlc[receiving.index()];
            if !*is_open {
                let (blocks, errors) = (sent.set.blocks, sent.lost.count());
                step.cx.record(|| TraceEvent::BlocksReceived { ue, direction, channel, blocks, errors });
                let (set, stage) = (&sent.set, Stage::Arrives(sent.lost));
                step.cx.show(|| Detail::Blocks { ue, direction, channel, set, stage });
                if sent.epoch != context.epoch {
                    *at += 1;
                    continue;
                }
                rlc.handle_blocks(&mut step.cx, set, sent.lost);
                *is_open = true;
            }
            if let Some(sdu) = rlc.poll_delivered() {
                return Some(sdu.packet);
            }
            drop_erroneous(step, rlc);
            let is_switched = context.control.is_some();
            self.rlc_changed(step, ue, receiving);
            if is_switched {
                self.buffers_changed(step, ue);
            }
            *is_open = false;
            *at += 1;
        }
        None
    }
}

/// The IP and TCP checksums find what nobody marked.
#[inline]
fn drop_erroneous<T: TraceSink<TraceEvent>>(step: &mut Step<'_, T>, rlc: &mut Rlc) {
    while let Some((sdu, is_marked)) = rlc.poll_erroneous() {
        let place = if is_marked { DropPlace::ErroneousSdu } else { DropPlace::Checksum };
        step.cx.record(|| TraceEvent::PacketDropped { place, packet: sdu.packet });
    }
}
