//! Windows too small to send anything: the persist timer and its probes (RFC 9293 §3.8.6.1, RFC
//! 1122 §4.2.2.17).
//!
//! While data waits and none is in flight, only a window update of the receiver can restart the
//! connection, and that segment may be lost. The sender therefore probes, at intervals that double
//! like the intervals of the retransmission timer. If the window has any room, a small segment is
//! sent despite silly window avoidance (§3.8.6.2.1). Otherwise a probe is sent: as in Linux, a
//! segment without data, with a number just below the window. The receiver must answer it.

use umts_units::{Duration, Time};

use super::connection::Connection;
use super::timers::Timer;

/// Limit on the doublings of the interval.
const MAX_DOUBLINGS: u32 = 6;

/// State of the persist timer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Persist {
    /// Consecutive expiries.
    expiries: u32,
    /// A probe is due.
    probe: bool,
    /// A segment of any size that fits into the window may be sent.
    pub any_size: bool,
}

impl Persist {
    #[inline]
    pub fn has_probe(&self) -> bool {
        self.probe
    }
}

impl Connection {
    /// Starts the timer if only the other end's window blocks transmission. Call this if no segment
    /// can be sent.
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time) {
        if !self.sender.outstanding.is_empty()
            || self.config.is_one_way()
            || self.sender.outstanding.una() == 0
        {
            return;
        }
        self.wait_for_window(now);
    }

    fn wait_for_window(&mut self, now: Time) {
        let waits = self.sender.written > self.sender.outstanding.max_sent()
            && self.receiver.is_synchronised()
            && self.new_segment().is_none();
        if !waits {
            self.timers.stop(Timer::Persist);
        } else if !self.timers.is_running(Timer::Persist) {
            let doublings = self.sender.persist.expiries.min(MAX_DOUBLINGS);
            let interval = self.sender.estimator.timeout().as_nanos() << doublings;
            let max_interval = self.config.rto_max.as_nanos();
            self.timers.set(Timer::Persist, now + Duration::from_nanos(interval.min(max_interval)));
        }
    }

    /// Starts the interval again at an acknowledgment that arrives while nothing is outstanding: Linux
    /// counts from the last one (`tcp_ack_probe`).
    pub(super) fn postpone_probe(&mut self) {
        if self.config.is_recent_linux() {
            // `watch_window` starts the timer if the window is still too small.
            self.timers.stop(Timer::Persist);
        }
    }

    /// Handles the expiry of the persist timer.
    pub(super) fn handle_persist_timeout(&mut self) {
        let has_room = self.room() > 0;
        let persist = &mut self.sender.persist;
        persist.expiries = persist.expiries.saturating_add(1);
        persist.any_size = has_room;
        persist.probe = !has_room;
    }

    /// Returns whether a probe must be sent now, and clears it.
    #[inline]
    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.sender.persist.probe)
    }

    /// Resets the persist state because new data was sent.
    #[inline]
    pub(super) fn end_persist(&mut self) {
        if self.timers.is_running(Timer::Persist) || self.sender.persist.expiries > 0 {
            self.timers.stop(Timer::Persist);
            self.sender.persist = Persist::default();
        }
    }
}
