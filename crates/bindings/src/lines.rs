//! Rows of a table as JSON, one object per line, for commands that print them without a Python
//! library.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde::{Serialize, Serializer};

/// Appends a row of `batch` as an object and a line feed. Numbers that are not finite become
/// `null`, because JSON has none.
pub fn write_row(text: &mut String, batch: &RecordBatch, row: usize) {
    text.push_str(&serde_json::to_string(&Row(batch, row)).expect("keys are texts"));
    text.push('\n');
}

/// A batch and the index of a row in it.
struct Row<'a>(&'a RecordBatch, usize);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(batch, row) = *self;
        let fields = batch.schema_ref().fields().iter().zip(batch.columns());
        serializer.collect_map(fields.map(|(field, values)| (field.name(), Cell(values.as_ref(), row))))
    }
}

/// A column and the index of a row in it.
struct Cell<'a>(&'a dyn Array, usize);

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Cell(values, row) = *self;
        if values.is_null(row) {
            return serializer.serialize_none();
        }
        match values.data_type() {
            DataType::Float64 => values.as_primitive::<Float64Type>().value(row).serialize(serializer),
            DataType::UInt32 => values.as_primitive::<UInt32Type>().value(row).serialize(serializer),
            DataType::UInt64 => values.as_primitive::<UInt64Type>().value(row).serialize(serializer),
            DataType::Boolean => values.as_boolean().value(row).serialize(serializer),
            DataType::Utf8 => values.as_string::<i32>().value(row).serialize(serializer),
            // Types in files of earlier versions.
            DataType::LargeUtf8 => values.as_string::<i64>().value(row).serialize(serializer),
            DataType::Utf8View => values.as_string_view().value(row).serialize(serializer),
            other => unreachable!("tables of connections have no column of {other}"),
        }
    }
}
