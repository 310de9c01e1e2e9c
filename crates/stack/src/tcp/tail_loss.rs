//! Tail loss probes (RFC 8985 §7). If no acknowledgment arrives for two round trips although
//! segments are outstanding, the probe timeout (PTO) expires and one segment is sent, before the
//! retransmission timer expires. The acknowledgment of this probe shows which segments are missing.
//!
//! ```text
//!   data ─ ─ ─ ✗    no ACK: PTO    probe: new data, or the last segment again
//!                                  ├─ SACKed: RACK marks lost segments, a recovery begins
//!                                  ├─ acknowledged, with later data: the probe repaired a single
//!                                  │     loss, and the window is reduced
//!                                  └─ acknowledged, and a second acknowledgment or a duplicate
//!                                        report: the probe was spurious
//! ```

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::congestion::{Flight, Selection, VariantState};
use super::connection::Connection;
use super::timers::Timer;
use crate::context::Context;
use crate::packet::Segment;
use crate::trace::TraceEvent;

/// The longest delay of the acknowledgment of a single segment (TLP.max_ack_delay, §7.2). Linux:
/// the minimum timeout.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// Probe timeout (PTO) before the first round-trip time is measured (§7.2).
const INITIAL_PTO: Duration = Duration::from_secs(1);

/// State variables of §7.1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TailLoss {
    /// A probe must be sent now.
    due: bool,
    /// The highest sequence number sent when the last probe was sent, plus 1, until the probe is
    /// answered (TLP.end_seq).
    end: Option<u64>,
    /// The last probe was a retransmission (TLP.is_retrans).
    is_retransmission: bool,
    /// Number of segments outstanding when the last probe was sent.
    flight: u32,
}

impl TailLoss {
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    #[inline]
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    pub fn set_due(&mut self) {
        self.due = true;
    }

    /// Resets the state when a recovery begins or the retransmission timer expires.
    pub fn reset(&mut self) {
        *self = TailLoss::default();
    }
}

impl Connection {
    /// Time from `now` to the next probe (§7.2, TLP_calc_PTO): about two round trips, but no longer
    /// than the retransmission timeout. `None` if no probe may be scheduled.
    pub(super) fn probe_timeout(&self, now: Time) -> Option<Duration> {
        let sender = &self.sender;
        let VariantState::Rack(rack) = &sender.variant else { return None };
        let outstanding = &sender.outstanding;
        let may_probe = self.config.tail_loss_probes
            && sender.tail.end.is_none()
            && !outstanding.is_empty()
            && outstanding.una() > 0
            && rack.may_probe(outstanding);
        if !may_probe {
            return None;
        }
        let srtt = sender.estimator.srtt();
        let wait = match outstanding.len() {
            _ if srtt.is_zero() => INITIAL_PTO,
            1 => srtt * 2 + MAX_ACK_DELAY,
            _ => srtt * 2 + self.timer_slack(),
        };
        let until_rto = self.timers.deadline(Timer::Rto).map(|at| at.saturating_since(now));
        Some(until_rto.map_or(wait, |until_rto| wait.min(until_rto)))
    }

    /// Selects the segment of a probe (§7.3): new data if there is some and room for it, otherwise
    /// the last segment again.
    pub(super) fn probe_for_tail(&mut self) -> Selection {
        let outstanding = self.sender.outstanding.len();
        match self.new_segment() {
            Some(_) => Selection::InOrder,
            None if outstanding > 0 => Selection::Probe(outstanding - 1),
            None => {
                self.sender.tail.due = false;
                Selection::Wait
            }
        }
    }

    /// Records that a probe was sent.
    pub(super) fn record_probe<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        selection: Selection,
    ) {
        let outstanding = &self.sender.outstanding;
        let repeats = matches!(selection, Selection::Probe(_));
        self.sender.tail = TailLoss {
            due: false,
            end: Some(outstanding.max_sent()),
            is_retransmission: repeats,
            flight: outstanding.len() as u32,
        };
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::TailLossProbe { connection, end, repeats });
        self.restart_timer(cx.now);
    }

    /// TLP_process_ack (§7.4.2). `una_before`: SND.UNA before this acknowledgment.
    pub(super) fn process_probe_ack<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segment: &Segment,
        una_before: u64,
    ) {
        let tail = self.sender.tail;
        let Some(probe_end) = tail.end.filter(|&end| segment.ack >= end) else { return };
        let arrived_twice = segment.sack.duplicate(segment.ack).is_some_and(|(_, end)| end == probe_end);
        let is_plain_duplicate =
            segment.ack == una_before && segment.sack.is_empty() && segment.sequence_length() == 0;
        // A probe with new data repairs nothing. If both copies of a segment arrived, as a
        // duplicate report or a second acknowledgment shows, no segment was lost.
        if !tail.is_retransmission || arrived_twice {
            self.sender.tail.end = None;
        } else if segment.ack > probe_end {
            self.sender.tail.end = None;
            self.reduce_after_repaired_loss(cx, tail.flight);
        } else if is_plain_duplicate {
            self.sender.tail.end = None;
        }
    }

    /// Reduces the window because a probe has repaired a loss, as a recovery would have done.
    /// `segments`: number of segments outstanding when the probe was sent.
    fn reduce_after_repaired_loss<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        segments: u32,
    ) {
        let flight = Flight { segments, ..self.flight() };
        let (connection, end) = (self.id, self.end);
        cx.record(|| TraceEvent::TailLossRepaired { connection, end });
        self.sender.window.reduce_without_recovery(&flight);
    }
}
