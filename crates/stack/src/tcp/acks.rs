//! Processing of acknowledgments in the sending half of a connection end. `connection.rs` calls
//! `handle_ack` for each segment with an acknowledgment that passed the acceptance test.
//!
//! An acknowledgment acknowledges new data (`handle_new_ack`), is a duplicate, or is old. Each kind
//! updates the outstanding segments, lets the congestion control ([`CongestionControl`]) and its
//! window law react, takes a round-trip sample, and may show that the reaction to an earlier loss
//! (an *episode*, see `spurious`) was spurious. The segments that may then be sent are selected in
//! `sender.rs`.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{SendCause, TraceEvent};

use super::config::RtoRule;
use super::congestion::{
    Backoff, ByteCounting, CongestionControl, CwndAndSsthresh, DUPLICATE_THRESHOLD, Duplicate, Loss, NewAck,
    Reaction, Resend, RoundTrip, Sample,
};
use super::connection::Connection;
use super::options::whole_ticks;
use super::outstanding::Acknowledged;
use super::rto::RttEstimator;
use super::sender::Sender;
use super::spurious::AckEvidence;

impl Connection {
    /// Processes the acknowledgment in a segment.
    #[inline]
    pub(super) fn handle_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
    ) {
        let sender = &mut self.sender;
        let una = sender.outstanding.una();
        // Ignored: it acknowledges data that was never sent.
        if segment.ack > sender.outstanding.max_sent() {
            return;
        }
        if segment.ack < una {
            return self.handle_old_ack(cx, segment);
        }
        let has_same_window = segment.window == sender.peer_window;
        if sender.updates_window(segment, &self.config) {
            sender.window_seq = segment.seq;
            sender.update_peer_window(segment.window, &self.config);
        }
        // Permissions that the previous acknowledgment gave end here.
        sender.limited = false;
        sender.only_holes = false;
        let window_before = sender.window.size();
        self.update_rack(cx.now, segment);
        let outstanding = &self.sender.outstanding;
        if segment.ack > una {
            self.handle_new_ack(cx, segment);
        } else if !outstanding.is_empty()
            && ((segment.sequence_length() == 0 && has_same_window) || self.carries_sack_blocks(segment))
        {
            // The five conditions of a duplicate (RFC 5681 §2), or SACK blocks instead of the last
            // two.
            self.handle_duplicate_ack(cx, segment);
        }
        self.finish_ack(cx, segment, una, window_before);
    }

    /// Processes an acknowledgment below SND.UNA, which arrived out of order. Only its SACK blocks
    /// count (RFC 6675 §4: each acknowledgment updates the scoreboard).
    #[inline(never)]
    fn handle_old_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, segment: &Segment) {
        if self.sender.outstanding.is_empty() || !self.carries_sack_blocks(segment) {
            return;
        }
        let window_before = self.sender.window.size();
        let una = self.sender.outstanding.una();
        self.sender.limited = false;
        self.update_rack(cx.now, segment);
        self.handle_duplicate_ack(cx, segment);
        self.sender.only_holes = self.rack().is_none();
        self.finish_ack(cx, segment, una, window_before);
    }

    /// The last step for each acknowledgment: ECN, the limit on the burst that it may release,
    /// RACK's timers, and the trace. `una_before` and `window_before` are the values before the
    /// acknowledgment.
    #[inline]
    fn finish_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        una_before: u64,
        window_before: CwndAndSsthresh,
    ) {
        if segment.flags.ece && !segment.flags.syn {
            self.handle_echo(cx, window_before.cwnd);
        }
        self.sender.burst = self.sender.variant.burst(&self.sender.window);
        self.finish_rack(cx, segment, una_before);
        self.notify_law_after_ack(cx.now);
        if window_before != self.sender.window.size() {
            self.record_window(cx);
        }
    }

    /// With SACK, an acknowledgment with blocks may count as a duplicate whatever else it carries
    /// (RFC 6675 §2).
    fn carries_sack_blocks(&self, segment: &Segment) -> bool {
        self.negotiated.blocks > 0 && !self.config.is_one_way() && !segment.sack.is_empty()
    }

    /// Processes an acknowledgment of new data: updates the window, lets the variant react, takes a
    /// round-trip sample, and decides whether earlier retransmissions were spurious.
    fn handle_new_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, segment: &Segment) {
        let (connection, end, una) = (self.id, self.end, segment.ack);
        let flight = self.sender.outstanding.len() as u32;
        let acknowledged = self.sender.outstanding.acknowledge(una);
        // The slow-start exit measures round trips only of segments that were sent once.
        let window = &mut self.sender.window;
        window.acked = acknowledged.payload as f64 / f64::from(window.smss);
        if !acknowledged.syn && acknowledged.last_transmissions == 1 {
            let max_sent = self.sender.outstanding.max_sent();
            window.sample_last_segment(|| RoundTrip {
                now: cx.now,
                rtt: cx.now - acknowledged.last_sent_at,
                una,
                max_sent,
            });
        }
        // The window law and the trace see the ACK before the variant changes the window.
        let mut segments = acknowledged.segments;
        if window.abc.as_ref().is_some_and(ByteCounting::is_unlimited) {
            // Segments that were SACKed earlier were counted when they were SACKed.
            segments -= acknowledged.sacked;
            window.acked = segments.into();
        }
        if !acknowledged.syn {
            self.notify_law_of_new_ack(cx.now, flight, segments);
        }
        cx.record(|| TraceEvent::Acked { connection, end, una, payload: acknowledged.payload });
        self.sender.limited_sent = 0;
        self.sender.expiries = 0;
        // The variant changes the window and may begin a recovery.
        let window_before = self.sender.window.size();
        let reaction = self.let_variant_react(cx.now, segment, &acknowledged);
        self.sender.resend_first = false;
        if reaction.resend == Resend::Lost {
            let flight = self.flight();
            self.begin_recovery(cx, &flight, window_before);
        }
        // A round-trip sample with timestamps or by Linux's rule. `react` takes the others.
        if self.negotiated.timestamps && segment.options.timestamps {
            self.measure_echo(cx, segment, acknowledged.segments);
        } else if self.times_every_segment() && acknowledged.segments > 0 && !acknowledged.any_retransmitted {
            self.measure_since(cx, acknowledged.first_sent_at, RttEstimator::sample);
        }
        self.react(cx, segment, reaction);
        if self.sender.episode.is_some() {
            self.decide_episode(
                cx,
                segment,
                &AckEvidence {
                    advances: true,
                    acked: acknowledged.segments,
                    originals: acknowledged.originals,
                },
            );
        }
        self.sender.fin_acked |= acknowledged.fin;
        if acknowledged.payload > 0 && una >= self.sender.written {
            self.events.report_all_acked();
        }
    }

    /// Passes an acknowledgment of new data, or of the SYN, to the variant. Returns its reaction.
    #[inline]
    fn let_variant_react(&mut self, now: Time, segment: &Segment, acknowledged: &Acknowledged) -> Reaction {
        let sack = &segment.sack;
        let ack = NewAck {
            segments: acknowledged.segments,
            flight: self.flight(),
            removed: acknowledged,
            sack,
            now,
        };
        let Sender { variant, window, outstanding, estimator, syn_expiries, .. } = &mut self.sender;
        if !acknowledged.syn {
            return variant.on_new_ack(window, outstanding, &ack);
        }
        if *syn_expiries > 0 {
            estimator.restart_after_lost_syn();
        }
        // The initial window is one segment if a SYN was lost (RFC 5681 §3.1). Linux assumes that
        // after one expiry the answer was only late, because the initial timeout is as short as 1 s
        // (`tcp_init_metrics`).
        let tolerated_expiries = u32::from(self.config.is_recent_linux());
        let initial = if *syn_expiries > tolerated_expiries { 1 } else { self.config.initial_segments() };
        variant.on_syn_ack(window, outstanding, &ack, initial)
    }

    /// Processes a duplicate ACK: counts it, lets the variant react, and may begin a recovery.
    fn handle_duplicate_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, segment: &Segment) {
        let (connection, end, flight) = (self.id, self.end, self.flight());
        self.notify_law_of_duplicate_ack(cx.now, self.sender.outstanding.len() as u32);
        let Sender { variant, window, outstanding, limited, .. } = &mut self.sender;
        let counted = variant.count_duplicate(window, outstanding, segment.ack, &segment.sack);
        let count = window.duplicates;
        if counted {
            cx.record(|| TraceEvent::DupAck { connection, end, count });
            *limited = self.config.limited_transmit && count < DUPLICATE_THRESHOLD;
        }
        let is_late = segment.ack < outstanding.una();
        let ack = Duplicate { flight, sack: &segment.sack, counted, is_late, now: cx.now };
        let window_before = window.size();
        let reaction = variant.on_duplicate_ack(window, outstanding, &ack);
        match reaction.resend {
            Resend::Nothing => {}
            Resend::Lost => self.begin_recovery(cx, &flight, window_before),
            Resend::First | Resend::GoBack => {
                self.begin_loss_episode(cx.now, &flight, window_before, Loss::Acks)
            }
        }
        self.measure_newly_sacked(cx);
        self.react(cx, segment, reaction);
        // A late acknowledgment that reports nothing new does not count.
        if self.sender.episode.is_some() && (counted || !is_late) {
            self.decide_episode(cx, segment, &AckEvidence::default());
        }
    }

    /// Whether each ACK of segments sent once gives a sample, measured from the first segment that
    /// it covers, as in Linux. Other rules time one segment at a time.
    #[inline]
    fn times_every_segment(&self) -> bool {
        self.config.rto_rule == RtoRule::Linux
    }

    /// Applies the reaction of the variant. The round-trip sample is taken before the timer is
    /// restarted, because the timeout depends on it ([`Sample::Echo`] of ns-2 is the exception).
    fn react<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        reaction: Reaction,
    ) {
        match reaction.resend {
            Resend::Nothing | Resend::Lost => {}
            Resend::First => self.sender.resend_first = true,
            Resend::GoBack => self.go_back(SendCause::DupAck),
        }
        match reaction.sample {
            Sample::Nothing => {}
            Sample::Echo => {
                if self.sender.timed.take_if(|(end, _)| *end <= segment.ack).is_some() {
                    self.sender.estimator.end_back_off();
                }
            }
            Sample::Cancel => self.sender.timed = None,
            Sample::EchoAndCancel => {
                self.sender.timed = None;
                self.measure_since(cx, segment.echo, RttEstimator::sample_echo);
            }
            // `handle_new_ack` has taken a sample already.
            Sample::Timed if self.negotiated.timestamps || self.times_every_segment() => {
                self.sender.timed = None
            }
            Sample::Timed => {
                if let Some((_, sent)) = self.sender.timed.take_if(|(end, _)| *end <= segment.ack) {
                    self.measure_since(cx, sent, RttEstimator::sample);
                }
            }
        }
        match reaction.backoff {
            Backoff::Keep => {}
            Backoff::Clear => self.sender.estimator.end_back_off(),
            Backoff::Double => self.sender.estimator.back_off(),
        }
        if reaction.restart_timer {
            self.restart_timer(cx.now);
        }
        if reaction.sample == Sample::Echo {
            self.measure_since(cx, segment.echo, RttEstimator::sample_echo);
        }
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
