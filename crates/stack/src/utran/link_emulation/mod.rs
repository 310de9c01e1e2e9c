//! Emulated links that replace UMTS between the RNC and a UE, without RLC, MAC and channels: a link with
//! a measured capacity, and for comparison a *flat* link with a constant rate, delay and random loss. The
//! scenario selects one of them as the `substitute` of a UE's radio.

mod capacity;
mod flat;

use umts_kernel::TraceSink;
use umts_kernel::random::Streams;

use super::Utran;
use crate::EventContext;
use crate::ids::{Direction, UeId};
use crate::packet::Packet;
use crate::radio::capacity::CapacityLink;
use crate::radio::flat::FlatLink;
use crate::trace::TraceEvent;
use crate::ue::SubstituteConfig;

/// Links of one UE by direction.
#[derive(Debug)]
pub(super) enum LinkEmulation {
    Capacity([CapacityLink; 2]),
    Flat([FlatLink; 2]),
}

impl LinkEmulation {
    pub fn new(ue: UeId, config: &SubstituteConfig, streams: &Streams) -> Self {
        match config {
            SubstituteConfig::Capacity(capacity) => LinkEmulation::Capacity(
                Direction::BOTH.map(|direction| CapacityLink::new(ue, direction, capacity)),
            ),
            SubstituteConfig::Flat(flat) => LinkEmulation::Flat(Direction::BOTH.map(|direction| {
                let losses = streams.stream(&format!("flat/{direction:?}/ue{}", ue.0));
                FlatLink::new(ue, direction, flat, losses)
            })),
        }
    }
}

impl Utran {
    /// Passes a packet to the link of its UE, which replaces UMTS.
    pub(super) fn enter_link_emulation<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        packet: Packet,
    ) {
        match self.substitute(packet.ue) {
            Some(LinkEmulation::Capacity(_)) => self.enter_capacity(ctx, packet),
            Some(LinkEmulation::Flat(_)) => self.enter_flat(ctx, packet),
            None => {}
        }
    }

    /// Cuts or restores the substitute links of a UE, if it has any.
    pub(super) fn set_emulated_cut(&mut self, ue: UeId, is_cut: bool) {
        match self.substitute(ue) {
            Some(LinkEmulation::Capacity(links)) => links.iter_mut().for_each(|link| link.set_cut(is_cut)),
            Some(LinkEmulation::Flat(links)) => links.iter_mut().for_each(|link| link.set_cut(is_cut)),
            None => {}
        }
    }

    fn substitute(&mut self, ue: UeId) -> Option<&mut LinkEmulation> {
        self.link_emulations.get_mut(ue.index())?.as_deref_mut()
    }
}
