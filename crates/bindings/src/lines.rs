//! Rows of a table as JSON, for commands that print them without a Python library: one object per
//! line, or indented like the output of Python's standard library.

use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// Integers up to this magnitude are exact in a double.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends a row of `batch` as an object and a line feed.
pub fn write_row(text: &mut String, batch: &RecordBatch, row: usize) {
    write_object(text, batch, row, ["{\"", ",\"", "\":"]);
    text.push_str("}\n");
}

/// Formats the rows as an indented list, sorted by the numbers in column `order`. `depth` is the
/// indentation of the list.
pub fn indented_list(batches: &[RecordBatch], order: &str, depth: usize) -> String {
    let of_batch = |(index, batch): (usize, &RecordBatch)| {
        let column = batch.column_by_name(order);
        let number = |row| column.map_or(0, |column| number_at(column.as_ref(), row));
        (0..batch.num_rows()).map(|row| (number(row), index, row)).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = batches.iter().enumerate().flat_map(of_batch).collect();
    if rows.is_empty() {
        return "[]".to_owned();
    }
    rows.sort_by_key(|&(number, ..)| number);
    let line = |deeper: usize| format!("\n{}", " ".repeat(depth + deeper));
    let (of_object, of_value) = (line(1), line(2));
    let (first, next) = (format!("{{{of_value}\""), format!(",{of_value}\""));
    let mut text = String::from("[");
    for (at, (_, batch, row)) in rows.into_iter().enumerate() {
        text.push_str(if at > 0 { "," } else { "" });
        text.push_str(&of_object);
        write_object(&mut text, &batches[batch], row, [&first, &next, "\": "]);
        text.push_str(&of_object);
        text.push('}');
    }
    text.push_str(&line(0));
    text.push(']');
    text
}

/// The row's value in a column of numbers.
fn number_at(numbers: &dyn Array, row: usize) -> u64 {
    match numbers.data_type() {
        DataType::UInt32 => numbers.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => numbers.as_primitive::<UInt64Type>().value(row),
        other => unreachable!("rows have no numbers of {other}"),
    }
}

/// Appends an object without its closing brace. The strings precede the first name, precede the
/// other names, and follow each name.
fn write_object(text: &mut String, batch: &RecordBatch, row: usize, [first, next, is]: [&str; 3]) {
    for (index, (field, values)) in batch.schema_ref().fields().iter().zip(batch.columns()).enumerate() {
        text.push_str(if index > 0 { next } else { first });
        text.push_str(field.name());
        text.push_str(is);
        write_value(text, values.as_ref(), row);
    }
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
        // Addresses and names of this crate need no escapes.
        DataType::Utf8 => write!(text, "\"{}\"", values.as_string::<i32>().value(row)),
        // Types in files of earlier versions.
        DataType::LargeUtf8 => write!(text, "\"{}\"", values.as_string::<i64>().value(row)),
        DataType::Utf8View => write!(text, "\"{}\"", values.as_string_view().value(row)),
        other => unreachable!("tables of connections have no column of {other}"),
    };
    written.expect("a String takes all that is written");
}

/// Numbers that are not finite become `null`, because JSON has none. Most values are integers,
/// which are faster to format as such.
fn write_number(text: &mut String, value: f64) -> std::fmt::Result {
    match value {
        _ if !value.is_finite() => text.write_str("null"),
        _ if value.fract() == 0.0 && value.abs() < MOST_EXACT => write!(text, "{}.0", value as i64),
        _ if (1e-4..1e16).contains(&value.abs()) => write!(text, "{value:?}"),
        _ => write_power(text, value),
    }
}

/// Formats a number in scientific notation like Python: the exponent has a sign and at least two
/// digits.
fn write_power(text: &mut String, value: f64) -> std::fmt::Result {
    let plain = format!("{value:e}");
    let (digits, power) = plain.split_once('e').expect("it has a power");
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    write!(text, "{digits}e{sign}{power:0>2}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, UInt32Array};

    use super::*;

    #[test]
    fn numbers_are_formatted_like_python() {
        let written = |value| {
            let mut text = String::new();
            write_number(&mut text, value).expect("a String takes all");
            text
        };
        for (value, expected) in [
            (0.0, "0.0"),
            (3.0, "3.0"),
            (-0.25, "-0.25"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0001, "0.0001"),
            (0.000_099_9, "9.99e-05"),
            (-1.5e-7, "-1.5e-07"),
            (5e-324, "5e-324"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (1e16, "1e+16"),
            (1.25e300, "1.25e+300"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(written(value), expected);
        }
    }

    #[test]
    fn indented_list_is_sorted_by_number_and_indented() {
        let batch = |numbers: [u32; 2], times: [Option<f64>; 2]| {
            let numbers: ArrayRef = Arc::new(UInt32Array::from(numbers.to_vec()));
            let times: ArrayRef = Arc::new(Float64Array::from(times.to_vec()));
            RecordBatch::try_from_iter([("connection", numbers), ("s", times)]).expect("columns as long")
        };
        let batches = [batch([3, 0], [Some(1.5), None]), batch([1, 2], [Some(0.0), Some(2.0)])];
        let text = indented_list(&batches, "connection", 1);
        assert!(text.starts_with("[\n  {\n   \"connection\": 0,\n   \"s\": null\n  },\n  {\n"), "{text}");
        assert!(text.ends_with("\"connection\": 3,\n   \"s\": 1.5\n  }\n ]"), "{text}");
        assert_eq!(indented_list(&[], "connection", 1), "[]");
    }
}
