//! The context of the event that is being handled, and its wake-ups.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use crate::context::Context;
use crate::event::Event;
use crate::trace::TraceEvent;

/// Context of the event being handled: time, trace sink, event queue. Entities receive only `cx`.
/// One instance is reused for the whole run.
pub struct EventContext<'a, T> {
    /// Time and trace sink, for entities.
    pub cx: Context<'a, T>,
    agenda: &'a mut EventQueue<Event>,
}

impl<'a, T: TraceSink<TraceEvent>> EventContext<'a, T> {
    /// A context at `now` that records into `trace` and schedules events in `agenda`.
    #[inline]
    pub fn new(now: Time, trace: &'a mut T, agenda: &'a mut EventQueue<Event>) -> Self {
        EventContext { cx: Context::new(now, trace), agenda }
    }

    /// The event queue.
    #[inline]
    pub fn agenda(&mut self) -> &mut EventQueue<Event> {
        self.agenda
    }

    /// Schedules `event` at `at`.
    ///
    /// # Panics
    /// If `at` lies in the past.
    #[inline]
    pub fn at(&mut self, at: Time, phase: Phase, event: Event) {
        self.agenda.push(at, phase, event);
    }

    /// Schedules `event` at `deadline` unless a wake-up at or before `deadline` is outstanding. A
    /// deadline in the past is scheduled now.
    #[inline]
    pub fn wake(&mut self, wakeup: &mut Wakeup, deadline: Option<Time>, phase: Phase, event: Event) {
        // One comparison: the branch on `Option` is unpredictable, but the deadline is mostly later
        // than the wake-up.
        let deadline = deadline.unwrap_or(Time::NEVER);
        if deadline < wakeup.0 {
            let at = deadline.max(self.agenda.now());
            wakeup.0 = at;
            self.agenda.push(at, phase, event);
        }
    }
}

/// The time of the scheduled wake-up event of an entity, or of several entities that share it. An
/// earlier deadline replaces it, but the event of the replaced wake-up stays in the queue. When the
/// wake-up fires, the entity schedules its next deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeup(Time);

impl Wakeup {
    /// No wake-up is outstanding.
    pub const NONE: Wakeup = Wakeup(Time::NEVER);

    /// Clears the wake-up after it fired.
    #[inline]
    pub fn clear(&mut self) {
        *self = Wakeup::NONE;
    }

    /// Handles an event at `now`: clears the wake-up if it is due. The event of a replaced wake-up
    /// finds the current wake-up in the future and changes nothing. Without this check each
    /// replaced event would schedule another one if several entities share a wake-up.
    #[inline]
    pub fn fired(&mut self, now: Time) {
        if self.0 <= now {
            self.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use umts_kernel::NoTrace;
    use umts_units::Duration;

    use super::*;
    use crate::ids::CellId;

    #[test]
    fn earliest_deadline_is_scheduled_once() {
        let (mut agenda, mut sink) = (EventQueue::new(), NoTrace);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let event = Event::CellWake(CellId(0));
        let mut wakeup = Wakeup::NONE;
        let mut ctx = EventContext::new(Time::ZERO, &mut sink, &mut agenda);
        ctx.wake(&mut wakeup, None, Phase::Rrc, event);
        assert_eq!(wakeup, Wakeup::NONE);
        for deadline in [30, 40, 20, 20] {
            ctx.wake(&mut wakeup, Some(at(deadline)), Phase::Rrc, event);
        }
        let times: Vec<_> = std::iter::from_fn(|| agenda.pop()).map(|(time, _)| time).collect();
        assert_eq!(times, [at(20), at(30)]);
        // An overdue deadline is scheduled now.
        wakeup.clear();
        EventContext::new(at(30), &mut sink, &mut agenda).wake(&mut wakeup, Some(at(5)), Phase::Rrc, event);
        assert_eq!(agenda.pop(), Some((at(30), event)));
    }

    /// Two connections share a wake-up, as on both sides of a proxy. Each time the later deadline
    /// is scheduled first.
    #[test]
    fn superseded_wake_ups_are_not_rescheduled() {
        let (mut agenda, mut sink) = (EventQueue::new(), NoTrace);
        let mut wakeup = Wakeup::NONE;
        let mut events = 0;
        let mut now = Time::ZERO;
        while now < Time::ZERO + Duration::from_secs(1) && events <= 1_000 {
            let mut ctx = EventContext::new(now, &mut sink, &mut agenda);
            wakeup.fired(now);
            for later in [50, 10] {
                let deadline = Some(now + Duration::from_millis(later));
                ctx.wake(&mut wakeup, deadline, Phase::Timers, Event::CellWake(CellId(0)));
            }
            now = agenda.pop().expect("a wake-up is scheduled").0;
            events += 1;
        }
        // One wake-up every 10 ms, and one replaced event for each of them.
        assert!(events <= 200, "{events}");
    }
}
