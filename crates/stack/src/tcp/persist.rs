//! A window too small to send anything: the persist timer and its probes (RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17).
//!
//! While data waits and nothing is under way, only the receiver can get the connection going again, and the segment in
//! which it says so may be lost. So the sender asks, at intervals that double as those of the retransmission timer do. If
//! the window has room for something, a small segment leaves in spite of silly window avoidance (§3.8.6.2.1). Else a probe
//! does: as Linux', a segment without data whose number lies just below the window, which the receiver has to answer.

use umts_units::{Duration, Time};

use super::connection::Connection;
use super::timers::Timer;

/// Doublings of the interval.
const MOST_DOUBLINGS: u32 = 6;

/// State of the persist timer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Persist {
    /// Expiries in a row.
    expiries: u32,
    /// A probe is due.
    probe: bool,
    /// What fits into the window may leave, however small.
    pub any_size: bool,
}

impl Persist {
    #[inline]
    pub fn has_probe(&self) -> bool {
        self.probe
    }
}

impl Connection {
    /// Nothing leaves now: if only the other end's window is in the way, the timer runs.
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time) {
        if !self.sender.outstanding.is_empty() || self.config.one_way || self.sender.outstanding.una() == 0 {
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
            let doublings = self.sender.persist.expiries.min(MOST_DOUBLINGS);
            let interval = self.sender.estimator.timeout().as_nanos() << doublings;
            let most = self.config.rto.max.as_nanos();
            self.timers.set(Timer::Persist, now + Duration::from_nanos(interval.min(most)));
        }
    }

    /// The persist timer expired.
    pub(super) fn handle_persist_timeout(&mut self) {
        let has_room = self.room() > 0;
        let persist = &mut self.sender.persist;
        persist.expiries = persist.expiries.saturating_add(1);
        persist.any_size = has_room;
        persist.probe = !has_room;
    }

    /// Whether a probe leaves now.
    #[inline]
    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.sender.persist.probe)
    }

    /// New data left.
    #[inline]
    pub(super) fn end_persist(&mut self) {
        if self.timers.is_running(Timer::Persist) || self.sender.persist.expiries > 0 {
            self.timers.stop(Timer::Persist);
            self.sender.persist = Persist::default();
        }
    }
}
