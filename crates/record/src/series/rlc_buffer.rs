//! SDU octets in the buffers of the sending RLC entities.

use umts_stack::ids::{Direction, UeId};
use umts_units::Time;

use super::steps::{CurrentValue, Steps};
use super::table::{Column, Recorded, Table, Values};

/// Content of the buffer of each user and direction over time.
#[derive(Debug)]
pub(super) struct BufferTable {
    /// The key is twice the UE's number, plus one for the uplink.
    steps: Steps,
    last: Vec<CurrentValue>,
}

impl Default for BufferTable {
    fn default() -> Self {
        BufferTable { steps: Steps::new(["rlc_buffer", "ue", "octets", "B"]), last: Vec::new() }
    }
}

impl BufferTable {
    pub fn set(&mut self, at: Time, ue: UeId, direction: Direction, octets: u64) {
        let key = 2 * ue.index() + direction.index();
        if key >= self.last.len() {
            self.last.resize(key + 1, CurrentValue::default());
        }
        self.steps.set(at, key as u32, octets as f64, &mut self.last[key]);
    }
}

impl Recorded for BufferTable {
    fn rows(&self) -> usize {
        self.steps.rows()
    }

    fn take(&mut self, now: Time) -> Table {
        // The column `ue` contains the keys. It is split into UE and direction.
        let mut table = self.steps.take(now);
        if let Values::Id(keys) = &mut table.columns[1].values {
            let direction = |key: &u32| if key.is_multiple_of(2) { "downlink" } else { "uplink" };
            let directions = keys.iter().map(direction).collect();
            keys.iter_mut().for_each(|key| *key /= 2);
            table.columns.insert(2, Column::new("direction", "", Values::Word(directions)));
        }
        table
    }
}
