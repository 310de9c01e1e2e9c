//! Tables for Python through the Arrow PyCapsule interface: connections and flows of a capture, and
//! time series of a run. The columns are not copied.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt32Array, UInt64Array};
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use umts_capture::{ListedPacket, TimeSequenceTables, UdpDirection, UdpFlowRow};
use umts_record::series::{Table, Values};

use crate::lines;
use crate::table_files::{TableError, TableFile};

/// A table for any library that reads Arrow streams, for example `polars.DataFrame(columns)` or
/// `pyarrow.table(columns)`.
#[pyclass(frozen, module = "umtslab._core")]
pub struct Columns {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Columns {
    /// Creates a table from batches.
    pub fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// The batches in order.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The tables of time-sequence diagrams by name. Each contains the rows of all connections.
    pub fn of_time_sequences(tables: &[TimeSequenceTables]) -> [(&'static str, Self); 4] {
        let sent = || rows_of_all(tables, |table| &table.sent);
        let acked = || rows_of_all(tables, |table| &table.acked);
        let sacked = || rows_of_all(tables, |table| &table.sacked);
        let windows = || rows_of_all(tables, |table| &table.windows);
        let times = |times: Vec<f64>| column("time_s", "s", Arc::new(Float64Array::from(times)));
        let connections = |ids: Vec<u64>| column("connection", "", Arc::new(UInt64Array::from(ids)));
        let octets = |name, octets: Vec<i64>| column(name, "B", Arc::new(Int64Array::from(octets)));
        let retransmissions = sent().map(|(_, row)| Some(row.cause.is_retransmission()));
        let causes: StringArray = sent().map(|(_, row)| Some(row.cause.name())).collect();
        let of_sent = vec![
            times(sent().map(|(_, row)| row.time_s).collect()),
            connections(sent().map(|(id, _)| id).collect()),
            octets("seq", sent().map(|(_, row)| row.seq).collect()),
            octets("end", sent().map(|(_, row)| row.end).collect()),
            column("retransmission", "", Arc::new(retransmissions.collect::<BooleanArray>())),
            column("cause", "", Arc::new(causes)),
        ];
        let of_acked = vec![
            times(acked().map(|(_, &(time_s, _))| time_s).collect()),
            connections(acked().map(|(id, _)| id).collect()),
            octets("ack", acked().map(|(_, &(_, ack))| ack).collect()),
        ];
        let of_sacked = vec![
            times(sacked().map(|(_, &(time_s, ..))| time_s).collect()),
            connections(sacked().map(|(id, _)| id).collect()),
            octets("left", sacked().map(|(_, &(_, left, _))| left).collect()),
            octets("right", sacked().map(|(_, &(.., right))| right).collect()),
        ];
        let of_windows = vec![
            times(windows().map(|(_, &(time_s, _))| time_s).collect()),
            connections(windows().map(|(id, _)| id).collect()),
            octets("window_octets", windows().map(|(_, &(_, octets))| i64::from(octets)).collect()),
        ];
        let all = [("sent", of_sent), ("acked", of_acked), ("sacked", of_sacked), ("window", of_windows)];
        all.map(|(name, columns)| {
            let batch = batch(columns);
            (name, Self { schema: batch.schema(), batches: vec![batch] })
        })
    }
}

/// The rows of several tables, each with its connection number.
fn rows_of_all<'a, R: 'a>(
    tables: &'a [TimeSequenceTables],
    rows: impl Fn(&'a TimeSequenceTables) -> &'a Vec<R>,
) -> impl Iterator<Item = (u64, &'a R)> {
    tables.iter().flat_map(move |table| rows(table).iter().map(|row| (table.connection, row)))
}

/// The table of a capture's connections, filled during the analysis.
pub struct Rows(Columns);

impl Rows {
    /// Creates a table without rows.
    pub fn new() -> Self {
        let empty = capture_connections(&[]);
        Self(Columns { schema: empty.schema(), batches: vec![] })
    }

    /// Appends connections.
    pub fn add(&mut self, rows: &[umts_capture::ConnectionRow]) {
        if !rows.is_empty() {
            self.0.batches.push(capture_connections(rows));
        }
    }

    /// Returns the table: one row per connection with addresses, begin and end, and metrics.
    pub fn finish(self) -> Columns {
        self.0
    }
}

/// Converts rows of a capture's connections: their ends, times and metrics.
fn capture_connections(rows: &[umts_capture::ConnectionRow]) -> RecordBatch {
    type Row = umts_capture::ConnectionRow;
    let texts = |text_of: &dyn Fn(&Row) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text_of)))
    };
    let integers = |number: &dyn Fn(&Row) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(number).collect::<UInt32Array>())
    };
    let flags = |flag: &dyn Fn(&Row) -> Option<bool>| -> ArrayRef {
        Arc::new(rows.iter().map(flag).collect::<BooleanArray>())
    };
    let number = UInt64Array::from_iter_values(rows.iter().map(|row| row.connection));
    let mut columns = vec![
        column("connection", "", Arc::new(number)),
        column("client", "", texts(&|row| row.client.to_string())),
        column("server", "", texts(&|row| row.server.to_string())),
        column("sender", "", texts(&|row| row.sender.to_owned())),
        column("position", "", texts(&|row| row.position.name().to_owned())),
        column("opened_s", "s", floats(rows.iter().map(|row| Some(row.opened_s)))),
        nullable_column("closed_s", "s", floats(rows.iter().map(|row| row.closed_s))),
        column("ended", "", texts(&|row| row.ended.to_owned())),
        nullable_column("mss", "B", integers(&|row| row.mss)),
        nullable_column("window_scale", "1", integers(&|row| row.window_scale.map(u32::from))),
        nullable_column("sack_permitted", "", flags(&|row| row.sack_permitted)),
        nullable_column("timestamps", "", flags(&|row| row.timestamps)),
        nullable_column("client_teid", "", integers(&|row| row.teid[0])),
        nullable_column("server_teid", "", integers(&|row| row.teid[1])),
    ];
    columns.extend(umts_capture::definitions().enumerate().map(|(index, metric)| {
        // By index: looking up the name of each value would take longer than the analysis.
        let values = rows.iter().map(|row| row.metrics.values()[index]);
        nullable_column(metric.name, metric.unit, floats(values))
    }));
    batch(columns)
}

