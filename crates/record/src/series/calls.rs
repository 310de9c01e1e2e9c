//! What calls do in the cells of a layout: a row for each step.

use umts_stack::trace::CallStep;
use umts_units::Time;

use super::table::columns;

columns! {
    /// Steps of calls by time.
    Calls "calls" {
        time_s: Float "s",
        cell: Id "",
        step: Word "",
    }
}

impl Calls {
    pub fn push(&mut self, at: Time, cell: u16, step: CallStep) {
        self.time_s.push(at.as_secs());
        self.cell.push(u32::from(cell));
        self.step.push(step.name());
    }
}
