//! Observation as a type parameter: a sink that is not there costs nothing.

use umts_units::Time;

/// A type of events, beside which there may be something to look at.
pub trait Observable {
    /// What is shown to sinks that ask for it, and not kept.
    type Detail<'a>;
}

/// Receives what happened. `E` is the event type of the layer above.
pub trait TraceSink<E: Observable> {
    /// `false` lets the compiler drop the building of events altogether.
    const ENABLED: bool = true;

    /// `true` asks for details; else the compiler drops the building of them.
    const WANTS_DETAIL: bool = false;

    /// Whether it looks at events that are a copy of something large. Asked before such a copy is made, each time: a sink
    /// may come to want them.
    #[inline]
    fn wants_copies(&self) -> bool {
        true
    }

    /// Takes one event; events come in order of time.
    fn record(&mut self, at: Time, event: &E);

    /// Looks at a detail, among the events.
    #[inline]
    fn show(&mut self, _at: Time, _detail: &E::Detail<'_>) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrace;

impl<E: Observable> TraceSink<E> for NoTrace {
    const ENABLED: bool = false;
    #[inline]
    fn record(&mut self, _at: Time, _event: &E) {}
}

impl<E: Observable, A: TraceSink<E>, B: TraceSink<E>> TraceSink<E> for (A, B) {
    const ENABLED: bool = A::ENABLED || B::ENABLED;
    const WANTS_DETAIL: bool = A::WANTS_DETAIL || B::WANTS_DETAIL;
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        if A::ENABLED {
            self.0.record(at, event);
        }
        if B::ENABLED {
            self.1.record(at, event);
        }
    }
    #[inline]
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
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        if let Some(sink) = self {
            sink.record(at, event);
        }
    }
    #[inline]
    fn show(&mut self, at: Time, detail: &E::Detail<'_>) {
        if let Some(sink) = self {
            sink.show(at, detail);
        }
    }
}

impl<E: Observable, S: TraceSink<E> + ?Sized> TraceSink<E> for &mut S {
    const ENABLED: bool = S::ENABLED;
    const WANTS_DETAIL: bool = S::WANTS_DETAIL;
    #[inline]
    fn wants_copies(&self) -> bool {
        (**self).wants_copies()
    }
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        (**self).record(at, event);
    }
    #[inline]
    fn show(&mut self, at: Time, detail: &E::Detail<'_>) {
        (**self).show(at, detail);
    }
}

/// For tests: everything in a list.
impl<E: Observable + Clone> TraceSink<E> for Vec<(Time, E)> {
    fn record(&mut self, at: Time, event: &E) {
        self.push((at, event.clone()));
    }
}
