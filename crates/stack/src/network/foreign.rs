//! Packets of real programs: an emulation puts them in at a host and takes them out at another.

use umts_kernel::TraceSink;

use super::Network;
use crate::Step;
use crate::ids::{Direction, End, FlowId, UeId};
use crate::packet::{Content, Foreign, Packet};
use crate::trace::TraceEvent;

impl Network {
    /// A packet of `size` octets that goes to `ue` or comes from it, with a number of its own.
    pub fn new_foreign(&mut self, ue: UeId, direction: Direction, size: u32) -> Packet {
        // The server of no flow.
        let flow = FlowId(self.flows.len() as u32);
        self.packets.number(flow, ue, Content::Foreign(Foreign { direction, size }))
    }

    /// Its sender sends it: the server side downlink, the UE uplink.
    pub fn enter_foreign<T: TraceSink<TraceEvent>>(&mut self, step: &mut Step<'_, T>, packet: Packet) {
        let end = match packet.direction() {
            Direction::Downlink => End::Server,
            Direction::Uplink => End::Ue,
        };
        self.leave_host(step, end, packet);
    }

    /// The next packet that has come through.
    pub fn poll_foreign(&mut self) -> Option<Packet> {
        self.foreign_out.pop_front()
    }
}
