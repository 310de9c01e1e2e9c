//! Quantities that all crates share: instants, intervals, sizes, rates, levels, powers, traffic,
//! probabilities, lengths, speeds, angles and frequencies.
//!
//! Quantities that must add up exactly are integers: time in nanoseconds, sizes in bytes, rates in
//! bit/s. Levels, powers, traffic and probabilities are floats. Every type except instants and
//! probabilities prints the text that it parses: `"10 ms"`, `"32 kbit/s"`, `"40 B"`, `"-104 dBm"`.
//! Prefixes are decimal (kbit = 1,000 bit, kB = 1,000 B); `KiB`, `MiB` and `GiB` are binary. With
//! the feature `schema`, serde reads and writes that text, and JSON Schema describes it.

#![warn(missing_docs)]

#[cfg(feature = "schema")]
pub mod keyword;
mod level;
mod rate;
#[cfg(feature = "schema")]
mod schema;
mod size;
mod space;
mod text;
mod time;

pub use level::{Db, Dbm, Erlang, MilliWatts, Probability, Watts};
pub use rate::BitRate;
pub use size::{Bytes, Octets};
pub use space::{Angle, Frequency, Length, Speed};
pub use text::{UnitError, count_of};
pub use time::{Duration, Time};
