//! Delivery rate samples (Cheng, Cardwell, Yeganeh and Jacobson:
//! draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment records at transmission the amount delivered so far and the time of the last
//! delivery. Its acknowledgment then gives the amount delivered in between. The rate is this amount
//! over the longer of the sending interval and the acknowledgment interval, so that neither a burst
//! of segments nor a burst of ACKs inflates it.

use std::collections::VecDeque;

use umts_units::{Duration, Time};

use super::Outstanding;

/// The sample of an acknowledgment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateSample {
    /// Payload newly delivered, in bytes.
    pub newly_delivered: u64,
    /// Payload delivered so far when the most recently sent of the newly delivered segments was
    /// sent, in bytes.
    pub prior_delivered: u64,
    /// Delivery rate, in bytes per second. `None` if nothing was delivered, or if the interval is
    /// shorter than the minimum round-trip time.
    pub rate: Option<f64>,
    /// Round-trip time of the most recently sent of the newly delivered segments, if it was sent
    /// once.
    pub rtt: Option<Duration>,
    /// The application may have limited the rate, instead of the path.
    pub app_limited: bool,
}

/// The state at the transmission of a segment.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    /// Payload of the segment, in bytes.
    payload: u32,
    sent_at: Time,
    /// [`RateSampler::delivered`] at this time.
    delivered: u64,
    /// [`RateSampler::delivered_at`] at this time.
    delivered_at: Time,
    /// [`RateSampler::first_sent_at`] at this time.
    first_sent_at: Time,
    /// The application limited transmission at this time.
    app_limited: bool,
    is_retransmission: bool,
    /// The segment is counted as delivered, because of a SACK.
    is_delivered: bool,
}

/// Computes the samples. Stores a snapshot for each outstanding segment.
#[derive(Debug, Clone, Default)]
pub struct RateSampler {
    /// Payload delivered so far, in bytes.
    delivered: u64,
    /// Time of the last delivery.
    delivered_at: Time,
    /// Retransmitted payload, in bytes.
    retransmitted: u64,
    /// Start of the sending interval: transmission time of the segment of the last sample.
    first_sent_at: Time,
    /// Samples are limited by the application until more than this payload is delivered, in bytes.
    /// 0: they are not limited.
    app_limited_until: u64,
    snapshots: VecDeque<Snapshot>,
    /// Number of the first snapshot's segment.
    first: u64,
}

impl RateSampler {
    /// Payload delivered so far, in bytes.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Time of the last delivery.
    pub fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Payload retransmitted so far, in bytes.
    pub fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// The application has no data although the window allows it to send. `flight`: bytes in
    /// flight.
    pub fn limit_by_application(&mut self, flight: u64) {
        self.app_limited_until = (self.delivered + flight).max(1);
    }

