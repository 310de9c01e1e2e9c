//! Power levels, powers, traffic, ratios and probabilities: the quantities that are floats.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use crate::text::{Quantity, UnitError, parse_float};

/// A ratio in decibels.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Db(pub f64);

/// A power relative to one milliwatt. The sum of two powers is not the sum of their levels, so
/// there is no `Dbm + Dbm`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Dbm(pub f64);

impl Sub for Dbm {
    type Output = Db;
    fn sub(self, other: Dbm) -> Db {
        Db(self.0 - other.0)
    }
}

impl Sub<Db> for Dbm {
    type Output = Dbm;
    fn sub(self, loss: Db) -> Dbm {
        Dbm(self.0 - loss.0)
    }
}

impl Add<Db> for Dbm {
    type Output = Dbm;
    fn add(self, gain: Db) -> Dbm {
        Dbm(self.0 + gain.0)
    }
}

impl Add for Db {
    type Output = Db;
    fn add(self, other: Db) -> Db {
        Db(self.0 + other.0)
    }
}

/// Implements the text form of a quantity: a number and its unit. `$made` is the quantity with this
/// number, or `None` if the number is out of range.
macro_rules! text_form {
    ($type:ident, $unit:literal, $name:literal, $example:literal, $rule:literal, $number:ident => $made:expr) => {
        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                let quantity = Quantity { name: $name, example: $example, rule: $rule, units: &[($unit, 1)] };
                let $number = parse_float(text, $unit, &quantity)?;
                $made.ok_or_else(|| UnitError::OutOfRange {
                    text: text.to_owned(),
                    quantity: $name,
                    rule: $rule,
                })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }
    };
}

/// Declares a quantity that is not negative, with its text form.
macro_rules! not_negative {
    ($(#[$doc:meta])* $type:ident, $unit:literal, $name:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
        pub struct $type(f64);

        impl $type {
            /// Returns `None` if the number is negative or not finite.
            pub fn new(number: f64) -> Option<Self> {
                (number >= 0.0 && number.is_finite()).then_some($type(number))
            }

            /// Returns the number of units.
            pub const fn value(self) -> f64 {
                self.0
            }
        }

        text_form!($type, $unit, $name, $example, "a number that is not negative", number => $type::new(number));
    };
}

not_negative! {
    /// An electrical power in milliwatts, not negative. Used for the consumption of a device.
    MilliWatts, "mW", "a power", "460 mW"
}
not_negative! {
    /// An electrical power in watts, not negative. Used for the consumption of a base station.
    Watts, "W", "a power", "130 W"
}
not_negative! {
    /// Traffic in Erlang: the mean number of simultaneous calls. Not negative.
    Erlang, "Erl", "a traffic", "24 Erl"
}

text_form!(Db, "dB", "a ratio", "6.8 dB", "a number", number => Some(Db(number)));
text_form!(Dbm, "dBm", "a power", "-104 dBm", "a number", number => Some(Dbm(number)));

/// A probability: a plain number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// Probability 0.
    pub const ZERO: Probability = Probability(0.0);
    /// Probability 1.
    pub const ONE: Probability = Probability(1.0);

    /// Returns `None` outside 0 to 1, and for NaN.
    pub fn new(p: f64) -> Option<Self> {
        (0.0..=1.0).contains(&p).then_some(Probability(p))
    }

    /// Returns the value.
    #[inline]
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
