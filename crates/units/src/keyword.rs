//! A value or a keyword in files: `"unlimited"`, `"off"`, `"end"`. In memory the keyword is `None`.
//!
//! A field names keyword and type of its value: `#[serde(with = "Off::<Duration>")]`. JSON Schema
//! is derived from the same type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! value_or {
    ($name:ident, $word:literal) => {
        #[doc = concat!("A value, or `\"", $word, "\"` for `None`.")]
        pub struct $name<T>(PhantomData<T>);

        impl<T: Serialize> $name<T> {
            /// Writes the value or the keyword.
            pub fn serialize<S: Serializer>(value: &Option<T>, s: S) -> Result<S::Ok, S::Error> {
                match value {
                    Some(value) => value.serialize(s),
                    None => s.serialize_str($word),
                }
            }
        }

        impl<'de, T: Deserialize<'de>> $name<T> {
            /// Reads the value or the keyword.
            pub fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
                d.deserialize_any(ValueOr { word: $word, value: PhantomData })
            }
        }

        impl<T: JsonSchema> JsonSchema for $name<T> {
            fn schema_name() -> Cow<'static, str> {
                format!("{}Or{}", T::schema_name(), stringify!($name)).into()
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

value_or!(Unlimited, "unlimited");
value_or!(Off, "off");
value_or!(OrNone, "none");
value_or!(End, "end");
value_or!(SameAsWindow, "window");
value_or!(Auto, "auto");
value_or!(Any, "any");

/// Reads either the keyword `word`, as `None`, or a value.
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
        value.map(Some).map_err(|error| E::custom(format_args!("{error} (or \"{}\")", self.word)))
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
