//! The tables of a run, filled while it goes on: as columns they take a fraction of what rows take, and whoever wants
//! them gets them in parts, so that a long run does not keep them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use umts_record::metrics::ConnectionRow;
use umts_record::series::Table;
use umts_record::{PIECE_ROWS, Piece};

use crate::columns::{self, Columns, connections};

/// A part has so many rows, and what came together with the last of them.
const PART_ROWS: usize = 16 * PIECE_ROWS;

/// The name of the table of connections; that of a series is its own.
const CONNECTIONS: &str = "connections";

/// Takes the parts of tables: `(name, columns)`.
pub type Keep<'a> = &'a mut dyn FnMut(&'static str, Columns) -> PyResult<()>;

/// The table of connections, and those of the series by name.
pub type Finished = (Py<Columns>, BTreeMap<String, Py<Columns>>);

/// All tables of a run.
pub struct Tables {
    has_budget: bool,
    /// Connections that are no columns yet.
    rows: Vec<ConnectionRow>,
    filling: BTreeMap<&'static str, Filling>,
}

struct Filling {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Tables {
    /// No rows yet. With `has_budget` connections have columns for their time budget.
    pub fn new(has_budget: bool) -> Self {
        let mut tables = Self { has_budget, rows: Vec::new(), filling: BTreeMap::new() };
        tables.append(CONNECTIONS, connections(&[], has_budget));
        tables
    }

    /// Adds rows behind those that are there. A part that is whole leaves through `keep`, if there is one.
    pub fn add(&mut self, piece: Piece, keep: Option<Keep<'_>>) -> PyResult<()> {
        let name = match piece {
            Piece::Connections(mut rows) => {
                self.rows.append(&mut rows);
                if self.rows.len() < PIECE_ROWS {
                    return Ok(());
                }
                self.append_rows();
                CONNECTIONS
            }
            Piece::Series(table) => {
                let name = table.name;
                self.append(name, columns::series(table));
                name
            }
        };
        match (self.filling.get_mut(name), keep) {
            (Some(filling), Some(keep)) if filling.rows >= PART_ROWS => keep(name, filling.take()),
            _ => Ok(()),
        }
    }

    /// The table of connections, and those of the series by name, but for the parts that were kept.
    pub fn finish(
        mut self,
        py: Python<'_>,
        last: Vec<ConnectionRow>,
        series: Vec<Table>,
    ) -> PyResult<Finished> {
        self.rows.extend(last);
        self.append_rows();
        for table in series {
            self.append(table.name, columns::series(table));
        }
        let connections = self.filling.remove(CONNECTIONS).expect("it is there from the start").take();
        let series = self
            .filling
            .into_iter()
            .map(|(name, mut filling)| Ok((name.to_owned(), Py::new(py, filling.take())?)));
        Ok((Py::new(py, connections)?, series.collect::<PyResult<_>>()?))
    }

    fn append_rows(&mut self) {
        let rows = connections(&self.rows, self.has_budget);
        self.rows.clear();
        self.append(CONNECTIONS, rows);
    }

    fn append(&mut self, name: &'static str, batch: RecordBatch) {
        let empty = || Filling { schema: batch.schema(), batches: Vec::new(), rows: 0 };
        let filling = self.filling.entry(name).or_insert_with(empty);
        if batch.num_rows() > 0 {
            filling.rows += batch.num_rows();
            filling.batches.push(batch);
        }
    }
}

impl Filling {
    fn take(&mut self) -> Columns {
        self.rows = 0;
        Columns::of_batches(SchemaRef::clone(&self.schema), std::mem::take(&mut self.batches))
    }
}
