//! What can happen in a network: plain values, ordered by the event queue.

use crate::ids::{CarrierId, CellId, Direction, End, FlowId, HeldId, LinkId, TransmissionId, UeId};

/// Something that happens at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A flow begins.
    FlowStarts(FlowId),
    /// A packet comes out of a link of the core network.
    LinkArrival(LinkId),
    /// A packet gets lost on a link of the core network, behind the one that it entered last.
    LinkLoss(HeldId),
    /// A packet that a script held back enters the core network.
    HeldPacketEnters(HeldId),
    /// A TTI of this channel begins for RLC: it is asked for blocks.
    Tick(CarrierId),
    /// A frame of a TDD cell ends: RLC's control PDUs travel on the common channels that are theirs.
    ControlTurn(CarrierId),
    /// A frame of a FACH begins at a Node B that has a queue of its own.
    NodeBTick(CarrierId),
    /// Block sets end on the air or reach the RNC.
    BlocksArrive(TransmissionId),
    /// An opportunity of a measured radio has come, for what waits in this direction.
    Opportunity(UeId, Direction),
    /// The last octet of a packet is sent over a flat radio, in this direction.
    FlatSent(UeId, Direction),
    /// A packet comes out of a flat radio.
    FlatArrival(UeId, Direction),
    /// A timer of an RLC entity may be due: that of `ue`'s bearer which sends in this direction.
    RlcWake(UeId, Direction),
    /// A timer of the UE's RRC may be due.
    RrcWake(UeId),
    /// A timer of the UE's cell update may be due, or a radio frame ends in which its radio link is supervised.
    ConnectionWake(UeId),
    /// A UE that waits for a DCH of this cell may get one.
    CellWake(CellId),
    /// This cell may no longer be full.
    CellOpens(CellId),
    /// A timer of a TCP endpoint may be due, at this end of one of the flow's connections.
    TcpWake(FlowId, End),
    /// A traffic model may have something to do.
    TrafficWake(FlowId),
    /// The proxy is out of order from now on.
    ProxyCrash,
    /// The run ends.
    EndOfRun,
}

/// The queue holds thousands of them, and each is moved a few times.
const _: () = assert!(size_of::<Event>() <= 8);
