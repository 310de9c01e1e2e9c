//! Effect of a received STATUS (TS 25.322 §9.4, §11.5.3). Its report acknowledges PDUs, which
//! advances VT(A), the oldest unacknowledged PDU, and lists missing PDUs to retransmit. A WINDOW
//! changes the window of the sender, an MRW (move receiving window) the window of the receiver. A
//! POLL SUFI requests a report of the receiver.

use umts_kernel::TraceSink;

use super::sender::Sender;
use super::timers::{Timer, Timers};
use super::{AmEntity, ErroneousSn};
use crate::Context;
use crate::radio::rlc::RlcConfig;
use crate::radio::rlc::{BlockSet, Sn, SnRun, Status};
use crate::trace::{PduDrop, TraceEvent};

impl AmEntity {
    /// Handles a STATUS: its report, window, MRW or the answer to one, and POLL SUFI. A POLL SUFI has
    /// no effect if the received PDUs have one size (TS 25.322 §11.5.2).
    pub(super) fn handle_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        status: &Status,
    ) {
        let (config, timers) = (&self.config, &mut self.timers);
        if let Some(lsn) = status.lsn {
            let missing = set.missing_of(status);
            let applied = self.sender.apply_report(cx, config, timers, lsn, missing);
            if applied.is_err() {
                self.sender.wants_reset |= config.erroneous_sn == ErroneousSn::Reset;
                self.receiver.record_dropped(cx, 1, PduDrop::ErroneousSn);
                return;
            }
        }
        if let Some(wsn) = status.window {
            self.sender.apply_window(config, wsn);
        }
        if let Some(ack) = status.mrw_ack {
            self.sender.apply_mrw_ack(cx, config, timers, ack);
        }
        if let Some(mrw) = status.mrw {
            self.receiver.move_window(cx, config, timers, mrw, &set.discarded);
        }
        if let Some(last) = status.poll
            && config.is_flexible(self.receiver.direction)
        {
            self.receiver.handle_poll_sufi(cx.now, config, timers, last);
        }
    }
}

impl Sender {
    /// Applies the acknowledgment of a STATUS. Returns an error without any effect if the STATUS
    /// has a PDU outside VT(A) to VT(S).
    pub(super) fn apply_report<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        lsn: Sn,
        missing: &[SnRun],
    ) -> Result<(), OutsideWindow> {
        if !self.is_within_window(lsn, missing) {
            return Err(OutsideWindow);
        }
        let first_missing = missing.iter().map(|run| run.first.count_from(self.vt_a)).min();
        let acknowledged = lsn.count_from(self.vt_a).min(first_missing.unwrap_or(u64::MAX));
        for run in missing {
            self.mark_missing(cx, config, timers, run);
        }
        self.acknowledge(cx, config, timers, acknowledged);
        Ok(())
    }

    /// Whether LSN and all missing PDUs of a report are between VT(A) and VT(S).
    fn is_within_window(&self, lsn: Sn, missing: &[SnRun]) -> bool {
        let in_flight = self.vt_s - self.vt_a;
        let vt_a = Sn::of(self.vt_a);
        let end_of = |run: &SnRun| run.first.steps_from(vt_a) + u64::from(run.count);
        lsn.steps_from(vt_a) <= in_flight && missing.iter().all(|run| end_of(run) <= in_flight)
    }

    /// Schedules the retransmission of the missing PDUs `run`. A PDU that must not be sent again
    /// leads to the discard of its SDUs or to a reset.
    fn mark_missing<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        run: &SnRun,
    ) {
        let first = run.first.count_from(self.vt_a);
        for pdu in first..first + u64::from(run.count) {
            if pdu + 1 == self.polls.vt_s_at_last_poll {
                timers.stop(Timer::Poll);
            }
            // A discard in an earlier pass of this loop may have raised the floor above this PDU.
            if pdu < self.discards.floor {
                continue;
            }
            if config.may_retransmit(self.transmissions(pdu)) {
                self.nacked_count += u32::from(self.nacked.insert(pdu));
            } else {
                self.reach_max_dat(cx, config, timers, pdu);
            }
        }
    }

    /// Advances VT(A) to `acknowledged` and releases the SDUs below.
    pub(super) fn acknowledge<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        acknowledged: u64,
    ) {
        self.advance_vt_a(acknowledged);
        self.end_mrw_if_window_moved(config, timers, acknowledged);
        let poll_is_answered = self.vt_a >= self.polls.vt_s_at_last_poll;
        if poll_is_answered {
            timers.stop(Timer::Poll);
        }
        let nothing_is_outstanding = self.vt_a == self.vt_s;
        if nothing_is_outstanding {
            self.polls.cancel(timers);
        }
        while self.padded.front().is_some_and(|padded| padded.pdu < self.vt_a) {
            self.padded.pop_front();
        }
        self.release_acknowledged_sdus(cx, config, timers);
    }

    /// Advances VT(A) to `acknowledged`, if it is higher, and forgets the PDUs below.
    #[inline]
    fn advance_vt_a(&mut self, acknowledged: u64) {
        if acknowledged <= self.vt_a {
            return;
        }
        if self.nacked_count > 0 {
            self.nacked_count -= self.nacked.remove_range(self.vt_a, acknowledged);
        }
        self.retransmitted.clear_range(self.vt_a, acknowledged);
        self.vt_a = acknowledged;
        self.update_vt_ms();
    }

    /// Releases the SDUs that end below VT(A).
    #[inline]
    fn release_acknowledged_sdus<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
    ) {
        let octets_before = self.stored_octets;
        while let Some(sent) = self.sent_sdus.front().filter(|sent| sent.last_pdu < self.vt_a) {
            let was_discarded = self.discards.sent_sdus > 0;
            if was_discarded {
                // The SDU was counted when it was discarded.
                self.discards.sent_sdus -= 1;
            } else {
                self.stored_octets -= sent.sdu.size().0;
                self.sdus_done += 1;
            }
            self.sent_sdus.pop_front();
        }
        if self.stored_octets != octets_before {
            let (ue, direction, octets) = (self.ue, self.direction, self.stored_octets);
            cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
            self.set_timer_discard(config, timers);
        }
    }
}

/// A STATUS has a PDU outside VT(A) to VT(S).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutsideWindow;
