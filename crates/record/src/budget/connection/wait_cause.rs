//! The cause of a connection's wait, from the position of the packet for which it waits.

use umts_stack::ids::{Direction, PacketId};
use umts_units::Time;

use super::wait_object::{LostData, WaitObject};
use crate::budget::bearer::{Wait, WaitReason};
use crate::budget::cause::Cause;
use crate::budget::log::WaitCause;
use crate::budget::loss::Loss;
use crate::budget::missing::LossPlace;
use crate::budget::ue::Ue;

/// The cause of a wait from an instant on.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentCause {
    pub cause: WaitCause,
    /// The time until which the cause holds if no event occurs.
    pub holds_until: Time,
}

impl CurrentCause {
    /// A cause that only an event can change.
    fn until_event(cause: impl Into<WaitCause>) -> Self {
        CurrentCause { cause: cause.into(), holds_until: Time::NEVER }
    }
}

/// The cause of the wait of a connection of `ue` for `object`, at the instant `at`.
pub(super) fn cause_at(object: WaitObject, ue: &Ue, at: Time) -> CurrentCause {
    match object {
        WaitObject::Nothing(cause) => CurrentCause::until_event(cause),
        WaitObject::Lost(LostData { loss, .. }) => of_loss(loss.cause(), loss),
        WaitObject::LostAck(loss) => of_loss(Cause::AckLoss, loss),
        WaitObject::Core { until, moving, .. } if at < until => {
            CurrentCause { cause: moving.into(), holds_until: until }
        }
        WaitObject::CoreBehindRadio { until, packet, served, .. } if at < until => {
            let on_radio = on_radio(ue, Direction::Uplink, packet, served, at);
            CurrentCause { holds_until: until.min(on_radio.holds_until), ..on_radio }
        }
        WaitObject::Core { late, .. } | WaitObject::CoreBehindRadio { late, .. } => {
            CurrentCause::until_event(late)
        }
        WaitObject::Radio { direction, packet, served } => on_radio(ue, direction, packet, served, at),
    }
}

/// The cause of a wait for a lost packet.
fn of_loss(cause: Cause, loss: Loss) -> CurrentCause {
    CurrentCause::until_event(WaitCause { loss: Some(loss), ..WaitCause::from(cause) })
}

/// The cause of a wait for a packet in the radio access network. `served`: the cause while the
/// channel serves the packet.
fn on_radio(ue: &Ue, direction: Direction, packet: PacketId, served: Cause, at: Time) -> CurrentCause {
    if ue.is_in_cell_update() {
        CurrentCause::until_event(Cause::RlcReestablishment)
    } else if ue.is_cut_off() {
        CurrentCause::until_event(Cause::ChannelSwitch)
    } else if ue.is_resetting() {
        CurrentCause::until_event(Cause::RlcReset)
    } else {
        on_bearer(ue, direction, packet, served, at)
    }
}

/// The cause of a wait for a packet in a bearer that is in use. A missing radio resource takes
/// precedence over the state of RLC, unless the packet is on the air.
fn on_bearer(ue: &Ue, direction: Direction, packet: PacketId, served: Cause, at: Time) -> CurrentCause {
    let Wait { reason, until } = ue.bearers[direction.index()].wait_reason(packet, at);
    let is_on_air = matches!(reason, WaitReason::OnAir | WaitReason::OnSlowChannel);
    let missing = if is_on_air { None } else { ue.missing_resource(direction, at) };
    let (cause, holds_until) = match missing {
        Some((resource, missing_until)) => (resource, until.min(missing_until)),
        None => (cause_in_bearer(reason, ue, direction, served), until),
    };
    let sn = awaited_pdu(reason);
    CurrentCause { cause: WaitCause { sn, ..WaitCause::from(cause) }, holds_until }
}

/// The cause of a wait that the bearer explains by `reason`.
fn cause_in_bearer(reason: WaitReason, ue: &Ue, direction: Direction, served: Cause) -> Cause {
    match reason {
        WaitReason::OnAir | WaitReason::Served => served,
        WaitReason::OnSlowChannel => Cause::DchRefused,
        WaitReason::Queued if ue.is_refused_dch() => Cause::DchRefused,
        WaitReason::Queued => Cause::RadioQueue,
        WaitReason::WindowFull => Cause::RlcWindow,
        WaitReason::NoCredit => Cause::IubCredit,
        WaitReason::Repeated => Cause::Harq,
        WaitReason::Reordered { .. } => Cause::Reordering,
        WaitReason::Recovering { .. } | WaitReason::Prohibited { .. }
            if ue.capacity.is_report_late(direction) =>
        {
            Cause::AckChannel
        }
        WaitReason::Prohibited { .. } => Cause::StatusProhibited,
        WaitReason::Recovering { place: LossPlace::NodebQueue, .. } => Cause::NodebDrop,
        WaitReason::Recovering { place: LossPlace::Air, .. } => Cause::RlcRecovery,
    }
}

/// The lost PDU for which the packet waits.
fn awaited_pdu(reason: WaitReason) -> Option<u16> {
    match reason {
        WaitReason::Recovering { sn, .. } | WaitReason::Prohibited { sn } | WaitReason::Reordered { sn } => {
            Some(sn)
        }
        WaitReason::OnAir
        | WaitReason::OnSlowChannel
        | WaitReason::Served
        | WaitReason::Queued
        | WaitReason::WindowFull
        | WaitReason::NoCredit
        | WaitReason::Repeated => None,
    }
}
