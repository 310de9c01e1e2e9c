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

/// Passes the time until the next event.
pub trait Clock {
    /// What comes in from outside; nothing can in simulated time.
    type Packet;

    /// Returns at `until`, or earlier with a packet from outside.
    fn wait(&mut self, until: Time) -> Wake<Self::Packet>;
}

/// Simulated time: the next event is always now.
///
/// The wall clock of `umts emulate` is another implementation: it sleeps until the next event, wakes early for a packet
/// and records how late each event ran.
#[derive(Debug, Clone, Copy, Default)]
pub struct VirtualClock;

impl Clock for VirtualClock {
    type Packet = Infallible;

    #[inline]
    fn wait(&mut self, _until: Time) -> Wake<Infallible> {
        Wake::Reached
    }
}
