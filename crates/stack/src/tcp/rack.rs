//! Integration of RACK and tail loss probes (RFC 8985) into a connection: acknowledgments, a timer,
//! and the causes of retransmissions. [`Rack`] decides which segments are lost. Probes are in
//! `tail_loss.rs`. Connections without RACK cost one check.
//!
//! One timer serves both (§7.2): it is the reordering timer while a segment waits to be marked as
//! lost, and the probe timer only while no segment is known to be missing.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::config::RtoRule;
use super::congestion::{CwndAndSsthresh, Flight, Loss, Rack, RackAck, Resend, Selection, VariantState};
use super::connection::Connection;
use super::rto::RttEstimator;
use super::sender::Sender;
use super::timers::Timer;
use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{SendCause, TraceEvent};

/// Linux: the shortest wait for data that the receiver seems to have discarded.
const MIN_RENEGING_WAIT: Duration = Duration::from_millis(10);

impl Connection {
    /// RACK's state, if both ends use SACK.
    #[inline]
    pub(super) fn rack(&mut self) -> Option<&mut Rack> {
        match &mut self.sender.variant {
            VariantState::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    /// Passes an acknowledgment to RACK, before its content is applied.
    #[inline]
    pub(super) fn update_rack(&mut self, now: Time, segment: &Segment) {
        let timestamps = self.negotiated.timestamps && segment.options.timestamps;
        let probe_end = self.sender.tail.end();
        let Sender { variant: VariantState::Rack(rack), outstanding, estimator, window, .. } =
            &mut self.sender
        else {
            return;
        };
        let duplicate = segment.sack.duplicate(segment.ack);
        let length = duplicate.map_or(0, |(start, end)| end - start);
        let duplicates = u32::try_from(length.div_ceil(window.smss.into())).unwrap_or(u32::MAX);
        // The duplicate of a probe is not evidence of reordering (Linux).
        let duplicate = duplicate.filter(|(_, end)| Some(*end) != probe_end);
        rack.process_ack(
            outstanding,
            &RackAck {
                now,
                echo: timestamps.then_some(segment.echo),
                srtt: estimator.srtt(),
                duplicate: duplicate.is_some(),
                duplicates,
                ack: segment.ack,
                max_sent: outstanding.max_sent(),
            },
        );
    }

    /// Finishes the processing of an acknowledgment. `una_before`: SND.UNA before it.
    #[inline]
    pub(super) fn finish_rack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        una_before: u64,
    ) {
        if self.rack().is_none() {
            return;
        }
        self.record_rack_losses(cx);
        self.process_probe_ack(cx, segment, una_before);
        if self.rack().is_some_and(Rack::take_reneging) {
            return self.await_discarded_segment(cx.now);
        }
        // The probe timer restarts only if SND.UNA advances (RFC 8985 §7.2).
        let advances = segment.ack > una_before;
        let keeps_probe = !advances && self.waits_for_probe(cx.now);
        if !keeps_probe {
            self.set_loss_timer(cx.now);
        }
    }

    /// Whether the loss timer runs for a probe.
    fn waits_for_probe(&mut self, now: Time) -> bool {
        let waits_for_reordering = self.rack().is_some_and(|rack| rack.reordering_wait().is_some());
        !waits_for_reordering && self.timers.is_running(Timer::Loss) && self.probe_timeout(now).is_some()
    }

    /// The receiver has discarded data that it had SACKed. Linux gives it half of a round trip to
    /// acknowledge the data nevertheless (`tcp_check_sack_reneging`). Then the retransmission timer
    /// expires.
    fn await_discarded_segment(&mut self, now: Time) {
        let half_round_trip = Duration::from_nanos(self.sender.estimator.srtt().as_nanos() / 2);
        self.timers.stop(Timer::Loss);
        self.timers.set(Timer::Rto, now + half_round_trip.max(MIN_RENEGING_WAIT));
    }

    /// Takes a round-trip sample from the segments that a duplicate ACK newly SACKs, as Linux does.
    pub(super) fn measure_newly_sacked<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let is_linux = self.config.rto_rule == RtoRule::Linux;
        let Some(sent) = self.rack().and_then(Rack::take_sacked_sent_at).filter(|_| is_linux) else { return };
        self.measure_since(cx, sent, RttEstimator::sample);
    }

    fn record_rack_losses<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let segments = self.rack().map_or(0, Rack::take_marked);
        let (connection, end) = (self.id, self.end);
        if segments > 0 {
            cx.record(|| TraceEvent::RackLoss { connection, end, segments });
        }
    }

    /// Processes the transmission of a lost segment, a probe or a new segment.
    pub(super) fn process_transmission<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        selection: Selection,
        is_new: bool,
    ) {
        if self.sender.tail.is_due() {
            return self.record_probe(cx, selection);
        }
        // RFC 6298 (5.1): if the oldest segment is retransmitted, the timer restarts for this copy.
        if selection == Selection::Lost(0) {
            self.restart_timer(cx.now);
        }
        let waits_for_reordering = self.rack().is_some_and(|rack| rack.reordering_wait().is_some());
        if is_new && !waits_for_reordering {
            self.set_loss_timer(cx.now);
        }
    }

    /// Why a segment that RACK marked as lost is sent again.
    pub(super) fn cause_of_lost(&mut self) -> SendCause {
        if self.rack().is_some_and(|rack| rack.is_expired()) { SendCause::Rto } else { SendCause::DupAck }
    }

    /// Sets the loss timer for reordering if a segment waits to be marked as lost, and otherwise
    /// for a probe.
    fn set_loss_timer(&mut self, now: Time) {
        let timer_slack = self.timer_slack();
        let reordering_wait = self.rack().and_then(|rack| rack.reordering_wait());
        match reordering_wait.map(|wait| wait + timer_slack).or_else(|| self.probe_timeout(now)) {
            Some(wait) => self.timers.set(Timer::Loss, now + wait),
            None => self.timers.stop(Timer::Loss),
        }
    }

    /// The time that Linux adds to the timers for reordering and probes: two ticks of its clock.
    pub(super) fn timer_slack(&self) -> Duration {
        if self.config.rto_rule == RtoRule::Linux { self.config.rto_granularity * 2 } else { Duration::ZERO }
    }

    /// Handles the expiry of the loss timer.
    pub(super) fn handle_loss_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let flight = self.flight();
        let window_before = self.sender.window.size();
        let Sender { variant: VariantState::Rack(rack), window, outstanding, .. } = &mut self.sender else {
            return;
        };
        if rack.reordering_wait().is_none() {
            self.sender.tail.set_due();
            // The retransmission timer may be due at the same instant. The probe precedes it
            // (§7.2).
            return self.restart_timer(cx.now);
        }
        let reaction = rack.on_reordering_timeout(window, outstanding, &flight, cx.now);
        if reaction.resend == Resend::Lost {
            self.begin_recovery(cx, &flight, window_before);
        }
        self.record_rack_losses(cx);
        self.set_loss_timer(cx.now);
        if window_before != self.sender.window.size() {
            self.record_window(cx);
        }
    }

    /// Begins a recovery. `window_before`: the window before its reduction.
    pub(super) fn begin_recovery<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        flight: &Flight,
        window_before: CwndAndSsthresh,
    ) {
        self.sender.tail.reset();
        self.sender.timed = None;
        // A reduction that an ECN echo has begun is reported already.
        if self.sender.window.recover == flight.max_sent {
            self.report_reduction();
        }
        self.begin_loss_episode(cx.now, flight, window_before, Loss::Acks);
    }
}
