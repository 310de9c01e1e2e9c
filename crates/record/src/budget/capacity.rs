//! Shortage of capacity of a UE in a TDD cell, for the time budget: requested capacity that is not
//! granted, and status reports of RLC that wait for the common acknowledgment channel.

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::{BlockSet, Pdu};
use umts_stack::trace::TraceEvent;

use super::cause::Cause;

/// Shortage of capacity of one UE. Empty in FDD cells.
#[derive(Debug, Default)]
pub(super) struct Capacity {
    /// Why the UE has no capacity in a direction in which it needs some.
    needed: [Option<Cause>; 2],
    /// Whether control PDUs of a direction collided or were deferred, and have not left since.
    is_late: [bool; 2],
}

impl Capacity {
    /// The cause of the wait of a packet of this direction, unless the packet is on the air.
    pub fn needed(&self, direction: Direction) -> Option<Cause> {
        self.needed[direction.index()]
    }

    /// Whether a STATUS about data of this direction is delayed.
    pub fn is_report_late(&self, direction: Direction) -> bool {
        self.is_late[direction.reversed().index()]
    }

    /// The UE of an event about capacity.
    pub fn concerned_ue(event: &TraceEvent) -> Option<UeId> {
        match event {
            TraceEvent::CapacityNeeded { ue, .. }
            | TraceEvent::CapacityRequested { ue, .. }
            | TraceEvent::CapacityRefused { ue, .. }
            | TraceEvent::CapacityGranted { ue, .. }
            | TraceEvent::CapacityWithdrawn { ue, .. }
            | TraceEvent::AckCollision { ue }
            | TraceEvent::AckDeferred { ue } => Some(*ue),
            _ => None,
        }
    }

    /// Records an event of [`Self::concerned_ue`].
    pub fn record(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::CapacityNeeded { direction, .. } => {
                self.needed[direction.index()] = Some(Cause::CapacityRequest);
            }
            // A refused user requests again when its back-off ends.
            TraceEvent::CapacityRequested { .. } => {
                self.needed[Direction::Uplink.index()] = Some(Cause::CapacityRequest);
            }
            TraceEvent::CapacityRefused { direction, .. } => {
                self.needed[direction.index()] = Some(Cause::CapacityWait);
            }
            TraceEvent::CapacityGranted { direction, .. }
            | TraceEvent::CapacityWithdrawn { direction, .. } => {
                self.needed[direction.index()] = None;
            }
            TraceEvent::AckCollision { .. } => self.is_late[Direction::Uplink.index()] = true,
            TraceEvent::AckDeferred { .. } => self.is_late[Direction::Downlink.index()] = true,
            _ => {}
        }
    }

    /// A block set leaves RLC. Its control PDUs no longer wait.
    pub fn leaves(&mut self, direction: Direction, set: &BlockSet) {
        let is_control = |pdu: &Pdu| !matches!(pdu, Pdu::Data(_) | Pdu::Umd(_) | Pdu::Tmd(_));
        if self.is_late[direction.index()] && set.pdus.iter().any(is_control) {
            self.is_late[direction.index()] = false;
        }
    }
}
