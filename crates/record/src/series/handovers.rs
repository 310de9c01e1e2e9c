//! Who changed cells: a row for each handover.

use umts_stack::ids::UeId;
use umts_units::{Duration, Time};

use super::table::{Column, Recorded, Table, Values};

/// Handovers by time.
#[derive(Debug, Default)]
pub(super) struct Handovers {
    time_s: Vec<f64>,
    ue: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    interruption_s: Vec<f64>,
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

impl Recorded for Handovers {
    fn rows(&self) -> usize {
        self.time_s.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let all = std::mem::take(self);
        let columns = vec![
            Column::new("time_s", "s", Values::Float(all.time_s)),
            Column::new("ue", "", Values::Id(all.ue)),
            Column::new("from", "", Values::Id(all.from)),
            Column::new("to", "", Values::Id(all.to)),
            Column::new("interruption_s", "s", Values::Float(all.interruption_s)),
        ];
        Table { name: "handovers", columns }
    }
}
