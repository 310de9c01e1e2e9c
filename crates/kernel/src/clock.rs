//! Passing of time between two events, the only difference between simulation and emulation.

use std::convert::Infallible;

use umts_units::Time;

/// Why [`Clock::wait`] returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake<P> {
    /// The instant that was waited for has come.
    Reached,
    /// A packet from outside came at this instant, before the one waited for.
    Packet(Time, P),
    /// Something outside may want the run to end: the caller must check.
    Stopped,
}

/// The facts about coming events that a clock may query. Most events have no effect outside the
/// run; these may be handled late, if their order is kept.
pub trait Lookahead {
    /// Returns whether the next event may have an effect outside the run, such as a packet that
    /// leaves the emulator.
    fn is_seen(&self) -> bool;

    /// Returns when the first event with an effect outside is due. Returns `end` if there is none
    /// before `end`.
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

/// Simulated time: the next event is always now.
///
/// The wall clock of `umts emulate` is another implementation. It sleeps until an event is due that
/// may have an effect outside, wakes early for a packet, and records how late such events are.
#[derive(Debug, Clone, Copy, Default)]
pub struct VirtualClock;

impl Clock for VirtualClock {
    type Packet = Infallible;

    #[inline]
    fn wait(&mut self, _until: Time, _lookahead: &impl Lookahead) -> Wake<Infallible> {
        Wake::Reached
    }
}