/// The table of the packets of a connection, one row per packet.
pub fn packet_list(rows: &[ListedPacket]) -> Columns {
    let texts = |text_of: &dyn Fn(&ListedPacket) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text_of)))
    };
    let causes: StringArray = rows.iter().map(|row| row.kind.retransmission_cause()).collect();
    let duplicates: UInt32Array = rows.iter().map(|row| row.kind.duplicates_in_row()).collect();
    let batch = batch(vec![
        column("packet", "", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.number)))),
        column("time_s", "s", floats(rows.iter().map(|row| Some(row.time_s)))),
        column("sender", "", texts(&|row| if row.is_from_client { "client" } else { "server" }.to_owned())),
        column("flags", "", texts(&|row| row.flags.clone())),
        column("seq", "B", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.seq)))),
        column("payload", "B", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.payload)))),
        nullable_column("ack", "B", Arc::new(rows.iter().map(|row| row.ack).collect::<Int64Array>())),
        column(
            "window_field",
            "1",
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| u32::from(row.window_field)))),
        ),
        nullable_column(
            "window_octets",
            "B",
            Arc::new(rows.iter().map(|row| row.window).collect::<UInt32Array>()),
        ),
        column("sack", "", texts(&sack_text)),
        column("kind", "", texts(&|row| row.kind.name().to_owned())),
        nullable_column("cause", "", Arc::new(causes)),
        nullable_column("duplicate", "1", Arc::new(duplicates)),
    ]);
    Columns { schema: batch.schema(), batches: vec![batch] }
}

/// The selective acknowledgments of a packet: `1449-2897 4345-5793`.
fn sack_text(row: &ListedPacket) -> String {
    let blocks: Vec<_> = row.sack.iter().map(|(left, right)| format!("{left}-{right}")).collect();
    blocks.join(" ")
}

/// The table of a capture's UDP flows, one row per flow.
pub fn udp_flows(rows: &[UdpFlowRow]) -> Columns {
    let texts = |text_of: &dyn Fn(&UdpFlowRow) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text_of)))
    };
    let integers = |number: &dyn Fn(&UdpFlowRow) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(number).collect::<UInt32Array>())
    };
    let flow = UInt64Array::from_iter_values(rows.iter().map(|row| row.flow));
    let mut columns = vec![
        column("flow", "", Arc::new(flow)),
        column("client", "", texts(&|row| row.client.to_string())),
        column("server", "", texts(&|row| row.server.to_string())),
        column("sender", "", texts(&|row| row.sender.to_owned())),
        nullable_column("quic_version", "", integers(&|row| row.quic_version)),
        nullable_column("client_teid", "", integers(&|row| row.teid[0])),
        nullable_column("server_teid", "", integers(&|row| row.teid[1])),
        column("opened_s", "s", floats(rows.iter().map(|row| Some(row.opened_s)))),
        column("duration_s", "s", floats(rows.iter().map(|row| Some(row.duration_s)))),
    ];
    columns.extend(udp_direction("", rows.iter().map(|row| &row.sent)));
    columns.extend(udp_direction("reverse_", rows.iter().map(|row| &row.reverse)));
    let batch = batch(columns);
    Columns { schema: batch.schema(), batches: vec![batch] }
}

