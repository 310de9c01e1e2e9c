//! TOML as a tree of values with their locations, across files and the command line. A scenario is
//! a tree until all its files are merged and all overrides are applied.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Problem;
use crate::former_names;

/// A text that contains values: a file, an override, or the built-in defaults.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Name in messages.
    pub name: String,
    pub text: String,
    /// The folder to which file names in the text are relative.
    pub folder: PathBuf,
    /// The same folder relative to the scenario's folder. File names of a loaded scenario are
    /// relative to the latter.
    pub relative_folder: PathBuf,
}

/// A range of a source, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub source: usize,
    pub start: usize,
    pub end: usize,
    /// Whether the source is an override.
    pub by_override: bool,
}

/// A value with its location and its path (`"cell.0.fach.tti"`).
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub value: Value,
    pub at: Origin,
    /// Location of the key.
    pub key_at: Origin,
    pub path: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date(String),
    Array(Vec<Node>),
    Table(Table),
}

pub(crate) type Table = BTreeMap<String, Node>;

impl Node {
    /// A warning if an override names a profile, but keys of the file replace some of its values.
    pub fn hidden_keys_warning(&self, profile: &Node) -> Option<String> {
        let profile_key = self.get("profile").filter(|name| name.at.by_override)?;
        let mut hidden = Vec::new();
        self.collect_hidden_keys(profile, "", &mut hidden);
        let keys = hidden.join(", ");
        (!hidden.is_empty()).then(|| {
            format!(
                "{}: the scenario itself sets {keys}, which take precedence over the profile; set them too to change them",
                profile_key.path
            )
        })
    }

    /// Appends the keys of this table, below path `under`, that replace values of `profile`.
    fn collect_hidden_keys(&self, profile: &Node, under: &str, hidden: &mut Vec<String>) {
        for (key, own) in self.as_table().into_iter().flatten() {
            let Some(of_profile) = profile.get(key) else { continue };
            if own.as_table().is_some() {
                own.collect_hidden_keys(of_profile, &join(under, key), hidden);
            } else if !own.at.by_override && own.value.scalar_text() != of_profile.value.scalar_text() {
                hidden.push(join(under, key));
            }
        }
    }
}

impl Value {
    /// The value without its location. `None` for arrays and tables.
    fn scalar_text(&self) -> Option<String> {
        match self {
            Value::Text(text) | Value::Date(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Array(_) | Value::Table(_) => None,
        }
    }
}

/// Maximum nesting depth: more than any scenario needs, and safe for the stack.
const MAX_DEPTH: usize = 32;

/// Parses TOML. Its positions differ from the positions in its source by `shift`.
pub(crate) struct Reader {
    pub source: usize,
    /// Whether the source is an override.
    pub by_override: bool,
    /// Added to every position.
    pub shift: isize,
}

impl Reader {
    /// Parses `text` as a table.
    pub fn read(&self, text: &str) -> Result<Node, Problem> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = self.origin(error.span().unwrap_or(0..0));
            Problem::new(format!("this is not TOML: {}", error.message().trim_end()))
                .at(at)
                .label("here")
                .help(
                    "write KEY = VALUE, one per line; put texts in double quotes; begin tables with [NAME]"
                        .to_owned(),
                )
        })?;
        let at = self.origin(table.span());
        self.table(table.get_ref(), at, at, "", 0)
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let shifted = |position: usize| position.saturating_add_signed(self.shift);
        Origin {
            source: self.source,
            start: shifted(span.start),
            end: shifted(span.end),
            by_override: self.by_override,
        }
    }

    /// Converts a table. Keys at the top level get their current names.
    fn table(
        &self,
        table: &DeTable,
        at: Origin,
        key_at: Origin,
        path: &str,
        depth: usize,
    ) -> Result<Node, Problem> {
        let mut entries = Table::new();
        for (key, value) in table {
            let key_at = self.origin(key.span());
            let name = if depth == 0 { former_names::current(key.get_ref()) } else { key.get_ref() };
            let path = join(path, name);
            let node = self.value(value, key_at, path.clone(), depth + 1)?;
            if entries.insert(name.to_owned(), node).is_some() {
                let help = format!("write all keys under [{name}]");
                return Err(Problem::new(format!("[{name}] is also here under its former name"))
                    .at(key_at)
                    .path(&path)
                    .help(help));
            }
        }
        Ok(Node { value: Value::Table(entries), at, key_at, path: path.to_owned() })
    }

    /// Converts a value with its position in the file. `depth`: number of enclosing tables and
    /// arrays.
    fn value(
        &self,
        value: &Spanned<DeValue>,
        key_at: Origin,
        path: String,
        depth: usize,
    ) -> Result<Node, Problem> {
        let at = self.origin(value.span());
        if depth > MAX_DEPTH {
            return Err(Problem::new(format!("tables are nested deeper than {MAX_DEPTH} levels"))
                .at(at)
                .path(&path));
        }
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(digits) => {
                let number = i64::from_str_radix(digits.as_str(), digits.radix());
                Value::Integer(number.map_err(|_| {
                    let help = "write a larger seed as text, in quotes";
                    Problem::new("this number is too large for TOML").at(at).path(&path).help(help)
                })?)
            }
            DeValue::Float(digits) => Value::Float(
                digits
                    .as_str()
                    .parse()
                    .map_err(|_| Problem::new("this is not a number").at(at).path(&path))?,
            ),
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(values) => Value::Array(
                values
                    .iter()
                    .enumerate()
                    .map(|(i, value)| self.value(value, key_at, join(&path, &i.to_string()), depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => return self.table(table, at, key_at, &path, depth),
        };
        Ok(Node { value, at, key_at, path })
    }
}

/// Appends a key to a path: `"cell"` and `"name"` give `"cell.name"`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl Node {
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of a table. `None` if the node is not a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_table()?.get(key)
    }

    /// The elements of an array. Empty for all other values.
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            Value::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The elements of an array. Empty for all other values.
    pub fn elements_mut(&mut self) -> &mut [Node] {
        match &mut self.value {
            Value::Array(elements) => elements,
            _ => &mut [],
        }
    }

    /// The deepest existing node on `path`, and whether it is the node at the end of the path.
    pub fn find(&self, path: &str) -> (&Node, bool) {
        let mut node = self;
        for key in path.split('.') {
            let next = match &node.value {
                Value::Table(table) => table.get(key),
                Value::Array(elements) => key.parse::<usize>().ok().and_then(|i| elements.get(i)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => return (node, false),
            }
        }
        (node, true)
    }

    /// Whether `path` is written.
    pub fn contains(&self, path: &str) -> bool {
        let (_, is_whole_path) = self.find(path);
        is_whole_path
    }

    /// The value for messages.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text \"{text}\""),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Bool(value) => format!("{value}"),
            Value::Date(date) => format!("the date {date}"),
            Value::Array(_) => "an array".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }
}

