//! How time passes between two events: simulation and emulation differ here and nowhere else.

use std::convert::Infallible;

use umts_units::Time;

/// Why [`Clock::wait`] returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake<P> {
    /// The instant waited for has come.
    Reached,
    /// A packet came in from outside at this instant, before the one waited for.
    Packet(Time, P),
    /// Something outside wants the run to end, or at least to be asked.
    Stopped,
}

/// What a clock may ask of the events to come. Most of them cannot be told from outside when they are handled a little late,
/// as long as their order is kept.
pub trait Lookahead {
    /// Whether it may be seen outside when the next event is handled.
    fn is_seen(&self) -> bool;

    /// When the first event is due, before `end`, that may be seen; `end` if there is none.
    fn first_seen(&self, end: Time) -> Time;
}

/// Passes the time until the next event.
pub trait Clock {
    /// What comes in from outside; nothing can in simulated time.
    type Packet;

    /// Returns when `until` has come, the instant of the next event, or earlier with a packet from outside. Nothing is
    /// ever handled early; what `lookahead` allows may be handled late.
    fn wait(&mut self, until: Time, lookahead: &impl Lookahead) -> Wake<Self::Packet>;
}

/// Simulated time: the next event is always now.
///
/// The wall clock of `umts emulate` is another implementation: it sleeps until an event is due that may be seen outside, wakes
/// early for a packet and records how late such events ran.
#[derive(Debug, Clone, Copy, Default)]
pub struct VirtualClock;

impl Clock for VirtualClock {
    type Packet = Infallible;

    #[inline]
    fn wait(&mut self, _until: Time, _outlook: &impl Lookahead) -> Wake<Infallible> {
        Wake::Reached
    }
}
