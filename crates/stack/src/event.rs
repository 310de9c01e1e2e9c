//! The events of a network. They are plain values that the event queue orders.

use crate::ids::{CarrierId, CellId, Direction, End, FlowId, HeldId, LinkId, MacTimer, TransmissionId, UeId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    FlowStarts(FlowId),
    /// A packet reaches the end of a link of the core network.
    LinkArrival(LinkId),
    /// A packet is lost on a link of the core network. The loss was decided when the packet entered
    /// an earlier link, because a packet passes links without other input in one step. This event
    /// records the loss at its time.
    LinkLoss(HeldId),
    /// A packet that a script delayed enters the core network.
    HeldPacketEnters(HeldId),
    /// A timer of a carrier's MAC expires.
    MacTimeout(CarrierId, MacTimer),
    /// Block sets finish on the air or reach the RNC.
    BlocksArrive(TransmissionId),
    /// A transmission opportunity begins in this direction of a radio link that replays a measured
    /// capacity (`utran::link_emulation`).
    Opportunity(UeId, Direction),
    /// A flat radio has sent the last octet of a packet in this direction.
    FlatSent(UeId, Direction),
    /// A packet reaches the end of a flat radio.
    FlatArrival(UeId, Direction),
    /// A timer may be due in the RLC entity that sends in this direction of the UE's bearer.
    RlcWake(UeId, Direction),
    /// A timer of the UE's RRC may be due.
    RrcWake(UeId),
    /// A timer of the UE's cell update may be due, or a radio frame ends in which its radio link is
    /// supervised.
    ConnectionWake(UeId),
    /// A UE that waits for a DCH of this cell may get one.
    CellWake(CellId),
    /// This cell may no longer be full.
    CellOpens(CellId),
    /// A timer of a TCP endpoint may be due, at this end of one of the flow's connections.
    TcpWake(FlowId, End),
    /// A timer of a traffic model may be due.
    TrafficWake(FlowId),
    /// An outage of the proxy begins: it loses the state of all transfers.
    ProxyCrash,
    EndOfRun,
}

/// The queue holds thousands of events and moves each of them several times.
const _: () = assert!(size_of::<Event>() <= 8);
