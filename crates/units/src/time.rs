//! Instants and intervals, in whole nanoseconds. Instants count from the beginning of the run.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub};
use std::str::FromStr;

use crate::text::{Quantity, UnitError, format_integer, parse_integer};

/// An instant, in nanoseconds since the beginning of the run. In captures, since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// An interval of time, in nanoseconds. Never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

const LONG_ENOUGH: &str = "a run is shorter than 584 years";

impl Time {
    /// The beginning of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the instant `ns` nanoseconds after the beginning.
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Time(ns)
    }

    /// Returns the nanoseconds since the beginning.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the beginning, for reports.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns the first multiple of `step` at or after this instant.
    #[inline]
    pub fn round_up_to(self, step: Duration) -> Time {
        Time(self.0.checked_next_multiple_of(step.0).expect(LONG_ENOUGH))
    }
}

impl Duration {
    /// Zero nanoseconds.
    pub const ZERO: Duration = Duration(0);

    /// Returns an interval of `ns` nanoseconds.
    #[inline]
    pub const fn from_nanos(ns: u64) -> Self {
        Duration(ns)
    }

    /// Returns an interval of `us` microseconds.
    #[inline]
    pub const fn from_micros(us: u64) -> Self {
        Duration(us * 1_000)
    }

    /// Returns an interval of `ms` milliseconds.
    #[inline]
    pub const fn from_millis(ms: u64) -> Self {
        Duration(ms * 1_000_000)
    }

    /// Returns an interval of `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * 1_000_000_000)
    }

    /// Returns an interval of `s` seconds, rounded to the nanosecond.
    ///
    /// # Panics
    /// If `s` is negative, not finite or longer than 584 years.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        /// The largest float below 2^64.
        const MAX_NS: f64 = 18_446_744_073_709_549_568.0;
        let ns = (s * 1e9).round();
        assert!((0.0..MAX_NS).contains(&ns), "{s} s is no interval");
        Duration(ns as u64)
    }

    /// Returns the interval in nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the interval in seconds, for reports and estimators.
    #[inline]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns whether the interval has zero length.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, d: Duration) -> Time {
        Time(self.0.checked_add(d.0).expect(LONG_ENOUGH))
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub<Time> for Time {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0.checked_sub(earlier.0).expect("time does not go back"))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, d: Duration) -> Time {
        Time(self.0.checked_sub(d.0).expect("no instant lies before the run"))
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.checked_add(other.0).expect(LONG_ENOUGH))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.checked_sub(other.0).expect("an interval is not negative"))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.checked_mul(factor).expect(LONG_ENOUGH))
    }
}

impl Div<Duration> for Duration {
    type Output = u64;
    /// Returns how many times `other` fits into the interval, rounded down.
    #[inline]
    fn div(self, other: Duration) -> u64 {
        self.0 / other.0
    }
}

impl Rem<Duration> for Time {
    type Output = Duration;
    /// Returns the time since the last multiple of `step`.
    #[inline]
    fn rem(self, step: Duration) -> Duration {
        Duration(self.0 % step.0)
    }
}

const DURATION: Quantity = Quantity {
    name: "a time",
    example: "10 ms",
    rule: "whole nanoseconds, below 584 years",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
};

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_integer(text, &DURATION).map(Duration)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        format_integer(self.0, f, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)])
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
