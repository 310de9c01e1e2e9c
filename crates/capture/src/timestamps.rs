//! Times at which timestamp values left (RFC 7323), for round-trip samples from their echoes.

use std::collections::VecDeque;

use umts_units::Time;

/// Maximum number of values that are recorded.
const MAX_VALUES: usize = 1024;

/// Values of one end's timestamps in increasing order, each with the time at which it first left.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timestamps(VecDeque<(u32, Time)>);

impl Timestamps {
    /// Returns whether no segment had a timestamp.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records that `value` leaves. A value that is not after the last one is ignored: it is
    /// already recorded, or the sender's clock went back.
    pub fn sent(&mut self, now: Time, value: u32) {
        if self.0.back().is_some_and(|&(last, _)| ticks(last, value) <= 0) {
            return;
        }
        if self.0.len() == MAX_VALUES {
            self.0.pop_front();
        }
        self.0.push_back((value, now));
    }

    /// Returns when an echoed `value` left. Drops earlier values, because echoes do not go back
    /// while data are acknowledged in order.
    pub fn echoed(&mut self, value: u32) -> Option<Time> {
        let &(first, _) = self.0.front()?;
        let distance = ticks(first, value);
        let index = match distance {
            0 => 0,
            ..0 => return None,
            _ => self.0.partition_point(|&(known, _)| ticks(first, known) < distance),
        };
        let &(known, at) = self.0.get(index)?;
        if known != value {
            return None;
        }
        self.0.drain(..index);
        Some(at)
    }
}

/// Distance from one value to another. Values wrap around (RFC 7323 §5.2).
fn ticks(from: u32, to: u32) -> i32 {
    to.wrapping_sub(from) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn echo_finds_first_packet_of_value_across_wrap() {
        let mut timestamps = Timestamps::default();
        for (ns, value) in [(1, u32::MAX - 1), (2, u32::MAX - 1), (3, u32::MAX), (4, 1), (5, 9)] {
            timestamps.sent(at(ns), value);
        }
        assert_eq!(timestamps.echoed(u32::MAX - 2), None, "older than all");
        assert_eq!(timestamps.echoed(u32::MAX - 1), Some(at(1)));
        assert_eq!(timestamps.echoed(0), None, "never sent");
        assert_eq!(timestamps.echoed(1), Some(at(4)));
        assert_eq!(timestamps.echoed(u32::MAX), None, "echoes do not go back");
        assert_eq!(timestamps.echoed(1), Some(at(4)), "the same may come again");
        assert_eq!(timestamps.echoed(9), Some(at(5)));
        assert_eq!(timestamps.echoed(10), None, "not sent yet");
    }

    #[test]
    fn memory_is_bounded_and_keeps_the_latest() {
        let mut timestamps = Timestamps::default();
        (0..3000).for_each(|value| timestamps.sent(at(u64::from(value)), value));
        assert_eq!(timestamps.0.len(), MAX_VALUES);
        assert_eq!(timestamps.echoed(2500), Some(at(2500)));
    }
}
