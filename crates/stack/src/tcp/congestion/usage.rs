//! Congestion window validation: whether the window limits the sender. RFC 7661 §4.1 requires such
//! a measure. This one is Linux's (`tcp_cwnd_validate` and `tcp_is_cwnd_limited`).
//!
//! The criterion is the maximum number of segments outstanding within a round trip. The number at
//! each acknowledgment does not suffice: after a burst of a full window it falls with each
//! acknowledgment although the window was full.

/// How far the window was used in the current round trip. Windows are in segments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// The window prevented the transmission of a segment.
    was_full: bool,
    /// The maximum number of outstanding segments.
    max_outstanding: u32,
    /// The round trip ends when this sequence number is acknowledged.
    end: u64,
}

/// The use of the window at one time.
#[derive(Debug, Clone, Copy)]
pub struct WindowLoad {
    /// The window is used up.
    pub is_full: bool,
    /// Number of outstanding segments.
    pub outstanding: u32,
    /// The oldest unacknowledged sequence number.
    pub una: u64,
    /// The sequence number after the highest one sent.
    pub max_sent: u64,
}

impl Usage {
    /// Updates the measure after segments were sent or held back.
    #[inline]
    pub fn update(&mut self, load: &WindowLoad) {
        let WindowLoad { is_full, outstanding, una, max_sent } = *load;
        let is_new_round = una >= self.end;
        let is_new_maximum = !self.was_full && outstanding > self.max_outstanding;
        if is_new_round || is_full || is_new_maximum {
            *self = Usage { was_full: is_full, max_outstanding: outstanding, end: max_sent };
        }
    }

    /// Whether the window limits the sender. In slow start half of it is enough, because the window
    /// grows to twice the acknowledged amount.
    #[inline]
    pub fn is_limiting(&self, cwnd: f64, ssthresh: f64) -> bool {
        let is_in_slow_start = cwnd < ssthresh;
        let half_was_used = cwnd < 2.0 * f64::from(self.max_outstanding);
        self.was_full || (is_in_slow_start && half_was_used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_window_limits_for_a_round_trip() {
        let mut usage = Usage::default();
        // The round trip begins when 10,000 bytes are outstanding, and ends at sequence number
        // 10,001.
        usage.update(&WindowLoad { is_full: true, outstanding: 10, una: 1, max_sent: 10_001 });
        // Sequence number 5001 lies in this round trip.
        usage.update(&WindowLoad { is_full: false, outstanding: 3, una: 5001, max_sent: 11_001 });
        assert!(usage.is_limiting(10.0, 5.0), "in congestion avoidance");
        assert!(usage.is_limiting(100.0, f64::INFINITY), "in slow start");
        usage.update(&WindowLoad { is_full: false, outstanding: 3, una: 10_001, max_sent: 13_001 });
        assert!(!usage.is_limiting(10.0, 5.0));
    }

    #[test]
    fn half_of_the_window_limits_in_slow_start() {
        let mut usage = Usage::default();
        usage.update(&WindowLoad { is_full: false, outstanding: 6, una: 1, max_sent: 6001 });
        usage.update(&WindowLoad { is_full: false, outstanding: 2, una: 5001, max_sent: 7001 });
        // At most 6 segments were outstanding in this round trip: more than half of 11, but only
        // half of 12.
        assert!(usage.is_limiting(11.0, f64::INFINITY));
        assert!(!usage.is_limiting(12.0, f64::INFINITY));
        assert!(!usage.is_limiting(6.0, 6.0), "in congestion avoidance it must be full");
    }
}
