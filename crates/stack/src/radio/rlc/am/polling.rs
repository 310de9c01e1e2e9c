//! Polling: TS 25.322 §9.7.1, with Timer_Poll, Timer_Poll_Prohibit and Timer_Poll_Periodic of §9.5.

use umts_kernel::TraceSink;
use umts_units::{Duration, Time};

use super::sender::Sender;
use super::timers::{Timer, Timers};
use crate::Context;
use crate::detail::{Detail, PollCauses};
use crate::radio::rlc::RlcConfig;
use crate::trace::TraceEvent;

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
        let (causes, due, prohibited_until) = (PollCauses::default(), Time::NEVER, Time::ZERO);
        Polls { vt_pdu: 0, vt_sdu: 0, causes, due, prohibited_until, vt_s_at_last_poll: 0 }
    }
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

    /// No poll is pending any more, because a PDU carried it or it was cancelled.
    #[inline]
    fn clear(&mut self) {
        (self.causes, self.due) = (PollCauses::default(), Time::NEVER);
    }

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
    /// Number of PDUs up to the next one that must poll, that one included: the maximum length of a
    /// run, in which only the last PDU may poll. `new`: the PDUs are new, otherwise retransmitted.
    #[inline]
    pub(super) fn pdus_to_next_poll(&self, now: Time, config: &RlcConfig, new: bool) -> u32 {
        if self.polls.is_due(now) { 1 } else { self.pdus_to_counted_poll(now, config, new) }
    }

    /// Like `pdus_to_next_poll`, if no poll is due.
    #[inline]
    pub(super) fn pdus_to_counted_poll(&self, now: Time, config: &RlcConfig, new: bool) -> u32 {
        let counted =
            config.poll_pdu.map_or(u32::MAX, |poll_pdu| poll_pdu.saturating_sub(self.polls.vt_pdu).max(1));
        if !new || now < self.polls.prohibited_until {
            return counted;
        }
        let for_window = config.poll_window_pdus(self.vt_ws);
        // J includes the PDU that is about to be sent: VT(S) + 1 - VT(A).
        for_window
            .map_or(counted, |pdus| counted.min((self.vt_a + pdus).saturating_sub(self.vt_s).max(1) as u32))
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
        let polls = config.poll_sdu.is_some_and(|poll_sdu| self.polls.vt_sdu >= poll_sdu);
        if polls {
            self.polls.vt_sdu = 0;
        }
        polls
    }

    /// Whether the last PDU of the next run polls. The run has `pdus` PDUs, and `wanted` are the
    /// causes other than Poll_PDU. A prohibited poll stays pending.
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
        let counted = config.poll_pdu.is_some_and(|poll_pdu| self.polls.vt_pdu >= poll_pdu);
        if counted {
            self.polls.vt_pdu = 0;
        }
        let causes = PollCauses::POLL_PDU.when(counted) | wanted | self.polls.causes;
        if !causes.any() {
            return false;
        }
        if cx.now < self.polls.prohibited_until {
            self.polls.trigger(cx.now, timers, causes);
            return false;
        }
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
        true
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

    /// Starts Timer_Poll_Periodic if it is not running. Its expiries are multiples of the period
    /// from time zero, so that stopping it while nothing needs a poll does not shift them.
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
