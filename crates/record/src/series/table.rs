//! Tables as columns, ready to become Arrow arrays, and the tables under construction from which
//! they are made: [`Rows`] collects rows of a type that the macro [`row!`] declares with its
//! columns.

use umts_units::Time;

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Measured quantities.
    Float(Vec<f64>),
    /// Numbers of connections and users.
    Id(Vec<u32>),
    /// Numbers that some rows lack.
    OptionalId(Vec<Option<u32>>),
    /// Quantities that some rows lack.
    OptionalFloat(Vec<Option<f64>>),
    /// Sequence numbers and sizes.
    Count(Vec<u64>),
    /// Flags.
    Flag(Vec<bool>),
    /// Keywords from a small set.
    Word(Vec<&'static str>),
    /// Arbitrary text, which may be empty.
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
    /// Name of the column. For a quantity it includes the unit.
    pub name: &'static str,
    /// Unit; empty for plain numbers.
    pub unit: &'static str,
    /// Values, as many as in every other column of the table.
    pub values: Values,
}

impl Column {
    /// Creates a column.
    pub(crate) fn new(name: &'static str, unit: &'static str, values: Values) -> Self {
        Column { name, unit, values }
    }
}

/// A time series or another table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name of the table, such as `"cwnd"`.
    pub name: &'static str,
    /// Columns, `time_s` first.
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
    /// One table per kind, even if it has no rows.
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
    /// Number of rows that were not taken.
    fn rows(&self) -> usize;

    /// Takes the rows before `now`, which no longer change.
    fn take(&mut self, now: Time) -> Table;
}

/// Row type of a table.
pub(super) trait Row: Sized {
    /// Name of the table.
    const TABLE: &'static str;

    /// Converts rows to columns.
    fn columns(rows: &[Self]) -> Vec<Column>;
}

/// A table that is filled row by row. Columns are created from many rows at once.
#[derive(Debug)]
pub(super) struct Rows<R>(Vec<R>);

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl<R> Rows<R> {
    /// Appends a row.
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

/// Defines the row type of a table: one field per column with the same name, a kind of [`Values`],
/// and a unit.
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

/// The Rust type of a column's values.
macro_rules! kind_of {
    (Float) => { f64 };
    (Id) => { u32 };
    (Count) => { u64 };
    (Flag) => { bool };
    (Word) => { &'static str };
}

pub(super) use {kind_of, row};
