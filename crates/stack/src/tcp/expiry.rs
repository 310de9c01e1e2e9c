//! The retransmission timer of a sender: when it runs, and which state its expiry changes. The
//! retransmission itself is selected by the next `poll_transmit`.

use umts_kernel::TraceSink;
use umts_units::Time;

use super::congestion::{CongestionControl, Flight, Loss, VariantState};
use super::connection::Connection;
use super::timers::Timer;
use crate::context::Context;
use crate::trace::{SendCause, TraceEvent};

/// Number of expiries for a SYN after which Linux starts to double the timeout.
const MAX_LINEAR_SYN_EXPIRIES: u32 = 4;

impl Connection {
    /// RFC 6298 §5.4 to §5.6. All outstanding segments count as lost (RFC 5681 §3.1).
    pub(super) fn handle_retransmission_timeout<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
    ) {
        if self.give_up_after_retries(cx) {
            return;
        }
        let flight = self.flight();
        let window_before = self.sender.window.size();
        self.begin_loss_episode(cx.now, &flight, window_before, Loss::Timeout);
        let sender = &mut self.sender;
        if let VariantState::Rack(rack) = &mut sender.variant {
            rack.mark_on_timeout(&mut sender.outstanding, cx.now);
            sender.tail.reset();
            self.timers.stop(Timer::Loss);
        }
        sender.variant.on_timeout(&mut sender.window, &mut sender.outstanding, &flight);
        self.back_off_timer(&flight);
        let sender = &mut self.sender;
        // The timed segment is sent again: its acknowledgment would be ambiguous (Karn's rule).
        sender.timed = None;
        // Limited transmit applies to duplicates before a recovery.
        sender.limited = false;
        // The limit belongs to the last acknowledgment, and no acknowledgment has arrived.
        sender.burst = u32::MAX;
        // The oldest segment is sent again anyway, because it counts as lost.
        sender.resend_first = false;
        self.report_reduction();
        let sender = &mut self.sender;
        let has_changed = window_before != sender.window.size();
        let (connection, end, backoff) = (self.id, self.end, sender.estimator.backoff());
        self.go_back(SendCause::Rto);
        self.restart_timer(cx.now);
        cx.record(|| TraceEvent::RtoExpired { connection, end, backoff });
        self.record_rto(cx);
        if has_changed {
            self.record_window(cx);
        }
    }

    /// Doubles the next timeout. Linux first repeats a SYN at constant intervals
    /// (tcp_syn_linear_timeouts, since 6.5), but not a SYN+ACK, which an end sends only after the
    /// other end's SYN has arrived.
    fn back_off_timer(&mut self, flight: &Flight) {
        let sender = &mut self.sender;
        // The SYN is number 0.
        let is_syn = flight.una == 0;
        sender.syn_expiries += u32::from(is_syn);
        let is_syn_ack = is_syn && self.receiver.is_synchronised();
        let is_early_syn = is_syn && !is_syn_ack && sender.syn_expiries <= MAX_LINEAR_SYN_EXPIRIES;
        let keeps_interval = is_early_syn && self.config.is_recent_linux();
        if !keeps_interval {
            sender.estimator.back_off();
        }
    }

    /// Makes the oldest outstanding segment the next one to send (go-back-N).
    pub(super) fn go_back(&mut self, cause: SendCause) {
        // With RACK, the segments to send again are those that RACK has marked as lost.
        if self.rack().is_none() {
            self.sender.outstanding.go_back();
        }
        self.sender.go_back_cause = cause;
    }

    /// Starts the timer again, or stops it (RFC 6298 §5.1 to §5.3): the timer runs while segments
    /// are outstanding. With FACK and Vegas it also runs without outstanding segments if their
    /// rules block transmission until it expires.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time) {
        let sender = &self.sender;
        let runs = !sender.outstanding.is_empty() || sender.variant.needs_timer_when_empty(&sender.window);
        if runs {
            self.timers.set(Timer::Rto, now + self.sender.estimator.timeout());
        } else {
            self.timers.stop(Timer::Rto);
        }
    }
}
