//! Segments in flight of one sender, and the round-trip times that their acknowledgments give. A
//! capture gives three kinds of samples: one segment at a time (RFC 6298 §3); one for every
//! acknowledgment, except of retransmitted segments (Karn's rule); and one for every echoed
//! timestamp (RFC 7323 §4.1). Deliveries also update RACK (`rack.rs`).

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use crate::packet::Segment;
use crate::probe::Estimate;
use crate::rack::{DeliveredSegment, Rack};
use crate::rtt::{RttSamples, RttSums};
use crate::timestamps::Timestamps;

/// Maximum number of segments in flight whose send times are recorded: more than any window in
/// practice.
const MAX_TIMED: usize = 1 << 17;
/// The same while no acknowledgment has been seen.
const MAX_TIMED_WITHOUT_ACKS: usize = 64;

/// A segment that is not cumulatively acknowledged.
#[derive(Debug, Clone, Copy)]
struct SentSegment {
    /// First octet and end, as unwrapped sequence numbers.
    start: u64,
    end: u64,
    /// When the segment, or a part of it, left last.
    at: Time,
    /// Number of octets at the start of the segment that were retransmitted. Network cards split
    /// large segments, and senders retransmit parts of them.
    resent_octets: u32,
    /// The octets that were not retransmitted left this time before `at`, in microseconds.
    earlier_by_us: u32,
    /// Timestamp of the retransmission.
    timestamp: u32,
    was_retransmitted: bool,
    is_sacked: bool,
}

/// A copy of a segment, identified by its time and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentCopy {
    /// When the copy left.
    pub at: Time,
    /// End of the segment, as an unwrapped sequence number.
    pub end: u64,
}

/// The last copy of a segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastCopy {
    pub copy: SentCopy,
    pub was_retransmission: bool,
}

/// Times at which newly acknowledged segments left. A time is `None` if it gives no round-trip
/// time.
struct AckedTimes {
    /// When the first one left.
    first: Option<Time>,
    /// When the one that was sent last left.
    newest: Option<Time>,
}

impl SentSegment {
    /// Returns the last copy with the octet `number`.
    fn last_copy(&self, number: u64) -> LastCopy {
        let was_retransmission = number < self.start + u64::from(self.resent_octets);
        let earlier_by = Duration::from_micros(u64::from(self.earlier_by_us));
        let at = if was_retransmission { self.at } else { self.at - earlier_by };
        LastCopy { copy: SentCopy { at, end: self.end }, was_retransmission }
    }

    /// Returns the delivery of the segment up to the octet `last`.
    fn delivered(&self, last: u64, echo: Option<u32>) -> DeliveredSegment {
        let LastCopy { copy, was_retransmission } = self.last_copy(last);
        // RFC 8985 §6.2, step 2, as in the Eifel detection.
        let was_earlier_copy =
            was_retransmission && echo.is_some_and(|echo| (echo.wrapping_sub(self.timestamp) as i32) < 0);
        DeliveredSegment {
            sent_at: copy.at,
            end: copy.end,
            was_retransmitted: was_retransmission,
            was_earlier_copy,
        }
    }
}

/// The segment that is being timed: one at a time (RFC 6298 §3).
#[derive(Debug, Clone, Copy)]
struct TimedSegment {
    end: u64,
    /// When the segment left.
    at: Time,
}

/// The segments of one direction that are not acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnackedSegments {
    /// In the order of sequence numbers.
    segments: VecDeque<SentSegment>,
    timed: Option<TimedSegment>,
    /// Send times of timestamps, for round trips from echoed ones.
    timestamps: Timestamps,
    /// Whether the connection uses timestamps.
    has_timestamps: bool,
    /// The sample that the sender took last.
    pub last_rtt: Option<Duration>,
    /// Samples of one segment at a time, the minimum that RFC 6298 §3 requires.
    rtt_timed: RttSamples,
    /// Samples of every acknowledgment, by Karn's rule.
    pub rtt_every: RttSamples,
    /// Samples from timestamps.
    pub rtt_timestamps: RttSums,
    /// RACK of the sender, reconstructed.
    pub rack: Rack,
    /// The sender's smoothed round-trip time, for the time of a tail loss probe.
    pub estimate: Estimate,
    /// End of the highest octet that was retransmitted or selectively acknowledged.
    marked_to: u64,
    /// Round-trip time of a segment that the current acknowledgment selectively acknowledges, for
    /// the estimate.
    sacked_rtt: Option<Duration>,
    /// End of a segment that was never retransmitted and that the current acknowledgment
    /// acknowledges.
    pub original_end: Option<u64>,
}

