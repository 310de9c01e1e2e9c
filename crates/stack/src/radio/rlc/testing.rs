//! Helpers for the tests of all modes.

use crate::ids::{ConnectionId, Direction, FlowId, PacketId, UeId};
use crate::packet::{Content, Packet, Segment};

/// A packet of `octets`.
pub fn packet(id: u64, octets: u32) -> Packet {
    Packet { id: PacketId(id), ..packet_of_flow(FlowId(0), octets, 0) }
}

/// A packet of a flow with this payload and header in octets.
pub fn packet_of_flow(flow: FlowId, payload: u32, header: u16) -> Packet {
    let segment = Segment { payload, header, ..Segment::new(ConnectionId(0), Direction::Downlink) };
    Packet { id: PacketId(0), flow, ue: UeId(0), content: Content::Segment(segment) }
}
