//! Values with keywords and counts: `"unlimited"`, `"off"`, `"9 PDUs"`, `"20 segments"`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use umts_units::{as_text, count_of};

/// An error in one key of a table. It prints as `` `key` message ``; the loader parses the key to
/// point at it.
#[derive(Debug)]
pub(crate) struct KeyError {
    key: &'static str,
    message: String,
    help: Option<String>,
}

/// Separates the message of a [`KeyError`] from its help in the printed form.
pub(crate) const HELP: char = '\u{1f}';

impl KeyError {
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        KeyError { key, message: message.into(), help: None }
    }

    /// Adds a repair.
    pub fn help(self, help: String) -> Self {
        KeyError { help: Some(help), ..self }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "{HELP}{help}"))
    }
}

/// Defines `Option<T>` as a value or a keyword: a serde module of the given name, and a type for
/// the schema.
macro_rules! or_word {
    ($module:ident, $marker:ident, $word:literal) => {
        #[doc = concat!("A value or `\"", $word, "\"`, which is `None`.")]
        pub(crate) mod $module {
            use super::*;

            pub fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, s: S) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => value.serialize(s),
                    None => s.serialize_str($word),
                }
            }

            pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
                d.deserialize_any(ValueOr { word: $word, value: PhantomData })
            }
        }

        #[doc = concat!("In the schema: `T` or `\"", $word, "\"`.")]
        pub(crate) struct $marker<T>(PhantomData<T>);

        impl<T: JsonSchema> JsonSchema for $marker<T> {
            fn schema_name() -> Cow<'static, str> {
                format!("{}Or{}", T::schema_name(), stringify!($marker)).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "const": $word }] })
            }
        }
    };
}

or_word!(word_unlimited, Unlimited, "unlimited");
or_word!(word_off, Off, "off");
or_word!(word_none, OrNone, "none");
or_word!(word_end, End, "end");
or_word!(word_window, SameAsWindow, "window");
or_word!(word_auto, Auto, "auto");
or_word!(word_any, Any, "any");

struct ValueOr<T> {
    word: &'static str,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for ValueOr<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value or \"{}\"", self.word)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.word {
            return Ok(None);
        }
        let value = T::deserialize(IntoDeserializer::<E>::into_deserializer(text));
        value.map(Some).map_err(|e| E::custom(format_args!("{e} (or \"{}\")", self.word)))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Option<T>, E> {
        T::deserialize(number.into_deserializer()).map(Some)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Option<T>, E> {
        T::deserialize(number.into_deserializer()).map(Some)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Option<T>, E> {
        T::deserialize(number.into_deserializer()).map(Some)
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Some)
    }
}

/// Serde module for `u32` as `"9 PDUs"`.
pub(crate) mod pdus {
    use super::*;

    pub fn serialize<S: Serializer>(count: &u32, s: S) -> Result<S::Ok, S::Error> {
        Pdus(*count).serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
        Pdus::deserialize(d).map(|pdus| pdus.0)
    }
}

/// A number of PDUs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pdus(pub u32);

impl std::str::FromStr for Pdus {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match count_of(text, &["PDUs", "PDU"]) {
            Some(count) => count.map(Pdus),
            None => Err(format!("`{text}` is not a number of PDUs: write for example \"9 PDUs\"")),
        }
    }
}

impl fmt::Display for Pdus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} PDUs", self.0)
    }
}

as_text!(Pdus, "Pdus", "a number of PDUs with its unit, as in \"9 PDUs\"", r"^\+?[0-9]+\s*PDUs?$");

/// A seed: a TOML integer, or text if it exceeds the 63 bits of TOML.
pub(crate) mod seed {
    use super::*;

    pub fn serialize<S: Serializer>(seed: &u64, s: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(*seed) {
            Ok(_) => s.serialize_u64(*seed),
            Err(_) => s.collect_str(seed),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        struct Seed;
        impl serde::de::Visitor<'_> for Seed {
            type Value = u64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 0 to 2^64 - 1")
            }
            fn visit_u64<E: serde::de::Error>(self, seed: u64) -> Result<u64, E> {
                Ok(seed)
            }
            fn visit_i64<E: serde::de::Error>(self, seed: i64) -> Result<u64, E> {
                u64::try_from(seed)
                    .map_err(|_| E::custom(format_args!("`{seed}` is negative, but a seed must not be")))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<u64, E> {
                text.parse().map_err(|_| E::custom(format_args!("`{text}` is not a whole number below 2^64")))
            }
        }
        d.deserialize_any(Seed)
    }
}
