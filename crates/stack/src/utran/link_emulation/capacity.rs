//! Events of a link with a measured capacity, which replaces UMTS for a UE: packets wait for the
//! transmission opportunities of a recorded trace.

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
    /// Queues a packet of a UE with a measured link.
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

    /// Handles an opportunity. Returns the packets that used it. After they are delivered,
    /// [`wait_for_opportunity`](Self::wait_for_opportunity) must be called.
    pub fn opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) -> Vec<Packet> {
        let mut delivered = Vec::new();
        if let Some(link) = self.capacity_link(ue, direction) {
            link.handle_opportunity(&mut ctx.cx, &mut delivered);
        }
        delivered
    }

    /// Schedules the next opportunity, if packets wait.
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
