//! Acknowledged mode of RLC: TS 25.322 §4.2.1.3 (model), §9.4 to §9.7 (variables, timers, functions), §11.3 (data),
//! §11.4 (reset), §11.5 (status), §11.6 (discard).
//!
//! Not modelled: ciphering.
//!
//! After any `handle_*`, drain [`AmEntity::poll_delivered`]. While [`AmEntity::has_work`] returns
//! true, call [`AmEntity::poll_transmit`] at the next TTI. Otherwise sleep until
//! [`AmEntity::poll_timeout`], then call [`AmEntity::take_unrecoverable_error`] and
//! [`AmEntity::handle_timeout`].

mod acknowledgment;
mod backlog;
mod config;
mod discard;
mod polling;
mod receiver;
mod reporting;
mod reset;
mod sender;
mod status;
mod timers;
mod two_channels;

#[cfg(test)]
pub(super) mod tests;

use std::num::NonZeroU16;
use std::sync::Arc;

use umts_kernel::TraceSink;
use umts_units::{Bytes, Time};

pub use config::{
    Arrivals, BufferCounts, ErroneousSn, GapWhileProhibited, Header, LengthIndicators, MaxDatReading,
    MissingPduIndication, MrwAcknowledgment, Piggyback, StatusFormat,
};

use self::receiver::Receiver;
use self::reset::Reset;
use self::sender::{Ride, Sender};
use self::timers::{Timer, Timers};
use super::arrived::for_each_arrived;
use super::{Backlog, BlockSet, DataRun, Pdu, RlcConfig, Sdu, SduEnd, Sn, Status, WaitingSdu};
use crate::Context;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::trace::{PduDrop, TraceEvent};

/// One end of an acknowledged-mode bearer: it sends data in one direction and receives in the other.
#[derive(Debug, Clone)]
pub struct AmEntity {
    /// Shared by the entities of all UEs with the same bearer.
    config: Arc<RlcConfig>,
    reset: Reset,
    suspended: bool,
    receiver: Receiver,
    timers: Timers,
    sender: Sender,
}

/// The transmission buffer has no room for the SDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferFull;

impl AmEntity {
    /// An entity of `ue`'s bearer that sends in direction `sends`.
    pub fn new(ue: UeId, sends: Direction, config: impl Into<Arc<RlcConfig>>) -> Self {
        let config = config.into();
        AmEntity {
            sender: Sender::new(ue, sends, &config),
            receiver: Receiver::new(ue, sends.reversed(), &config),
            timers: Timers::default(),
            reset: Reset::default(),
            suspended: false,
            config,
        }
    }

