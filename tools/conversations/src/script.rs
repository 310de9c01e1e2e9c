//! A parsed script.

use std::fmt;

use umts_units::Duration;

use crate::segment::{Arriving, Leaving};

/// A conversation: settings of this end, then events line by line.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(crate) settings: Vec<Setting>,
    pub(crate) lines: Vec<Line>,
}

/// `set key = value`, with a key of the table `[tcp]` of scenarios.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub line: usize,
    pub key: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Number of the line in the file, from 1.
    pub number: usize,
    pub when: StepTime,
    pub step: Step,
}

/// Time of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StepTime {
    /// The time of the line before.
    Same,
    /// Time since the beginning of the conversation.
    At(Moment),
    /// Time since the line before.
    After(Moment),
}

/// A time as written. Segments may leave up to half of the last digit earlier or later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub time: Duration,
    /// Half of the last digit that was written: 0.5 ms for `100 ms`.
    pub half_digit: Duration,
}

/// An action of the script, or a check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// The application opens the connection.
    Open,
    /// The application writes this number of bytes; `u64::MAX` is without end.
    Write(u64),
    /// The application closes: it has nothing more to write.
    Close,
    /// Segments arrive from the other end, one after another.
    Arrives(Arriving),
    /// A segment leaves.
    Leaves(Leaving),
    /// The connection's state has these values.
    Is(Vec<Claim>),
}

/// A quantity and its value. A number holds to the digits written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    pub quantity: Quantity,
    pub value: String,
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident = $word:literal),* $(,)?) => {
        /// A quantity that `is` can query.
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
    /// In segments, without inflation.
    Cwnd = "cwnd",
    /// In segments.
    Ssthresh = "ssthresh",
    /// In segments.
    Inflation = "inflation",
    /// In sequence numbers.
    Outstanding = "outstanding",
    /// In milliseconds.
    Rto = "rto",
    /// In milliseconds.
    Srtt = "srtt",
    /// Number of expiries of the retransmission timer.
    Timeouts = "timeouts",
    /// Number of bytes delivered to the application.
    Delivered = "delivered",
    /// State of RFC 9293 in lower case, without hyphens.
    State = "state",
    /// Reason why the connection failed: `refused`, `reset`, `timedout`, or `none`.
    Failure = "failure",
}

impl Quantity {
    /// Returns whether the value is a word instead of a number.
    pub fn is_word(self) -> bool {
        matches!(self, Quantity::State | Quantity::Failure)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
