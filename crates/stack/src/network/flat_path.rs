//! Over a flat radio: packets are sent at a rate, take a delay, and come out or are lost.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use super::Network;
use super::event::Event;
use super::ue::Substitute;
use crate::Cx;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::radio::flat::{FlatLink, Sent};
use crate::trace::{DropPlace, TraceEvent};

impl Network {
    /// A packet of a UE with a flat radio waits its turn.
    pub(super) fn enter_flat<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        packet: Packet,
        queue: &mut EventQueue<Event>,
    ) {
        let (ue, direction) = (packet.ue, packet.direction());
        let Some(link) = self.flat_link(ue, direction) else { return };
        match link.handle_packet(cx, packet) {
            Ok(sent_at) => push_sent(sent_at, ue, direction, queue),
            Err(packet) => cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet }),
        }
    }

    /// The last octet of a packet is sent.
    pub(super) fn flat_sent<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let Some(link) = self.flat_link(ue, direction) else { return };
        let (became, next) = link.handle_sent(cx);
        match became {
            Sent::Arrives(at) => {
                queue.push(at, Phase::Receive, Event::FlatArrival(ue, direction));
            }
            Sent::Lost(packet) => {
                cx.record(|| TraceEvent::PacketDropped { place: DropPlace::FlatLoss, packet });
            }
        }
        push_sent(next, ue, direction, queue);
    }

    /// A packet comes out.
    pub(super) fn flat_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Cx<'_, T>,
        ue: UeId,
        direction: Direction,
        queue: &mut EventQueue<Event>,
    ) {
        let Some(link) = self.flat_link(ue, direction) else { return };
        let packet = link.arrive(cx);
        self.leave_rlc(cx, direction, packet, queue);
    }

    fn flat_link(&mut self, ue: UeId, direction: Direction) -> Option<&mut FlatLink> {
        match self.ues[ue.index()].substitute.as_deref_mut()? {
            Substitute::Flat(links) => Some(&mut links[direction.index()]),
            Substitute::Capacity(_) => None,
        }
    }
}

fn push_sent(at: Option<Time>, ue: UeId, direction: Direction, queue: &mut EventQueue<Event>) {
    if let Some(at) = at {
        queue.push(at, Phase::Transmit, Event::FlatSent(ue, direction));
    }
}