    /// Enqueues an SDU. Returns an error if it does not fit into the transmission buffer.
    pub fn handle_sdu<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
    ) -> Result<(), BufferFull> {
        self.handle_timeout(cx);
        if self.sender.queue(cx, &self.config, &mut self.timers, sdu) { Ok(()) } else { Err(BufferFull) }
    }

    /// Receives the block set of a TTI without the blocks in `lost`.
    #[inline]
    pub fn handle_blocks<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        self.handle_timeout(cx);
        let (mut rest, mut not_taken) = (lost, 0);
        for pdu in &set.pdus {
            let lost = rest;
            if !rest.is_none() {
                rest = rest.from(pdu.blocks());
            }
            match pdu {
                Pdu::Data(run) if !self.reset.blocks() => self.handle_run(cx, set, run, lost),
                other => not_taken += self.handle_other(cx, set, other, lost),
            }
        }
        if not_taken > 0 {
            self.receiver.dropped(cx, not_taken, PduDrop::Resetting);
        }
        self.see_to_reset(cx);
    }

    #[inline]
    fn handle_run<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        run: &DataRun,
        lost: Lost,
    ) {
        let count = u64::from(run.count);
        if lost.is_none() {
            self.take_part(cx, run.first, count, set.ends_of(run));
        } else if self.receive_run(cx, set, run, lost) < count {
            return;
        }
        if run.poll {
            self.receiver.trigger(cx.now, &self.config, &mut self.timers);
        }
        if let Some(status) = &run.piggyback {
            self.handle_status(cx, set, status);
        }
    }

    /// Receives the PDUs of a run that are not `lost`. Returns the number of PDUs up to the last of
    /// them.
    #[inline(never)]
    fn receive_run<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        run: &DataRun,
        lost: Lost,
    ) -> u64 {
        let mut end = 0;
        for_each_arrived(run, set.ends_of(run), lost.0, |from, count, ends| {
            self.take_part(cx, run.first.plus(from), count, ends);
            end = from + count;
        });
        end
    }

    /// Receives `count` PDUs starting with `first`, in which these SDUs end.
    #[inline(always)]
    fn take_part<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        first: Sn,
        count: u64,
        ends: &[SduEnd],
    ) {
        self.await_status_period(cx.now);
        self.receiver.take_run(cx, &self.config, &mut self.timers, first, count, ends);
    }

    /// Handles PDUs other than data. Returns the number of PDUs that the entity ignores in its
    /// state (TS 25.322 §10, §11.4.2).
    fn handle_other<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        pdu: &Pdu,
        lost: Lost,
    ) -> u32 {
        let arrived = pdu.blocks() - Lost(lost.0 & Lost::all(pdu.blocks()).0).count();
        if arrived == 0 {
            return 0;
        }
        match *pdu {
            Pdu::Reset(rsn) if !self.reset.has_failed() => self.handle_reset(cx, rsn),
            Pdu::ResetAck(rsn) if !self.reset.has_failed() => self.handle_reset_ack(cx, rsn),
            Pdu::Status(ref status) if !self.reset.blocks() => self.handle_status(cx, set, status),
            // PDUs of another mode come from a peer with another configuration.
            Pdu::Umd(_) | Pdu::Tmd(_) => self.receiver.dropped(cx, arrived, PduDrop::WrongMode),
            _ => return arrived,
        }
        0
    }

    /// Timer_Status_Periodic starts with the first PDU that arrives.
    #[inline]
    fn await_status_period(&mut self, now: Time) {
        if let Some(period) = self.config.timer_status_periodic
            && !self.timers.is_running(Timer::StatusPeriodic)
        {
            self.timers.set(Timer::StatusPeriodic, now + period);
        }
    }

    fn handle_status<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        status: &Status,
    ) {
        let (config, timers) = (&self.config, &mut self.timers);
        if let Some(lsn) = status.lsn {
            let missing = set.missing_of(status);
            let applied = self.sender.apply_status(cx, config, timers, lsn, missing);
            if applied.is_err() {
                self.sender.wants_reset |= config.erroneous_sn == ErroneousSn::Reset;
                self.receiver.dropped(cx, 1, PduDrop::ErroneousSn);
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
    }

    /// Handles all timers that are due.
    #[inline]
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.timers.any_due(cx.now) {
            self.expire(cx);
        }
    }

    #[inline(never)]
    fn expire<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let (now, config) = (cx.now, &self.config);
        if self.timers.take_due(Timer::Poll, now).is_some() {
            self.sender.poll_timer_expired(cx, &mut self.timers);
        }
        // A poll or report that waited is due now, which `has_work` detects.
        self.timers.take_due(Timer::PollProhibit, now);
        self.timers.take_due(Timer::StatusProhibit, now);
        if self.timers.take_due(Timer::PollPeriodic, now).is_some() {
            self.sender.poll_period_ended(cx, config, &mut self.timers);
        }
        if let Some(at) = self.timers.take_due(Timer::StatusPeriodic, now)
            && let Some(period) = config.timer_status_periodic
        {
            let missed = now.saturating_since(at) / period;
            self.timers.set(Timer::StatusPeriodic, at + period * (missed + 1));
            self.receiver.trigger(now, config, &mut self.timers);
        }
        if self.timers.take_due(Timer::Epc, now).is_some() {
            self.receiver.counted_down(now, config, &mut self.timers);
        }
        if self.timers.take_due(Timer::StatusWait, now).is_some() {
            self.write_report();
        }
        if self.timers.take_due(Timer::Discard, now).is_some() {
            self.sender.discard_timer_expired(cx, &self.config, &mut self.timers);
        }
        if self.timers.take_due(Timer::Mrw, now).is_some() {
            self.sender.mrw_timer_expired(&self.config);
        }
        if !self.reset.has_failed() && self.timers.take_due(Timer::Reset, now).is_some() {
            self.send_reset_again(cx);
        }
        self.see_to_reset(cx);
    }

    /// Fills `set` with at most `blocks` blocks: STATUS, then retransmissions, then new data.
    /// Returns whether the next TTI is of use, like [`has_work`](Self::has_work).
    #[inline(always)]
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        debug_assert!(blocks <= Lost::MOST_BLOCKS);
        self.handle_timeout(cx);
        if !self.is_undisturbed(cx.now) {
            if self.nothing_carries_the_report(cx.now) {
                return true;
            }
            self.send_due_pdus(cx, blocks, set);
            return self.has_work(cx.now);
        }
        let (config, timers) = (&self.config, &mut self.timers);
        self.sender.send_middle(cx, config, blocks, set);
        if set.blocks < blocks {
            self.sender.send_new(cx, config, timers, blocks, set);
        }
        // A poll requested by these PDUs was sent with them, or is prohibited for now.
        self.sender.can_send_new()
    }

    /// Fills `set` in the order of priority.
    fn send_due_pdus<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) {
        if self.suspended {
            return;
        }
        if self.reset.has_work() {
            self.reset.send(cx, &self.config, &mut self.timers, blocks, set);
        }
        if self.reset.blocks() {
            return;
        }
        let (piggyback, ride) = self.send_status(cx, blocks, set);
        self.send_data(cx, blocks, piggyback, ride, set);
        self.see_to_reset(cx);
    }

    /// Fills the rest of `set` with data PDUs, which carry the given STATUS.
    #[inline(always)]
    fn send_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        piggyback: Option<Status>,
        ride: Option<Ride>,
        set: &mut BlockSet,
    ) {
        let (config, timers) = (&self.config, &mut self.timers);
        if set.blocks < blocks && self.sender.nacked_count > 0 {
            self.sender.send_retransmissions(cx, config, timers, blocks - set.blocks, ride, set);
        }
        if set.blocks < blocks {
            if piggyback.is_some() && self.sender.can_send_new() {
                self.sender.send_composed(cx, config, timers, piggyback.as_ref(), set);
            }
            self.sender.send_new(cx, config, timers, blocks, set);
        }
        if set.blocks < blocks {
            self.sender.send_poll(cx, config, timers, set);
        }
    }

    /// Whether an SDU is ready for the upper layer.
    #[inline]
    pub fn has_delivered(&self) -> bool {
        self.receiver.has_delivered()
    }

    /// The next SDU for the upper layer.
    #[inline]
    pub fn poll_delivered(&mut self) -> Option<Sdu> {
        self.receiver.poll_delivered()
    }

    /// The earliest deadline of a timer.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Whether only new data can be due now, the usual case. Prohibited reports and polls wait.
    #[inline(always)]
    fn is_undisturbed(&self, now: Time) -> bool {
        self.receiver.is_undisturbed(now) & self.is_sender_undisturbed(now)
    }

    /// Like `is_undisturbed`, but the receiving side may have something to answer.
    #[inline(always)]
    fn is_sender_undisturbed(&self, now: Time) -> bool {
        self.reset.is_at_rest() & !self.suspended & self.sender.is_undisturbed(now)
    }

    /// Whether the next TTI is of use. A STATUS that waits for a data PDU counts.
    #[inline(always)]
    pub fn has_work(&self, now: Time) -> bool {
        if self.is_undisturbed(now) {
            return self.sender.can_send_new();
        }
        if self.suspended | self.reset.blocks() {
            return !self.suspended && self.reset.has_work();
        }
        self.sender.has_work(now) || self.status_is_due(now) || self.reset.has_work()
    }

    /// Stops sending until [`resume`](Self::resume), while the transport channel changes ("stop",
    /// TS 25.322 §8.1). All state is kept, timers keep running, and PDUs in flight are received.
    pub fn suspend(&mut self) {
        self.suspended = true;
    }

    /// Sends only `n` further new PDUs until [`resume`](Self::resume): those from VT(S) + N on
    /// wait. Retransmissions and reports continue, and a RESET keeps the limit. Returns VT(S)
    /// (CRLC-SUSPEND, TS 25.322 §9.7.5).
    pub fn suspend_after(&mut self, n: u32) -> Sn {
        self.sender.suspend_from(n.into());
        Sn::of(self.sender.vt_s)
    }

    /// Continues after [`suspend`](Self::suspend) or [`suspend_after`](Self::suspend_after). The
    /// channel, and with it the blocks per TTI, may have changed.
    pub fn resume(&mut self) {
        self.suspended = false;
        self.sender.resume();
    }

    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Re-establishes the entity, as the peer must, too: state variables get their initial values,
    /// and all timers stop. SDUs of which something was sent are lost. The others stay.
    pub fn reestablish<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.timers = Timers::default();
        self.reset = Reset::default();
        self.return_to_initial_state(cx);
        if !self.sender.buffer.is_empty() {
            self.sender.await_poll_period(cx.now, &self.config, &mut self.timers);
        }
    }

    /// Discards the SDUs of which nothing was sent. Transmission of the others continues.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        self.sender.lose_unsent(cx, &self.config, &mut self.timers);
    }

    /// Grants the peer this window with every report from now on, in a WINDOW SUFI. `None`: no such
    /// SUFI.
    ///
    /// # Panics
    /// Panics if the window is larger than 4095, the maximum of a WINDOW SUFI.
    pub fn grant_window(&mut self, window: Option<NonZeroU16>) {
        assert!(window.is_none_or(|window| window.get() < 4096), "a WINDOW SUFI holds 12 bits");
        self.receiver.granted_window = window;
    }

    /// Whether MaxRST was reached: nothing is sent or received until the entity is re-established
    /// (TS 25.322 §11.4.4, unrecoverable error).
    pub fn has_failed(&self) -> bool {
        self.reset.has_failed()
    }

    /// Data to send, for the first time or again.
    pub fn backlog(&self) -> Backlog {
        self.sender.backlog(&self.config)
    }

    /// Appends the SDUs that wait to be sent in order.
    pub fn waiting_sdus(&self, into: &mut Vec<WaitingSdu>) {
        self.sender.waiting_sdus(into);
    }

    /// Octets that wait for transmission or retransmission, control PDUs included (TS 25.321 §8.2.2). A control PDU counts as a
    /// whole PDU.
    pub fn available_for_transmission(&self, now: Time) -> Bytes {
        let control = u64::from(self.reset.has_work()) + u64::from(self.status_is_due(now));
        let data = self.sender.available_for_transmission(&self.config, now);
        Bytes(data + control * u64::from(self.config.pdu_octets()))
    }

    /// Octets of SDUs that are waiting or not completely acknowledged.
    pub fn buffer_occupancy(&self) -> Bytes {
        self.sender.occupancy()
    }

    /// Octets of a PDU after its header.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.config.pdu_payload.0))
    }
}
