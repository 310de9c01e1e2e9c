//! Overrides of keys, as in `radio.bler=0.05`: from `--set`, a point of a sweep, an option that
//! corresponds to a key, or Python.

use crate::error::{Problem, ScenarioError};
use crate::extends::Files;
use crate::former_names;
use crate::schema::known_keys;
use crate::tree::{Node, Origin, Reader, Table, Value, is_block_errors, join};

/// Replaces the file's name in messages.
const OVERRIDE: &str = "override";

/// Sets `key` in `tree` to `value`, which is parsed as TOML, or taken as text if it is not TOML.
pub(crate) fn apply(tree: &mut Node, files: &mut Files, key: &str, value: &str) -> Result<(), ScenarioError> {
    let text = format!("{key}={value}");
    let end = text.len();
    let source = files.add(OVERRIDE, text);
    let key_at = Origin { source, start: 0, end: key.len(), by_override: true };
    let value_at = Origin { source, start: key.len() + 1, end, by_override: true };
    let value = read_value(value, value_at);
    let mut keys: Vec<&str> = key.split('.').collect();
    keys[0] = former_names::current(keys[0]);
    let result = if keys.contains(&"") {
        Err(Problem::new(format!("`{key}` is not a key"))
            .at(key_at)
            .help("a key consists of names separated by dots, as in radio.bler=0.05"))
    } else {
        set_value(tree, &keys, key_at, value)
    };
    result.map_err(|problem| ScenarioError::new(problem.path(key), &files.sources))
}

/// Parses a value as TOML, or takes it as text: `0.05` is a number, `vegas` and `64 kbit/s` are
/// texts.
fn read_value(text: &str, at: Origin) -> Node {
    const PREFIX: &str = "v = ";
    let shift = isize::try_from(at.start).expect("a command line fits into memory") - PREFIX.len() as isize;
    let parsed = Reader { source: at.source, by_override: true, shift }.read(&format!("{PREFIX}{text}")).ok();
    let only_value = parsed.and_then(|mut node| {
        let table = node.as_table_mut()?;
        if table.len() == 1 { table.remove("v") } else { None }
    });
    match only_value {
        Some(node) if !matches!(node.value, Value::Date(_)) => node,
        _ => Node { value: Value::Text(text.to_owned()), at, key_at: at, path: String::new() },
    }
}

/// Sets the value at path `keys` below `node`.
fn set_value(node: &mut Node, keys: &[&str], key_at: Origin, value: Node) -> Result<(), Problem> {
    let described = node.describe();
    let path = node.path.clone();
    match (&mut node.value, keys) {
        (Value::Array(elements), [first, rest @ ..]) => {
            let Choice { index, is_named } = choose(elements, keys, &path, key_at)?;
            let rest = if is_named { rest } else { keys };
            if rest.is_empty() {
                let help = format!("add the key to set, as in {path}.{first}.KEY=VALUE");
                return Err(Problem::new(format!("`{path}.{first}` is a whole table")).at(key_at).help(help));
            }
            set_value(&mut elements[index], rest, key_at, value)
        }
        (Value::Table(table), [last]) => {
            if *last == "model" && is_block_errors(&path) {
                forget_other_model(table, &value);
            }
            table.insert((*last).to_owned(), with_location(value, key_at, join(&path, last)));
            Ok(())
        }
        (Value::Table(table), [first, rest @ ..]) => {
            let path = join(&path, first);
            let next = table.entry((*first).to_owned()).or_insert_with(|| Node {
                value: Value::Table(Table::new()),
                at: key_at,
                key_at,
                path,
            });
            set_value(next, rest, key_at, value)
        }
        _ => Err(Problem::new(format!("`{path}` is {described}, which has no keys")).at(key_at)),
    }
}

/// An element of an array of tables.
struct Choice {
    index: usize,
    /// Whether the first key is the element's index or name. Otherwise it is the only element, and
    /// the first key is one of its own.
    is_named: bool,
}

/// Chooses an element of an array of tables.
fn choose(elements: &[Node], keys: &[&str], path: &str, key_at: Origin) -> Result<Choice, Problem> {
    const ONLY_ELEMENT: Choice = Choice { index: 0, is_named: false };
    let key = keys[0];
    let by_index = key.parse::<usize>().ok().filter(|i| *i < elements.len());
    let by_name = || elements.iter().position(|element| identity(element) == Some(key));
    // The only element may have the same name as one of its own tables, such as a cell named `tdd`.
    // The interpretation with more existing keys is chosen: `cell.tdd.rach.codes` is a key of that
    // table, `cell.tdd.rach.rate` a key of the cell.
    let is_own_table =
        || keys.len() - known_keys(path, keys) <= keys.len() - 1 - known_keys(path, &keys[1..]);
    if elements.len() == 1 && by_index.is_none() && by_name().is_some() && is_own_table() {
        return Ok(ONLY_ELEMENT);
    }
    if let Some(index) = by_index.or_else(by_name) {
        return Ok(Choice { index, is_named: true });
    }
    if elements.len() == 1 && key.parse::<usize>().is_err() {
        return Ok(ONLY_ELEMENT);
    }
    let known: Vec<String> = elements
        .iter()
        .enumerate()
        .map(|(i, element)| identity(element).map_or(i.to_string(), str::to_owned))
        .collect();
    let help = format!("select one by its name or its index from 0: {}", known.join(", "));
    Err(Problem::new(format!("`{key}` is not one of the {} tables of `{path}`", elements.len()))
        .at(key_at)
        .help(help))
}

/// The identifier of a table in an array: its name, the group of a flow, or the near end of a link.
fn identity(element: &Node) -> Option<&str> {
    ["name", "ue", "from"].iter().find_map(|key| element.get(key)).and_then(Node::as_text)
}

/// Removes the keys of the previous model of block errors. Keys from files are removed, keys from
/// overrides stay.
fn forget_other_model(table: &mut Table, model: &Node) {
    if table.get("model").and_then(Node::as_text).unwrap_or("independent")
        != model.as_text().unwrap_or_default()
    {
        table.retain(|_, node| node.as_table().is_some() || node.at.by_override);
    }
}

/// Sets the location and path of `node` to the key of the override.
fn with_location(mut node: Node, key_at: Origin, path: String) -> Node {
    match &mut node.value {
        Value::Table(table) => {
            for (key, child) in std::mem::take(table) {
                let path = join(&path, &key);
                table.insert(key, with_location(child, key_at, path));
            }
        }
        Value::Array(elements) => {
            let renamed = std::mem::take(elements).into_iter().enumerate();
            *elements =
                renamed.map(|(i, child)| with_location(child, key_at, join(&path, &i.to_string()))).collect();
        }
        _ => {}
    }
    Node { key_at, path, ..node }
}
