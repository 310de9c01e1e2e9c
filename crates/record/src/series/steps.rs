//! Tables of step functions of time, such as the congestion window of each connection: one function
//! per key, of which only changes are stored. A key is the number of a connection.
//!
//! Of several changes at one instant only the last one is stored. So an acknowledgment that
//! releases a new segment at the same instant adds no row to the outstanding data, which are
//! unchanged.

use umts_units::Time;

use super::table::{Column, Recorded, Table, Values};

/// A table of step functions.
#[derive(Debug)]
pub(super) struct Steps {
    /// Names of the table, its key and its value, and the unit of the value.
    names: [&'static str; 4],
    rows: Vec<Row>,
    /// Number of rows taken before.
    taken_rows: usize,
}

#[derive(Debug)]
struct Row {
    time_s: f64,
    key: u32,
    value: f64,
}

/// The current and the previous value of one key. The owner of the key stores it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CurrentValue {
    /// Number of its row, counted from the first row of the run.
    row: usize,
    /// When the value was set.
    since: Time,
    value: Option<f64>,
    /// The value before `since`. If the value returns to it at the same instant, the row is dropped.
    previous: Option<f64>,
}

impl Steps {
    /// A table without rows. `names`: table, key, value, and unit of the value.
    pub fn new(names: [&'static str; 4]) -> Self {
        Steps { names, rows: Vec::new(), taken_rows: 0 }
    }

    /// Sets the value of `key` from `at` on. `last` must belong to the same key.
    #[inline]
    pub fn set(&mut self, at: Time, key: u32, value: f64, last: &mut CurrentValue) {
        if last.value != Some(value) {
            self.change(at, key, value, last);
        }
    }

    /// Stores a change. Replaces or removes a row of the same instant.
    fn change(&mut self, at: Time, key: u32, value: f64, last: &mut CurrentValue) {
        let rows = self.taken_rows + self.rows.len();
        if last.value.is_none() || last.since != at {
            *last = CurrentValue { row: rows, since: at, value: Some(value), previous: last.value };
            self.rows.push(Row { time_s: at.as_secs(), key, value });
        } else if last.previous == Some(value) && last.row + 1 == rows {
            // The value returns to the one before this instant, so the row is removed. If a row of
            // another key follows, the row stays and repeats the previous value.
            *last =
                CurrentValue { row: usize::MAX, since: Time::NEVER, value: last.previous, previous: None };
            self.rows.pop();
        } else {
            last.value = Some(value);
            self.rows[last.row - self.taken_rows].value = value;
        }
    }
}

impl Recorded for Steps {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self, now: Time) -> Table {
        let settled = self.rows.partition_point(|row| row.time_s < now.as_secs());
        let rows = &self.rows[..settled];
        let [name, key, value, unit] = self.names;
        let columns = vec![
            Column::new("time_s", "s", Values::Float(rows.iter().map(|row| row.time_s).collect())),
            Column::new(key, "", Values::Id(rows.iter().map(|row| row.key).collect())),
            Column::new(value, unit, Values::Float(rows.iter().map(|row| row.value).collect())),
        ];
        self.rows.drain(..settled);
        self.taken_rows += settled;
        Table { name, columns }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Time in seconds, key, and value.
    type TestRow = (f64, u32, f64);

    fn at(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    fn steps() -> Steps {
        Steps::new(["cwnd", "connection", "cwnd_segments", "segments"])
    }

    /// Takes the rows before `now`.
    fn taken_rows(steps: &mut Steps, now: Time) -> Vec<TestRow> {
        let table = steps.take(now);
        match [&table.columns[0].values, &table.columns[1].values, &table.columns[2].values] {
            [Values::Float(times), Values::Id(keys), Values::Float(values)] => {
                (0..table.rows()).map(|row| (times[row], keys[row], values[row])).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn rows(mut steps: Steps) -> Vec<TestRow> {
        taken_rows(&mut steps, Time::NEVER)
    }

    #[test]
    fn only_changes_make_rows() {
        let (mut steps, mut last) = (steps(), CurrentValue::default());
        for (time, value) in [(0, 1.0), (1, 1.0), (2, 3.0), (3, 3.0), (4, 1.0)] {
            steps.set(at(time), 0, value, &mut last);
        }
        assert_eq!(rows(steps), [(0.0, 0, 1.0), (2.0, 0, 3.0), (4.0, 0, 1.0)]);
    }

    #[test]
    fn last_value_of_an_instant_is_kept() {
        let (mut steps, mut last) = (steps(), CurrentValue::default());
        for (time, value) in [(0, 1.0), (1, 2.0), (1, 3.0), (2, 4.0), (2, 3.0), (3, 5.0)] {
            steps.set(at(time), 0, value, &mut last);
        }
        assert_eq!(rows(steps), [(0.0, 0, 1.0), (1.0, 0, 3.0), (3.0, 0, 5.0)]);
    }

    proptest! {
        /// For any order of changes, each key has at each instant the value that was set last.
        /// Taking rows in between does not change the result. A change is a wait in seconds, a key,
        /// a value, and a number that takes the rows before the change if it is 0.
        #[test]
        fn rows_give_the_last_value_of_each_instant(changes in proptest::collection::vec((0u64..3, 0usize..3, 0u8..3, 0u8..4), 1..100)) {
            let (mut steps, mut last, mut now) = (steps(), [CurrentValue::default(); 3], 0);
            let (mut parts, mut uninterrupted, mut last_uninterrupted) = (Vec::new(), self::steps(), last);
            let mut all_set: Vec<TestRow> = Vec::new();
            for (wait, key, value, take) in changes {
                now += wait;
                if take == 0 {
                    parts.extend(taken_rows(&mut steps, at(now)));
                }
                steps.set(at(now), key as u32, f64::from(value), &mut last[key]);
                uninterrupted.set(at(now), key as u32, f64::from(value), &mut last_uninterrupted[key]);
                all_set.push((now as f64, key as u32, f64::from(value)));
            }
            parts.extend(rows(steps));
            let value_at = |rows: &[TestRow], key, time: f64| {
                let mut latest_first = rows.iter().rev();
                latest_first
                    .find(|&&(row_time, row_key, _)| row_key == key && row_time <= time)
                    .map(|&(_, _, value)| value)
            };
            let rows = rows(uninterrupted);
            prop_assert_eq!(&parts, &rows);
            prop_assert!(rows.is_sorted_by_key(|&(time, _, _)| time));
            for key in 0..3 {
                for time in 0..=now {
                    prop_assert_eq!(value_at(&rows, key, time as f64), value_at(&all_set, key, time as f64));
                }
            }
        }
    }
}
