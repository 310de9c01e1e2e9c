//! The table `slots`: a row for every block on the air of a TDD cell, with frame, slot, codes, SIR
//! and fate.

use umts_stack::detail::Detail;
use umts_stack::ids::Direction;
use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// The table under construction.
#[derive(Debug, Default)]
pub(super) struct SlotTable {
    rows: Vec<Row>,
    /// Start of the current frame.
    frame: Time,
    /// Number of codes that the blocks so far use in each slot of the current frame.
    used_codes: Vec<u32>,
}

#[derive(Debug)]
struct Row {
    at: Time,
    ue: u16,
    direction: Direction,
    slot: u8,
    /// First code of the block.
    code: u32,
    /// Number of codes of the block.
    codes: u8,
    sir_db: Option<f64>,
    lost: bool,
}

impl SlotTable {
    pub fn show(&mut self, at: Time, detail: &Detail<'_>) {
        let Detail::Slot { ue, direction, slot, codes, sir_db, lost } = *detail else { return };
        let code = self.first_code(at, slot, codes);
        self.rows.push(Row { at, ue: ue.0, direction, slot, code, codes, sir_db, lost });
    }

    /// Returns the first code of a block in the frame at `at`. The blocks of a slot are traced in
    /// the order of their codes, so a block begins after the codes of the blocks before it.
    fn first_code(&mut self, at: Time, slot: u8, codes: u8) -> u32 {
        if self.frame != at {
            self.frame = at;
            self.used_codes.clear();
        }
        let slot = usize::from(slot);
        if self.used_codes.len() <= slot {
            self.used_codes.resize(slot + 1, 0);
        }
        let first = self.used_codes[slot];
        self.used_codes[slot] += u32::from(codes);
        first
    }
}

impl Recorded for SlotTable {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self, _now: Time) -> Table {
        let rows = std::mem::take(&mut self.rows);
        let column = |name, unit, values| Column { name, unit, values };
        let columns = vec![
            column("time_s", "s", Values::Float(rows.iter().map(|row| row.at.as_secs()).collect())),
            column("ue", "", Values::Id(rows.iter().map(|row| u32::from(row.ue)).collect())),
            column("direction", "", Values::Word(rows.iter().map(|row| row.direction.name()).collect())),
            column("slot", "", Values::Id(rows.iter().map(|row| u32::from(row.slot)).collect())),
            column("code", "", Values::Id(rows.iter().map(|row| row.code).collect())),
            column("codes", "", Values::Id(rows.iter().map(|row| u32::from(row.codes)).collect())),
            column("sir_db", "dB", Values::OptionalFloat(rows.iter().map(|row| row.sir_db).collect())),
            column("lost", "", Values::Flag(rows.iter().map(|row| row.lost).collect())),
        ];
        Table { name: "slots", columns }
    }
}

#[cfg(test)]
mod tests {
    use umts_stack::ids::UeId;

    use super::*;

    /// Blocks with four codes each: two in slot 3 and one in slot 5 of the first frame, and one in
    /// slot 3 of the next frame.
    #[test]
    fn blocks_of_a_slot_have_consecutive_codes() {
        let mut slots = SlotTable::default();
        let block = |ue, slot| Detail::Slot {
            ue: UeId(ue),
            direction: Direction::Uplink,
            slot,
            codes: 4,
            sir_db: Some(10.0),
            lost: ue == 1,
        };
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        for (ms, ue, slot) in [(10, 0, 3), (10, 1, 3), (10, 1, 5), (20, 1, 3)] {
            slots.show(at(ms), &block(ue, slot));
        }
        let table = slots.take(Time::NEVER);
        assert_eq!(table.column("code"), Some(&Values::Id(vec![0, 4, 0, 0])));
        assert_eq!(table.column("sir_db"), Some(&Values::OptionalFloat(vec![Some(10.0); 4])));
        assert_eq!(table.column("lost"), Some(&Values::Flag(vec![false, true, true, true])));
        assert_eq!(slots.rows(), 0);
    }
}
