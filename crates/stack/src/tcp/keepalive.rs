//! Keep-alives (RFC 9293 §3.8.4, RFC 1122 §4.2.3.6): an end that has received nothing for a long
//! time probes the other end, and gives the connection up if there is no answer. Off by default, as
//! the RFCs require.
//!
//! The probe is a segment without data, with a number just below the next expected one, so that the
//! other end must answer. As in Linux, no probe is sent while data is outstanding or unsent: the
//! retransmission timer handles that case.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::connection::Connection;
use super::timers::Timer;
use crate::context::Context;
use crate::trace::{SendCause, TraceEvent};

/// State of the keep-alive timer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeepAlive {
    /// Number of probes since the last segment arrived.
    unanswered: u32,
    /// A probe must be sent now.
    due: bool,
}

impl Connection {
    /// Restarts the timer after a segment has arrived.
    #[inline]
    pub(super) fn restart_keepalive_timer(&mut self, now: Time) {
        if !self.config.keepalive {
            return;
        }
        self.keepalive = KeepAlive::default();
        if self.is_open() {
            self.timers.set(Timer::KeepAlive, now + self.config.keepalive_idle);
        } else {
            self.timers.stop(Timer::KeepAlive);
        }
    }

    /// Handles the expiry of the timer.
    pub(super) fn handle_keepalive_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if !self.config.keepalive || !self.is_open() {
            return;
        }
        if !self.sender.outstanding.is_empty() || self.sender.written > self.sender.outstanding.max_sent() {
            self.timers.set(Timer::KeepAlive, cx.now + self.config.keepalive_idle);
        } else if self.keepalive.unanswered >= self.config.keepalive_probes {
            self.give_up(cx);
        } else {
            self.keepalive.unanswered += 1;
            self.keepalive.due = true;
            self.timers.set(Timer::KeepAlive, cx.now + self.config.keepalive_interval);
        }
    }

    /// Returns whether a keep-alive probe must be sent now, and clears it.
    #[inline]
    fn take_keepalive(&mut self) -> bool {
        std::mem::take(&mut self.keepalive.due)
    }

    /// Whether a window probe or a keep-alive probe is due.
    #[inline]
    pub(super) fn has_due_probe(&self) -> bool {
        self.sender.persist.has_probe() | self.keepalive.due
    }

    /// Returns the cause of the probe that is due, and clears it: a window probe before a
    /// keep-alive.
    #[inline]
    pub(super) fn take_due_probe(&mut self) -> Option<SendCause> {
        let probe = self.take_probe().then_some(SendCause::WindowProbe);
        probe.or_else(|| self.take_keepalive().then_some(SendCause::KeepAlive))
    }

    /// Whether the handshake is complete and this end is not closed.
    fn is_open(&self) -> bool {
        self.established && !self.closed && !self.config.is_one_way()
    }
}