    /// Whether transmission is limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// Records a transmission of segment `number`. `idle`: no other segment is in flight.
    pub fn on_sent(&mut self, number: u64, payload: u32, idle: bool, now: Time) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let mut snapshot = Snapshot {
            payload,
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.is_app_limited(),
            is_retransmission: false,
            is_delivered: false,
        };
        if self.snapshots.is_empty() {
            self.first = number;
        }
        let Some(index) = number.checked_sub(self.first) else { return };
        match self.snapshots.get_mut(index as usize) {
            Some(before) => {
                snapshot.is_retransmission = true;
                snapshot.is_delivered = before.is_delivered;
                self.retransmitted += u64::from(payload);
                *before = snapshot;
            }
            None => self.snapshots.push_back(snapshot),
        }
    }

    /// Returns the sample of an acknowledgment that was processed. `sent`: the segments still
    /// outstanding.
    pub fn sample(&mut self, sent: &Outstanding, rtt_min: Option<Duration>, now: Time) -> RateSample {
        let delivered_before = self.delivered;
        let latest = self.deliver_acknowledged(sent, now);
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newly_delivered = self.delivered - delivered_before;
        let Some(latest) = latest else { return RateSample { newly_delivered, ..RateSample::default() } };
        self.first_sent_at = latest.sent_at;
        let sending_interval = latest.sent_at.saturating_since(latest.first_sent_at);
        let ack_interval = self.delivered_at.saturating_since(latest.delivered_at);
        let interval = sending_interval.max(ack_interval);
        let is_usable = !interval.is_zero() && rtt_min.is_none_or(|rtt_min| interval >= rtt_min);
        let delivered_in_interval = self.delivered - latest.delivered;
        RateSample {
            newly_delivered,
            prior_delivered: latest.delivered,
            rate: is_usable.then(|| delivered_in_interval as f64 / interval.as_secs()),
            rtt: (!latest.is_retransmission).then(|| now.saturating_since(latest.sent_at)),
            app_limited: latest.app_limited,
        }
    }

    /// Counts the segments that are newly acknowledged, cumulatively or by a SACK, as delivered.
    /// Returns the one that was sent last.
    fn deliver_acknowledged(&mut self, sent: &Outstanding, now: Time) -> Option<Snapshot> {
        let mut latest = None;
        while self.first < sent.first_number() {
            let Some(snapshot) = self.snapshots.pop_front() else { break };
            self.first += 1;
            if !snapshot.is_delivered {
                self.deliver(snapshot, &mut latest, now);
            }
        }
        for index in 0..self.snapshots.len().min(sent.len()) {
            let snapshot = self.snapshots[index];
            if sent.is_sacked(index) && !snapshot.is_delivered {
                self.snapshots[index].is_delivered = true;
                self.deliver(snapshot, &mut latest, now);
            }
        }
        latest
    }

    /// Counts a segment as delivered. `latest`: the segment sent last among those that the current
    /// acknowledgment delivers.
    fn deliver(&mut self, snapshot: Snapshot, latest: &mut Option<Snapshot>, now: Time) {
        self.delivered += u64::from(snapshot.payload);
        self.delivered_at = now;
        // Selects the segment sent last, by the amount delivered before it and then by time.
        let order = |snapshot: &Snapshot| (snapshot.delivered, snapshot.sent_at);
        if latest.as_ref().is_none_or(|latest| order(&snapshot) >= order(latest)) {
            *latest = Some(snapshot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SackBlocks;
    use crate::tcp::outstanding::Sent;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A sender with its rate sampler. Data begin at sequence number 1.
    struct Flow {
        sampler: RateSampler,
        sent: Outstanding,
    }

    impl Flow {
        /// Sends a segment of 1000 bytes.
        fn send(&mut self, at_ms: u64) {
            let (number, idle) = (self.sent.next_number(), self.sent.is_empty());
            self.sent.push(Sent { seq: self.sent.max_sent(), payload: 1000, ..Sent::default() });
            self.sent.send_next(ms(at_ms));
            self.sampler.on_sent(number, 1000, idle, ms(at_ms));
        }

        /// An acknowledgment of everything below the sequence number `ack` arrives.
        fn ack(&mut self, at_ms: u64, ack: u64) -> RateSample {
            self.sent.acknowledge(ack);
            self.sampler.sample(&self.sent, None, ms(at_ms))
        }
    }

    fn flow() -> Flow {
        Flow { sampler: RateSampler::default(), sent: Outstanding::starting_at(1) }
    }

    #[test]
    fn rate_is_delivered_data_over_the_longer_interval() {
        let mut flow = flow();
        // Four segments are sent at once and arrive 10 ms apart.
        (0..4).for_each(|_| flow.send(0));
        let rates: Vec<_> =
            (1..=4).map(|i| flow.ack(100 + 10 * i, 1 + 1000 * i).rate.expect("a rate")).collect();
        // ACK `i` arrives 100 + 10 i ms after the transmission and has delivered 1000 i bytes.
        for (i, rate) in (1..).zip(&rates) {
            let expected = 1000.0 * f64::from(i) / (0.1 + 0.01 * f64::from(i));
            assert!((rate - expected).abs() < 1e-6, "{rate} and {expected}");
        }
        // ACKs that arrive all at once do not raise the rate above the sending rate: 4000 bytes in
        // the 301 ms from the first transmission to the ACK.
        (0..4).for_each(|i| flow.send(200 + 100 * i));
        let rate = flow.ack(501, 8001).rate.expect("a rate");
        assert!((rate - 4000.0 / 0.301).abs() < 1.0, "{rate}");
    }

    #[test]
    fn sacked_segment_counts_once() {
        let mut flow = flow();
        (0..3).for_each(|_| flow.send(0));
        flow.sent.mark_sacked(1, &SackBlocks::new(1, [(2001, 3001)]));
        let sample = flow.sampler.sample(&flow.sent, None, ms(100));
        assert_eq!(sample.newly_delivered, 1000);
        assert_eq!(sample.rtt, Some(Duration::from_millis(100)));
        let (first_segment, idle) = (0, false);
        flow.sampler.on_sent(first_segment, 1000, idle, ms(100));
        let sample = flow.ack(200, 3001);
        assert_eq!(sample.newly_delivered, 2000, "the latest was sent twice");
        assert_eq!(sample.rtt, None, "the latest was sent twice");
        assert_eq!(flow.sampler.delivered(), 3000);
    }

    #[test]
    fn application_limited_samples_are_marked_until_delivered() {
        let mut flow = flow();
        flow.send(0);
        flow.sampler.limit_by_application(1000);
        flow.send(10);
        assert!(!flow.ack(100, 1001).app_limited, "the first segment was sent before the limit");
        assert!(flow.ack(110, 2001).app_limited);
        assert!(!flow.sampler.is_app_limited());
    }
}
