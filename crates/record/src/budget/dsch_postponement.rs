//! Why a user of a layout has no turn on its DSCH: its request for a TTI was refused, or it is between two cells.

use umts_stack::ids::UeId;
use umts_stack::trace::{Postponed, TraceEvent};
use umts_units::{Duration, Time};

use super::cause::Cause;

/// Elsewhere nothing of the kind happens.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Until when it has none because it changed cells.
    silent_until: Time,
    /// Why its last request was refused, and until when that holds: it is decided anew then.
    refused: Option<(Cause, Time)>,
}

impl Turns {
    /// Why what waits for the downlink cannot leave at this instant, and until when that is so.
    pub fn withheld(&self, at: Time) -> Option<(Cause, Time)> {
        if at < self.silent_until {
            return Some((Cause::Handover, self.silent_until));
        }
        self.refused.filter(|(_, until)| at < *until)
    }

    /// Whose turns an event is about.
    pub fn is_about(event: &TraceEvent) -> Option<UeId> {
        match event {
            TraceEvent::Handover { ue, .. } | TraceEvent::DschPostponed { ue, .. } => Some(*ue),
            _ => None,
        }
    }

    /// One of these events happened; the DSCH has this TTI.
    pub fn record(&mut self, now: Time, event: &TraceEvent, tti: Duration) {
        match event {
            TraceEvent::Handover { interruption, .. } => self.silent_until = now + *interruption,
            TraceEvent::DschPostponed { why, .. } => {
                self.refused = cause_of(*why).map(|cause| (cause, now + tti));
            }
            _ => {}
        }
    }
}

/// The interruption of a handover is known by its length, and the rest of its last TTI is none of it.
fn cause_of(why: Postponed) -> Option<Cause> {
    match why {
        Postponed::Codes => Some(Cause::PostponedCodes),
        Postponed::Power => Some(Cause::PostponedPower),
        Postponed::Credit => Some(Cause::PostponedCredit),
        Postponed::Handover => None,
    }
}
