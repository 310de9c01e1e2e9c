//! The deadlines of all timers of one end of a connection. The end polls them: a timer that is due
//! fires when the caller of the connection handles the timeout.

use umts_units::Time;

/// The timers by their purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// Retransmission (RFC 6298 §5).
    Rto,
    /// Delayed acknowledgment (RFC 5681 §4.2).
    DelayedAck,
    /// The next segment of a paced connection.
    Pacing,
    /// A closed window (RFC 9293 §3.8.6.1).
    Persist,
    /// The application has read enough for a window update.
    Reading,
    /// A segment that RACK will mark as lost, or otherwise a tail loss probe (RFC 8985 §6.2, §7.2).
    Loss,
    /// Keep-alive: the connection has been idle for long (RFC 9293 §3.8.4).
    KeepAlive,
}

/// The deadline of each timer. `Time::NEVER`: the timer is not running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timers {
    /// Indexed by [`Timer`].
    deadlines: [Time; Timer::COUNT],
}

impl Timer {
    const COUNT: usize = Timer::KeepAlive as usize + 1;
}

impl Timers {
    pub fn new() -> Self {
        Timers { deadlines: [Time::NEVER; Timer::COUNT] }
    }

    #[inline]
    pub fn set(&mut self, timer: Timer, at: Time) {
        self.deadlines[timer as usize] = at;
    }

    #[inline]
    pub fn stop(&mut self, timer: Timer) {
        self.deadlines[timer as usize] = Time::NEVER;
    }

    #[inline]
    pub fn is_running(&self, timer: Timer) -> bool {
        self.deadlines[timer as usize] != Time::NEVER
    }

    /// The deadline of `timer` if it is running.
    #[inline]
    pub fn deadline(&self, timer: Timer) -> Option<Time> {
        Some(self.deadlines[timer as usize]).filter(|&at| at != Time::NEVER)
    }

    /// Stops `timer` if it is due at `now`. Returns whether this is the case.
    #[inline]
    pub fn take_due(&mut self, timer: Timer, now: Time) -> bool {
        let due = self.is_running(timer) && self.deadlines[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }

    /// The earliest deadline of the running timers.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let mut next = Time::NEVER;
        for deadline in self.deadlines {
            next = next.min(deadline);
        }
        Some(next).filter(|&at| at != Time::NEVER)
    }
}
