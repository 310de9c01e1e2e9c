//! Steps of the calls in the cells of a layout: one row per step.

use umts_stack::trace::CallStep;
use umts_units::Time;

use super::table::row;

row! {
    /// A step of a call.
    CallRow "calls" {
        time_s: Float "s",
        cell: Id "",
        step: Word "",
    }
}

impl CallRow {
    pub fn new(at: Time, cell: u16, step: CallStep) -> Self {
        CallRow { time_s: at.as_secs(), cell: u32::from(cell), step: step.name() }
    }
}
