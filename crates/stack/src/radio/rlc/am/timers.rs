//! The timers of an entity: TS 25.322 §9.5. All deadlines are stored here.

use umts_units::Time;

/// A timer of TS 25.322 §9.5, with a shortened name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// Timer_Poll.
    Poll,
    /// Timer_Poll_Prohibit. Set only while a poll waits for it.
    PollProhibit,
    /// Timer_Poll_Periodic. Set only while there is something to poll for.
    PollPeriodic,
    /// Timer_Status_Prohibit. Set only while a report waits for it.
    StatusProhibit,
    /// Timer_Status_Periodic.
    StatusPeriodic,
    /// Timer_EPC plus the transmission time of the requested PDUs. The standard counts the
    /// requested PDUs down in VR(EP), the estimated PDU counter.
    Epc,
    /// Not in the standard, from EURANE: maximum time for which a report waits for a data PDU to
    /// carry it.
    StatusWait,
    /// Timer_Discard of the oldest SDU.
    Discard,
    /// Timer_MRW.
    Mrw,
    /// Timer_RST.
    Reset,
}

const TIMER_COUNT: usize = Timer::Reset as usize + 1;

/// Timers that a RESET stops (TS 25.322 §11.4.3).
const STOPPED_BY_RESET: [Timer; 6] =
    [Timer::Poll, Timer::PollProhibit, Timer::StatusProhibit, Timer::Epc, Timer::StatusWait, Timer::Mrw];

/// Deadlines by timer, and the earliest of them.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    deadlines: [Time; TIMER_COUNT],
    next: Time,
}

impl Default for Timers {
    fn default() -> Self {
        Timers { deadlines: [Time::NEVER; TIMER_COUNT], next: Time::NEVER }
    }
}

impl Timers {
    #[inline]
    pub fn set(&mut self, timer: Timer, at: Time) {
        let previous = std::mem::replace(&mut self.deadlines[timer as usize], at);
        if at <= self.next {
            self.next = at;
        } else if previous == self.next {
            self.next = self.deadlines.iter().copied().fold(Time::NEVER, Time::min);
        }
    }

    #[inline]
    pub fn stop(&mut self, timer: Timer) {
        if self.is_running(timer) {
            self.set(timer, Time::NEVER);
        }
    }

    #[inline]
    pub fn is_running(&self, timer: Timer) -> bool {
        self.deadlines[timer as usize] != Time::NEVER
    }

    pub fn stop_for_reset(&mut self) {
        STOPPED_BY_RESET.into_iter().for_each(|timer| self.stop(timer));
    }

    /// Stops `timer` if it is due. Returns its deadline.
    #[inline]
    pub fn take_due(&mut self, timer: Timer, now: Time) -> Option<Time> {
        let at = self.deadlines[timer as usize];
        if at > now {
            return None;
        }
        self.stop(timer);
        Some(at)
    }

    /// Whether any deadline has passed.
    #[inline]
    pub fn any_due(&self, now: Time) -> bool {
        self.next <= now
    }

    /// The earliest deadline.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.next != Time::NEVER).then_some(self.next)
    }
}
