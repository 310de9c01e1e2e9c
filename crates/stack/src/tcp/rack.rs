//! What RACK and tail loss probes (RFC 8985) ask of a connection: to be told what comes, a timer, and why something leaves
//! again. Which segments are lost says [`Rack`]; probes are in `tail_loss.rs`. A connection without them is asked once.
//!
//! One timer serves both (§7.2): the reordering timer runs while a segment waits to be lost, the probe timer only while
//! nothing is known to be missing.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::config::RtoRule;
use super::congestion::{Rack, RackHeard, Resend, Turn, VariantState};
use super::connection::Connection;
use super::rto::RttEstimator;
use super::sender::Sender;
use super::timers::Timer;
use crate::context::Context;
use crate::packet::Segment;
use crate::trace::{SendCause, TraceEvent};

impl Connection {
    /// RACK, where both ends acknowledge selectively.
    #[inline]
    pub(super) fn rack(&mut self) -> Option<&mut Rack> {
        match &mut self.sender.variant {
            VariantState::Rack(rack) => Some(rack),
            _ => None,
        }
    }

    /// An acknowledgment came, nothing of which is noted yet.
    #[inline]
    pub(super) fn tell_rack(&mut self, now: Time, segment: &Segment) {
        let timestamps = self.agreed.timestamps && segment.options.timestamps;
        let probed = self.sender.tail.end();
        let Sender { variant: VariantState::Rack(rack), outstanding, estimator, .. } = &mut self.sender
        else {
            return;
        };
        // That of a probe tells nothing about reordering (Linux).
        let duplicate = segment.sack.duplicate(segment.ack).filter(|(_, end)| Some(*end) != probed);
        rack.hear(
            outstanding,
            &RackHeard {
                now,
                echo: timestamps.then_some(segment.echo),
                srtt: estimator.srtt(),
                duplicate: duplicate.is_some(),
                ack: segment.ack,
                max_sent: outstanding.max_sent(),
            },
        );
    }

    /// An acknowledgment has been dealt with: `before` was unacknowledged, and so many segments outstanding.
    #[inline]
    pub(super) fn settle_rack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        before: u64,
    ) {
        if self.rack().is_none() {
            return;
        }
        self.tell_marks(cx);
        self.hear_of_probe(cx, segment, before);
        self.set_loss_timer(cx.now);
    }

    /// Linux takes the round trip of what a report shows to have arrived, as long as nothing new is acknowledged.
    pub(super) fn measure_report<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let is_linux = self.config.rto.rule == RtoRule::Linux;
        let Some(sent) = self.rack().and_then(Rack::take_news_sent_at).filter(|_| is_linux) else { return };
        self.measure_since(cx, sent, RttEstimator::sample);
    }

    fn tell_marks<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let segments = self.rack().map_or(0, Rack::take_marked);
        let (connection, end) = (self.id, self.end);
        if segments > 0 {
            cx.record(|| TraceEvent::RackLoss { connection, end, segments });
        }
    }

    /// A segment left because it is lost, or as a probe, or for the first time.
    pub(super) fn note_departure<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        turn: Turn,
        is_new: bool,
    ) {
        if self.sender.tail.is_due() {
            return self.note_probe(cx, turn);
        }
        // RFC 6298 (5.1): when the oldest leaves again the timer is that of this copy.
        if turn == Turn::Lost(0) {
            self.restart_timer(cx.now);
        }
        let waits_for_order = self.rack().is_some_and(|rack| rack.reordering_wait().is_some());
        if is_new && !waits_for_order {
            self.set_loss_timer(cx.now);
        }
    }

    /// Why a segment that is lost by RACK leaves again.
    pub(super) fn cause_of_lost(&mut self) -> SendCause {
        if self.rack().is_some_and(|rack| rack.is_expired()) { SendCause::Rto } else { SendCause::DupAck }
    }

    /// The reordering timer, or else that of a probe.
    fn set_loss_timer(&mut self, now: Time) {
        let timer_slack = self.timer_slack();
        let order = self.rack().and_then(|rack| rack.reordering_wait());
        match order.map(|wait| wait + timer_slack).or_else(|| self.probe_timeout(now)) {
            Some(wait) => self.timers.set(Timer::Loss, now + wait),
            None => self.timers.stop(Timer::Loss),
        }
    }

    /// Linux lets these timers run for two ticks of its clock more.
    pub(super) fn timer_slack(&self) -> Duration {
        if self.config.rto.rule == RtoRule::Linux { self.config.rto.granularity * 2 } else { Duration::ZERO }
    }

    /// The timer expired.
    pub(super) fn handle_loss_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let flight = self.flight();
        let before = (self.sender.window.cwnd, self.sender.window.ssthresh);
        let Sender { variant: VariantState::Rack(rack), window, outstanding, .. } = &mut self.sender else {
            return;
        };
        if rack.reordering_wait().is_none() {
            self.sender.tail.fall_due();
            // It may be due at the same instant: the probe goes before (§7.2).
            return self.restart_timer(cx.now);
        }
        let reaction = rack.on_reordering_timeout(window, outstanding, &flight, cx.now);
        if reaction.resend == Resend::Lost {
            self.begin_recovery(cx, &flight, before);
        }
        self.tell_marks(cx);
        self.set_loss_timer(cx.now);
        if before != (self.sender.window.cwnd, self.sender.window.ssthresh) {
            self.record_window(cx);
        }
    }

    /// A recovery begins; `before` is the window and the threshold from before it.
    pub(super) fn begin_recovery<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        flight: &super::congestion::Flight,
        before: (f64, f64),
    ) {
        self.sender.tail.forget();
        self.sender.timed = None;
        self.begin_episode(cx.now, flight, before, false);
    }
}
