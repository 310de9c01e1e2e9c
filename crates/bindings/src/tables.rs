//! The tables of a run, filled during the run. Columns take a fraction of the memory of rows, and
//! tables in files take none, so the memory of a long run stays bounded.

use std::collections::BTreeMap;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use umts_record::metrics::ConnectionRow;
use umts_record::series::Table;
use umts_record::{CHUNK_ROWS, TableChunk};

use crate::columns::{self, Columns};
use crate::connections::Connections;
use crate::table_files::{TableError, TableFile};

/// Name of the table of connections. Tables of series have the name of the series.
pub const CONNECTIONS: &str = "connections";

/// The table of connections, and the tables of series by name, except tables in files.
pub type Finished = (Columns, BTreeMap<String, Columns>);

/// All tables of a run.
pub struct Tables {
    folder: Option<PathBuf>,
    /// Connections that are not written to a file yet.
    connections: Connections,
    filling: BTreeMap<&'static str, Filling>,
}

enum Filling {
    Kept(SchemaRef, Vec<RecordBatch>),
    Written(Box<TableFile>),
}

impl Tables {
    /// Creates tables without rows. With `folder` they are written to files below it. With
    /// `has_budget`, connections have columns for their time budget.
    pub fn new(folder: Option<PathBuf>, has_budget: bool) -> Self {
        Self { folder, connections: Connections::new(has_budget), filling: BTreeMap::new() }
    }

    /// Appends rows.
    pub fn add(&mut self, chunk: TableChunk) -> Result<(), TableError> {
        match chunk {
            TableChunk::Connections(rows) => {
                self.connections.add(rows);
                if self.connections.len() < CHUNK_ROWS { Ok(()) } else { self.append_connections() }
            }
            TableChunk::Series(table) => self.append(table.name, columns::series(table)),
        }
    }

    /// Appends the last rows and completes the files.
    pub fn finish(mut self, last: Vec<ConnectionRow>, series: Vec<Table>) -> Result<Finished, TableError> {
        self.connections.add(last);
        self.append_connections()?;
        for table in series {
            self.append(table.name, columns::series(table))?;
        }
        let mut kept = BTreeMap::new();
        for (name, filling) in self.filling {
            match filling {
                Filling::Kept(schema, batches) => {
                    kept.insert(name.to_owned(), Columns::of_batches(schema, batches));
                }
                Filling::Written(file) => file.close()?,
            }
        }
        let none = || Columns::of_batches(self.connections.schema(), Vec::new());
        Ok((kept.remove(CONNECTIONS).unwrap_or_else(none), kept))
    }

    fn append_connections(&mut self) -> Result<(), TableError> {
        let rows = self.connections.take();
        self.append(CONNECTIONS, rows)
    }

    fn append(&mut self, name: &'static str, batch: RecordBatch) -> Result<(), TableError> {
        let filling = match self.filling.remove(name) {
            Some(filling) => filling,
            None => match &self.folder {
                Some(folder) => Filling::Written(Box::new(TableFile::create(folder, name, batch.schema())?)),
                None => Filling::Kept(batch.schema(), Vec::new()),
            },
        };
        let filling = self.filling.entry(name).or_insert(filling);
        match filling {
            _ if batch.num_rows() == 0 => Ok(()),
            Filling::Kept(_, batches) => {
                batches.push(batch);
                Ok(())
            }
            Filling::Written(file) => file.write(batch),
        }
    }
}

/// Tables as Python objects.
pub type HandedOver = (Py<Columns>, BTreeMap<String, Py<Columns>>);

/// Converts tables to Python objects.
pub fn handed_over(py: Python<'_>, (connections, series): Finished) -> PyResult<HandedOver> {
    let series = series.into_iter().map(|(name, columns)| Ok((name, Py::new(py, columns)?)));
    Ok((Py::new(py, connections)?, series.collect::<PyResult<_>>()?))
}
