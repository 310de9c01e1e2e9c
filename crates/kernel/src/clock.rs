//! Passing of time between two events, the only difference between simulation and emulation.

use std::convert::Infallible;

use umts_units::Time;

/// Why [`Clock::wait`] returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake<P> {
    /// The instant of the next event has come.
    Reached,
    /// A packet from outside came at this instant, before the next event.
    Packet(Time, P),
    /// The run may have to end for a reason outside the model: the caller must check.
    Stopped,
}

/// The facts about coming events that a clock may query. An event is *seen* if it may have an
/// effect outside the run, such as a packet that leaves the emulator. Most events are not seen:
/// they may be handled late, if their order is kept.
pub trait Lookahead {
    /// Returns whether the next event is seen.
    fn is_seen(&self) -> bool;

    /// Returns when the first seen event is due, or `end` if no seen event is due before `end`.
    fn first_seen(&self, end: Time) -> Time;
}

/// Passes the time until the next event.
pub trait Clock {
    /// A packet from outside. Simulated time has none.
    type Packet;

    /// Returns at `until`, the instant of the next event, or earlier for another reason. Events are
    /// never handled early; `lookahead` decides which events may be handled late.
    fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<Self::Packet>;
}

/// Simulated time: it advances to the next event at once.
///
/// The wall clock of `umts emulate` is another implementation. It sleeps until a seen event is due,
/// wakes early for a packet, and records how late seen events are.
#[derive(Debug, Clone, Copy, Default)]
pub struct VirtualClock;

impl Clock for VirtualClock {
    type Packet = Infallible;

    #[inline]
    fn wait(&mut self, _until: Time, _lookahead: &impl Lookahead) -> Wake<Infallible> {
        Wake::Reached
    }
}
