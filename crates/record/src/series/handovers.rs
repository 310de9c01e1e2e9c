//! Who changed cells: a row for each handover.

use umts_stack::ids::UeId;
use umts_units::{Duration, Time};

use super::table::columns;

columns! {
    /// Handovers by time.
    Handovers "handovers" {
        time_s: Float "s",
        ue: Id "",
        from: Id "",
        to: Id "",
        interruption_s: Float "s",
    }
}

impl Handovers {
    pub fn push(&mut self, at: Time, ue: UeId, [from, to]: [u16; 2], interruption: Duration) {
        self.time_s.push(at.as_secs());
        self.ue.push(u32::from(ue.0));
        self.from.push(u32::from(from));
        self.to.push(u32::from(to));
        self.interruption_s.push(interruption.as_secs());
    }
}
