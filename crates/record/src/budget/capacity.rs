//! What a UE of a TDD cell lacks: capacity that was asked for and not granted, a turn on the channels of acknowledgments.

use umts_stack::ids::{Direction, UeId};
use umts_stack::radio::rlc::{BlockSet, Pdu};
use umts_stack::trace::TraceEvent;

use super::cause::Cause;

/// Elsewhere it lacks nothing.
#[derive(Debug, Default)]
pub(super) struct Capacity {
    /// Why it has none in a direction in which it needs some.
    needed: [Option<Cause>; 2],
    /// Control PDUs of this direction collided or had no turn, and have not left since.
    is_late: [bool; 2],
}

impl Capacity {
    /// What a packet of this direction waits for that is not on the air.
    pub fn needed(&self, direction: Direction) -> Option<Cause> {
        self.needed[direction.index()]
    }

    /// Whether a STATUS about data of this direction has not got through.
    pub fn is_report_late(&self, direction: Direction) -> bool {
        self.is_late[direction.reversed().index()]
    }

    /// Whose capacity an event is about.
    pub fn is_about(event: &TraceEvent) -> Option<UeId> {
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

    /// One of these events happened.
    pub fn record(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::CapacityNeeded { direction, .. } => {
                self.needed[direction.index()] = Some(Cause::CapacityRequest);
            }
            // A user that was refused asks again when its back-off is over.
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

    /// A set leaves RLC: control PDUs wait no longer.
    pub fn leaves(&mut self, direction: Direction, set: &BlockSet) {
        let is_control = |pdu: &Pdu| !matches!(pdu, Pdu::Data(_) | Pdu::Umd(_) | Pdu::Tmd(_));
        if self.is_late[direction.index()] && set.pdus.iter().any(is_control) {
            self.is_late[direction.index()] = false;
        }
    }
}
