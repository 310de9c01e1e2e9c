//! Idle gaps: silences in which a sender with data to send waits for acknowledgments, because a
//! window is full.

use umts_units::{Duration, Time};

/// A constant part of the limit, two TTIs of 20 ms: segments that leave together arrive in
/// different TTIs, and so do their acknowledgments.
const TWO_TTIS: Duration = Duration::from_millis(40);

/// Detects the idle gaps of one sender.
#[derive(Debug, Default)]
pub(super) struct IdleGaps {
    /// The current silence, while unsent data waits.
    current: Option<Silence>,
}

/// A silence of a sender with unsent data.
#[derive(Debug, Clone, Copy)]
struct Silence {
    since: Time,
    /// A longer silence is a gap.
    limit: Duration,
}

impl IdleGaps {
    /// Unsent data waits. A silence is a gap if it exceeds two TTIs plus half of `rtt`, the last
    /// measured round-trip time. Before the first measurement there are no gaps.
    #[inline]
    pub fn wait(&mut self, at: Time, rtt: Option<Duration>) {
        if let (None, Some(rtt)) = (self.current, rtt) {
            let limit = TWO_TTIS + Duration::from_nanos(rtt.as_nanos() / 2);
            self.current = Some(Silence { since: at, limit });
        }
    }

    /// A segment with data leaves. Returns whether it ends a gap.
    #[inline]
    pub fn end(&mut self, at: Time) -> bool {
        self.current.take().is_some_and(|silence| at - silence.since > silence.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_gap_is_longer_than_two_ttis_and_half_a_round_trip() {
        // The limit is 2 · 20 ms + 200 ms / 2 = 140 ms.
        let rtt = Some(Duration::from_millis(200));
        for (silence, is_gap) in [(0, false), (140, false), (141, true), (5_000, true)] {
            let mut gaps = IdleGaps::default();
            gaps.wait(ms(1_000), rtt);
            assert_eq!(gaps.end(ms(1_000 + silence)), is_gap, "{silence} ms");
        }
    }

    #[test]
    fn silence_counts_from_when_data_wait_and_by_the_round_trip_known_then() {
        let mut gaps = IdleGaps::default();
        assert!(!gaps.end(ms(500)), "nothing waited");
        gaps.wait(ms(600), None);
        assert!(!gaps.end(ms(9_000)), "no round trip is known");
        gaps.wait(ms(9_000), Some(Duration::from_millis(100)));
        gaps.wait(ms(9_080), Some(Duration::from_millis(1_000)));
        // The first wait counts: its limit is 2 · 20 ms + 100 ms / 2 = 90 ms.
        assert!(gaps.end(ms(9_100)), "more data do not restart the gap");
        assert!(!gaps.end(ms(20_000)), "all data had left");
    }
}
