//! Processing of acknowledgments in the sending half of a connection end. `connection.rs` calls
//! `handle_ack` for each segment with an acknowledgment that passed the acceptance test.
//!
//! An acknowledgment acknowledges new data (`handle_new_ack`), is a duplicate, or is old. Each kind
//! updates the outstanding segments, lets the congestion control ([`CongestionControl`]) and its
//! window law react, takes a round-trip sample (`round_trips.rs`), and may show that the reaction
//! to an earlier loss (an *episode*, see `spurious`) was spurious. The segments that may then be
//! sent are selected in `sending.rs`. Sequence numbers are in bytes, windows in segments.

use umts_kernel::TraceSink;
use umts_units::Time;

use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{SendCause, TraceEvent};

use super::congestion::{
    Backoff, ByteCounting, CongestionControl, CwndAndSsthresh, DUPLICATE_THRESHOLD, Duplicate, Law, Loss,
    NewAck, Reaction, Resend, RoundTrip, Sample,
};
use super::connection::Connection;
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
        let una_before = sender.outstanding.una();
        let acknowledges_unsent = segment.ack > sender.outstanding.max_sent();
        if acknowledges_unsent {
            return;
        }
        if segment.ack < una_before {
            return self.handle_old_ack(cx, segment);
        }
        let had_nothing_outstanding = sender.outstanding.is_empty();
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
        if segment.ack > una_before {
            self.handle_new_ack(cx, segment);
        } else if self.is_duplicate_ack(segment, has_same_window) {
            self.handle_duplicate_ack(cx, segment);
        }
        self.finish_ack(cx, segment, una_before, window_before);
        if had_nothing_outstanding {
            self.postpone_probe();
        }
    }

    /// Whether an acknowledgment of SND.UNA is a duplicate: the five conditions of RFC 5681 §2, or
    /// SACK blocks instead of the last two (no data, SYN or FIN; the same window).
    #[inline]
    fn is_duplicate_ack(&self, segment: &Segment, has_same_window: bool) -> bool {
        let is_plain = || segment.sequence_length() == 0 && has_same_window;
        !self.sender.outstanding.is_empty() && (is_plain() || self.carries_sack_blocks(segment))
    }

    /// With SACK, an acknowledgment with blocks may count as a duplicate whatever else it carries
    /// (RFC 6675 §2).
    fn carries_sack_blocks(&self, segment: &Segment) -> bool {
        self.negotiated.blocks > 0 && !self.config.is_one_way() && !segment.sack.is_empty()
    }

    /// Processes an acknowledgment of new data.
    fn handle_new_ack<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, segment: &Segment) {
        let flight_before = self.sender.outstanding.len() as u32;
        let acknowledged = self.sender.outstanding.acknowledge(segment.ack);
        self.prepare_window(cx.now, segment, &acknowledged, flight_before);
        let (connection, end, una, payload) = (self.id, self.end, segment.ack, acknowledged.payload);
        cx.record(|| TraceEvent::Acked { connection, end, una, payload });
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

        self.sample_new_ack(cx, segment, &acknowledged);
        self.react(cx, segment, reaction);
        if self.sender.episode.is_some() {
            let evidence = AckEvidence {
                advances: true,
                acked: acknowledged.segments,
                originals: acknowledged.originals,
            };
            self.decide_episode(cx, segment, &evidence);
        }

        self.sender.fin_acked |= acknowledged.fin;
        let has_acked_all_data = acknowledged.payload > 0 && una >= self.sender.written;
        if has_acked_all_data {
            self.events.report_all_acked();
        }
    }

    /// Informs the exit from slow start and the window law of an acknowledgment of new data, before
    /// the variant changes the window. `flight_before`: number of segments outstanding before it.
    #[inline]
    fn prepare_window(
        &mut self,
        now: Time,
        segment: &Segment,
        acknowledged: &Acknowledged,
        flight_before: u32,
    ) {
        let una = segment.ack;
        let window = &mut self.sender.window;
        window.acked = acknowledged.payload as f64 / f64::from(window.smss);
        // The slow-start exit measures round trips only of segments that were sent once.
        let is_measurable = !acknowledged.syn && acknowledged.last_transmissions == 1;
        if is_measurable {
            let max_sent = self.sender.outstanding.max_sent();
            window.sample_last_segment(|| RoundTrip {
                now,
                rtt: now - acknowledged.last_sent_at,
                una,
                max_sent,
            });
        }
        let mut segments = acknowledged.segments;
        if window.abc.as_ref().is_some_and(ByteCounting::is_unlimited) {
            segments = self.newly_delivered(segment, acknowledged);
            self.sender.window.acked = segments.into();
        }
        if !acknowledged.syn {
            self.notify_law_of_new_ack(now, flight_before, segments);
        }
    }

    /// Number of segments that an acknowledgment of new data first reports as received, which Linux
    /// counts for the growth of the window (`tcp_cong_control`): segments covered and not SACKed
    /// before, newly SACKed segments, and retransmissions that arrived in addition to their originals.
    fn newly_delivered(&mut self, segment: &Segment, acknowledged: &Acknowledged) -> u32 {
        let covered = acknowledged.segments - acknowledged.sacked;
        if segment.sack.is_empty() || self.negotiated.blocks == 0 {
            return covered;
        }
        let newly_sacked = self.sender.outstanding.count_newly_sacked(segment.ack, &segment.sack);
        let duplicates = self.rack().map_or(0, |rack| rack.duplicates());
        covered + newly_sacked + duplicates
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
        self.notify_law_of_sacks(cx.now, segment);
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

    /// Informs the window law of a duplicate ACK. If the window grows with SACKed segments, the law
    /// counts them like acknowledged ones.
    fn notify_law_of_sacks(&mut self, now: Time, segment: &Segment) {
        let flight = self.sender.outstanding.len() as u32;
        let smss = self.sender.window.smss;
        let is_cubic = matches!(self.sender.window.law, Law::Cubic(_));
        let grows = is_cubic && self.rack().is_some_and(|rack| rack.grows_by_sacks(smss));
        if !grows {
            return self.notify_law_of_duplicate_ack(now, flight);
        }
        let segments = self.sender.outstanding.count_newly_sacked(segment.ack, &segment.sack);
        self.sender.window.acked = segments.into();
        self.notify_law_of_new_ack(now, flight, segments);
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
        self.sample_as_variant_says(cx, segment, reaction.sample);
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
}
