//! Why a user of a layout is not served on its DSCH, for the time budget: the scheduler refused its
//! request for a TTI, or it changes cells.

use umts_stack::ids::UeId;
use umts_stack::trace::{Postponed, TraceEvent};
use umts_units::{Duration, Time};

use super::cause::Cause;

/// Postponement of one UE on the DSCH. Empty for UEs outside a layout.
#[derive(Debug, Default)]
pub(super) struct DschPostponement {
    /// End of the interruption by the last handover.
    silent_until: Time,
    /// The refusal of the last request.
    refused: Option<Refusal>,
}

/// A refused request for a TTI.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    cause: Cause,
    /// Time of the next decision, one TTI later.
    until: Time,
}

impl DschPostponement {
    /// Why data in the downlink cannot leave at `at`, and the end of this obstacle.
    pub fn blocking_cause(&self, at: Time) -> Option<(Cause, Time)> {
        if at < self.silent_until {
            return Some((Cause::Handover, self.silent_until));
        }
        self.refused.filter(|refusal| at < refusal.until).map(|refusal| (refusal.cause, refusal.until))
    }

    /// The UE of an event about service on the DSCH.
    pub fn concerned_ue(event: &TraceEvent) -> Option<UeId> {
        match event {
            TraceEvent::Handover { ue, .. } | TraceEvent::DschPostponed { ue, .. } => Some(*ue),
            _ => None,
        }
    }

    /// Records an event of [`Self::concerned_ue`]. `tti` is the TTI of the DSCH.
    pub fn record(&mut self, now: Time, event: &TraceEvent, tti: Duration) {
        match event {
            TraceEvent::Handover { interruption, .. } => self.silent_until = now + *interruption,
            TraceEvent::DschPostponed { why, .. } => {
                self.refused = cause_of(*why).map(|cause| Refusal { cause, until: now + tti });
            }
            _ => {}
        }
    }
}

/// Returns the cause of a postponement. A postponement by a handover has none here: the length of
/// the interruption is known, and does not include the rest of its last TTI.
fn cause_of(why: Postponed) -> Option<Cause> {
    match why {
        Postponed::Codes => Some(Cause::PostponedCodes),
        Postponed::Power => Some(Cause::PostponedPower),
        Postponed::LeftOut => Some(Cause::PostponedCredit),
        Postponed::Handover => None,
    }
}