/// Merges `over` over `base`: tables key by key, arrays of named tables name by name; everything
/// else is replaced. A table that names another model of block errors drops the keys of the old one.
pub(crate) fn merge(base: Node, over: Node) -> Node {
    let value = match (base.value, over.value) {
        (Value::Table(mut below), Value::Table(above)) => {
            if is_block_errors(&over.path) && changes_model(&below, &above) {
                // The tables of the directions stay: they name their own models.
                below.retain(|_, node| node.as_table().is_some());
            }
            for (key, node) in above {
                let merged = match below.remove(&key) {
                    Some(lower) => merge(lower, node),
                    None => node,
                };
                below.insert(key, merged);
            }
            Value::Table(below)
        }
        (Value::Array(below), Value::Array(above)) if have_names(&below) && have_names(&above) => {
            Value::Array(merge_by_name(below, above))
        }
        (_, above) => above,
    };
    Node { value, at: over.at, key_at: over.key_at, path: over.path }
}

/// Whether the table at `path` describes block errors: `[radio]`, `[ue.radio]`, or one direction of
/// these.
pub(crate) fn is_block_errors(path: &str) -> bool {
    path.split('.').any(|key| key == "radio")
}

/// Whether `above` names another model of block errors, so that the keys of `below` do not apply. A
/// table without `model` has at most `bler`, which implies the independent model.
fn changes_model(below: &Table, above: &Table) -> bool {
    let model = |table: &Table| table.get("model").and_then(Node::as_text).map(str::to_owned);
    model(above).is_some_and(|new| new != model(below).unwrap_or_else(|| "independent".to_owned()))
}

fn have_names(elements: &[Node]) -> bool {
    elements.iter().all(|element| element.get("name").is_some_and(|name| name.as_text().is_some()))
}

fn merge_by_name(mut below: Vec<Node>, above: Vec<Node>) -> Vec<Node> {
    let name = |node: &Node| node.get("name").and_then(Node::as_text).map(str::to_owned);
    // A repeated name within one file is a mistake that the checks report. Only names of `below`
    // are looked up.
    let inherited = below.len();
    for node in above {
        match below[..inherited].iter().position(|lower| name(lower) == name(&node)) {
            Some(i) => below[i] = merge(below[i].clone(), node),
            None => below.push(node),
        }
    }
    below
}
