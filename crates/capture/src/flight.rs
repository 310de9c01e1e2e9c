//! Segments under way, and the round trips that their acknowledgments tell: all that may be timed of them, by RFC 6298
//! §3 (one at a time), by Karn's rule for every acknowledgment, and by timestamps (RFC 7323 §4.1).

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use crate::packet::Segment;
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
    at: Time,
    again: bool,
}

/// A segment that is being timed.
#[derive(Debug, Clone, Copy)]
struct Timed {
    end: u64,
    at: Time,
}

/// The segments of one direction that are not acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flight {
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
}

impl Flight {
    /// What the sender measures: with timestamps it takes a sample with each acknowledgment.
    pub fn samples(&self) -> &RttSamples {
        if self.has_timestamps { &self.rtt_every } else { &self.rtt_timed }
    }

    /// New data left. One that was overtaken is not timed; acknowledgments of some were seen if it `is_heard`.
    #[inline]
    pub fn sent(&mut self, now: Time, start: u64, end: u64, was_overtaken: bool, is_heard: bool) {
        self.remember(Sent { start, end, at: now, again: false }, is_heard);
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
    pub fn sent_again(&mut self, now: Time, start: u64, end: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        for sent in self.segments.range_mut(first..).take_while(|sent| sent.start < end) {
            sent.again = true;
            sent.at = now;
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

    /// `segment` acknowledges new data, all below `ack`.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, ack: u64, segment: &Segment) {
        let mut newest: Option<Sent> = None;
        while let Some(sent) = self.segments.front().copied().filter(|sent| sent.end <= ack) {
            self.segments.pop_front();
            if newest.is_none_or(|newest| newest.at <= sent.at) {
                newest = Some(sent);
            }
        }
        // Karn: none if what left last of it was sent before.
        if let Some(sent) = newest.filter(|sent| !sent.again) {
            self.rtt_every.record(now.saturating_since(sent.at));
            if self.has_timestamps {
                self.last_rtt = Some(now.saturating_since(sent.at));
            }
        }
        if let Some(timed) = self.timed.take_if(|timed| timed.end <= ack) {
            self.rtt_timed.record(now.saturating_since(timed.at));
            if !self.has_timestamps {
                self.last_rtt = Some(now.saturating_since(timed.at));
            }
        }
        // RFC 7323 §4.1: a sample is taken of an acknowledgment of new data.
        if let Some((_, echo)) = segment.options.timestamps
            && let Some(at) = self.timestamps.echoed(echo)
        {
            self.rtt_timestamps.record(now.saturating_since(at));
        }
    }
}
