//! SDU octets in the buffers of the sending RLC entities.

use umts_stack::ids::{Direction, UeId};
use umts_units::Time;

use super::steps::{Last, Steps};
use super::table::{Column, Recorded, Table, Values};

/// Content of the buffer of each user and direction over time.
#[derive(Debug)]
pub(super) struct Buffers {
    /// The key is twice the UE's number, plus one for the uplink.
    steps: Steps,
    last: Vec<Last>,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers { steps: Steps::new(["rlc_buffer", "ue", "octets", "B"]), last: Vec::new() }
    }
}

impl Buffers {
    pub fn set(&mut self, at: Time, ue: UeId, direction: Direction, octets: u64) {
        let key = 2 * ue.index() + direction.index();
        if key >= self.last.len() {
            self.last.resize(key + 1, Last::default());
        }
        self.steps.set(at, key as u32, octets as f64, &mut self.last[key]);
    }
}

impl Recorded for Buffers {
    fn rows(&self) -> usize {
        self.steps.rows()
    }

    fn take(&mut self, now: Time) -> Table {
        let mut table = self.steps.take(now);
        if let Values::Id(keys) = &mut table.columns[1].values {
            let word = |key: &u32| if key.is_multiple_of(2) { "downlink" } else { "uplink" };
            let directions = keys.iter().map(word).collect();
            keys.iter_mut().for_each(|key| *key /= 2);
            table.columns.insert(2, Column::new("direction", "", Values::Word(directions)));
        }
        table
    }
}
