//! Over a measured radio: packets wait for opportunities, and pass.

use umts_kernel::{Phase, TraceSink};

use super::LinkEmulation;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::radio::capacity::CapacityLink;
use crate::trace::{DropPlace, TraceEvent};
use crate::utran::Utran;

impl Utran {
    /// A packet of a UE with a measured radio waits for its opportunity.
    pub(super) fn enter_capacity<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: Packet,
    ) {
        let (ue, direction) = (packet.ue, packet.direction());
        let Some(link) = self.capacity_link(ue, direction) else { return };
        match link.handle_packet(&mut ctx.cx, packet) {
            Ok(()) => self.wait_for_opportunity(ctx, ue, direction),
            Err(packet) => {
                ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet })
            }
        }
    }

    /// An opportunity has come. Returns what used it; once that is taken up, tell
    /// [`wait_for_opportunity`](Self::wait_for_opportunity).
    pub fn opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) -> Vec<Packet> {
        let mut through = Vec::new();
        if let Some(link) = self.capacity_link(ue, direction) {
            link.handle_opportunity(&mut ctx.cx, &mut through);
        }
        through
    }

    /// Sees to it that the next opportunity is used, if something waits for it.
    pub fn wait_for_opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let Some(link) = self.capacity_link(ue, direction) else { return };
        if let Some(at) = link.poll_opportunity(ctx.cx.now) {
            ctx.at(at, Phase::Transmit, Event::Opportunity(ue, direction));
        }
    }

    fn capacity_link(&mut self, ue: UeId, direction: Direction) -> Option<&mut CapacityLink> {
        match self.substitute(ue)? {
            LinkEmulation::Capacity(links) => Some(&mut links[direction.index()]),
            LinkEmulation::Flat(_) => None,
        }
    }
}
