//! The end of a connection that a conversation is held with: the model's, or the kernel's.

use umts_stack::packet::Segment;
use umts_units::{Duration, Time};

use crate::script::Quantity;

/// What the application does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    /// So many bytes; `u64::MAX` is without end.
    Write(u64),
    Close,
}

/// A segment that left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    pub at: Time,
    pub segment: Segment,
}

/// A value of [`Quantity`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Word(String),
}

/// How far a departure may be from the time written, beside half of the last digit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    pub early: Duration,
    pub late: Duration,
}

/// One end of a connection, its application and its clock. Times count from the beginning of the conversation.
///
/// The other end's numbers in segments count from its SYN, which is 0.
pub(crate) trait TestedEnd {
    /// The present instant.
    fn now(&self) -> Time;

    /// The application acts at the present instant.
    fn act(&mut self, action: Action) -> Result<(), String>;

    /// `segment` arrives at the present instant. Its `timestamp` is the time written in the script.
    fn receive(&mut self, segment: &Segment) -> Result<(), String>;

    /// Lets time pass until `until`. With `stop`, returns as soon as a segment has left.
    fn pass(&mut self, until: Time, stop: bool) -> Result<(), String>;

    /// Removes the first segment that left and was not removed before.
    fn take_departure(&mut self) -> Option<Departure>;

    /// The timestamp of the last segment that left and ended at `ack`, as an arriving segment echoes it.
    fn timestamp_of(&self, ack: u64) -> Time;

    /// The timestamp of a segment that left at `at`, as an arriving segment echoes it.
    fn timestamp_at(&self, at: Time) -> Time;

    /// Bytes of payload in a full segment.
    fn segment_payload(&self) -> u32;

    fn value(&mut self, quantity: Quantity) -> Result<Value, String>;

    /// For a departure that is due at `due`.
    fn tolerance(&self, due: Time) -> Tolerance;

    /// How far a value may be from the one written, beside half of the last digit.
    fn slack(&self, quantity: Quantity) -> f64;
}
