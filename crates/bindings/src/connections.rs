//! The table of connections: who each was, when it was open, its metrics. It is filled while a run goes on.

use std::mem::take;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Float64Builder, StringBuilder, UInt32Builder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use umts_record::definitions;
use umts_record::metrics::{ConnectionRow, Definition, Scope};

use crate::columns::field;

/// Rows become columns so many at a time: each has dozens of metrics, and so many are in the first cache while each column takes
/// its own of them.
const AT_ONCE: usize = 32;

/// Columns begin with room for so many rows: those of a run of a thousand pages are not moved while they grow.
const ROOM: usize = 4096;

/// The columns so far, and rows that are no columns yet.
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
    /// No rows yet; with `has_budget` there are columns for their time budget.
    pub fn new(has_budget: bool) -> Self {
        Self { schema: schema(has_budget), rows: Vec::new(), columns: None }
    }

    /// What its columns are.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len() + self.columns.as_ref().map_or(0, |columns| columns.connection.values_slice().len())
    }

    /// Adds rows behind those that are there.
    pub fn add(&mut self, rows: impl IntoIterator<Item = ConnectionRow>) {
        for row in rows {
            self.rows.push(row);
            if self.rows.len() == AT_ONCE {
                self.columns.get_or_insert_with(|| Builders::new(ROOM, &self.schema)).add(&self.rows);
                self.rows.clear();
            }
        }
    }

    /// All rows that were added since this was asked last.
    pub fn take(&mut self) -> RecordBatch {
        let rows = take(&mut self.rows);
        let mut columns = self.columns.take().unwrap_or_else(|| Builders::new(rows.len(), &self.schema));
        columns.add(&rows);
        RecordBatch::try_new(self.schema(), columns.finish()).expect("the columns are those of the schema")
    }
}

/// Columns in front of the metrics.
const IDENTITY: usize = 7;

impl Builders {
    fn new(room: usize, schema: &Schema) -> Box<Self> {
        let metrics = schema.fields().len() - IDENTITY;
        let number = || UInt32Builder::with_capacity(room);
        let quantity = || Float64Builder::with_capacity(room);
        Box::new(Self {
            connection: number(),
            transfer: number(),
            leg: StringBuilder::new(),
            flow: number(),
            ue: number(),
            opened_s: quantity(),
            closed_s: quantity(),
            metrics: (0..metrics).map(|_| quantity()).collect(),
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
            // By place: a search by name for each value of each row takes longer than many a run.
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
        // Who keeps them need not keep the room.
        columns.iter_mut().for_each(|column| column.shrink_to_fit());
        columns
    }
}

/// Made once: for one row it takes longer than the columns.
fn schema(has_budget: bool) -> SchemaRef {
    static SCHEMAS: LazyLock<[SchemaRef; 2]> = LazyLock::new(|| {
        [false, true].map(|has_budget| {
            let number = |name| field(name, "", DataType::UInt32, false);
            let time = |name, nullable| field(name, "s", DataType::Float64, nullable);
            let leg = field("leg", "", DataType::Utf8, false);
            let identity: [_; IDENTITY] = [
                number("connection"),
                number("transfer"),
                leg,
                number("flow"),
                number("ue"),
                time("opened_s", false),
                time("closed_s", true),
            ];
            let metrics =
                told(has_budget).map(|metric| field(metric.name, metric.unit, DataType::Float64, true));
            Arc::new(Schema::new(identity.into_iter().chain(metrics).collect::<Vec<_>>()))
        })
    });
    Arc::clone(&SCHEMAS[usize::from(has_budget)])
}

/// The metrics that a connection has a column for.
fn told(has_budget: bool) -> impl Iterator<Item = Definition> {
    definitions().filter(move |metric| match metric.scope {
        Scope::Connection => true,
        Scope::Budget => has_budget,
        Scope::Radio
        | Scope::Datagram
        | Scope::Cell
        | Scope::Network
        | Scope::Layout
        | Scope::Proxy
        | Scope::Transfers => false,
    })
}
