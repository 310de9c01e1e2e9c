//! Parses the values of options: sizes in bytes, counts and times.

use std::time::Duration;

use umts_units::{Bytes, Duration as Time, UnitError};

use crate::error::{ProxyError, wrong};

/// Minimum of `--buffer` and of `--memory` in bytes. `Limits::of_socket` divides this buffer into
/// 8,000 B for receiving, 2,000 B between the sockets and 6,000 B for sending: each part holds more
/// than one segment of 1,460 B.
pub const MIN_BUFFER: u64 = 16_000;
/// Maximum of a buffer in bytes: the kernel doubles the value and stores it as a signed 32-bit
/// integer.
pub const MAX_BUFFER: u64 = 1_000_000_000;

/// The options that the user has given: pairs of option and value.
pub struct GivenOptions<'a>(pub &'a [(String, String)]);

impl<'a> GivenOptions<'a> {
    /// First value of an option.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// All values of an option.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Whether the option is given.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A buffer size in bytes, at least [`MIN_BUFFER`]. Returns `None` if the option is missing or
    /// `unlimited`.
    pub fn buffer_size(&self, name: &str) -> Result<Option<u64>, ProxyError> {
        let text = self.get(name).filter(|text| *text != "unlimited");
        text.map(|text| parse_buffer_size(name, text, MIN_BUFFER)).transpose()
    }

    /// A whole number from 1 to `max`.
    pub fn count(&self, name: &str, max: usize) -> Result<Option<usize>, ProxyError> {
        let read = |text: &str| match text.parse() {
            Ok(count) if (1..=max).contains(&count) => Ok(count),
            _ if max == usize::MAX => {
                Err(wrong(format!("{name} takes a whole number, at least 1, not {text:?}")))
            }
            _ => Err(wrong(format!("{name} takes a whole number from 1 to {max}, not {text:?}"))),
        };
        self.get(name).map(read).transpose()
    }

    /// A time above zero.
    pub fn positive_time(&self, name: &str) -> Result<Option<Duration>, ProxyError> {
        match self.time_or_zero(name)? {
            Some(Duration::ZERO) => Err(wrong(format!("{name} takes a time above zero, as in \"30 s\""))),
            time => Ok(time),
        }
    }

    /// A time that may be zero.
    pub fn time_or_zero(&self, name: &str) -> Result<Option<Duration>, ProxyError> {
        let read = |text: &str| {
            let time: Time = text.parse().map_err(|error: UnitError| wrong(format!("{name}: {error}")))?;
            Ok(Duration::from_nanos(time.as_nanos()))
        };
        self.get(name).map(read).transpose()
    }
}

/// Parses the size of a buffer in bytes, at least `min`.
pub fn parse_buffer_size(name: &str, text: &str, min: u64) -> Result<u64, ProxyError> {
    let Bytes(octets) = text.parse().map_err(|error: UnitError| wrong(format!("{name}: {error}")))?;
    if octets < min {
        let min = Bytes(min);
        return Err(wrong(format!("{name} {text}: a buffer of less than {min} is too small for a segment")));
    }
    Ok(octets)
}

/// Returns `octets` if the kernel supports a buffer of that size.
pub fn check_max_buffer(octets: u64, option: &str) -> Result<u64, ProxyError> {
    if octets > MAX_BUFFER {
        return Err(wrong(format!("{option} {}: at most {}", Bytes(octets), Bytes(MAX_BUFFER))));
    }
    Ok(octets)
}

/// Parses `--user-timeout`: 1 ms to 2³¹ − 1 ms, the range of the kernel's option.
pub fn user_timeout(given: &GivenOptions<'_>) -> Result<Option<Duration>, ProxyError> {
    let max = Duration::from_millis(i32::MAX as u64);
    match given.positive_time("--user-timeout")? {
        Some(time) if time > max || time < Duration::from_millis(1) => {
            Err(wrong("--user-timeout takes 1 ms to 596 h, the range of the kernel"))
        }
        time => Ok(time),
    }
}
