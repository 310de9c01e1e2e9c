//! Tables of the timeline: their rows begin at one event and end at a later one. [`OpenRows`] holds
//! a table under construction; the macro [`table!`] declares a row type with its columns.

use std::collections::VecDeque;

use umts_units::Time;

use crate::series::{Column, Table};

/// Row type of a table of the timeline.
pub(super) trait TimelineRow: Sized {
    /// Name of the table.
    const TABLE: &'static str;

    /// Converts rows to columns.
    fn columns(rows: Vec<Self>) -> Vec<Column>;
}

/// Position of a row in its table, counted from the first row of the run.
pub(super) type RowIndex = u64;

/// A row, and whether it can still change.
#[derive(Debug)]
struct Entry<R> {
    row: R,
    is_open: bool,
}

/// A table in order of time. An open row can still change, so rows are taken only up to the first
/// open one.
#[derive(Debug)]
pub(super) struct OpenRows<R> {
    /// Rows that were not taken.
    rows: VecDeque<Entry<R>>,
    /// Number of rows taken before.
    taken: RowIndex,
}

impl<R> Default for OpenRows<R> {
    fn default() -> Self {
        OpenRows { rows: VecDeque::new(), taken: 0 }
    }
}

impl<R> OpenRows<R> {
    /// Appends a row that no longer changes.
    pub fn push(&mut self, row: R) {
        self.rows.push_back(Entry { row, is_open: false });
    }

    /// Appends a row that ends later.
    pub fn open(&mut self, row: R) -> RowIndex {
        let index = self.next_index();
        self.rows.push_back(Entry { row, is_open: true });
        index
    }

    /// Index of the next row.
    pub fn next_index(&self) -> RowIndex {
        self.taken + self.rows.len() as u64
    }

    /// The row at `index`, unless it was taken.
    pub fn get(&mut self, index: RowIndex) -> Option<&mut R> {
        let at = usize::try_from(index.checked_sub(self.taken)?).ok()?;
        self.rows.get_mut(at).map(|entry| &mut entry.row)
    }

    /// Returns the row at `index` and closes it, unless it was taken.
    pub fn close(&mut self, index: RowIndex) -> Option<&mut R> {
        let at = usize::try_from(index.checked_sub(self.taken)?).ok()?;
        let entry = self.rows.get_mut(at)?;
        entry.is_open = false;
        Some(&mut entry.row)
    }

    /// Number of rows taken before: rows with a smaller index are gone.
    pub fn taken(&self) -> RowIndex {
        self.taken
    }
}

/// A table from which rows can be taken.
pub(super) trait Taken {
    /// Number of rows that were not taken.
    fn rows(&self) -> usize;

    /// Takes the rows before the first open one, at [`Time::NEVER`] all rows.
    fn take(&mut self, now: Time) -> Table;
}

impl<R: TimelineRow> Taken for OpenRows<R> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self, now: Time) -> Table {
        let first_open = self.rows.iter().position(|entry| entry.is_open);
        let count = first_open.filter(|_| now != Time::NEVER).unwrap_or(self.rows.len());
        self.taken += count as u64;
        let rows = self.rows.drain(..count).map(|entry| entry.row).collect();
        Table { name: R::TABLE, columns: R::columns(rows) }
    }
}

/// Defines the row type of a table: one field per column with the same name, a kind of
/// [`Values`](crate::series::Values), and a unit.
macro_rules! table {
    ($(#[$about:meta])* $row:ident $table:literal { $($column:ident: $kind:ident $unit:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub(super) struct $row {
            $(pub $column: crate::timeline::table::kind_of!($kind)),+
        }

        impl crate::timeline::table::TimelineRow for $row {
            const TABLE: &'static str = $table;

            fn columns(rows: Vec<Self>) -> Vec<crate::series::Column> {
                use crate::series::{Column, Values};
                vec![$({
                    let values = rows.iter().map(|row| row.$column.clone()).collect();
                    Column::new(stringify!($column), $unit, Values::$kind(values))
                }),+]
            }
        }
    };
}

/// The Rust type of a column's values.
macro_rules! kind_of {
    (Float) => { f64 };
    (OptionalFloat) => { Option<f64> };
    (Id) => { u32 };
    (OptionalId) => { Option<u32> };
    (Count) => { u64 };
    (Flag) => { bool };
    (Word) => { &'static str };
    (Text) => { String };
}

pub(super) use {kind_of, table};

#[cfg(test)]
mod tests {
    use super::*;

    table! {
        /// A row for the tests.
        Mark "marks" {
            time_s: Float "s",
        }
    }

    #[test]
    fn rows_are_taken_up_to_the_first_open_one() {
        let mut marks = OpenRows::default();
        marks.push(Mark { time_s: 0.0 });
        let open = marks.open(Mark { time_s: 1.0 });
        marks.push(Mark { time_s: 2.0 });
        assert_eq!(marks.take(Time::ZERO).rows(), 1);
        assert_eq!(marks.take(Time::ZERO).rows(), 0);
        assert!(marks.close(open).is_some_and(|row| row.time_s == 1.0));
        assert_eq!(marks.take(Time::ZERO).rows(), 2);
        assert!(marks.get(open).is_none(), "a taken row does not change");
        marks.open(Mark { time_s: 3.0 });
        assert_eq!(marks.take(Time::NEVER).rows(), 1);
    }
}
