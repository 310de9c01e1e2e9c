//! Serde and JSON Schema for quantities: text with a unit, and plain numbers for probabilities.

use std::fmt;

use crate::{
    Angle, BitRate, Bytes, Db, Dbm, Duration, Erlang, Frequency, Length, MilliWatts, Octets, Probability,
    Speed, Watts,
};

/// Implements serde and JSON Schema as text, for a type with `FromStr` and `Display`. The calling
/// crate needs serde and schemars.
#[macro_export]
macro_rules! as_text {
    ($type:ty, $name:literal, $description:literal, $pattern:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($description)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $description, "pattern": $pattern })
            }
        }
    };
}

as_text!(
    Duration,
    "Duration",
    "a time with its unit, as in \"10 ms\" or \"1500 s\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(ns|us|µs|ms|s|min|h)$"
);

as_text!(
    Bytes,
    "Bytes",
    "a size with its unit, as in \"40 B\" or \"100 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(B|kB|MB|GB|KiB|MiB|GiB)$"
);

// Same name and pattern as `Bytes`: the maximum is checked when the text is parsed.
as_text!(
    Octets,
    "Bytes",
    "a size with its unit, as in \"40 B\" or \"100 kB\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(B|kB|MB|GB|KiB|MiB|GiB)$"
);

as_text!(
    BitRate,
    "BitRate",
    "a bit rate with its unit, as in \"32 kbit/s\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(bit/s|kbit/s|Mbit/s|Gbit/s)$"
);

as_text!(Db, "Db", "a ratio in decibels, as in \"6.8 dB\"", r"^[+-]?[0-9]*\.?[0-9]*\s*dB$");

as_text!(MilliWatts, "MilliWatts", "a power, as in \"460 mW\"", r"^[0-9]*\.?[0-9]*\s*mW$");

as_text!(Watts, "Watts", "a power, as in \"130 W\"", r"^[0-9]*\.?[0-9]*\s*W$");
as_text!(Erlang, "Erlang", "a traffic in Erlang, as in \"24 Erl\"", r"^\+?[0-9]*\.?[0-9]*\s*Erl$");

as_text!(Dbm, "Dbm", "a power level, as in \"-104 dBm\"", r"^[+-]?[0-9]*\.?[0-9]*\s*dBm$");

as_text!(Length, "Length", "a length with its unit, as in \"500 m\"", r"^\+?[0-9]*\.?[0-9]*\s*(m|km)$");

as_text!(Speed, "Speed", "a speed with its unit, as in \"50 km/h\"", r"^\+?[0-9]*\.?[0-9]*\s*(km/h|m/s)$");

as_text!(Angle, "Angle", "an angle with its unit, as in \"70 deg\"", r"^\+?[0-9]*\.?[0-9]*\s*deg$");

as_text!(
    Frequency,
    "Frequency",
    "a frequency with its unit, as in \"2 GHz\"",
    r"^\+?[0-9]*\.?[0-9]*\s*(Hz|kHz|MHz|GHz)$"
);

impl serde::Serialize for Probability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

impl<'de> serde::Deserialize<'de> for Probability {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl serde::de::Visitor<'_> for Number {
            type Value = Probability;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability: a plain number from 0 to 1")
            }
            fn visit_f64<E: serde::de::Error>(self, p: f64) -> Result<Probability, E> {
                Probability::new(p).ok_or_else(|| {
                    E::custom(format_args!("{p} is not a probability: choose a number from 0 to 1"))
                })
            }
            fn visit_i64<E: serde::de::Error>(self, p: i64) -> Result<Probability, E> {
                self.visit_f64(p as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, p: u64) -> Result<Probability, E> {
                self.visit_f64(p as f64)
            }
        }
        deserializer.deserialize_f64(Number)
    }
}

impl schemars::JsonSchema for Probability {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "number", "minimum": 0, "maximum": 1, "description": "a probability from 0 to 1"
        })
    }
}