/// The columns of one direction of UDP flows.
fn udp_direction<'a>(
    prefix: &str,
    rows: impl Iterator<Item = &'a UdpDirection> + Clone,
) -> Vec<(Field, ArrayRef)> {
    let count = |name: &str, unit, value: fn(&UdpDirection) -> u64| {
        let values = UInt64Array::from_iter_values(rows.clone().map(value));
        column(&format!("{prefix}{name}"), unit, Arc::new(values) as ArrayRef)
    };
    let measure = |name: &str, unit, value: fn(&UdpDirection) -> Option<f64>| {
        nullable_column(&format!("{prefix}{name}"), unit, floats(rows.clone().map(value)))
    };
    vec![
        count("packets", "1", |direction| direction.packets),
        count("payload_bytes", "B", |direction| direction.payload_bytes),
        measure("rate_kbps", "kbit/s", |direction| direction.rate_kbps),
        measure("mean_gap_s", "s", |direction| direction.mean_gap_s),
        measure("longest_gap_s", "s", |direction| direction.longest_gap_s),
        measure("spin_rtt_s", "s", |direction| direction.spin_rtt_s),
        measure("min_spin_rtt_s", "s", |direction| direction.min_spin_rtt_s),
        count("spin_rtt_samples", "1", |direction| direction.spin_rtt_samples),
    ]
}

/// Converts a time series.
pub fn series(table: Table) -> RecordBatch {
    let columns = table.columns.into_iter().map(|source| {
        let is_nullable = matches!(source.values, Values::OptionalId(_) | Values::OptionalFloat(_));
        let new = if is_nullable { nullable_column } else { column };
        new(source.name, source.unit, array(source.values))
    });
    batch(columns.collect())
}

/// Joins columns of equal length to an Arrow batch.
fn batch(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .expect("columns of one table are of one length and of their fields' types")
}

/// A column in which every row has a value.
fn column(name: &str, unit: &str, values: ArrayRef) -> (Field, ArrayRef) {
    (field(name, unit, values.data_type().clone()), values)
}

/// A column in which rows may have no value.
fn nullable_column(name: &str, unit: &str, values: ArrayRef) -> (Field, ArrayRef) {
    (field(name, unit, values.data_type().clone()).with_nullable(true), values)
}

/// Creates a field with name, unit and type, in which every row has a value.
pub fn field(name: &str, unit: &str, values: DataType) -> Field {
    let is_nullable = false;
    Field::new(name, values, is_nullable).with_metadata([("unit".to_owned(), unit.to_owned())].into())
}

fn floats(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

/// Converts a column of a time series.
fn array(values: Values) -> ArrayRef {
    match values {
        Values::Float(values) => Arc::new(Float64Array::from(values)),
        Values::Id(values) => Arc::new(UInt32Array::from(values)),
        Values::OptionalId(values) => Arc::new(UInt32Array::from(values)),
        Values::OptionalFloat(values) => Arc::new(Float64Array::from(values)),
        Values::Count(values) => Arc::new(UInt64Array::from(values)),
        Values::Flag(values) => Arc::new(BooleanArray::from(values)),
        Values::Word(values) => Arc::new(StringArray::from(values)),
        Values::Text(values) => Arc::new(StringArray::from(values)),
    }
}

#[pymethods]
impl Columns {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Write the table `name` to its file below `folder`, in the layout of `simulate`.
    fn write(&self, py: Python<'_>, folder: PathBuf, name: &str) -> PyResult<()> {
        let write = || -> Result<(), TableError> {
            let mut file = TableFile::create(&folder, name, SchemaRef::clone(&self.schema))?;
            self.batches.iter().try_for_each(|batch| file.write(batch.clone()))?;
            file.close()
        };
        write().map_err(|error| error.raise(py))
    }

    /// The rows as JSON, one object per line.
    fn json_lines(&self) -> String {
        let mut text = String::new();
        for batch in &self.batches {
            (0..batch.num_rows()).for_each(|row| lines::write_row(&mut text, batch, row));
        }
        text
    }

    /// The table as an Arrow C stream. It always has its own schema; the interface allows a producer
    /// to ignore the requested one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }
}
