//! The schema and the reference are complete and agree with the loader.

use std::path::Path;

use serde_json::Value;
use umts_scenario::{Param, Scenario, params, schema};

/// Returns the description of a key.
fn param(key: &str) -> Param {
    params().into_iter().find(|param| param.key == key).unwrap_or_else(|| panic!("no key {key}"))
}

#[test]
fn every_key_has_a_description_and_a_kind() {
    let params = params();
    assert!(params.len() > 70, "{}", params.len());
    for param in &params {
        assert!(param.description.ends_with('.') && param.description.len() > 10, "{param:?}");
        assert!(!param.label.is_empty(), "no \"x-label\" beside the key: {param:?}");
        assert!(!param.kind.is_empty() && !param.kind.starts_with("a a "), "{param:?}");
        assert!(!(param.required && param.default.is_some()), "{param:?}");
        assert!(param.choices.iter().all(|choice| !choice.description.is_empty()), "{param:?}");
        let descriptions = param.choices.iter().map(|choice| &choice.description).chain([&param.description]);
        let breaks = descriptions.flat_map(|text| text.split("\n\n")).filter(|text| text.contains('\n'));
        assert_eq!(breaks.count(), 0, "line breaks of the source: {param:?}");
    }
    let mut keys: Vec<_> = params.iter().map(|param| &param.key).collect();
    keys.dedup();
    assert_eq!(keys.len(), params.len(), "no key twice");
}

/// The list has everything about the keys except the texts. `UMTS_BLESS=1` writes the file again.
#[test]
fn keys_kinds_defaults_and_ranges_equal_the_stored_list() {
    let quoted = |text: &Option<String>| text.as_ref().map_or("-".to_owned(), |text| format!("{text:?}"));
    let line = |param: &Param| {
        let default = if param.required { "required".to_owned() } else { quoted(&param.default) };
        format!("{} | {} | {default} | {}\n", param.key, param.kind, quoted(&param.range))
    };
    let lines: String = params().iter().map(line).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys.txt");
    if std::env::var_os("UMTS_BLESS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap();
    for (known, found) in known.lines().zip(lines.lines()) {
        assert_eq!(
            known, found,
            "{path:?} differs: if the change is intended, write it again with UMTS_BLESS=1"
        );
    }
    assert_eq!(known.lines().count(), lines.lines().count());
}

#[test]
fn reference_contains_unit_default_range_and_source() {
    let window = param("rlc.window");
    assert_eq!((window.default.as_deref(), window.range.as_deref()), (Some("1024"), Some("1 to 2047")));
    assert!(window.source.unwrap().contains("TS 25.322 §9.6"));
    let timer = param("rlc.timer_poll");
    assert_eq!((timer.kind.as_str(), timer.default.as_deref()), ("a time or \"off\"", Some("300 ms")));
    assert_eq!(param("cell.fach.tti").range.as_deref(), Some("10, 20, 40 or 80 ms"));
    let variants =
        ["tahoe", "reno", "newreno", "vegas", "sack", "fack", "westwood", "cubic", "bbr", "python"];
    assert_eq!(param("tcp.variant").kind, variants.map(|name| format!("\"{name}\"")).join(", "));
    assert_eq!(param("radio.uplink.bler").kind, "a probability from 0 to 1");
    assert_eq!(param("flow.tcp").kind, "a table like [tcp]");
    assert_eq!(param("rlc.max_dat").kind, "a whole number or \"unlimited\"");
    assert!(param("duration").required && param("ue.name").required);
    assert_eq!(param("extends").kind, "a text");
}

#[test]
fn reference_defaults_equal_loader_defaults() {
    let text = "version = 1\nduration = \"1 s\"\n[[ue]]\nname = \"u\"\n[[flow]]\nue = \"u\"";
    let json = Scenario::parse(text, "x", Path::new(""), &[]).unwrap().scenario.to_json();
    // Keys with a default that is described in words. The default of the links is a whole chain.
    let in_words =
        ["name", "cell.fach", "cell.rach", "ue.cell", "ue.rlc", "ue.radio", "flow.tcp", "radio.model"];
    let mut compared = 0;
    for param in params().iter().filter(|param| !param.key.starts_with("link.")) {
        let (Some(default), false) = (&param.default, in_words.contains(&param.key.as_str())) else {
            continue;
        };
        let value = param.key.split('.').fold(&json, |value, key| match value {
            Value::Array(elements) => elements.first().map_or(&Value::Null, |first| &first[key]),
            table => &table[key],
        });
        let loaded = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // A key of another error model, or of an undefined bearer, has no value to compare.
        if !value.is_null() {
            assert_eq!(&loaded, default, "{}", param.key);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn schema_has_descriptions_defaults_and_bounds() {
    let schema = schema();
    assert!(schema["$schema"].as_str().unwrap().contains("2020-12"));
    assert_eq!(schema["additionalProperties"], false);
    let rlc = &schema["$defs"]["Rlc"]["properties"];
    assert_eq!((&rlc["window"]["minimum"], &rlc["window"]["maximum"]), (&Value::from(1), &Value::from(2047)));
    assert_eq!(rlc["timer_poll"]["anyOf"][1]["const"], "off");
    assert!(schema["$defs"]["Duration"]["pattern"].is_string());
    assert!(schema["properties"]["extends"].is_object());
    for (name, property) in schema["$defs"]["Tcp"]["properties"].as_object().unwrap() {
        assert!(property["description"].is_string() && !property["default"].is_null(), "{name}");
    }
}