impl UnackedSegments {
    /// Returns the samples that the sender measures: with timestamps, one for each acknowledgment.
    pub fn samples(&self) -> &RttSamples {
        if self.has_timestamps { &self.rtt_every } else { &self.rtt_timed }
    }

    /// Records new data. Data that were overtaken are not timed. `has_acks`: an acknowledgment has
    /// been seen.
    #[inline]
    pub fn sent(&mut self, now: Time, start: u64, end: u64, was_overtaken: bool, has_acks: bool) {
        let sent = SentSegment {
            start,
            end,
            at: now,
            resent_octets: 0,
            earlier_by_us: 0,
            timestamp: 0,
            was_retransmitted: false,
            is_sacked: false,
        };
        self.insert(sent, has_acks);
        if !was_overtaken {
            // Only one segment at a time is timed, and none that was retransmitted (Karn).
            self.timed.get_or_insert(TimedSegment { end, at: now });
        }
    }

    /// Adds a segment. Beyond the limit, the oldest one is removed.
    #[inline]
    fn insert(&mut self, sent: SentSegment, has_acks: bool) {
        let limit = if has_acks { MAX_TIMED } else { MAX_TIMED_WITHOUT_ACKS };
        if self.segments.len() >= limit {
            self.segments.pop_front();
        }
        if self.segments.back().is_none_or(|last| last.end <= sent.start) {
            self.segments.push_back(sent);
        } else {
            let index = self.segments.partition_point(|other| other.start < sent.start);
            self.segments.insert(index, sent);
        }
    }

