//! What calls do in the cells of a layout: a row for each step.

use umts_stack::trace::CallStep;
use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// Steps of calls by time.
#[derive(Debug, Default)]
pub(super) struct Calls {
    time_s: Vec<f64>,
    cell: Vec<u32>,
    step: Vec<&'static str>,
}

impl Calls {
    pub fn push(&mut self, at: Time, cell: u16, step: CallStep) {
        self.time_s.push(at.as_secs());
        self.cell.push(u32::from(cell));
        self.step.push(step.name());
    }
}

impl Recorded for Calls {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("cell", "", Values::Id(all.cell)),
            Column::new("step", "", Values::Word(all.step)),
        ];
        Table { name: "calls", columns }
    }
}
