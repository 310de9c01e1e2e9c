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
pub type FinishedTables = (Columns, BTreeMap<String, Columns>);

/// All tables of a run.
pub struct Tables {
    /// Folder of the files. `None`: tables are kept in memory.
    folder: Option<PathBuf>,
    /// Connections that are not written to a file yet.
    connections: Connections,
    open_tables: BTreeMap<&'static str, OpenTable>,
}

/// A table that still gets rows.
enum OpenTable {
    /// The schema, and the rows so far.
    InMemory(SchemaRef, Vec<RecordBatch>),
    InFile(Box<TableFile>),
}

impl Tables {
    /// Creates tables without rows. With `folder` they are written to files below it. With
    /// `has_budget`, connections have columns for their time budget.
    pub fn new(folder: Option<PathBuf>, has_budget: bool) -> Self {
        Self { folder, connections: Connections::new(has_budget), open_tables: BTreeMap::new() }
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
    pub fn finish(
        mut self,
        last_rows: Vec<ConnectionRow>,
        series: Vec<Table>,
    ) -> Result<FinishedTables, TableError> {
        self.connections.add(last_rows);
        self.append_connections()?;
        for table in series {
            self.append(table.name, columns::series(table))?;
        }
        let mut in_memory = BTreeMap::new();
        for (name, table) in self.open_tables {
            match table {
                OpenTable::InMemory(schema, batches) => {
                    in_memory.insert(name.to_owned(), Columns::of_batches(schema, batches));
                }
                OpenTable::InFile(file) => file.close()?,
            }
        }
        let without_rows = || Columns::of_batches(self.connections.schema(), Vec::new());
        let connections = in_memory.remove(CONNECTIONS).unwrap_or_else(without_rows);
        Ok((connections, in_memory))
    }

    /// Moves the collected rows of connections to their table.
    fn append_connections(&mut self) -> Result<(), TableError> {
        let rows = self.connections.take_rows();
        self.append(CONNECTIONS, rows)
    }

    /// Adds rows to a table, which is opened with its first rows: in a file if there is a folder,
    /// otherwise in memory.
    fn append(&mut self, name: &'static str, batch: RecordBatch) -> Result<(), TableError> {
        let table = match self.open_tables.remove(name) {
            Some(table) => table,
            None => match &self.folder {
                Some(folder) => OpenTable::InFile(Box::new(TableFile::create(folder, name, batch.schema())?)),
                None => OpenTable::InMemory(batch.schema(), Vec::new()),
            },
        };
        let table = self.open_tables.entry(name).or_insert(table);
        if batch.num_rows() == 0 {
            return Ok(());
        }
        match table {
            OpenTable::InMemory(_, batches) => {
                batches.push(batch);
                Ok(())
            }
            OpenTable::InFile(file) => file.write(batch),
        }
    }
}

/// Tables as Python objects.
pub type PythonTables = (Py<Columns>, BTreeMap<String, Py<Columns>>);

/// Converts tables to Python objects.
pub fn to_python(py: Python<'_>, (connections, series): FinishedTables) -> PyResult<PythonTables> {
    let series = series.into_iter().map(|(name, columns)| Ok((name, Py::new(py, columns)?)));
    Ok((Py::new(py, connections)?, series.collect::<PyResult<_>>()?))
}
