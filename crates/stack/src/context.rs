//! What an entity is handed with every call: the time, and somewhere to record what happens.

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::detail::Detail;
use crate::trace::TraceEvent;

/// The context of one call.
pub struct Context<'a, T> {
    /// The present instant.
    pub now: Time,
    trace: &'a mut T,
}

impl<'a, T: TraceSink<TraceEvent>> Context<'a, T> {
    /// A context at `now` that records into `trace`.
    #[inline]
    pub fn new(now: Time, trace: &'a mut T) -> Self {
        Context { now, trace }
    }

    /// Where it records.
    pub fn trace(&mut self) -> &mut T {
        self.trace
    }

    /// Records what `event` builds; nothing is built when nobody watches.
    #[inline]
    pub fn record(&mut self, event: impl FnOnce() -> TraceEvent) {
        if T::ENABLED {
            self.trace.record(self.now, &event());
        }
    }

    /// The same of an event that is a copy of something large.
    #[inline]
    pub fn record_copy(&mut self, event: impl FnOnce() -> TraceEvent) {
        if T::ENABLED && self.trace.wants_copies() {
            self.trace.record(self.now, &event());
        }
    }

    /// Shows a detail that was built elsewhere.
    pub(crate) fn pass_on(&mut self, detail: &Detail<'_>) {
        if T::WANTS_DETAIL {
            self.trace.show(self.now, detail);
        }
    }

    /// Shows what `detail` builds; nothing is built unless somebody asks for details.
    #[inline]
    pub fn show<'d>(&mut self, detail: impl FnOnce() -> Detail<'d>) {
        if T::WANTS_DETAIL {
            self.trace.show(self.now, &detail());
        }
    }
}
