//! Lengths, speeds, angles and frequencies: positions and movement of radios, and their carriers.

use std::fmt;
use std::str::FromStr;

use crate::text::{Quantity, UnitError, format_integer, parse_integer};

/// Defines a quantity that is stored as a whole number of a small unit. Text in any of `$units` is
/// parsed. Values are printed in one of the first `$printed` units; the last of these units must
/// express every value with at most three decimals.
macro_rules! whole {
    ($(#[$doc:meta])* $name:ident, $in_base:ident, $one:literal, $quantity:ident, $called:literal, $example:literal, $rule:literal, $units:expr, $printed:expr) => {
        const $quantity: Quantity = Quantity { name: $called, example: $example, rule: $rule, units: &$units };

        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u64);

        impl $name {
            #[doc = concat!("Returns a value of `number` ", $one, ".")]
            pub const fn $in_base(number: u64) -> Self {
                $name(number)
            }
        }

        impl FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                parse_integer(text, &$quantity).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                format_integer(self.0, f, &$units[..$printed])
            }
        }
    };
}

whole!(
    /// A length, in millimetres.
    Length,
    from_millimetres,
    "millimetres",
    LENGTH,
    "a length",
    "500 m",
    "a whole number of millimetres",
    [("km", 1_000_000), ("m", 1_000)],
    2
);

whole!(
    /// A speed, in metres per hour.
    Speed,
    from_metres_per_hour,
    "metres per hour",
    SPEED,
    "a speed",
    "50 km/h",
    "a whole number of m/h",
    [("km/h", 1_000), ("m/s", 3_600)],
    1
);

whole!(
    /// An angle, in thousandths of a degree.
    Angle,
    from_millidegrees,
    "thousandths of a degree",
    ANGLE,
    "an angle",
    "70 deg",
    "a whole number of thousandths of a degree",
    [("deg", 1_000)],
    1
);

whole!(
    /// A frequency, in hertz.
    Frequency,
    from_hertz,
    "hertz",
    FREQUENCY,
    "a frequency",
    "2 GHz",
    "a whole number of Hz",
    [("GHz", 1_000_000_000), ("MHz", 1_000_000), ("kHz", 1_000), ("Hz", 1)],
    4
);

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
