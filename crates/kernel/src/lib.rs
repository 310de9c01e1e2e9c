//! What every run stands on: the event queue, the clock, the random draws and the trace sinks.
//!
//! Nothing here knows UMTS or TCP. Simulated and wall-clock runs differ in one [`Clock`] implementation.

mod clock;
mod normal;
mod queue;
pub mod random;
mod trace;

pub use clock::{Clock, Outlook, VirtualClock, Wake};
pub use queue::{EventQueue, Phase};
pub use trace::{NoTrace, Observable, TraceSink};
