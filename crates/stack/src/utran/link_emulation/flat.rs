//! Events of a flat link, which replaces UMTS for a UE: packets are sent at a constant rate, delayed, and
//! delivered or lost.

use umts_kernel::{Phase, TraceSink};
use umts_units::Time;

use super::LinkEmulation;
use crate::EventContext;
use crate::event::Event;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::radio::flat::{FlatLink, Sent};
use crate::trace::{DropPlace, TraceEvent};
use crate::utran::Utran;

impl Utran {
    /// Queues a packet of a UE with a flat link.
    pub(super) fn enter_flat<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: Packet,
    ) {
        let (ue, direction) = (packet.ue, packet.direction());
        let Some(link) = self.flat_link(ue, direction) else { return };
        match link.handle_packet(&mut ctx.cx, packet) {
            Ok(sent_at) => schedule_sent(ctx, sent_at, ue, direction),
            Err(packet) => {
                ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::RlcBuffer, packet })
            }
        }
    }

    /// Handles the end of the transmission of a packet.
    pub fn flat_sent<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) {
        let Some(link) = self.flat_link(ue, direction) else { return };
        let (outcome, next) = link.handle_sent(&mut ctx.cx);
        match outcome {
            Sent::Arrives(at) => {
                ctx.at(at, Phase::Receive, Event::FlatArrival(ue, direction));
            }
            Sent::Lost(packet) => {
                ctx.cx.record(|| TraceEvent::PacketDropped { place: DropPlace::FlatLoss, packet });
            }
        }
        schedule_sent(ctx, next, ue, direction);
    }

    /// Returns the packet that arrives.
    pub fn flat_arrival<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        ue: UeId,
        direction: Direction,
    ) -> Option<Packet> {
        self.flat_link(ue, direction).map(|link| link.arrive(&mut ctx.cx))
    }

    fn flat_link(&mut self, ue: UeId, direction: Direction) -> Option<&mut FlatLink> {
        match self.substitute(ue)? {
            LinkEmulation::Flat(links) => Some(&mut links[direction.index()]),
            LinkEmulation::Capacity(_) => None,
        }
    }
}

/// Schedules the end of a packet's transmission at `at`, if a packet is in transmission.
fn schedule_sent<T: TraceSink<TraceEvent>>(
    ctx: &mut EventContext<'_, T>,
    at: Option<Time>,
    ue: UeId,
    direction: Direction,
) {
    if let Some(at) = at {
        ctx.at(at, Phase::Transmit, Event::FlatSent(ue, direction));
    }
}
