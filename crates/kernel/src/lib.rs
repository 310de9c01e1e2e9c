//! The foundations of every run: event queue, clock, random numbers and trace sinks.
//!
//! Nothing here depends on UMTS or TCP. Simulations and emulations differ in their [`Clock`].

mod clock;
mod normal;
mod queue;
pub mod random;
mod trace;

pub use clock::{Clock, Lookahead, VirtualClock, Wake};
pub use queue::{EventQueue, Phase};
pub use trace::{NoTrace, Observable, TraceSink};
