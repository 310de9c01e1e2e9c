//! Descriptions of the format: a JSON Schema for editors, and a list of keys for readers.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::Scenario;
use crate::tree::join;

/// One key of a scenario file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Param {
    /// The key with its tables, as in `cell.fach.rate`.
    pub key: String,
    /// Label in figures and tables.
    pub label: String,
    /// Type and unit of the value: `time`, `bit rate or "unlimited"`, `"tahoe", "reno" or
    /// "newreno"`.
    pub kind: String,
    /// Value if the key is absent. `None` if the key is required or has no default.
    pub default: Option<String>,
    /// Whether the key is required.
    pub required: bool,
    /// The accepted range, if not all values of the kind are accepted.
    pub range: Option<String>,
    /// Clause, RFC, study or tool that the key or its default comes from.
    pub source: Option<String>,
    /// Meaning of the key, in a sentence.
    pub description: String,
    /// The keywords that the key accepts, if it is a choice.
    pub choices: Vec<Choice>,
}

/// A keyword that a key accepts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// The keyword.
    pub value: String,
    /// Meaning of the keyword.
    pub description: String,
}

/// The JSON Schema (draft 2020-12) of a scenario file. It describes the TOML as JSON.
pub fn schema() -> Value {
    let mut schema = cached().clone();
    remove_labels(&mut schema);
    schema
}

pub(crate) fn cached() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
        schema["title"] = json!("Scenario of umtslab");
        schema["properties"]["extends"] = json!({
            "type": "string",
            "description": "The scenario file to extend, relative to this file. Keys of this file override its keys.",
            "x-label": "Extended scenario",
        });
        spell_bounds(&mut schema);
        schema
    })
}

/// Every key of a scenario file, table by table.
pub fn params() -> Vec<Param> {
    let mut params = Vec::new();
    collect(cached(), "", "", &mut params);
    params
}

/// Appends the keys of `table`, which is named `prefix`. `suffix` is appended to their labels.
fn collect(table: &Value, prefix: &str, suffix: &str, params: &mut Vec<Param>) {
    let empty = Map::new();
    for (key, property) in table["properties"].as_object().unwrap_or(&empty) {
        let path = join(prefix, key);
        let is_required = table["required"].as_array().is_some_and(|required| required.contains(&json!(key)));
        let inner = resolve(property);
        let is_table = inner.get("properties").is_some();
        // A table that may be replaced by a keyword, such as `cell.fach` by "none", is listed as a
        // key, followed by its keys. A table that repeats another one, such as `ue.rlc`, is listed
        // as a key without its keys.
        let is_key = !is_table || property.get("anyOf").is_some() || property.get("x-overrides").is_some();
        // An array of tables, such as `[[flow]]`, contributes the keys of its tables. An array of
        // plain values, such as `proxy.ports`, is a key.
        let is_list = inner["type"] == "array" && resolve(&inner["items"]).get("properties").is_some();
        if is_key && !is_list {
            params.push(param(path.clone(), property, suffix, is_required));
        }
        if property.get("x-overrides").is_some() {
            continue;
        }
        let suffix = property["x-label-suffix"].as_str().unwrap_or(suffix);
        let inner_table = if is_table { inner } else { resolve(&inner["items"]) };
        collect(inner_table, &path, suffix, params);
    }
}

/// Describes a key for `umts params` from the schema.
fn param(key: String, property: &Value, suffix: &str, required: bool) -> Param {
    let text = |key: &str| property[key].as_str().map(str::to_owned);
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Object(_) | Value::Array(_) => None,
        other => Some(other.to_string()),
    };
    let default = plain(&property["x-default"]).or_else(|| plain(&property["default"]));
    Param {
        key,
        label: property["x-label"].as_str().map(|label| format!("{label}{suffix}")).unwrap_or_default(),
        kind: kind(property),
        default: default.filter(|default| !default.is_empty()),
        required,
        range: text("x-range").or_else(|| range_text(property)),
        source: text("x-source"),
        description: text("description").map(|lines| unwrapped(&lines)).unwrap_or_default(),
        choices: choices(resolve(property)),
    }
}

