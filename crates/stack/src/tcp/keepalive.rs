//! Keep-alives (RFC 9293 §3.8.4, RFC 1122 §4.2.3.6): an end that has heard nothing for long asks whether the other one is
//! still there, and gives the connection up when nobody answers. Off unless asked for, as the RFCs have it.
//!
//! The question is a segment without data whose number lies just below what the other end expects, which it has to
//! answer; as Linux', it waits while data is outstanding or to be sent, for which the retransmission timer asks.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::connection::Connection;
use super::timers::Timer;
use crate::context::Context;
use crate::trace::{SendCause, TraceEvent};

/// State of the keep-alive timer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeepAlive {
    /// Questions since anything was heard.
    unanswered: u32,
    /// A question is to leave now.
    due: bool,
}

impl Connection {
    /// Something came from the other end.
    #[inline]
    pub(super) fn note_sign_of_life(&mut self, now: Time) {
        let Some(config) = self.config.keepalive else { return };
        self.keepalive = KeepAlive::default();
        if self.is_open() {
            self.timers.set(Timer::KeepAlive, now + config.idle);
        } else {
            self.timers.stop(Timer::KeepAlive);
        }
    }

    /// The timer expired.
    pub(super) fn handle_keepalive_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let Some(config) = self.config.keepalive.filter(|_| self.is_open()) else { return };
        if !self.sender.outstanding.is_empty() || self.sender.written > self.sender.outstanding.max_sent() {
            self.timers.set(Timer::KeepAlive, cx.now + config.idle);
        } else if self.keepalive.unanswered >= config.probes {
            self.give_up(cx);
        } else {
            self.keepalive.unanswered += 1;
            self.keepalive.due = true;
            self.timers.set(Timer::KeepAlive, cx.now + config.interval);
        }
    }

    /// Whether a question leaves now.
    #[inline]
    fn take_keepalive(&mut self) -> bool {
        std::mem::take(&mut self.keepalive.due)
    }

    /// Whether something is due that asks only for an answer.
    #[inline]
    pub(super) fn has_question(&self) -> bool {
        self.sender.persist.has_probe() | self.keepalive.due
    }

    /// What asks only for an answer: a probe of the window, or a keep-alive.
    #[inline]
    pub(super) fn take_question(&mut self) -> Option<SendCause> {
        let probe = self.take_probe().then_some(SendCause::WindowProbe);
        probe.or_else(|| self.take_keepalive().then_some(SendCause::KeepAlive))
    }

    /// The handshake is complete and this end is not closed.
    fn is_open(&self) -> bool {
        self.established && !self.closed && !self.config.one_way
    }
}
