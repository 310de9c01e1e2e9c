//! Lengths, speeds, angles and frequencies: positions and movement of radios, and their carriers.

use std::fmt;
use std::str::FromStr;

use crate::text::{Quantity, UnitError, format_integer, parse_integer};

/// Defines a quantity that is stored as a whole number of a small unit. Text in any of the `units`
/// is parsed. Values are printed in one of the first `printed_units` units; the last of these units
/// must express every value with at most three decimals.
macro_rules! whole {
    (
        $(#[$doc:meta])*
        $type:ident {
            constructor: $constructor:ident,
            small_unit: $small_unit:literal,
            quantity: $quantity:ident,
            name: $name:literal,
            example: $example:literal,
            rule: $rule:literal,
            units: $units:expr,
            printed_units: $printed_units:expr,
        }
    ) => {
        const $quantity: Quantity = Quantity { name: $name, example: $example, rule: $rule, units: &$units };

        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $type(u64);

        impl $type {
            #[doc = concat!("Returns a value of `number` ", $small_unit, ".")]
            pub const fn $constructor(number: u64) -> Self {
                $type(number)
            }
        }

        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                parse_integer(text, &$quantity).map($type)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                format_integer(self.0, f, &$units[..$printed_units])
            }
        }
    };
}

whole! {
    /// A length, in millimetres.
    Length {
        constructor: from_millimetres,
        small_unit: "millimetres",
        quantity: LENGTH,
        name: "a length",
        example: "500 m",
        rule: "a whole number of millimetres",
        units: [("km", 1_000_000), ("m", 1_000)],
        printed_units: 2,
    }
}

whole! {
    /// A speed, in metres per hour.
    Speed {
        constructor: from_metres_per_hour,
        small_unit: "metres per hour",
        quantity: SPEED,
        name: "a speed",
        example: "50 km/h",
        rule: "a whole number of m/h",
        units: [("km/h", 1_000), ("m/s", 3_600)],
        printed_units: 1,
    }
}

whole! {
    /// An angle, in thousandths of a degree.
    Angle {
        constructor: from_millidegrees,
        small_unit: "thousandths of a degree",
        quantity: ANGLE,
        name: "an angle",
        example: "70 deg",
        rule: "a whole number of thousandths of a degree",
        units: [("deg", 1_000)],
        printed_units: 1,
    }
}

whole! {
    /// A frequency, in hertz.
    Frequency {
        constructor: from_hertz,
        small_unit: "hertz",
        quantity: FREQUENCY,
        name: "a frequency",
        example: "2 GHz",
        rule: "a whole number of Hz",
        units: [("GHz", 1_000_000_000), ("MHz", 1_000_000), ("kHz", 1_000), ("Hz", 1)],
        printed_units: 4,
    }
}

impl Length {
    /// Returns the length in metres.
    pub fn metres(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Speed {
    /// Returns the speed in metres per second.
    pub fn metres_per_second(self) -> f64 {
        self.0 as f64 / 3_600.0
    }
}

impl Angle {
    /// Returns the angle in degrees.
    pub fn degrees(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the angle in radians.
    pub fn radians(self) -> f64 {
        self.degrees() * (std::f64::consts::PI / 180.0)
    }
}

impl Frequency {
    /// Returns the frequency in megahertz.
    pub fn megahertz(self) -> f64 {
        self.0 as f64 / 1e6
    }
}
