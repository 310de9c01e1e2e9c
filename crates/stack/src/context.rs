//! The context of a call to an entity: the time and the trace sink.

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::detail::Detail;
use crate::trace::TraceEvent;

pub struct Context<'a, T> {
    pub now: Time,
    trace: &'a mut T,
}

impl<'a, T: TraceSink<TraceEvent>> Context<'a, T> {
    /// A context at `now` that records into `trace`.
    #[inline]
    pub fn new(now: Time, trace: &'a mut T) -> Self {
        Context { now, trace }
    }

    pub fn trace(&mut self) -> &mut T {
        self.trace
    }

    /// Records the event that `event` builds. If the sink is disabled, the event is not built.
    #[inline(always)]
    pub fn record(&mut self, event: impl FnOnce() -> TraceEvent) {
        if T::ENABLED {
            self.trace.record(self.now, &event());
        }
    }

    /// Like [`record`](Self::record), for events that copy large data. Only sinks that want copies
    /// get them.
    #[inline(always)]
    pub fn record_copy(&mut self, event: impl FnOnce() -> TraceEvent) {
        if T::ENABLED && self.trace.wants_copies() {
            self.trace.record(self.now, &event());
        }
    }

    /// Shows a detail that is already built.
    pub(crate) fn pass_on(&mut self, detail: &Detail<'_>) {
        if T::WANTS_DETAIL {
            self.trace.show(self.now, detail);
        }
    }

    /// Shows the detail that `detail` builds. If the sink wants no details, it is not built.
    #[inline(always)]
    pub fn show<'d>(&mut self, detail: impl FnOnce() -> Detail<'d>) {
        if T::WANTS_DETAIL {
            self.trace.show(self.now, &detail());
        }
    }
}
