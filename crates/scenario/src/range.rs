//! Enforces the ranges that the schema declares (`x-min`, `x-max`), each for a single key.

use std::cmp::Ordering;
use std::str::FromStr;

use serde_json::Value as Json;
use umts_units::{Angle, BitRate, Bytes, Db, Duration, Erlang, Frequency, Length, Speed};

use crate::error::Problem;
use crate::model::{Frames, QueueLimit, Window};
use crate::schema::{cached, range_text, resolve};
use crate::text::Pdus;
use crate::tree::{Node, Value};

/// Checks all values against their ranges. Values of a wrong type are left to deserialization.
pub(crate) fn check(tree: &Node) -> Result<(), Problem> {
    check_node(tree, cached())
}

/// Checks the values of a tree against the ranges of the schema, in the order of the file.
fn check_node(node: &Node, schema: &Json) -> Result<(), Problem> {
    let table = resolve(schema);
    match &node.value {
        Value::Table(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(_, node)| node.key_at);
            for (key, node) in entries {
                match &table["properties"][key] {
                    Json::Null => {}
                    property => check_node(node, property)?,
                }
            }
            Ok(())
        }
        Value::Array(elements) => elements.iter().try_for_each(|node| check_node(node, &table["items"])),
        _ => check_value(node, schema),
    }
}

/// Checks a value against the range of the key with the path `keys`, in arrays without an index.
pub(crate) fn check_key(node: &Node, keys: &[&str]) -> Result<(), Problem> {
    let mut schema = cached();
    for key in keys {
        let table = resolve(schema);
        let table = if table["type"] == "array" { resolve(&table["items"]) } else { table };
        schema = &table["properties"][*key];
    }
    check_value(node, schema)
}

/// Checks a value against the range of its key.
fn check_value(node: &Node, schema: &Json) -> Result<(), Problem> {
    // NaN compares with no bound.
    let is_nan =
        matches!(node.value, Value::Float(number) if number.is_nan()) && range_text(schema).is_some();
    let is_below = compare(node, &schema["x-min"]) == Some(Ordering::Less);
    let is_above = compare(node, &schema["x-max"]) == Some(Ordering::Greater);
    if !is_below && !is_above && !is_nan {
        return Ok(());
    }
    let value = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        Value::Integer(number) => number.to_string(),
        _ => node.describe(),
    };
    let range = range_text(schema).unwrap_or_default();
    let help = match schema["x-source"].as_str() {
        Some(source) => format!("choose {range} ({source})"),
        None => format!("choose {range}"),
    };
    let message = format!("{} cannot be {value}", node.path);
    Err(Problem::new(message).at(node.at).path(&node.path).label("out of range").help(help))
}

/// Order of a value and a bound, or `None` if they are not comparable.
fn compare(node: &Node, bound: &Json) -> Option<Ordering> {
    match (&node.value, bound) {
        // An integer is allowed where a fraction is expected; then the bound is a fraction.
        (Value::Integer(value), Json::Number(bound)) => match bound.as_i64() {
            Some(bound) => Some(value.cmp(&bound)),
            None => (*value as f64).partial_cmp(&bound.as_f64()?),
        },
        (Value::Float(value), Json::Number(bound)) => value.partial_cmp(&bound.as_f64()?),
        (Value::Text(value), Json::String(bound)) => quantities::<Duration>(value, bound)
            .or_else(|| quantities::<Bytes>(value, bound))
            .or_else(|| quantities::<BitRate>(value, bound))
            .or_else(|| quantities::<Pdus>(value, bound))
            .or_else(|| quantities::<Frames>(value, bound))
            .or_else(|| quantities::<Length>(value, bound))
            .or_else(|| quantities::<Speed>(value, bound))
            .or_else(|| quantities::<Angle>(value, bound))
            .or_else(|| quantities::<Frequency>(value, bound))
            .or_else(|| counts(value, bound))
            .or_else(|| levels::<Db>(value, bound))
            .or_else(|| levels::<Erlang>(value, bound)),
        _ => None,
    }
}

/// Compares quantities that are integers in their smallest unit.
fn quantities<T: FromStr + Ord>(value: &str, bound: &str) -> Option<Ordering> {
    Some(value.parse::<T>().ok()?.cmp(&bound.parse().ok()?))
}

/// Compares quantities that are not integers.
fn levels<T: FromStr + PartialOrd>(value: &str, bound: &str) -> Option<Ordering> {
    value.parse::<T>().ok()?.partial_cmp(&bound.parse().ok()?)
}

/// Compares counts of segments or packets.
fn counts(value: &str, bound: &str) -> Option<Ordering> {
    if let (Ok(Window::Segments(value)), Ok(Window::Segments(bound))) = (value.parse(), bound.parse()) {
        return Some(value.cmp(&bound));
    }
    match (value.parse(), bound.parse()) {
        (Ok(QueueLimit::Packets(value)), Ok(QueueLimit::Packets(bound))) => Some(value.cmp(&bound)),
        _ => None,
    }
}
