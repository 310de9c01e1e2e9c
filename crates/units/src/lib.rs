//! The words that all crates share: instants, intervals, sizes, rates, levels, probabilities and lengths.
//!
//! Integers for what must add up (time in nanoseconds, sizes in bytes, rates in bit/s), floats only for power and
//! probability. Every type prints the text that it parses: `"10 ms"`, `"32 kbit/s"`, `"40 B"`, `"-104 dBm"`.
//! Prefixes are decimal (kbit = 1,000 bit, kB = 1,000 B); `KiB` and `MiB` are the binary ones. With the feature `schema`
//! serde reads and writes that text, and JSON Schema describes it.

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
