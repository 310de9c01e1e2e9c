//! Tables as columns, ready to become Arrow arrays.

use umts_stack::ids::Direction;
use umts_units::Time;

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Measured quantities.
    Float(Vec<f64>),
    /// Numbers of connections and users.
    Id(Vec<u32>),
    /// Numbers that not every row has.
    OptionalId(Vec<Option<u32>>),
    /// Numbers with a unit, where there are some.
    OptionalFloat(Vec<Option<f64>>),
    /// Sequence numbers and sizes.
    Count(Vec<u64>),
    /// Yes or no.
    Flag(Vec<bool>),
    /// One of a few words.
    Word(Vec<&'static str>),
    /// Any words, none if empty.
    Text(Vec<String>),
}

impl Values {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Id(values) => values.len(),
            Values::OptionalId(values) => values.len(),
            Values::OptionalFloat(values) => values.len(),
            Values::Count(values) => values.len(),
            Values::Flag(values) => values.len(),
            Values::Word(values) => values.len(),
            Values::Text(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name; a float's carries its unit.
    pub name: &'static str,
    /// Its unit, empty for numbers without one.
    pub unit: &'static str,
    /// Its values, as many as every other column of the table has.
    pub values: Values,
}

impl Column {
    /// A column of a table that is being made.
    pub(crate) fn new(name: &'static str, unit: &'static str, values: Values) -> Self {
        Column { name, unit, values }
    }
}

/// A kind of series.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it shows: `"cwnd"`.
    pub name: &'static str,
    /// Its columns, `time_s` first.
    pub columns: Vec<Column>,
}

impl Table {
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }
}

/// All series of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesTables {
    /// One per kind, also if it has no rows.
    pub tables: Vec<Table>,
}

impl SeriesTables {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// A table that is being filled.
pub(crate) trait Recorded {
    /// Rows that were not taken.
    fn rows(&self) -> usize;

    /// Takes the rows of before `now`, which can change no more.
    fn take(&mut self, now: Time) -> Table;
}

/// What a table has in each row.
pub(super) trait Row: Sized {
    /// The table's name.
    const TABLE: &'static str;

    /// The columns that these rows make.
    fn columns(rows: &[Self]) -> Vec<Column>;
}

/// A table that gets a row at a time. Columns are made of many rows at once.
#[derive(Debug)]
pub(super) struct Rows<R>(Vec<R>);

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl<R> Rows<R> {
    /// Adds a row behind those that are there.
    #[inline]
    pub fn push(&mut self, row: R) {
        self.0.push(row);
    }
}

impl<R: Row> Recorded for Rows<R> {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self, _: Time) -> Table {
        let columns = R::columns(&self.0);
        self.0.clear();
        Table { name: R::TABLE, columns }
    }
}

/// A direction as tables have it.
pub(super) fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Downlink => "downlink",
        Direction::Uplink => "uplink",
    }
}

/// The row of a table: a field for each column, named like it, with its kind as in [`Values`] and its unit.
macro_rules! row {
    ($(#[$about:meta])* $row:ident $table:literal { $($column:ident: $kind:ident $unit:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $row {
            $(pub $column: crate::series::table::kind_of!($kind)),+
        }

        impl crate::series::table::Row for $row {
            const TABLE: &'static str = $table;

            fn columns(rows: &[Self]) -> Vec<crate::series::table::Column> {
                use crate::series::table::{Column, Values};
                vec![$({
                    let values = rows.iter().map(|row| row.$column).collect();
                    Column::new(stringify!($column), $unit, Values::$kind(values))
                }),+]
            }
        }
    };
}

/// What a column of a kind has in each row.
macro_rules! kind_of {
    (Float) => { f64 };
    (Id) => { u32 };
    (Count) => { u64 };
    (Flag) => { bool };
    (Word) => { &'static str };
}

pub(super) use {kind_of, row};
