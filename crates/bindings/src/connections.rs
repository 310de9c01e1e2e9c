//! The table of connections: identity, times and metrics. Filled during the run.

use std::mem::take;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use umts_record::definitions;
use umts_record::metrics::{ConnectionRow, Definition, Scope};

use crate::columns::field;

/// Number of rows that are converted to columns at once. Rows have dozens of metrics; this number
/// of rows fits into the first-level cache while each column reads its values.
const CONVERTED_ROWS: usize = 32;

/// Initial capacity of the columns, in rows. The columns of a run of a thousand pages are then not
/// reallocated.
const INITIAL_CAPACITY: usize = 4096;

/// The columns so far, and rows that are not converted yet.
pub struct Connections {
    schema: SchemaRef,
    rows: Vec<ConnectionRow>,
    columns: Option<Box<Builders>>,
}

struct Builders {
    connection: UInt32Builder,
    transfer: UInt32Builder,
    leg: StringBuilder,
    flow: UInt32Builder,
    ue: UInt32Builder,
    opened_s: Float64Builder,
    closed_s: Float64Builder,
    metrics: Vec<Float64Builder>,
}

impl Connections {
    /// Creates a table without rows. With `has_budget` it has columns for the time budget.
    pub fn new(has_budget: bool) -> Self {
        Self { schema: schema(has_budget), rows: Vec::new(), columns: None }
    }

    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len() + self.columns.as_ref().map_or(0, |columns| columns.connection.values_slice().len())
    }

    /// Appends rows.
    pub fn add(&mut self, rows: impl IntoIterator<Item = ConnectionRow>) {
        for row in rows {
            self.rows.push(row);
            if self.rows.len() == CONVERTED_ROWS {
                self.columns
                    .get_or_insert_with(|| Builders::new(INITIAL_CAPACITY, &self.schema))
                    .add(&self.rows);
                self.rows.clear();
            }
        }
    }

    /// Takes all rows that were added since the last call.
    pub fn take_rows(&mut self) -> RecordBatch {
        let rows = take(&mut self.rows);
        let mut columns = self.columns.take().unwrap_or_else(|| Builders::new(rows.len(), &self.schema));
        columns.add(&rows);
        RecordBatch::try_new(self.schema(), columns.finish()).expect("the columns match the schema")
    }
}

/// Number of columns before the metrics.
const IDENTITY_COLUMNS: usize = 7;

impl Builders {
    fn new(capacity: usize, schema: &Schema) -> Box<Self> {
        let metrics = schema.fields().len() - IDENTITY_COLUMNS;
        let u32_builder = || UInt32Builder::with_capacity(capacity);
        let f64_builder = || Float64Builder::with_capacity(capacity);
        Box::new(Self {
            connection: u32_builder(),
            transfer: u32_builder(),
            leg: StringBuilder::new(),
            flow: u32_builder(),
            ue: u32_builder(),
            opened_s: f64_builder(),
            closed_s: f64_builder(),
            metrics: (0..metrics).map(|_| f64_builder()).collect(),
        })
    }

    fn add(&mut self, rows: &[ConnectionRow]) {
        for row in rows {
            self.connection.append_value(row.connection.0);
            self.transfer.append_value(row.transfer.0);
            self.leg.append_value(row.leg.name());
            self.flow.append_value(row.flow.0);
            self.ue.append_value(row.ue.0.into());
            self.opened_s.append_value(row.opened_s);
            self.closed_s.append_option(row.closed_s);
        }
        for (index, column) in self.metrics.iter_mut().enumerate() {
            // By index: looking up the name of each value takes longer than many a run.
            rows.iter().for_each(|row| column.append_option(row.value(index)));
        }
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.connection.finish()),
            Arc::new(self.transfer.finish()),
            Arc::new(self.leg.finish()),
            Arc::new(self.flow.finish()),
            Arc::new(self.ue.finish()),
            Arc::new(self.opened_s.finish()),
            Arc::new(self.closed_s.finish()),
        ];
        columns.extend(self.metrics.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        // Releases unused capacity, because the caller may keep the columns.
        columns.iter_mut().for_each(|column| column.shrink_to_fit());
        columns
    }
}

/// Returns a schema that is built only once: for a single row, building it takes longer than
/// filling the columns.
fn schema(has_budget: bool) -> SchemaRef {
    static SCHEMAS: LazyLock<[SchemaRef; 2]> = LazyLock::new(|| {
        [false, true].map(|has_budget| {
            let id_field = |name| field(name, "", DataType::UInt32);
            let time_field = |name| field(name, "s", DataType::Float64);
            let identity: [_; IDENTITY_COLUMNS] = [
                id_field("connection"),
                id_field("transfer"),
                field("leg", "", DataType::Utf8),
                id_field("flow"),
                id_field("ue"),
                time_field("opened_s"),
                time_field("closed_s").with_nullable(true),
            ];
            let metrics = connection_metrics(has_budget)
                .map(|metric| field(metric.name, metric.unit, DataType::Float64).with_nullable(true));
            Arc::new(Schema::new(identity.into_iter().chain(metrics).collect::<Vec<_>>()))
        })
    });
    Arc::clone(&SCHEMAS[usize::from(has_budget)])
}

/// The metrics that have a column in the table of connections.
fn connection_metrics(has_budget: bool) -> impl Iterator<Item = Definition> {
    definitions().filter(move |metric| match metric.scope {
        Scope::Connection => true,
        Scope::Budget => has_budget,
        Scope::Radio
        | Scope::Datagram
        | Scope::Cell
        | Scope::Network
        | Scope::Layout
        | Scope::Proxy
        | Scope::Queues
        | Scope::Transfers => false,
    })
}
