//! Tables as Parquet files, written during a run and read for their rows.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use pyo3::prelude::*;
use umts_record::CHUNK_ROWS;

use crate::columns::Columns;
use crate::encodings;
use crate::errors::os_error;
use crate::tables::CONNECTIONS;

/// Error of writing or reading a file.
#[derive(Debug)]
pub struct TableError {
    path: PathBuf,
    source: ParquetError,
}

impl TableError {
    fn of(path: &Path) -> impl Fn(ParquetError) -> Self {
        move |source| Self { path: path.to_owned(), source }
    }

    /// Converts the error to a Python exception, with `errno` and file name if the system reported
    /// it.
    pub fn raise(&self, py: Python<'_>) -> PyErr {
        let io_error = match &self.source {
            ParquetError::External(source) => source.downcast_ref::<io::Error>(),
            _ => None,
        };
        os_error::<pyo3::exceptions::PyOSError>(py, io_error, &self.path, || {
            format!("{}: {}", self.path.display(), self.source)
        })
    }
}

/// A table that is being written.
pub struct TableFile {
    path: PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl TableFile {
    /// Creates the file of table `name`: connections in `folder`, series in its subfolder `series`.
    pub fn create(folder: &Path, name: &str, schema: SchemaRef) -> Result<Self, TableError> {
        let path = match name {
            CONNECTIONS => folder.join("connections.parquet"),
            series => folder.join("series").join(format!("{series}.parquet")),
        };
        let parent = path.parent().unwrap_or(folder);
        let created = std::fs::create_dir_all(parent).and_then(|()| File::create(&path));
        let file = created.map_err(|error| TableError::of(&path)(error.into()))?;
        let options = encodings::options(&schema);
        let writer = ArrowWriter::try_new_with_options(file, SchemaRef::clone(&schema), options)
            .map_err(TableError::of(&path))?;
        Ok(Self { path, schema, writer, pending: Vec::new(), rows: 0 })
    }

    /// Appends rows. They are encoded in chunks of `CHUNK_ROWS`, independent of the sizes of the
    /// batches, so that equal tables give equal files.
    pub fn write(&mut self, batch: RecordBatch) -> Result<(), TableError> {
        self.rows += batch.num_rows();
        self.pending.push(batch);
        if self.rows < CHUNK_ROWS {
            return Ok(());
        }
        let combined = self.take_pending()?;
        let mut start = 0;
        while combined.num_rows() - start >= CHUNK_ROWS {
            self.encode(&combined.slice(start, CHUNK_ROWS))?;
            start += CHUNK_ROWS;
        }
        self.rows = combined.num_rows() - start;
        self.pending.push(combined.slice(start, self.rows));
        Ok(())
    }

    /// Writes the remaining rows and the end of the file.
    pub fn close(mut self) -> Result<(), TableError> {
        let last = self.take_pending()?;
        self.encode(&last)?;
        self.writer.close().map(drop).map_err(TableError::of(&self.path))
    }

    fn take_pending(&mut self) -> Result<RecordBatch, TableError> {
        let mut pending = std::mem::take(&mut self.pending);
        if pending.len() == 1 {
            return Ok(pending.remove(0)); // the usual case of connections
        }
        let combined = concat_batches(&self.schema, &pending);
        combined.map_err(|error| TableError::of(&self.path)(error.into()))
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        self.writer.write(batch).map_err(TableError::of(&self.path))
    }
}

/// Read a table of a run folder, written by this or an earlier version.
#[pyfunction]
pub fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Columns> {
    let read = || -> Result<Columns, ParquetError> {
        let reader = open_table(&path)?.build()?;
        let schema = reader.schema();
        Ok(Columns::of_batches(schema, reader.collect::<Result<_, _>>()?))
    };
    read().map_err(|source| TableError::of(&path)(source).raise(py))
}

/// Number of rows of a table of a run folder. Reads no rows.
#[pyfunction]
pub fn count_rows(py: Python<'_>, path: PathBuf) -> PyResult<i64> {
    let counted = open_table(&path).map(|table| table.metadata().file_metadata().num_rows());
    counted.map_err(|source| TableError::of(&path)(source).raise(py))
}

fn open_table(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, ParquetError> {
    ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)
}
