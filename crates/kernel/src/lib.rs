//! What every run stands on: the event queue, the clock, the random draws and the trace sinks; and queues that begin anew when
//! they are empty.
//!
//! Nothing here knows UMTS or TCP. Simulated and wall-clock runs differ in one [`Clock`] implementation.

mod clock;
mod normal;
mod queue;
pub mod random;
mod trace;

pub use clock::{Clock, Lookahead, VirtualClock, Wake};
pub use queue::{EventQueue, Phase};
pub use trace::{NoTrace, Observable, TraceSink};
