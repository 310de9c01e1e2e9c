//! Packets of real programs ("foreign" packets). An emulation passes them in at one host and takes
//! them out at another. In between they cross the modelled network like modelled packets.

use umts_kernel::TraceSink;

use super::Hosts;
use crate::EventContext;
use crate::ids::{End, FlowId, UeId};
use crate::packet::{Content, Foreign, Packet};
use crate::path::NetworkPath;
use crate::trace::TraceEvent;

impl Hosts {
    /// Creates a packet to or from `ue`.
    pub fn new_foreign(&mut self, ue: UeId, packet: Foreign) -> Packet {
        // The number after all flows: real programs have a server, and thus a first link, of their
        // own.
        let flow = FlowId(self.flows.len() as u32);
        self.packets.number(flow, ue, Content::Foreign(packet))
    }

    /// Sends the packet from its sender: the server in the downlink, the UE in the uplink, or the
    /// proxy.
    pub fn send_foreign<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        mut packet: Packet,
        path: &mut NetworkPath,
    ) {
        path.leave(ctx, packet.leg().site(End::sending(packet.direction())), &mut packet);
    }

    /// Returns the next packet that has crossed the network.
    pub fn poll_foreign(&mut self) -> Option<Packet> {
        self.foreign_out.pop_front()
    }
}
