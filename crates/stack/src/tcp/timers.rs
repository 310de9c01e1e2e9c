//! The timers of an end.

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

/// The deadline of each timer. `Time::NEVER`: not running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timers([Time; Timer::KeepAlive as usize + 1]);

impl Timers {
    pub fn new() -> Self {
        Timers([Time::NEVER; Timer::KeepAlive as usize + 1])
    }

    #[inline]
    pub fn set(&mut self, timer: Timer, at: Time) {
        self.0[timer as usize] = at;
    }

    #[inline]
    pub fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Time::NEVER;
    }

    #[inline]
    pub fn is_running(&self, timer: Timer) -> bool {
        self.0[timer as usize] != Time::NEVER
    }

    /// The deadline of `timer` if it is running.
    #[inline]
    pub fn deadline(&self, timer: Timer) -> Option<Time> {
        Some(self.0[timer as usize]).filter(|&at| at != Time::NEVER)
    }

    /// Stops `timer` if it is due at `now`. Returns whether this is the case.
    #[inline]
    pub fn take_due(&mut self, timer: Timer, now: Time) -> bool {
        let due = self.is_running(timer) && self.0[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }

    #[inline]
    pub fn next(&self) -> Option<Time> {
        let mut next = Time::NEVER;
        for at in self.0 {
            next = next.min(at);
        }
        Some(next).filter(|&at| at != Time::NEVER)
    }
}
