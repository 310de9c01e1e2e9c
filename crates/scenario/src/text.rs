//! Errors of single keys, counts (`"9 PDUs"`) and seeds.

use std::fmt;

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