/// The type of a property, in words, such as `a bit rate or "unlimited"` or `a table like [rlc]`.
fn kind(property: &Value) -> String {
    if let Some(overrides) = property["x-overrides"].as_str() {
        return format!("a table like [{overrides}]");
    }
    let inner = resolve(property);
    let choices = choices(inner);
    let kind = match (inner["type"].as_str(), inner["description"].as_str()) {
        _ if !choices.is_empty() => {
            choices.iter().map(|choice| format!("\"{}\"", choice.value)).collect::<Vec<_>>().join(", ")
        }
        _ if inner.get("properties").is_some() => "a table".to_owned(),
        // The description of a quantity names its type. Plain texts and numbers carry the
        // description of their key.
        (_, Some(description)) if property.get("$ref").is_some() || property.get("anyOf").is_some() => {
            description.split(" with its unit").next().unwrap_or_default().to_owned()
        }
        (Some("integer"), _) => "a whole number".to_owned(),
        (Some("boolean"), _) => "true or false".to_owned(),
        (Some("number"), _) => "a number".to_owned(),
        (Some("object"), _) => "a table of keys".to_owned(),
        (Some("array"), _) if inner["items"]["type"] == "integer" => "a list of whole numbers".to_owned(),
        // The description of a quantity names its type: "a length with its unit".
        (Some("array"), _) => match self::kind(&inner["items"]) {
            quantity if quantity.starts_with("a") && quantity != "a text" => {
                format!("a list, each {quantity}")
            }
            _ => "a list of texts".to_owned(),
        },
        _ => "a text".to_owned(),
    };
    match words(property)[..] {
        [word] => format!("{kind} or \"{word}\""),
        _ => kind,
    }
}

/// The keywords that may replace a value, such as "unlimited".
fn words(property: &Value) -> Vec<&str> {
    let alternatives = property["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    alternatives.iter().filter_map(|alternative| alternative["const"].as_str()).collect()
}

fn choices(inner: &Value) -> Vec<Choice> {
    let variants = inner["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    variants
        .iter()
        .map(|variant| Choice {
            value: text(&variant["const"]),
            description: unwrapped(&text(&variant["description"])),
        })
        .collect()
}

/// The text of a doc comment without the line breaks of the source. Paragraphs stay apart.
fn unwrapped(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

/// The range as text, such as `"1 to 2047"` or `"at most 500 ms"`. `None` if the schema sets no
/// bounds.
pub(crate) fn range_text(property: &Value) -> Option<String> {
    let bound = |key: &str| match &property[key] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        number => Some(number.to_string()),
    };
    match (bound("x-min"), bound("x-max")) {
        (Some(min), Some(max)) if min == max => Some(min),
        (Some(min), Some(max)) => Some(format!("{min} to {max}")),
        (Some(min), None) => Some(format!("at least {min}")),
        (None, Some(max)) => Some(format!("at most {max}")),
        (None, None) => None,
    }
}

/// The target of a property: the definition behind `$ref`, or the value type of "a value or a
/// keyword".
pub(crate) fn resolve(property: &Value) -> &Value {
    let target = property["anyOf"].get(0).unwrap_or(property);
    match target["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        Some(name) => &cached()["$defs"][name],
        None => target,
    }
}

/// Number of leading `keys` that exist, each in the table of the preceding one. The first is a key
/// of the elements of the array at `path`. With `cell`, the keys `fach`, `rate` and `x` give 2.
pub(crate) fn known_keys(path: &str, keys: &[&str]) -> usize {
    let mut table = resolve(&cached()["properties"][path])["items"].clone();
    for (known, key) in keys.iter().enumerate() {
        match resolve(&table)["properties"].get(*key).cloned() {
            Some(next) => table = next,
            None => return known,
        }
    }
    keys.len()
}

/// Copies numeric `x-min` and `x-max` into the standard keywords `minimum` and `maximum`.
fn spell_bounds(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (own_key, standard_key) in [("x-min", "minimum"), ("x-max", "maximum")] {
                if let Some(bound) = object.get(own_key).filter(|bound| bound.is_number()).cloned() {
                    object.insert(standard_key.to_owned(), bound);
                }
            }
            object.values_mut().for_each(spell_bounds);
        }
        Value::Array(values) => values.iter_mut().for_each(spell_bounds),
        _ => {}
    }
}

/// Removes the labels: editors show the descriptions.
fn remove_labels(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, _| key != "x-label" && key != "x-label-suffix");
            object.values_mut().for_each(remove_labels);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_labels),
        _ => {}
    }
}
