//! Over a measured radio: packets wait for opportunities, and pass.

use umts_kernel::{EventQueue, Phase, TraceSink};

use super::Network;
use super::event::Event;
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
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
        let Some(links) = &mut self.ues[ue.index()].capacity else { return };
        match links[direction.index()].handle_packet(cx, packet) {
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
        if let Some(links) = &mut self.ues[ue.index()].capacity {
            links[direction.index()].handle_opportunity(cx, &mut through);
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
        let Some(links) = &mut self.ues[ue.index()].capacity else { return };
        if let Some(at) = links[direction.index()].poll_opportunity(cx.now) {
            queue.push(at, Phase::Transmit, Event::Opportunity(ue, direction));
        }
    }
}
