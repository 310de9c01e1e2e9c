//! Triggers of the status reports of acknowledged mode, at the receiving side: missing PDUs, polls, the
//! estimated PDU counter, the timers that delay a report (TS 25.322 §9.7.2, §11.5.2), and MRWs (move
//! receiving window) to answer (§11.6.3).

use umts_units::{Duration, Time};

use super::config::GapWhileProhibited;
use super::receiver::Receiver;
use super::timers::{Timer, Timers};
use crate::radio::rlc::{MrwAck, RlcConfig, Sn};

impl Receiver {
    /// Starts the EPC (estimated PDU counter) for the PDUs requested by a report, or stops it if
    /// there are none.
    pub fn start_epc(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        if config.timer_epc.is_none() {
            return;
        }
        let requested = self.vr_h - self.vr_r - self.arrived.count(self.vr_r, self.vr_h);
        self.requested_below = self.vr_h;
        match config.epc_wait(self.direction, requested).filter(|_| requested > 0) {
            Some(wait) => timers.set(Timer::Epc, now + wait),
            None => timers.stop(Timer::Epc),
        }
    }

    /// Handles the expiry of the EPC: triggers a report if a PDU requested by the last report is
    /// still missing.
    pub fn epc_expired(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        if self.vr_r < self.requested_below {
            self.trigger(now, config, timers);
        }
    }

    /// Whether neither a report nor an MRW_ACK is due.
    #[inline]
    pub fn has_no_status_due(&self, now: Time) -> bool {
        !(self.report_is_due(now) | self.owes_mrw_ack())
    }

    /// Triggers a report because a PDU is missing (TS 25.322 §9.7.2). While reports are prohibited,
    /// the trigger waits or is forgotten.
    #[inline]
    pub(super) fn trigger_for_gap(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        let is_forgotten =
            now < self.prohibited_until && config.gap_while_prohibited == GapWhileProhibited::Forgotten;
        if !is_forgotten {
            self.trigger(now, config, timers);
        }
    }

    /// Triggers a report, unless one is pending. While reports are prohibited, the report waits.
    #[inline]
    pub fn trigger(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        if self.report_due == Time::NEVER {
            self.schedule_report(now, config, timers);
        }
    }

    fn schedule_report(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        let due = now.max(self.prohibited_until);
        self.report_due = due;
        if now < due {
            timers.set(Timer::StatusProhibit, due);
        }
        if !config.piggyback_wait.is_zero() {
            // The timer expires one nanosecond after the wait, because timers are handled before
            // transmissions of the same instant: data sent at the end of the wait still carry the
            // report.
            timers.set(Timer::StatusWait, due + config.piggyback_wait + Duration::from_nanos(1));
        }
    }

    /// Whether a report is pending and may be sent.
    #[inline]
    pub fn report_is_due(&self, now: Time) -> bool {
        self.report_due <= now
    }

    /// Ends the pending report after its last part was sent, and starts Timer_Status_Prohibit.
    pub fn finish_report(&mut self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        self.report_due = Time::NEVER;
        self.next_part_from = None;
        self.prepared = None;
        self.prepared_missing.clear();
        timers.stop(Timer::StatusProhibit);
        timers.stop(Timer::StatusWait);
        if let Some(prohibit) = config.timer_status_prohibit {
            self.prohibited_until = now + prohibit;
        }
    }

    /// Whether an MRW must be answered.
    #[inline]
    pub fn owes_mrw_ack(&self) -> bool {
        self.unanswered_mrw.is_some()
    }

    /// The answer to the last MRW (TS 25.322 §11.6.3).
    pub fn take_mrw_ack(&mut self) -> Option<MrwAck> {
        let mrw = self.unanswered_mrw.take()?;
        let vr_r = Sn::of(self.vr_r);
        Some(MrwAck { sn: vr_r, n: if mrw.sn == vr_r { mrw.n_length } else { 0 } })
    }
}
