//! A serde deserializer for [`Node`] with located errors: it turns the tree of a scenario file into
//! the model, and serde's messages into the terms of a scenario file.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, Expected, Unexpected, Visitor};

use crate::error::Problem;
use crate::suggest::nearest;
use crate::text::HELP;
use crate::tree::{Node, Value};

impl de::Error for Problem {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        // The message of a `KeyError` begins with its key in backticks.
        let key =
            message.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(key, _)| key.to_owned());
        let (message, help) = match message.split_once(HELP) {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (message, None),
        };
        let mut problem = Problem::new(message);
        // An error of a whole table depends on the other keys of that table.
        (problem.depends, problem.key, problem.help) = (key.is_some(), key, help);
        problem
    }

    /// Describes a value of the wrong type in the terms of a scenario file instead of serde's.
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = match expected.to_string().as_str() {
            "u16" | "u32" | "u64" => "a whole number".to_owned(),
            "a string" => "a text in quotes".to_owned(),
            "a boolean" => "true or false".to_owned(),
            "a sequence" => "a list, as in [1, 2], or an array of tables, as in [[ue]],".to_owned(),
            "a map" => "a table".to_owned(),
            other if other.starts_with("struct ") => "a table".to_owned(),
            other if other.starts_with("enum ") => "one of the known words, in quotes,".to_owned(),
            other => other.to_owned(),
        };
        match unexpected {
            Unexpected::Signed(_) | Unexpected::Unsigned(_) | Unexpected::Float(_)
                if expected.contains("with its unit") =>
            {
                let number = match unexpected {
                    Unexpected::Signed(n) => n.to_string(),
                    Unexpected::Unsigned(n) => n.to_string(),
                    Unexpected::Float(n) => n.to_string(),
                    _ => String::new(),
                };
                Problem::new(format!("`{number}` has no unit")).help(format!("write {expected}"))
            }
            Unexpected::Str(text) => {
                let problem = Problem::new(format!("{expected} is expected here, not the text \"{text}\""));
                match instead_of(text, &expected) {
                    Some(help) => problem.help(help),
                    None => problem,
                }
            }
            other => Problem::new(format!("{expected} is expected here, not {other}")),
        }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let range = match expected.to_string().as_str() {
            "u16" => "a whole number from 0 to 65535".to_owned(),
            "u32" => "a whole number from 0 to 4294967295".to_owned(),
            other => other.to_owned(),
        };
        Problem::new(format!("{unexpected} is out of range: {range} is expected here"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let known = expected.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let hint = nearest(variant, expected.iter().copied());
        let help = match hint {
            _ if variant.contains(',') => format!("{ONE_VALUE}; the known values are {known}"),
            Some(word) => format!("did you mean \"{word}\"? The known values are {known}"),
            None => format!("the known values are {known}"),
        };
        Problem::new(format!("`{variant}` is not a known value")).label("this value").help(help)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let help = match nearest(field, expected.iter().copied()) {
            Some(key) => format!("did you mean `{key}`?"),
            None => format!("the keys here are {}", expected.join(", ")),
        };
        let mut problem = Problem::new(format!("unknown key `{field}`")).label("this key").help(help);
        (problem.key, problem.key_is_wrong) = (Some(field.to_owned()), true);
        problem
    }

    fn missing_field(field: &'static str) -> Self {
        let mut problem = Problem::new(format!("the key `{field}` is missing")).label("in this table");
        problem.missing = Some(field);
        problem
    }
}

/// Help for several values where one is allowed.
const ONE_VALUE: &str = "only one value is allowed; `umts sweep FILE -P KEY=…` varies it";

/// Help for a text where `expected` is required: a probability in per cent, several numbers, or a
/// range of numbers.
fn instead_of(text: &str, expected: &str) -> Option<String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(percent) = text.trim().strip_suffix('%').and_then(number) {
        // The shortest decimal of the share: 0.07 instead of 0.07000000000000001.
        let share = format!("{:.12}", percent / 100.0);
        let share = share.trim_end_matches('0').trim_end_matches('.');
        return expected.contains("probability").then(|| format!("write {share}"));
    }
    let separator = ["..", ",", ":"].into_iter().find(|separator| text.contains(separator))?;
    let all_numbers = text.split(separator).all(|part| number(part).is_some());
    all_numbers.then(|| format!("{ONE_VALUE}, as in 0:0.3:0.05 or 0.1,0.2"))
}

impl Problem {
    /// Points at `node`, or at the key in it that is wrong, unless the problem already has a
    /// location.
    fn within(mut self, node: &Node) -> Self {
        if self.origin.is_some() {
            return self;
        }
        match self.key.take().and_then(|key| node.as_table()?.get_key_value(&key)) {
            Some((_, child)) => {
                let at = if self.key_is_wrong { child.key_at } else { child.at };
                self.at(at).path(&child.path)
            }
            None => self.at(node.at).path(&node.path),
        }
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match &self.value {
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Date(_) => Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor)),
            Value::Array(elements) => visitor.visit_seq(Elements(elements.iter())),
            Value::Table(table) => visitor.visit_map(Entries::new(table)),
        }
        .map_err(|problem: Problem| problem.within(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match &self.value {
            Value::Text(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => return self.deserialize_any(visitor),
        }
        .map_err(|problem: Problem| problem.within(self))
    }

    /// Accepts only tables: serde would also fill a struct from an array, by position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match &self.value {
            Value::Array(_) => {
                let problem: Problem = de::Error::invalid_type(Unexpected::Seq, &"a table");
                Err(problem.within(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

struct Elements<'de>(std::slice::Iter<'de, Node>);

impl<'de> de::SeqAccess<'de> for Elements<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some(element) = self.0.next() else { return Ok(None) };
        seed.deserialize(element).map(Some).map_err(|problem| problem.within(element))
    }
}

/// The entries of a table in the order of the file. Serde then reports the first mistake in the
/// file.
struct Entries<'de> {
    rest: std::vec::IntoIter<(&'de str, &'de Node)>,
    value: Option<&'de Node>,
}

impl<'de> Entries<'de> {
    fn new(table: &'de crate::tree::Table) -> Self {
        let mut entries: Vec<_> = table.iter().map(|(key, node)| (key.as_str(), node)).collect();
        entries.sort_by_key(|(_, node)| node.key_at);
        Entries { rest: entries.into_iter(), value: None }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Problem> {
        let node = self.value.take().expect("serde requests the key first");
        // An error of a conversion (`try_from`) after the table was read also belongs to this node.
        seed.deserialize(node).map_err(|problem| problem.within(node))
    }
}
