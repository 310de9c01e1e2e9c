//! Steps of the calls in the cells of a layout: one row per step.

use umts_stack::trace::CallStep;
use umts_units::Time;

use super::table::row;

row! {
    /// A step of a call.
    Step "calls" {
        time_s: Float "s",
        cell: Id "",
        step: Word "",
    }
}

impl Step {
    pub fn new(at: Time, cell: u16, step: CallStep) -> Self {
        Step { time_s: at.as_secs(), cell: u32::from(cell), step: step.name() }
    }
}
