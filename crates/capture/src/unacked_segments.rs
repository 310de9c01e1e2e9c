//! Segments under way, and the round trips that their acknowledgments tell: all that may be timed of them, by RFC 6298
//! §3 (one at a time), by Karn's rule for every acknowledgment, and by timestamps (RFC 7323 §4.1). And what their arrival
//! says of others (`rack.rs`).

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use crate::packet::Segment;
use crate::probe::Estimate;
use crate::rack::{Delivered, Rack};
use crate::rtt::{RttSamples, RttSums};
use crate::timestamps::Timestamps;

/// Segments whose time of sending is remembered: beyond any window in flight, and few where nobody acknowledges.
const MOST_TIMED: usize = 1 << 17;
const MOST_TIMED_UNHEARD: usize = 64;

/// What is known of a segment that is not acknowledged.
#[derive(Debug, Clone, Copy)]
struct Sent {
    start: u64,
    end: u64,
    /// When it left last, or a part of it.
    at: Time,
    /// Octets of it that left again, the first ones of it: cards cut large segments, and senders repeat pieces. How long
    /// before that the rest left, in microseconds, and the timestamp with which they left.
    repeated: u32,
    before_us: u32,
    timestamp: u32,
    again: bool,
    is_sacked: bool,
}

impl Sent {
    /// When the octet left last, and whether it had left before.
    fn left(&self, number: u64) -> (Time, bool) {
        let was_repeated = number < self.start + u64::from(self.repeated);
        let before = Duration::from_micros(u64::from(self.before_us));
        (if was_repeated { self.at } else { self.at - before }, was_repeated)
    }

    /// It arrived, as far as `last`, the last octet of it that did.
    fn delivered(&self, last: u64, echo: Option<u32>) -> Delivered {
        let (left, was_repeated) = self.left(last);
        // RFC 8985 §6.2, step 2: as the Eifel detection has it.
        let was_earlier_copy =
            was_repeated && echo.is_some_and(|echo| (echo.wrapping_sub(self.timestamp) as i32) < 0);
        Delivered { left, end: self.end, was_repeated, was_earlier_copy }
    }
}

/// A segment that is being timed.
#[derive(Debug, Clone, Copy)]
struct Timed {
    end: u64,
    at: Time,
}

/// The segments of one direction that are not acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnackedSegments {
    segments: VecDeque<Sent>,
    timed: Option<Timed>,
    timestamps: Timestamps,
    has_timestamps: bool,
    /// The sample that the sender took last.
    pub last_rtt: Option<Duration>,
    /// One segment timed at a time, as RFC 6298 §3 asks at least.
    rtt_timed: RttSamples,
    /// A sample for each acknowledgment.
    pub rtt_every: RttSamples,
    /// From timestamps.
    pub rtt_timestamps: RttSums,
    pub rack: Rack,
    pub estimate: Estimate,
    /// After the last octet that was sent again or selectively acknowledged.
    marked_to: u64,
    /// A round trip of what was selectively acknowledged last, for the estimate.
    sacked_rtt: Option<Duration>,
    /// Something that was never repeated was acknowledged by the last acknowledgment, below this number.
    pub original: Option<u64>,
}

impl UnackedSegments {
    /// What the sender measures: with timestamps it takes a sample with each acknowledgment.
    pub fn samples(&self) -> &RttSamples {
        if self.has_timestamps { &self.rtt_every } else { &self.rtt_timed }
    }

    /// New data left. One that was overtaken is not timed; acknowledgments of some were seen if it `is_heard`.
    #[inline]
    pub fn sent(&mut self, now: Time, start: u64, end: u64, was_overtaken: bool, is_heard: bool) {
        let (repeated, before_us, timestamp) = (0, 0, 0);
        let sent =
            Sent { start, end, at: now, repeated, before_us, timestamp, again: false, is_sacked: false };
        self.remember(sent, is_heard);
        if !was_overtaken {
            // None that was sent before is timed (Karn), and one at a time.
            self.timed.get_or_insert(Timed { end, at: now });
        }
    }

    #[inline]
    fn remember(&mut self, sent: Sent, is_heard: bool) {
        let most = if is_heard { MOST_TIMED } else { MOST_TIMED_UNHEARD };
        if self.segments.len() >= most {
            self.segments.pop_front();
        }
        if self.segments.back().is_none_or(|last| last.end <= sent.start) {
            self.segments.push_back(sent);
        } else {
            let index = self.segments.partition_point(|other| other.start < sent.start);
            self.segments.insert(index, sent);
        }
    }

