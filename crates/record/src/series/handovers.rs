//! Handovers of users: one row per handover.

use umts_stack::ids::UeId;
use umts_units::{Duration, Time};

use super::table::row;

row! {
    /// A handover.
    Handover "handovers" {
        time_s: Float "s",
        ue: Id "",
        from: Id "",
        to: Id "",
        interruption_s: Float "s",
    }
}

impl Handover {
    pub fn new(at: Time, ue: UeId, [from, to]: [u16; 2], interruption: Duration) -> Self {
        Handover {
            time_s: at.as_secs(),
            ue: u32::from(ue.0),
            from: u32::from(from),
            to: u32::from(to),
            interruption_s: interruption.as_secs(),
        }
    }
}
