//! Times that a direction of a connection spends in a state: with data outstanding, or with a closed
//! window.

use umts_units::Time;

use super::HalfConnection;
use crate::clock::BusyClock;

impl HalfConnection {
    /// Adds the time since the last packet to the integrals, with the values that held until `now`.
    pub(super) fn settle(&mut self, now: Time) {
        let passed = now.saturating_since(self.settled_at);
        self.settled_at = now;
        if passed.is_zero() || !self.is_active {
            return;
        }
        let outstanding = self.outstanding();
        let nanos = u128::from(passed.as_nanos());
        self.counters.active += nanos;
        self.counters.outstanding_integral += u128::from(outstanding) * nanos;
        self.counters.max_outstanding = self.counters.max_outstanding.max(outstanding);
        if let Some(rtt) = self.flight.last_rtt {
            let product = u128::from(rtt.as_nanos()) * nanos;
            self.counters.rtt_integral = self.counters.rtt_integral.saturating_add(product);
            self.counters.rtt_known += nanos;
        }
    }

    /// Returns the octets of payload that were sent but not acknowledged.
    fn outstanding(&self) -> u64 {
        match (self.una, self.base) {
            (Some(una), Some(base)) => self.data_end.saturating_sub(una.max(base)),
            _ => 0,
        }
    }

    /// Updates `is_active` and the clock: the direction is active while data are outstanding.
    pub(super) fn update_activity(&mut self, now: Time, busy_clock: &mut BusyClock) {
        let is_active = !self.is_over && self.outstanding() > 0;
        match (self.is_active, is_active) {
            (false, true) => busy_clock.start(now),
            (true, false) => busy_clock.stop(now),
            _ => {}
        }
        self.is_active = is_active;
    }

    /// Measures how long the receiver's window is zero.
    pub(super) fn record_zero_window(&mut self, now: Time, is_zero: bool) {
        match (self.zero_window_since, is_zero) {
            _ if self.is_over => {}
            (None, true) => self.zero_window_since = Some(now),
            (Some(_), false) => self.end_zero_window(now),
            _ => {}
        }
    }

    /// Adds the time for which the receiver's window was zero, if it was.
    fn end_zero_window(&mut self, now: Time) {
        if let Some(since) = self.zero_window_since.take() {
            self.counters.zero_window_time += u128::from(now.saturating_since(since).as_nanos());
        }
    }

    /// Ends the direction: the connection was closed or removed. Nothing is outstanding afterwards.
    pub fn close(&mut self, now: Time, busy_clock: &mut BusyClock) {
        self.settle(now);
        self.end_zero_window(now);
        self.is_over = true;
        if std::mem::take(&mut self.is_active) {
            busy_clock.stop(now);
        }
    }
}
