//! Trace sinks: receivers of the events of a run, such as recorders. The sink is a type parameter
//! of the model, so that without a sink ([`NoTrace`]) the compiler removes all construction of
//! events.

use umts_units::Time;

/// A type of events that may come with details.
pub trait Observable {
    /// Additional data that are shown to sinks that want details. Sinks must not keep references to
    /// them.
    type Detail<'a>;
}

/// Receives events. `E` is the event type of the layer above.
pub trait TraceSink<E: Observable> {
    /// With `false`, the compiler removes the construction of events.
    const ENABLED: bool = true;

    /// `true` requests details. With `false`, the compiler removes the construction of details.
    const WANTS_DETAIL: bool = false;

    /// Returns whether the sink wants events that are a copy of large data. Queried before each
    /// copy, because the answer may change.
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        true
    }

    /// Records one event. Events come in order of time.
    fn record(&mut self, at: Time, event: &E);

    /// Receives a detail, between the events.
    #[inline(always)]
    fn show(&mut self, _at: Time, _detail: &E::Detail<'_>) {}
}

/// A sink that records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrace;

impl<E: Observable> TraceSink<E> for NoTrace {
    const ENABLED: bool = false;
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        false
    }
    #[inline(always)]
    fn record(&mut self, _at: Time, _event: &E) {}
}

impl<E: Observable, A: TraceSink<E>, B: TraceSink<E>> TraceSink<E> for (A, B) {
    const ENABLED: bool = A::ENABLED || B::ENABLED;
    const WANTS_DETAIL: bool = A::WANTS_DETAIL || B::WANTS_DETAIL;
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        self.0.wants_copies() || self.1.wants_copies()
    }
    #[inline(always)]
    fn record(&mut self, at: Time, event: &E) {
        if A::ENABLED {
            self.0.record(at, event);
        }
        if B::ENABLED {
            self.1.record(at, event);
        }
    }
    #[inline(always)]
    fn show(&mut self, at: Time, detail: &E::Detail<'_>) {
        if A::WANTS_DETAIL {
            self.0.show(at, detail);
        }
        if B::WANTS_DETAIL {
            self.1.show(at, detail);
        }
    }
}

impl<E: Observable, S: TraceSink<E>> TraceSink<E> for Option<S> {
    const ENABLED: bool = S::ENABLED;
    const WANTS_DETAIL: bool = S::WANTS_DETAIL;
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        self.as_ref().is_some_and(S::wants_copies)
    }
    #[inline(always)]
    fn record(&mut self, at: Time, event: &E) {
        if let Some(sink) = self {
            sink.record(at, event);
        }
    }
    #[inline(always)]
    fn show(&mut self, at: Time, detail: &E::Detail<'_>) {
        if let Some(sink) = self {
            sink.show(at, detail);
        }
    }
}

impl<E: Observable, S: TraceSink<E> + ?Sized> TraceSink<E> for &mut S {
    const ENABLED: bool = S::ENABLED;
    const WANTS_DETAIL: bool = S::WANTS_DETAIL;
    #[inline(always)]
    fn wants_copies(&self) -> bool {
        (**self).wants_copies()
    }
    #[inline(always)]
    fn record(&mut self, at: Time, event: &E) {
        (**self).record(at, event);
    }
    #[inline(always)]
    fn show(&mut self, at: Time, detail: &E::Detail<'_>) {
        (**self).show(at, detail);
    }
}

/// Records all events in a list, for tests.
impl<E: Observable + Clone> TraceSink<E> for Vec<(Time, E)> {
    fn record(&mut self, at: Time, event: &E) {
        self.push((at, event.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Event;

    impl Observable for Event {
        type Detail<'a> = ();
    }

    struct Sink {
        wants_copies: bool,
    }

    const COPIES: Sink = Sink { wants_copies: true };
    const NO_COPIES: Sink = Sink { wants_copies: false };

    impl TraceSink<Event> for Sink {
        fn wants_copies(&self) -> bool {
            self.wants_copies
        }
        fn record(&mut self, _at: Time, _event: &Event) {}
    }

    #[test]
    fn combined_sinks_want_copies_if_one_member_does() {
        assert!(!(NO_COPIES, NO_COPIES).wants_copies());
        assert!((NO_COPIES, COPIES).wants_copies());
        assert!((COPIES, NO_COPIES).wants_copies());
        assert!((COPIES, COPIES).wants_copies());
        assert!(!(NO_COPIES, NoTrace).wants_copies());
        assert!(Some(COPIES).wants_copies());
        assert!(!Some(NO_COPIES).wants_copies());
        assert!(!None::<Sink>.wants_copies());
    }
}
