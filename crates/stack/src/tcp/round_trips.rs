//! Round-trip time samples of the sending half. An acknowledgment gives a sample in one of these
//! ways, and the estimator (`rto.rs`), the window law and the exit from slow start receive it.
//!
//! | configuration | sample | measured from |
//! |---|---|---|
//! | timestamps | every ACK of new data | the echoed timestamp (RFC 7323 §4) |
//! | Linux's rule, no timestamps | every ACK of segments that were sent once | the transmission of the first of them |
//! | ns-2's FACK | every ACK of new data | the echoed timestamp |
//! | all others | the ACK of the segment being timed (RFC 6298 §3) | its transmission |

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use crate::context::Context;
use crate::packet::Segment;
use crate::trace::TraceEvent;

use super::config::RtoRule;
use super::congestion::{RoundTrip, Sample};
use super::connection::Connection;
use super::options::whole_ticks;
use super::outstanding::Acknowledged;
use super::rto::RttEstimator;
use super::sender::Sender;

/// The segment that is being timed. Its retransmission cancels the measurement (Karn's rule).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedSegment {
    /// The sequence number after the segment.
    pub end: u64,
    /// Time of its first transmission.
    pub sent_at: Time,
}

impl Connection {
    /// Takes a sample from an acknowledgment of new data, with timestamps or by Linux's rule. In
    /// other cases `sample_as_variant_says` takes it.
    #[inline]
    pub(super) fn sample_new_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        acknowledged: &Acknowledged,
    ) {
        if self.negotiated.timestamps && segment.options.timestamps {
            self.measure_echo(cx, segment, acknowledged.segments);
            return;
        }
        let covers_only_originals = acknowledged.segments > 0 && !acknowledged.any_retransmitted;
        if self.times_every_segment() && covers_only_originals {
            self.measure_since(cx, acknowledged.first_sent_at, RttEstimator::sample);
        }
    }

    /// Takes or cancels a sample as the variant's reaction says. For [`Sample::Echo`] it only ends
    /// the timing: `react` takes the sample after it has restarted the timer, as in ns-2.
    #[inline]
    pub(super) fn sample_as_variant_says<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        sample: Sample,
    ) {
        let is_acked = |timed: &mut TimedSegment| timed.end <= segment.ack;
        match sample {
            Sample::Nothing => {}
            Sample::Echo => {
                if self.sender.timed.take_if(is_acked).is_some() {
                    self.sender.estimator.end_back_off();
                }
            }
            Sample::Cancel => self.sender.timed = None,
            Sample::EchoAndCancel => {
                self.sender.timed = None;
                self.measure_since(cx, segment.echo, RttEstimator::sample_echo);
            }
            // `sample_new_ack` has taken a sample already.
            Sample::Timed if self.negotiated.timestamps || self.times_every_segment() => {
                self.sender.timed = None;
            }
            Sample::Timed => {
                if let Some(timed) = self.sender.timed.take_if(is_acked) {
                    self.measure_since(cx, timed.sent_at, RttEstimator::sample);
                }
            }
        }
    }

    /// Whether each ACK of segments sent once gives a sample, measured from the first segment that
    /// it covers, as in Linux. Other rules time one segment at a time.
    #[inline]
    fn times_every_segment(&self) -> bool {
        self.config.rto_rule == RtoRule::Linux
    }

    /// Round-trip time measurement (RFC 7323 §4): with timestamps each ACK of new data gives a
    /// sample, also for retransmissions. `acked`: number of segments that the ACK covers. The
    /// weight of a sample falls with the number of samples per round trip, which is half of the
    /// segments in flight, because an ACK covers about two segments (appendix G).
    fn measure_echo<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        acked: u32,
    ) {
        let flight = self.sender.outstanding.len() as u32 + acked;
        let samples_per_round_trip = flight.div_ceil(2).max(1);
        let tick = self.config.timestamp_tick;
        let rtt = whole_ticks(cx.now, tick).saturating_since(segment.echo).max(tick);
        self.measure(cx, rtt, |estimator, _| estimator.sample_often(rtt, samples_per_round_trip));
    }

    /// Takes a sample for a segment that was sent at `sent`.
    pub(super) fn measure_since<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sent: Time,
        sample: impl FnOnce(&mut RttEstimator, Time, Time),
    ) {
        self.measure(cx, cx.now - sent, |estimator, now| sample(estimator, sent, now));
    }

    /// Records a round trip and updates the estimators.
    fn measure<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        rtt: Duration,
        sample: impl FnOnce(&mut RttEstimator, Time),
    ) {
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::RttSample { connection, end, rtt });
        if let Some(law) = self.sender.window.law.non_standard() {
            law.on_round_trip(rtt);
        }
        let Sender { estimator, outstanding, adaptation, window, .. } = &mut self.sender;
        let (una, max_sent) = (outstanding.una(), outstanding.max_sent());
        window.sample_round_trip(|| RoundTrip { now: cx.now, rtt, una, max_sent });
        estimator.set_progress(outstanding.una(), outstanding.max_sent());
        let (srtt_before, timeout_before) = (estimator.srtt(), estimator.timeout());
        sample(estimator, cx.now);
        // RFC 4015 §3.2, step 6: after a spurious timeout the timer becomes more conservative.
        if let Some(adaptation) = adaptation.take_if(|adaptation| outstanding.una() > adaptation.after) {
            estimator.adapt_after_spurious_timeout(adaptation.registers, rtt);
        }
        if estimator.srtt() != srtt_before || estimator.timeout() != timeout_before {
            self.record_rto(cx);
        }
    }
}
