//! Polling of acknowledged mode: the PDUs in which the sender sets the polling bit, with which it
//! requests a report (TS 25.322 §9.7.1), with Timer_Poll, Timer_Poll_Prohibit and Timer_Poll_Periodic of
//! §9.5. A poll is pending when a trigger has occurred and no PDU has carried it yet.
//!
//! A poll that is due when there is no data PDU to send repeats the last PDU. With PDUs of flexible
//! size a STATUS with a POLL SUFI can be sent instead (§9.2.2.11.9, §11.3.2):
//!
//! ```text
//!   STATUS 4 | POLL 4 | Poll_SN = VT(S) - 1, 12 bits | NO_MORE 4
//! ```

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::sender::Sender;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::{Detail, PollCauses};
use crate::radio::rlc::{BlockSet, RlcConfig, Sn, Status};
use crate::trace::TraceEvent;

/// Octets of a STATUS that contains nothing but a POLL SUFI.
pub(super) const POLL_STATUS_OCTETS: u16 = 3;

/// State of the sender's polls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polls {
    /// VT(PDU): PDUs sent since Poll_PDU last caused a poll.
    vt_pdu: u32,
    /// VT(SDU): SDUs sent since Poll_SDU last caused a poll.
    vt_sdu: u32,
    /// Causes of a poll that no PDU has carried yet.
    causes: PollCauses,
    /// The earliest time at which a PDU may carry this poll. `Time::NEVER`: there is no cause.
    due: Time,
    /// No PDU polls before this instant.
    prohibited_until: Time,
    /// VT(S) just after the last poll.
    pub vt_s_at_last_poll: u64,
}

impl Default for Polls {
    fn default() -> Self {
        Polls {
            vt_pdu: 0,
            vt_sdu: 0,
            causes: PollCauses::default(),
            due: Time::NEVER,
            prohibited_until: Time::ZERO,
            vt_s_at_last_poll: 0,
        }
    }
}

/// Whether a data PDU is sent for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PduKind {
    New,
    Retransmitted,
}

impl Polls {
    /// Whether a poll is pending and not prohibited.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.due <= now
    }

    /// Counts sent PDUs without a poll.
    #[inline]
    pub fn count(&mut self, pdus: u32) {
        self.vt_pdu += pdus;
    }

    /// Cancels the pending poll.
    #[inline]
    pub fn cancel(&mut self, timers: &mut Timers) {
        if self.causes.any() {
            self.clear();
            timers.stop(Timer::PollProhibit);
        }
    }

    /// Clears the pending poll, because a PDU carried it or it was cancelled.
    #[inline]
    fn clear(&mut self) {
        (self.causes, self.due) = (PollCauses::default(), Time::NEVER);
    }

    /// Makes a poll pending for these causes. While polls are prohibited, it waits for
    /// Timer_Poll_Prohibit.
    fn trigger(&mut self, now: Time, timers: &mut Timers, causes: PollCauses) {
        self.causes |= causes;
        // If polls are not prohibited, this time is in the past and the poll is due immediately.
        self.due = self.prohibited_until;
        if now < self.prohibited_until {
            timers.set(Timer::PollProhibit, self.prohibited_until);
        }
    }
}

impl Sender {
    /// Number of PDUs of this kind up to and including the next one that must poll. This is the
    /// maximum length of a run, in which only the last PDU may poll.
    #[inline]
    pub(super) fn pdus_to_next_poll(&self, now: Time, config: &RlcConfig, kind: PduKind) -> u32 {
        if self.polls.is_due(now) { 1 } else { self.pdus_to_counted_poll(now, config, kind) }
    }

    /// Like `pdus_to_next_poll`, if no poll is due.
    #[inline]
    pub(super) fn pdus_to_counted_poll(&self, now: Time, config: &RlcConfig, kind: PduKind) -> u32 {
        let to_poll_pdu =
            config.poll_pdu.map_or(u32::MAX, |poll_pdu| poll_pdu.saturating_sub(self.polls.vt_pdu).max(1));
        if kind == PduKind::Retransmitted || now < self.polls.prohibited_until {
            return to_poll_pdu;
        }
        let Some(poll_window) = config.poll_window_pdus(self.vt_ws) else { return to_poll_pdu };
        // The PDU that is about to be sent counts as used window: it polls if VT(S) + 1 - VT(A) is
        // at least Poll_Window.
        let to_poll_window = (self.vt_a + poll_window).saturating_sub(self.vt_s).max(1);
        to_poll_pdu.min(to_poll_window as u32)
    }

    /// Whether Poll_Window is reached, so that the last new PDU must poll.
    #[inline]
    pub(super) fn window_requires_poll(&self, config: &RlcConfig) -> bool {
        config.poll_window_pdus(self.vt_ws).is_some_and(|pdus| self.vt_s - self.vt_a >= pdus)
    }

