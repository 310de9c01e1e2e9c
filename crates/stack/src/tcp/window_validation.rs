//! A congestion window that was not used: it is reduced after a pause (RFC 5681 §4.1), and it does
//! not grow while the application or the other end's window limits the sender (window validation).
//! Windows are in segments.

use umts_kernel::TraceSink;
use umts_units::Duration;

use crate::context::Context;
use crate::trace::TraceEvent;

use super::congestion::{VariantState, WindowLoad};
use super::connection::Connection;

/// The threshold after a pause is at least this part of the window before it (Linux,
/// `tcp_current_ssthresh`).
const SSTHRESH_PART: f64 = 0.75;

impl Connection {
    /// RFC 5681 §4.1: after a pause longer than a timeout, the window is reset before new data is
    /// sent.
    #[inline]
    pub(super) fn restart_after_idle<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let sender = &self.sender;
        let syn_is_acked = sender.outstanding.una() > 0;
        let may_be_idle = sender.outstanding.is_empty() && syn_is_acked;
        if !may_be_idle || !self.config.slow_start_restart {
            return;
        }
        let restart_cwnd = f64::from(self.config.initial_segments());
        let pause = cx.now.saturating_since(sender.last_sent);
        let is_idle = pause > sender.estimator.timeout();
        if is_idle && sender.window.cwnd > restart_cwnd && self.new_segment().is_some() {
            self.restart_window(pause, restart_cwnd);
            self.record_window(cx);
        }
    }

    /// RFC 5681 §4.1 reduces the window at once to the restart window of `restart_cwnd` segments.
    /// Linux halves it once for each timeout that fits into the pause, and raises the threshold to
    /// at least three quarters of the old window (`tcp_cwnd_restart`).
    fn restart_window(&mut self, pause: Duration, restart_cwnd: f64) {
        let timeout = self.sender.estimator.timeout();
        let window = &mut self.sender.window;
        if !self.config.is_recent_linux() {
            window.cwnd = restart_cwnd;
            return;
        }
        window.ssthresh = window.ssthresh.max((window.cwnd * SSTHRESH_PART).floor());
        let mut remaining = pause;
        while remaining > timeout && window.cwnd > restart_cwnd {
            remaining = remaining - timeout;
            window.cwnd = (window.cwnd / 2.0).floor();
        }
        window.cwnd = window.cwnd.max(restart_cwnd);
    }

    /// Records whether the congestion window is in full use. An unused window must not grow. Call
    /// this when no more segments can be sent now.
    #[inline]
    pub(super) fn update_usage(&mut self) {
        let sender = &mut self.sender;
        let Some(usage) = &mut sender.window.usage else { return };
        let outstanding = &sender.outstanding;
        let in_flight = match &sender.variant {
            VariantState::Rack(rack) => rack.in_flight(),
            _ => outstanding.next() as u32,
        };
        let is_full = in_flight >= sender.window.cwnd as u32;
        let has_more = sender.written > outstanding.max_sent();
        let sent_new = std::mem::take(&mut sender.sent_new);
        if sent_new || (is_full && has_more) {
            usage.update(&WindowLoad {
                is_full,
                outstanding: outstanding.len() as u32,
                una: outstanding.una(),
                max_sent: outstanding.max_sent(),
            });
        }
    }
}