    /// Karn: what was sent again says nothing about the round trip.
    pub fn sent_again(&mut self, now: Time, start: u64, end: u64, timestamp: u32) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.start < end) {
            self.marked_to = self.marked_to.max(sent.end);
            let before_us = now.saturating_since(sent.left(sent.end - 1).0).as_nanos() / 1000;
            sent.before_us = u32::try_from(before_us).unwrap_or(u32::MAX);
            sent.again = true;
            sent.at = now;
            sent.timestamp = timestamp;
            sent.repeated = sent.repeated.max((sent.end.min(end) - sent.start) as u32);
        }
        if self.timed.is_some_and(|timed| start < timed.end && timed.end <= end) {
            self.timed = None;
        }
    }

    /// A recovery begins: what is being timed then tells its length, and no round trip.
    pub fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// A segment left with this timestamp.
    #[inline]
    pub fn stamped(&mut self, now: Time, value: u32) {
        self.timestamps.sent(now, value);
    }

    /// Acknowledgments echo timestamps, as this one does or not.
    #[inline]
    pub fn hears(&mut self, segment: &Segment) {
        self.has_timestamps = segment.options.timestamps.is_some() && !self.timestamps.is_empty();
    }

    /// When the segment with this octet left last, whether it had left before, and its end.
    pub fn left(&self, number: u64) -> Option<(Time, bool, u64)> {
        let index = self.segments.partition_point(|sent| sent.end <= number);
        let sent = self.segments.get(index).filter(|sent| sent.start <= number)?;
        let (at, was_repeated) = sent.left(number);
        Some((at, was_repeated, sent.end))
    }

    /// When the oldest segment left last, and its end.
    #[inline]
    pub fn oldest(&self, una: u64) -> Option<(Time, u64)> {
        let sent = self.segments.front().filter(|sent| sent.start <= una && una < sent.end)?;
        Some((sent.left(una).0, sent.end))
    }

    /// Whether something that was sent again has not arrived.
    pub fn has_repeated(&self) -> bool {
        self.segments.iter().any(|sent| sent.again && !sent.is_sacked)
    }

    /// Whether one segment is outstanding.
    pub fn is_single(&self) -> bool {
        self.segments.len() == 1
    }

    /// Another acknowledgment comes.
    #[inline]
    pub fn begin(&mut self) {
        (self.sacked_rtt, self.original) = (None, None);
    }

    /// `from..to` is selectively acknowledged, and was not before. The echo says nothing of it: it is of what came in order
    /// (RFC 7323 §4.3).
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
            if !sent.again {
                self.sacked_rtt.get_or_insert(now.saturating_since(sent.at));
                self.original.get_or_insert(sent.end);
            }
        }
    }

    /// The acknowledgment was selective only: it gives a round trip too.
    pub fn sample_sacked(&mut self, una: u64) {
        if let Some(rtt) = self.sacked_rtt {
            self.estimate.sample(rtt, una, self.highest(una));
        }
    }

    /// End of the last segment that is remembered, at least `una`.
    fn highest(&self, una: u64) -> u64 {
        self.segments.back().map_or(una, |sent| sent.end.max(una))
    }

    /// Whether something that is outstanding from `una` on was sent again, or selectively acknowledged.
    #[inline]
    pub fn is_marked(&self, una: u64) -> bool {
        self.marked_to > una
    }

    /// `segment` acknowledges new data, all from `una` to `ack`.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, una: u64, ack: u64, segment: &Segment) {
        let echo = segment.options.timestamps.map(|(_, echo)| echo);
        let is_marked = self.is_marked(una);
        let (first, newest) = if is_marked { self.take_marked(now, ack, echo) } else { self.take(now, ack) };
        // Karn: none if what left last of it was sent before.
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
        // RFC 7323 §4.1: a sample is taken of an acknowledgment of new data.
        let stamped = echo.and_then(|echo| self.timestamps.echoed(echo)).map(|at| now.saturating_since(at));
        if let Some(rtt) = stamped {
            self.rtt_timestamps.record(rtt);
        }
        let sacked = if is_marked { self.sacked_rtt } else { None };
        if let Some(rtt) = first.map(|at| now.saturating_since(at)).or(sacked).or(stamped) {
            self.estimate.sample(rtt, ack, self.highest(ack));
        }
    }

    /// Takes segments below `ack` out, none of which was sent again or acknowledged before: when the first of them left,
    /// and the one that left last.
    #[inline]
    fn take(&mut self, now: Time, ack: u64) -> (Option<Time>, Option<Time>) {
        let Some(&Sent { at: first, .. }) = self.segments.front().filter(|sent| sent.end <= ack) else {
            return (None, None);
        };
        let (mut newest, mut last) = (first, (first, 0));
        while let Some(&Sent { at, end, .. }) = self.segments.front()
            && end <= ack
        {
            self.segments.pop_front();
            newest = newest.max(at);
            last = (at, end);
        }
        self.rack.delivered_in_order(now, last.0, last.1);
        (Some(first), Some(newest))
    }

    /// The same of any segments. Neither is told where Karn's rule forbids a sample: for the sender's own estimate if any
    /// of them was sent again.
    fn take_marked(&mut self, now: Time, ack: u64, echo: Option<u32>) -> (Option<Time>, Option<Time>) {
        let min_rtt = self.rtt_every.sums.min();
        let mut newest: Option<Sent> = None;
        let (mut first, mut has_repeated) = (None, false);
        while let Some(sent) = self.segments.front().copied().filter(|sent| sent.end <= ack) {
            self.segments.pop_front();
            has_repeated |= sent.again;
            if !sent.is_sacked {
                self.rack.delivered(now, sent.delivered(sent.end - 1, echo), min_rtt);
                if !sent.again {
                    first.get_or_insert(sent.at);
                    self.original.get_or_insert(sent.end);
                }
            }
            if newest.is_none_or(|newest| newest.at <= sent.at) {
                newest = Some(sent);
            }
        }
        (first.filter(|_| !has_repeated), newest.filter(|sent| !sent.again).map(|sent| sent.at))
    }
}
