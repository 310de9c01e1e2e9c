//! Events being handled by the assembly of the network: what entities get, and the agenda.

use umts_kernel::{EventQueue, Phase, TraceSink};
use umts_units::Time;

use crate::context::Context;
use crate::event::Event;
use crate::trace::TraceEvent;

/// What those who join entities are handed with every call. Entities never see more of it than `cx`. A run has one, whose instant
/// moves on.
pub struct EventContext<'a, T> {
    /// The present and the sink.
    pub cx: Context<'a, T>,
    agenda: &'a mut EventQueue<Event>,
}

impl<'a, T: TraceSink<TraceEvent>> EventContext<'a, T> {
    /// A step at `now` that records into `trace` and schedules what follows in `agenda`.
    #[inline]
    pub fn new(now: Time, trace: &'a mut T, agenda: &'a mut EventQueue<Event>) -> Self {
        EventContext { cx: Context::new(now, trace), agenda }
    }

    /// The events to come.
    #[inline]
    pub fn agenda(&mut self) -> &mut EventQueue<Event> {
        self.agenda
    }

    /// Schedules `event`.
    ///
    /// # Panics
    /// If `at` lies in the past.
    #[inline]
    pub fn at(&mut self, at: Time, phase: Phase, event: Event) {
        self.agenda.push(at, phase, event);
    }

    /// Sees to it that `event` comes when `deadline` does, unless `wakeup` tells that it comes earlier anyway. A deadline
    /// that passed while its owner was busy is seen now.
    #[inline]
    pub fn wake(&mut self, wakeup: &mut Wakeup, deadline: Option<Time>, phase: Phase, event: Event) {
        // One comparison: whether there is a deadline nobody can guess, mostly it is later than the wake-up either way.
        let deadline = deadline.unwrap_or(Time::NEVER);
        if deadline < wakeup.0 {
            let at = deadline.max(self.agenda.now());
            wakeup.0 = at;
            self.agenda.push(at, phase, event);
        }
    }
}

/// When somebody is next woken. One wake-up at a time is outstanding: a later deadline is found when the earlier one wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeup(Time);

impl Wakeup {
    /// None is outstanding.
    pub const NONE: Wakeup = Wakeup(Time::NEVER);

    /// It has come.
    #[inline]
    pub fn is_over(&mut self) {
        *self = Wakeup::NONE;
    }

    /// One has come at `now`: the one that is outstanding, or one that an earlier one has overtaken, which changes nothing.
    /// Where several share a wake-up, each that was overtaken would otherwise bring a new one with it.
    #[inline]
    pub fn fired(&mut self, now: Time) {
        if self.0 <= now {
            self.is_over();
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
    fn one_wake_up_at_a_time_and_the_earliest_counts() {
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
        // What is overdue comes now.
        wakeup.is_over();
        EventContext::new(at(30), &mut sink, &mut agenda).wake(&mut wakeup, Some(at(5)), Phase::Rrc, event);
        assert_eq!(agenda.pop(), Some((at(30), event)));
    }

    /// Two connections share one wake-up, as those at both sides of a proxy do: the later deadline is asked for first, each time.
    #[test]
    fn what_was_overtaken_brings_no_new_one_with_it() {
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
            now = agenda.pop().expect("somebody is woken").0;
            events += 1;
        }
        // One each 10 ms, and each of those has overtaken another.
        assert!(events <= 200, "{events}");
    }
}
