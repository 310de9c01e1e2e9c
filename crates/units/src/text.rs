//! Quantities as text: a decimal number, an optional space and a unit, as in `"0.5 s"` and `"32
//! kbit/s"`.
//!
//! Parsing of integer quantities is exact: the number is read as an integer over a power of ten, so
//! `"0.1 s"` is 100,000,000 ns. A value that needs a fraction of the base unit is refused instead
//! of rounded.

use thiserror::Error;

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text has no unit after the number.
    #[error("`{text}` has no unit: write it as in \"{example}\"")]
    MissingUnit {
        /// The text.
        text: String,
        /// A valid value.
        example: &'static str,
    },
    /// The unit does not belong to this quantity.
    #[error("`{unit}` is not a unit of {quantity}: use one of {known}")]
    UnknownUnit {
        /// The unit in the text.
        unit: String,
        /// Name of the quantity.
        quantity: &'static str,
        /// The valid units.
        known: String,
    },
    /// The text does not begin with a number.
    #[error("`{text}` does not start with a number: write it as in \"{example}\"")]
    NotANumber {
        /// The text.
        text: String,
        /// A valid value.
        example: &'static str,
    },
    /// The number is negative, but the quantity cannot be.
    #[error("`{text}` is negative: {quantity} cannot be below zero")]
    Negative {
        /// The text.
        text: String,
        /// Name of the quantity.
        quantity: &'static str,
    },
    /// The value is too large, or finer than the base unit.
    #[error("`{text}` is out of range: {quantity} must be {rule}")]
    OutOfRange {
        /// The text.
        text: String,
        /// Name of the quantity.
        quantity: &'static str,
        /// The valid values.
        rule: &'static str,
    },
}

/// Parses a count with one of `units`, as in `"20 segments"`. Returns `None` if the text ends in
/// none of the units.
pub fn count_of(text: &str, units: &[&str]) -> Option<Result<u32, String>> {
    let number = units.iter().find_map(|unit| text.trim().strip_suffix(unit))?.trim_end();
    let not_a_count =
        || format!("`{text}` is not a count: write a whole number of {}, as in \"20 {0}\"", units[0]);
    Some(number.parse().map_err(|_| not_a_count()))
}

/// Name, example, range (`rule`) and units of a quantity, for parsing and for error messages. Each
/// unit comes with its size in base units.
pub(crate) struct Quantity {
    pub name: &'static str,
    pub example: &'static str,
    pub rule: &'static str,
    pub units: &'static [(&'static str, u64)],
}

/// Splits `"32 kbit/s"` into `"32"` and `"kbit/s"`.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (at == 0 && (c == '-' || c == '+'))))
        .map_or(text.len(), |(at, _)| at);
    (&text[..end], text[end..].trim_start())
}

/// Parses a non-negative quantity as a whole number of base units.
pub(crate) fn parse_integer(text: &str, quantity: &Quantity) -> Result<u64, UnitError> {
    let (number, unit) = split(text);
    let not_a_number = || UnitError::NotANumber { text: text.to_owned(), example: quantity.example };
    let digits = number.trim_start_matches(['+', '-']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(not_a_number());
    }
    if unit.is_empty() {
        return Err(UnitError::MissingUnit { text: text.to_owned(), example: quantity.example });
    }
    let Some(&(_, scale)) = quantity.units.iter().find(|(name, _)| *name == unit) else {
        return Err(UnitError::UnknownUnit {
            unit: unit.to_owned(),
            quantity: quantity.name,
            known: quantity.units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        });
    };
    if number.starts_with('-') {
        return Err(UnitError::Negative { text: text.to_owned(), quantity: quantity.name });
    }
    exact(whole, fraction, scale).ok_or_else(|| UnitError::OutOfRange {
        text: text.to_owned(),
        quantity: quantity.name,
        rule: quantity.rule,
    })
}

/// Returns `whole.fraction * scale` if that is a whole number of at most 64 bits.
fn exact(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let number: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let divisor = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = number.checked_mul(u128::from(scale))?;
    if scaled % divisor != 0 {
        return None;
    }
    u64::try_from(scaled / divisor).ok()
}

/// Writes a value in the largest unit that needs at most three decimals.
pub(crate) fn format_integer(
    value: u64,
    f: &mut std::fmt::Formatter<'_>,
    units: &[(&str, u64)],
) -> std::fmt::Result {
    for &(unit, scale) in units {
        let thousandths = u128::from(value) * 1000;
        if value >= scale && thousandths % u128::from(scale) == 0 {
            return write_number(value, scale, unit, f);
        }
    }
    let &(unit, scale) = units.last().expect("a quantity has units");
    write_number(value, scale, unit, f)
}

fn write_number(value: u64, scale: u64, unit: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let (whole, remainder) = (value / scale, value % scale);
    if remainder == 0 {
        return write!(f, "{whole} {unit}");
    }
    let thousandths = u128::from(remainder) * 1000 / u128::from(scale);
    let fraction = format!("{thousandths:03}");
    write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

/// Parses a float with this unit.
pub(crate) fn parse_float(text: &str, unit: &str, quantity: &Quantity) -> Result<f64, UnitError> {
    let (number, written_unit) = split(text);
    let value: f64 = number
        .parse()
        .map_err(|_| UnitError::NotANumber { text: text.to_owned(), example: quantity.example })?;
    if written_unit == unit {
        Ok(value)
    } else if written_unit.is_empty() {
        Err(UnitError::MissingUnit { text: text.to_owned(), example: quantity.example })
    } else {
        Err(UnitError::UnknownUnit {
            unit: written_unit.to_owned(),
            quantity: quantity.name,
            known: unit.to_owned(),
        })
    }
}
