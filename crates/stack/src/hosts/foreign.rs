//! Packets of real programs: an emulation puts them in at a host and takes them out at another.

use umts_kernel::TraceSink;

use super::Hosts;
use crate::EventContext;
use crate::ids::{End, FlowId, UeId};
use crate::packet::{Content, Foreign, Packet};
use crate::path::NetworkPath;
use crate::trace::TraceEvent;

impl Hosts {
    /// A packet that goes to `ue` or comes from it, with a number of its own.
    pub fn new_foreign(&mut self, ue: UeId, packet: Foreign) -> Packet {
        // The server of no flow.
        let flow = FlowId(self.flows.len() as u32);
        self.packets.number(flow, ue, Content::Foreign(packet))
    }

    /// Its sender sends it: the server side downlink, the UE uplink, or a proxy between the two.
    pub fn enter_foreign<T: TraceSink<TraceEvent>>(
        &mut self,
        ctx: &mut EventContext<'_, T>,
        mut packet: Packet,
        between: &mut NetworkPath,
    ) {
        between.leave(ctx, packet.leg().site(End::sending(packet.direction())), &mut packet);
    }

    /// The next packet that has come through.
    pub fn poll_foreign(&mut self) -> Option<Packet> {
        self.foreign_out.pop_front()
    }
}
