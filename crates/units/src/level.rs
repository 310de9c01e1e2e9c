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

/// An electrical power in milliwatts, not negative. Used for the consumption of a device.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct MilliWatts(f64);

impl MilliWatts {
    /// Returns `None` if the value is negative or not finite.
    pub fn new(milliwatts: f64) -> Option<Self> {
        (milliwatts >= 0.0 && milliwatts.is_finite()).then_some(MilliWatts(milliwatts))
    }

    /// Returns the value in milliwatts.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// An electrical power in watts, not negative. Used for the consumption of a base station.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Watts(f64);

impl Watts {
    /// Returns `None` if the value is negative or not finite.
    pub fn new(watts: f64) -> Option<Self> {
        (watts >= 0.0 && watts.is_finite()).then_some(Watts(watts))
    }

    /// Returns the value in watts.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// Traffic in Erlang: the mean number of simultaneous calls. Not negative.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Erlang(f64);

impl Erlang {
    /// Returns `None` if the value is negative or not finite.
    pub fn new(erlang: f64) -> Option<Self> {
        (erlang >= 0.0 && erlang.is_finite()).then_some(Erlang(erlang))
    }

    /// Returns the value in Erlang.
    pub const fn value(self) -> f64 {
        self.0
    }
}

/// For [`Erlang`].
const TRAFFIC: Quantity = Quantity {
    name: "a traffic",
    example: "24 Erl",
    rule: "a number that is not negative",
    units: &[("Erl", 1)],
};
/// For [`MilliWatts`].
const DEVICE_POWER: Quantity = Quantity {
    name: "a power",
    example: "460 mW",
    rule: "a number that is not negative",
    units: &[("mW", 1)],
};
/// For [`Watts`].
const STATION_POWER: Quantity =
    Quantity { name: "a power", example: "130 W", rule: "a number that is not negative", units: &[("W", 1)] };
/// For [`Db`].
const RATIO: Quantity =
    Quantity { name: "a ratio", example: "6.8 dB", rule: "a number", units: &[("dB", 1)] };
/// For [`Dbm`].
const POWER_LEVEL: Quantity =
    Quantity { name: "a power", example: "-104 dBm", rule: "a number", units: &[("dBm", 1)] };

impl FromStr for Db {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_float(text, "dB", &RATIO).map(Db)
    }
}

impl FromStr for Dbm {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_float(text, "dBm", &POWER_LEVEL).map(Dbm)
    }
}

impl FromStr for MilliWatts {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let power = parse_float(text, "mW", &DEVICE_POWER)?;
        MilliWatts::new(power).ok_or_else(|| UnitError::OutOfRange {
            text: text.to_owned(),
            quantity: DEVICE_POWER.name,
            rule: DEVICE_POWER.rule,
        })
    }
}

impl FromStr for Watts {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let power = parse_float(text, "W", &STATION_POWER)?;
        Watts::new(power).ok_or_else(|| UnitError::OutOfRange {
            text: text.to_owned(),
            quantity: STATION_POWER.name,
            rule: STATION_POWER.rule,
        })
    }
}

impl FromStr for Erlang {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let traffic = parse_float(text, "Erl", &TRAFFIC)?;
        Erlang::new(traffic).ok_or_else(|| UnitError::OutOfRange {
            text: text.to_owned(),
            quantity: TRAFFIC.name,
            rule: TRAFFIC.rule,
        })
    }
}

impl fmt::Display for Erlang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Erl", self.0)
    }
}

impl fmt::Display for MilliWatts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} mW", self.0)
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0)
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl fmt::Display for Dbm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dBm", self.0)
    }
}

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
