//! The end of a connection under test: the model or the kernel.

use umts_stack::packet::Segment;
use umts_units::{Duration, Time};

use crate::script::Quantity;

/// An action of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    /// Writes this number of bytes; `u64::MAX` is without end.
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

/// How far a departure may be from the time written, in addition to half of the last digit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    pub early: Duration,
    pub late: Duration,
}

/// What [`TestedEnd::pass`] waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// The given time.
    Time,
    /// A segment that leaves, but not longer than until the given time.
    Departure,
}

/// One end of a connection, its application and its clock. Times count from the beginning of the
/// conversation.
///
/// Sequence numbers of the other end count from its SYN, which is 0.
pub(crate) trait TestedEnd {
    /// Returns the current time.
    fn now(&self) -> Time;

    /// Performs an action of the application at the current time.
    fn act(&mut self, action: Action) -> Result<(), String>;

    /// Processes a segment that arrives at the current time. Its `timestamp` is the time written in
    /// the script.
    fn receive(&mut self, segment: &Segment) -> Result<(), String>;

    /// Waits until `until`, or until a segment leaves.
    fn pass(&mut self, until: Time, wait_for: WaitFor) -> Result<(), String>;

    /// Removes and returns the first segment that left.
    fn take_departure(&mut self) -> Option<Departure>;

    /// Returns the echo for an acknowledgment: the timestamp of the last segment that left and
    /// ended at `ack`.
    fn timestamp_of(&self, ack: u64) -> Time;

    /// Returns the echo for the timestamp of a segment that left at `at`.
    fn timestamp_at(&self, at: Time) -> Time;

    /// Returns the payload of a full segment, in bytes.
    fn segment_payload(&self) -> u32;

    /// Returns the current value of a quantity.
    fn value(&mut self, quantity: Quantity) -> Result<Value, String>;

    /// Returns the tolerance for a departure that is due at `due`.
    fn tolerance(&self, due: Time) -> Tolerance;

    /// Returns how far a value may be from the one written, in addition to half of the last digit.
    fn slack(&self, quantity: Quantity) -> f64;
}
