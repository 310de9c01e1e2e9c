//! Over a measured radio: packets wait for opportunities, and pass.

use umts_kernel::{EventQueue, Phase, TraceSink};

use super::Network;
use super::event::Event;
use super::ue::Substitute;
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::radio::capacity::CapacityLink;
use crate::trace::{DropPlace, TraceEvent};

impl Network {
    /// A packet of a UE with a measured radio waits for its opportunity.
    pub(super) fn enter_capacity<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        let (ue, direction) = (packet.ue, packet.direction());
        let Some(link) = self.capacity_link(ue, direction) else { return };
        match link.handle_packet(cx, packet) {
            Ok(()) => self.wait_for_opportunity(cx, ue, direction, queue),
            Err(packet) => cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet }),
        }
    }

    /// An opportunity has come.
    pub(super) fn opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let mut through = Vec::new();
        if let Some(link) = self.capacity_link(ue, direction) {
            link.handle_opportunity(cx, &mut through);
        }
        for packet in through {
            self.leave_rlc(cx, direction, packet, queue);
        }
        self.wait_for_opportunity(cx, ue, direction, queue);
    }

    fn wait_for_opportunity<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let Some(link) = self.capacity_link(ue, direction) else { return };
        if let Some(at) = link.poll_opportunity(cx.now) {
            queue.push(at, Phase::Transmit, Event::Opportunity(ue, direction));
        }
    }

    fn capacity_link(&mut self, ue: UeId, direction: Direction) -> Option<&mut CapacityLink> {
        match self.ues[ue.index()].substitute.as_deref_mut()? {
            Substitute::Capacity(links) => Some(&mut links[direction.index()]),
            Substitute::Flat(_) => None,
        }
    }
}
