//! Observation as a type parameter: a sink that is not there costs nothing.

use umts_units::Time;

/// Receives what happened. `E` is the event type of the layer above.
pub trait TraceSink<E> {
    /// `false` lets the compiler drop the building of events altogether.
    const ENABLED: bool = true;

    /// Takes one event; events come in order of time.
    fn record(&mut self, at: Time, event: &E);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrace;

impl<E> TraceSink<E> for NoTrace {
    const ENABLED: bool = false;
    #[inline(always)]
    fn record(&mut self, _at: Time, _event: &E) {}
}

impl<E, A: TraceSink<E>, B: TraceSink<E>> TraceSink<E> for (A, B) {
    const ENABLED: bool = A::ENABLED || B::ENABLED;
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        if A::ENABLED {
            self.0.record(at, event);
        }
        if B::ENABLED {
            self.1.record(at, event);
        }
    }
}

impl<E, S: TraceSink<E>> TraceSink<E> for Option<S> {
    const ENABLED: bool = S::ENABLED;
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        if let Some(sink) = self {
            sink.record(at, event);
        }
    }
}

impl<E, S: TraceSink<E> + ?Sized> TraceSink<E> for &mut S {
    const ENABLED: bool = S::ENABLED;
    #[inline]
    fn record(&mut self, at: Time, event: &E) {
        (**self).record(at, event);
    }
}

/// For tests: everything in a list.
impl<E: Clone> TraceSink<E> for Vec<(Time, E)> {
    fn record(&mut self, at: Time, event: &E) {
        self.push((at, event.clone()));
    }
}