    /// Records a retransmission. Its acknowledgment gives no round-trip time (Karn).
    pub fn record_retransmission(&mut self, now: Time, start: u64, end: u64, timestamp: u32) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.start < end) {
            self.marked_to = self.marked_to.max(sent.end);
            let last_sent = sent.last_copy(sent.end - 1).copy.at;
            let earlier_by_us = now.saturating_since(last_sent).as_nanos() / 1000;
            sent.earlier_by_us = u32::try_from(earlier_by_us).unwrap_or(u32::MAX);
            sent.was_retransmitted = true;
            sent.at = now;
            sent.timestamp = timestamp;
            sent.resent_octets = sent.resent_octets.max((sent.end.min(end) - sent.start) as u32);
        }
        if self.timed.is_some_and(|timed| start < timed.end && timed.end <= end) {
            self.timed = None;
        }
    }

    /// Stops timing at the start of a recovery: the acknowledgment would measure the length of the
    /// recovery instead of a round trip.
    pub fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// Records the timestamp of a segment.
    #[inline]
    pub fn record_timestamp(&mut self, now: Time, value: u32) {
        self.timestamps.sent(now, value);
    }

    /// Records whether the acknowledgment has a timestamp.
    #[inline]
    pub fn record_timestamp_option(&mut self, segment: &Segment) {
        self.has_timestamps = segment.options.timestamps.is_some() && !self.timestamps.is_empty();
    }

    /// Returns the last copy of the segment with this octet.
    pub fn last_copy(&self, number: u64) -> Option<LastCopy> {
        let index = self.segments.partition_point(|sent| sent.end <= number);
        let sent = self.segments.get(index).filter(|sent| sent.start <= number)?;
        Some(sent.last_copy(number))
    }

    /// Returns the last copy of the oldest segment.
    #[inline]
    pub fn oldest(&self, una: u64) -> Option<SentCopy> {
        let sent = self.segments.front().filter(|sent| sent.start <= una && una < sent.end)?;
        Some(sent.last_copy(una).copy)
    }

    /// Returns whether a retransmitted segment is outstanding and not selectively acknowledged.
    pub fn has_retransmitted(&self) -> bool {
        self.segments.iter().any(|sent| sent.was_retransmitted && !sent.is_sacked)
    }

    /// Returns whether exactly one segment is outstanding.
    pub fn is_single(&self) -> bool {
        self.segments.len() == 1
    }

    /// Starts processing an acknowledgment.
    #[inline]
    pub fn begin_ack(&mut self) {
        (self.sacked_rtt, self.original_end) = (None, None);
    }

    /// Records that `from..to` is selectively acknowledged for the first time. The timestamp echo
    /// is not used: it belongs to the last segment that arrived in order (RFC 7323 §4.3).
    pub fn sacked(&mut self, now: Time, from: u64, to: u64) {
        let min_rtt = self.rtt_every.sums.min();
        let first = self.segments.partition_point(|sent| sent.end <= from);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.start < to) {
            if sent.is_sacked {
                continue;
            }
            self.marked_to = self.marked_to.max(sent.end);
            sent.is_sacked = sent.end <= to;
            self.rack.delivered(now, sent.delivered(sent.end.min(to) - 1, None), min_rtt);
            if !sent.was_retransmitted {
                self.sacked_rtt.get_or_insert(now.saturating_since(sent.at));
                self.original_end.get_or_insert(sent.end);
            }
        }
    }

    /// Adds the round-trip time of a selective acknowledgment without new cumulative data to the
    /// estimate.
    pub fn sample_sacked(&mut self, una: u64) {
        if let Some(rtt) = self.sacked_rtt {
            self.estimate.sample(rtt, una, self.highest(una));
        }
    }

    /// Returns the end of the last remembered segment, at least `una`.
    fn highest(&self, una: u64) -> u64 {
        self.segments.back().map_or(una, |sent| sent.end.max(una))
    }

    /// Returns whether an outstanding octet from `una` on was retransmitted or selectively
    /// acknowledged.
    #[inline]
    pub fn is_marked(&self, una: u64) -> bool {
        self.marked_to > una
    }

    /// Processes the acknowledgment of new data from `una` to `ack` by `segment`.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, una: u64, ack: u64, segment: &Segment) {
        let echo = segment.options.timestamps.map(|(_, echo)| echo);
        let is_marked = self.is_marked(una);
        let AckedTimes { first, newest } =
            if is_marked { self.remove_marked(now, ack, echo) } else { self.remove_unmarked(now, ack) };
        // Karn: no sample if the segment that left last was retransmitted.
        if let Some(at) = newest {
            self.rtt_every.record(now.saturating_since(at));
            if self.has_timestamps {
                self.last_rtt = Some(now.saturating_since(at));
            }
        }
        if let Some(timed) = self.timed.take_if(|timed| timed.end <= ack) {
            self.rtt_timed.record(now.saturating_since(timed.at));
            if !self.has_timestamps {
                self.last_rtt = Some(now.saturating_since(timed.at));
            }
        }
        // RFC 7323 §4.1: only an acknowledgment of new data gives a sample.
        let echoed_rtt =
            echo.and_then(|echo| self.timestamps.echoed(echo)).map(|at| now.saturating_since(at));
        if let Some(rtt) = echoed_rtt {
            self.rtt_timestamps.record(rtt);
        }
        let sacked = if is_marked { self.sacked_rtt } else { None };
        if let Some(rtt) = first.map(|at| now.saturating_since(at)).or(sacked).or(echoed_rtt) {
            self.estimate.sample(rtt, ack, self.highest(ack));
        }
    }

    /// Removes the segments below `ack`, if none was retransmitted or selectively acknowledged.
    #[inline]
    fn remove_unmarked(&mut self, now: Time, ack: u64) -> AckedTimes {
        let Some(&SentSegment { at: first, .. }) = self.segments.front().filter(|sent| sent.end <= ack)
        else {
            return AckedTimes { first: None, newest: None };
        };
        let (mut newest, mut last) = (first, SentCopy { at: first, end: 0 });
        while let Some(&SentSegment { at, end, .. }) = self.segments.front()
            && end <= ack
        {
            self.segments.pop_front();
            newest = newest.max(at);
            last = SentCopy { at, end };
        }
        self.rack.delivered_in_order(now, last.at, last.end);
        AckedTimes { first: Some(first), newest: Some(newest) }
    }

    /// Removes the segments below `ack`, some of which may be retransmitted or selectively
    /// acknowledged. A time is `None` if Karn's rule forbids a sample. The first one, for the
    /// sender's estimate, is `None` if any of the segments was retransmitted.
    fn remove_marked(&mut self, now: Time, ack: u64, echo: Option<u32>) -> AckedTimes {
        let min_rtt = self.rtt_every.sums.min();
        let mut newest: Option<SentSegment> = None;
        let (mut first, mut has_retransmitted) = (None, false);
        while let Some(sent) = self.segments.front().copied().filter(|sent| sent.end <= ack) {
            self.segments.pop_front();
            has_retransmitted |= sent.was_retransmitted;
            if !sent.is_sacked {
                self.rack.delivered(now, sent.delivered(sent.end - 1, echo), min_rtt);
                if !sent.was_retransmitted {
                    first.get_or_insert(sent.at);
                    self.original_end.get_or_insert(sent.end);
                }
            }
            if newest.is_none_or(|newest| newest.at <= sent.at) {
                newest = Some(sent);
            }
        }
        AckedTimes {
            first: first.filter(|_| !has_retransmitted),
            newest: newest.filter(|sent| !sent.was_retransmitted).map(|sent| sent.at),
        }
    }
}