    /// Counts `finished` further SDUs for Poll_SDU. Returns whether they cause a poll.
    #[inline]
    pub(super) fn count_finished_sdus(&mut self, config: &RlcConfig, finished: u32) -> bool {
        self.polls.vt_sdu += finished;
        let poll_sdu_reached = config.poll_sdu.is_some_and(|poll_sdu| self.polls.vt_sdu >= poll_sdu);
        if poll_sdu_reached {
            self.polls.vt_sdu = 0;
        }
        poll_sdu_reached
    }

    /// Decides whether the last PDU of the next run polls. The run has `pdus` PDUs, and `wanted` are the
    /// causes other than Poll_PDU. While polls are prohibited, the poll stays pending.
    #[inline]
    pub(super) fn decide_poll<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        pdus: u32,
        wanted: PollCauses,
    ) -> bool {
        self.polls.vt_pdu += pdus;
        let poll_pdu_reached = config.poll_pdu.is_some_and(|poll_pdu| self.polls.vt_pdu >= poll_pdu);
        if poll_pdu_reached {
            self.polls.vt_pdu = 0;
        }
        let causes = PollCauses::POLL_PDU.when(poll_pdu_reached) | wanted | self.polls.causes;
        if !causes.any() {
            return false;
        }
        let is_prohibited = cx.now < self.polls.prohibited_until;
        if is_prohibited {
            self.polls.trigger(cx.now, timers, causes);
            return false;
        }
        self.record_poll(cx, config, timers, causes);
        true
    }

    /// The next PDU polls: starts the timers, and clears the pending poll.
    #[inline]
    fn record_poll<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        causes: PollCauses,
    ) {
        let (ue, direction) = (self.ue, self.direction);
        cx.show(|| Detail::Poll { ue, direction, causes });
        self.polls.clear();
        self.polls.vt_s_at_last_poll = self.vt_s;
        if let Some(timer_poll) = config.timer_poll {
            timers.set(Timer::Poll, cx.now + timer_poll);
        }
        if let Some(prohibit) = config.timer_poll_prohibit {
            self.polls.prohibited_until = cx.now + prohibit;
        }
    }

    /// Sends a STATUS with a POLL SUFI for a poll that is due. The STATUS counts as a transmission of
    /// `last`, the last PDU (TS 25.322 §9.4, §11.3.5).
    pub(super) fn send_poll_sufi<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        config: &RlcConfig,
        timers: &mut Timers,
        last: u64,
        set: &mut BlockSet,
    ) {
        self.count_transmission(config, last);
        let data_pdus = 0;
        let polls = self.decide_poll(cx, config, timers, data_pdus, PollCauses::default());
        debug_assert!(polls, "the poll is due");
        let status = Status { poll: Some(Sn::of(last)), octets: POLL_STATUS_OCTETS, ..Status::default() };
        let (ue, direction, octets) = (self.ue, self.direction, u32::from(status.octets));
        cx.record(|| TraceEvent::PollSufiSent { ue, direction, octets });
        set.push_status(status);
    }

    /// Handles the expiry of Timer_Poll: polls again if any PDU is outstanding.
    pub fn poll_timer_expired<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        timers: &mut Timers,
    ) {
        if self.vt_a == self.vt_s {
            return;
        }
        self.polls.trigger(cx.now, timers, PollCauses::TIMER_POLL);
        let (ue, direction) = (self.ue, self.direction);
        cx.record(|| TraceEvent::TimerPollExpired { ue, direction });
    }

    /// Triggers the poll for the last PDU in the buffer. Needed if the PDU became the last one after
    /// it was sent, because later SDUs were discarded.
    pub(super) fn poll_for_last(&mut self, now: Time, timers: &mut Timers) {
        self.polls.trigger(now, timers, PollCauses::LAST_PDU);
    }

    /// Handles the expiry of Timer_Poll_Periodic: polls if there are data to send or to be
    /// acknowledged.
    pub fn poll_period_expired<T>(&mut self, cx: &Context<'_, T>, config: &RlcConfig, timers: &mut Timers) {
        if self.vt_a < self.vt_s || !self.buffer.is_empty() {
            self.polls.trigger(cx.now, timers, PollCauses::PERIODIC);
            self.start_timer_poll_periodic(cx.now, config, timers);
        }
    }

    /// Starts Timer_Poll_Periodic if it is not running. It always expires at multiples of the
    /// period, so that the model may stop it while there is nothing to poll for.
    pub fn start_timer_poll_periodic(&self, now: Time, config: &RlcConfig, timers: &mut Timers) {
        if let Some(period) = config.timer_poll_periodic
            && !timers.is_running(Timer::PollPeriodic)
        {
            timers.set(Timer::PollPeriodic, next_multiple(now, period));
        }
    }
}

/// The first multiple of `period` after `now`.
fn next_multiple(now: Time, period: Duration) -> Time {
    now + (period - now % period)
}
