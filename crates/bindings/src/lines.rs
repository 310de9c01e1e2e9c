//! Rows of a table as JSON, one object a line: what a command prints without a library of Python in between.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// Integers are written as such up to here: all of them are exact.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends the row of `batch` as an object and a line feed.
pub fn write_row(text: &mut String, batch: &RecordBatch, row: usize) {
    text.push('{');
    for (index, (field, values)) in batch.schema_ref().fields().iter().zip(batch.columns()).enumerate() {
        text.push_str(if index > 0 { ",\"" } else { "\"" });
        text.push_str(field.name());
        text.push_str("\":");
        write_value(text, values.as_ref(), row);
    }
    text.push_str("}\n");
}

fn write_value(text: &mut String, values: &dyn Array, row: usize) {
    if values.is_null(row) {
        return text.push_str("null");
    }
    let written = match values.data_type() {
        DataType::Float64 => write_number(text, values.as_primitive::<Float64Type>().value(row)),
        DataType::UInt32 => write!(text, "{}", values.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => write!(text, "{}", values.as_primitive::<UInt64Type>().value(row)),
        DataType::Boolean => write!(text, "{}", values.as_boolean().value(row)),
        // Addresses and names of this crate's own: nothing in them needs an escape.
        DataType::Utf8 => write!(text, "\"{}\"", values.as_string::<i32>().value(row)),
        // As earlier versions of the program stored them.
        DataType::LargeUtf8 => write!(text, "\"{}\"", values.as_string::<i64>().value(row)),
        DataType::Utf8View => write!(text, "\"{}\"", values.as_string_view().value(row)),
        other => unreachable!("tables of connections have no column of {other}"),
    };
    written.expect("a String takes all that is written");
}

/// JSON has no number that is not finite. Most values are counts, which are quicker written as such.
fn write_number(text: &mut String, value: f64) -> std::fmt::Result {
    match value {
        _ if !value.is_finite() => text.write_str("null"),
        _ if value.fract() == 0.0 && value.abs() < MOST_EXACT => write!(text, "{}.0", value as i64),
        _ => write!(text, "{value:?}"),
    }
}
