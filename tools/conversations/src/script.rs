//! A script after reading.

use std::fmt;

use umts_units::Duration;

use crate::segment::{Arriving, Leaving};

/// A conversation: how this end is set up, then what happens, line by line.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(crate) settings: Vec<Setting>,
    pub(crate) lines: Vec<Line>,
}

/// `set key = value`: a key of the table `[tcp]` of scenarios.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub line: usize,
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub number: usize,
    pub when: When,
    pub what: What,
}

/// When a line happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// With the line before.
    Same,
    /// So long after the conversation began.
    At(Moment),
    /// So long after the line before.
    After(Moment),
}

/// A time as written. What leaves is met if it leaves within half of the last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub time: Duration,
    pub half_digit: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// The application opens.
    Open,
    /// The application writes so many bytes, or without end.
    Write(u64),
    /// The application has nothing more to write.
    Close,
    /// Segments come from the other end, one after another.
    Arrives(Arriving),
    /// A segment leaves.
    Leaves(Leaving),
    /// What the connection holds to be true.
    Is(Vec<Claim>),
}

/// One quantity and its value, a number to the digits written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    pub quantity: Quantity,
    pub value: String,
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// What `is` can ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Quantity { $($(#[$doc])* $name),* }

        impl Quantity {
            pub const ALL: &[Quantity] = &[$(Quantity::$name),*];

            pub fn word(self) -> &'static str {
                match self { $(Quantity::$name => $word),* }
            }
        }
    };
}

quantities! {
    /// Segments, without inflation.
    Cwnd = "cwnd",
    /// Segments.
    Ssthresh = "ssthresh",
    /// Segments.
    Inflation = "inflation",
    /// Sequence numbers.
    Outstanding = "outstanding",
    /// Milliseconds.
    Rto = "rto",
    /// Milliseconds.
    Srtt = "srtt",
    /// Expiries of the retransmission timer so far.
    Timeouts = "timeouts",
    /// Bytes handed to the application so far.
    Delivered = "delivered",
    /// RFC 9293's word in lower case, without hyphens.
    State = "state",
    /// Why the connection failed: `refused`, `reset`, `timedout`, or `none`.
    Failure = "failure",
}

impl Quantity {
    /// Whether its value is a word, not a number.
    pub fn is_word(self) -> bool {
        matches!(self, Quantity::State | Quantity::Failure)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
