//! Acknowledged mode of RLC: TS 25.322 §4.2.1.3 (model), §9.4 to §9.7 (variables, timers,
//! functions), §11.3 (data), §11.4 (reset), §11.5 (status), §11.6 (discard).
//!
//! An entity sends data PDUs, some of which poll: they request a report. The receiving side of the
//! peer answers with a STATUS, the report of missing PDUs, which the sender then retransmits. A
//! STATUS may also contain an MRW (move receiving window: some SDUs were discarded), its answer
//! MRW_ACK, and a WINDOW. It is sent in a PDU of its own, or piggybacked on a data PDU.
//!
//! Not modelled: ciphering.
//!
//! After any `handle_*`, drain [`AmEntity::poll_delivered`]. While [`AmEntity::has_work`] returns
//! true, call [`AmEntity::poll_transmit`] at the next TTI. Otherwise sleep until
//! [`AmEntity::poll_timeout`], then call [`AmEntity::take_unrecoverable_error`] and
//! [`AmEntity::handle_timeout`].
//!
//! This file has the entity and the order of its steps. The steps are in `sender.rs` and
//! `transmission.rs` (new data), `retransmission.rs`, `polling.rs`, `discard.rs`,
//! `mrw.rs`, `acknowledgment.rs` (received reports), `receiver.rs`, `window_move.rs` (received MRWs),
//! `triggers.rs`, `status.rs` and `reporting.rs` (own reports), and `reset.rs`.

mod acknowledgment;
mod backlog;
mod config;
mod discard;
mod mrw;
mod polling;
mod receiver;
mod reporting;
mod reset;
mod retransmission;
mod sender;
mod status;
mod suspension;
mod timers;
mod transmission;
mod triggers;
mod two_channels;
mod window_move;

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

use self::receiver::{ReceivedRun, Receiver};
use self::reporting::PiggybackedStatus;
use self::reset::Reset;
use self::sender::Sender;
use self::timers::{Timer, Timers};
use super::arrived::for_each_arrived;
use super::{BlockSet, DataRun, Pdu, RlcConfig, Sdu, Sn};
use crate::Context;
use crate::aqm::Aqm;
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::trace::{PduDrop, TraceEvent};

/// One end of an acknowledged-mode bearer: it sends data in one direction and receives in the
/// other.
#[derive(Debug, Clone)]
pub struct AmEntity {
    /// Shared by the entities of all UEs with the same bearer.
    config: Arc<RlcConfig>,
    sender: Sender,
    receiver: Receiver,
    timers: Timers,
    reset: Reset,
    /// Nothing is sent, because the transport channel changes (TS 25.322 §8.1).
    suspended: bool,
}

/// The transmission buffer has no room for the SDU, or queue management dropped it.
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

    /// Adds queue management to the transmission buffer.
    pub fn manage_buffer(&mut self, aqm: Aqm) {
        self.sender.buffer.manage(aqm);
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
        // Bit 0 is the first block of the current PDU. The bits of later PDUs follow.
        let mut lost_from_here = lost;
        let mut ignored_pdus = 0;
        for pdu in &set.pdus {
            match pdu {
                Pdu::Data(run) if !self.reset.is_blocking() => self.handle_data(cx, set, run, lost_from_here),
                other => ignored_pdus += self.handle_other(cx, set, other, lost_from_here),
            }
            if !lost_from_here.is_none() {
                lost_from_here = lost_from_here.from(pdu.blocks());
            }
        }
        if ignored_pdus > 0 {
            self.receiver.record_dropped(cx, ignored_pdus, PduDrop::Resetting);
        }
        self.start_wanted_reset(cx);
    }

    /// Receives a run of data PDUs. The polling bit and a piggybacked STATUS are in the last PDU,
    /// so they have no effect if that PDU is lost. Bit n of `lost` belongs to PDU n of the run, and
    /// further bits to later PDUs of the set.
    #[inline]
    fn handle_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        run: &DataRun,
        lost: Lost,
    ) {
        let count = u64::from(run.count);
        let last_pdu_arrived = if lost.is_none() {
            self.receive_arrived(cx, ReceivedRun { first: run.first, count, ends: set.ends_of(run) });
            true
        } else {
            self.receive_arrived_parts(cx, set, run, lost) == count
        };
        if !last_pdu_arrived {
            return;
        }
        if run.poll {
            self.receiver.trigger(cx.now, &self.config, &mut self.timers);
        }
        if let Some(status) = &run.piggyback {
            self.handle_status(cx, set, status);
        }
    }

    /// Receives the PDUs of a run that are not `lost`. Returns the number of PDUs in the run up to
    /// the last one that arrived.
    #[inline(never)]
    fn receive_arrived_parts<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        run: &DataRun,
        lost: Lost,
    ) -> u64 {
        let mut pdus_to_last_arrived = 0;
        for_each_arrived(run, set.ends_of(run), lost.0, |part| {
            let first = run.first.plus(part.offset);
            self.receive_arrived(cx, ReceivedRun { first, count: part.count, ends: part.ends });
            pdus_to_last_arrived = part.offset + part.count;
        });
        pdus_to_last_arrived
    }

    /// Passes consecutive PDUs that have arrived to the receiving side.
    #[inline(always)]
    fn receive_arrived<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>, run: ReceivedRun<'_>) {
        self.start_timer_status_periodic(cx.now);
        self.receiver.receive_pdus(cx, &self.config, &mut self.timers, run);
    }

    /// Handles a PDU other than data, and any PDU during a reset. `lost` is as in `handle_data`, and
    /// also has the blocks of later PDUs. Returns the number of arrived PDUs that the entity ignores
    /// because of its reset (TS 25.322 §10, §11.4.2).
    fn handle_other<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        pdu: &Pdu,
        lost: Lost,
    ) -> u32 {
        let lost_of_pdu = Lost(lost.0 & Lost::all(pdu.blocks()).0);
        let arrived = pdu.blocks() - lost_of_pdu.count();
        if arrived == 0 {
            return 0;
        }
        match *pdu {
            Pdu::Reset(rsn) if !self.reset.has_failed() => self.handle_reset(cx, rsn),
            Pdu::ResetAck(rsn) if !self.reset.has_failed() => self.handle_reset_ack(cx, rsn),
            Pdu::Status(ref status) if !self.reset.is_blocking() => self.handle_status(cx, set, status),
            // PDUs of another mode come from a peer with another configuration.
            Pdu::Umd(_) | Pdu::Tmd(_) => self.receiver.record_dropped(cx, arrived, PduDrop::WrongMode),
            _ => return arrived,
        }
        0
    }

    /// Starts Timer_Status_Periodic when the first PDU arrives.
    #[inline]
    fn start_timer_status_periodic(&mut self, now: Time) {
        if let Some(period) = self.config.timer_status_periodic
            && !self.timers.is_running(Timer::StatusPeriodic)
        {
            self.timers.set(Timer::StatusPeriodic, now + period);
        }
    }

    /// Handles all timers that are due.
    #[inline]
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        if self.timers.any_due(cx.now) {
            self.expire(cx);
        }
    }

    /// Handles each timer that is due, in the order of this function.
    #[inline(never)]
    fn expire<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let (now, config) = (cx.now, &self.config);
        if self.timers.take_due(Timer::Poll, now).is_some() {
            self.sender.poll_timer_expired(cx, &mut self.timers);
        }
        // After these timers a prohibited poll or report needs no action: it is due now, which
        // `has_work` detects.
        self.timers.take_due(Timer::PollProhibit, now);
        self.timers.take_due(Timer::StatusProhibit, now);
        if self.timers.take_due(Timer::PollPeriodic, now).is_some() {
            self.sender.poll_period_expired(cx, config, &mut self.timers);
        }
        if let Some(at) = self.timers.take_due(Timer::StatusPeriodic, now)
            && let Some(period) = config.timer_status_periodic
        {
            let missed_periods = now.saturating_since(at) / period;
            self.timers.set(Timer::StatusPeriodic, at + period * (missed_periods + 1));
            self.receiver.trigger(now, config, &mut self.timers);
        }
        if self.timers.take_due(Timer::Epc, now).is_some() {
            self.receiver.epc_expired(now, config, &mut self.timers);
        }
        if self.timers.take_due(Timer::StatusWait, now).is_some() {
            self.prepare_report();
        }
        if self.timers.take_due(Timer::Discard, now).is_some() {
            self.sender.discard_timer_expired(cx, &self.config, &mut self.timers);
        }
        if self.timers.take_due(Timer::Mrw, now).is_some() {
            self.sender.mrw_timer_expired(&self.config);
        }
        if !self.reset.has_failed() && self.timers.take_due(Timer::Reset, now).is_some() {
            self.repeat_reset(cx);
        }
        self.start_wanted_reset(cx);
    }

    /// Fills `set` with at most `blocks` blocks: STATUS, then retransmissions, then new data.
    /// Returns the value of [`has_work`](Self::has_work) afterwards.
    ///
    /// There are three paths:
    /// 1. Only a report is due, and it waits for a data PDU to carry it: nothing is sent.
    /// 2. Anything but new data is due: all PDUs, in the order of their priority.
    /// 3. Only new data may be due: the fast path.
    #[inline(always)]
    pub fn poll_transmit<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        set: &mut BlockSet,
    ) -> bool {
        debug_assert!(blocks <= Lost::MAX_BLOCKS);
        self.handle_timeout(cx);
        let is_fast_path = self.has_only_new_data(cx.now);
        if !is_fast_path {
            if self.only_waiting_report_is_due(cx.now) {
                return true;
            }
            self.send_due_pdus(cx, blocks, set);
            self.store_flexible_octets(set);
            return self.has_work(cx.now);
        }
        let (config, timers) = (&self.config, &mut self.timers);
        self.sender.send_full_without_poll(cx, config, blocks, set);
        if set.blocks < blocks {
            self.sender.send_new(cx, config, timers, blocks, set);
        }
        self.store_flexible_octets(set);
        // In the next TTI only new data can be due: the PDUs sent here carried any poll that they
        // caused, unless polls are prohibited.
        self.sender.can_send_new()
    }

    /// Stores the octets of a filled set if its PDUs have a flexible size.
    #[inline]
    fn store_flexible_octets(&self, set: &mut BlockSet) {
        if self.sender.rules.is_flexible {
            set.flexible_octets = self.sender.flexible_octets(&self.config, set);
        }
    }

    /// Fills `set` in the order of priority: RESET and RESET ACK, STATUS, data.
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
        if self.reset.is_blocking() {
            return;
        }
        let piggybacked = self.send_status(cx, blocks, set);
        self.send_data(cx, blocks, piggybacked, set);
        self.start_wanted_reset(cx);
    }

    /// Fills the rest of `set` with data PDUs: retransmissions, new PDUs, and a repeated PDU or a POLL
    /// SUFI if a poll is due that no other PDU carries.
    #[inline(always)]
    fn send_data<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        blocks: u32,
        piggybacked: PiggybackedStatus,
        set: &mut BlockSet,
    ) {
        let (config, timers) = (&self.config, &mut self.timers);
        let PiggybackedStatus { on_new_pdu, on_retransmission } = piggybacked;
        if set.blocks < blocks && self.sender.nacked_count > 0 {
            self.sender.send_retransmissions(cx, config, timers, blocks - set.blocks, on_retransmission, set);
        }
        if set.blocks < blocks {
            if on_new_pdu.is_some() && self.sender.can_send_new() {
                self.sender.send_composed(cx, config, timers, on_new_pdu.as_ref(), set);
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

    /// Whether nothing but new data may be due now. Prohibited reports and polls are not due.
    #[inline(always)]
    fn has_only_new_data(&self, now: Time) -> bool {
        self.receiver.has_no_status_due(now) & self.sender_has_only_new_data(now)
    }

    /// Like `has_only_new_data`, without the reports and MRW_ACKs of the receiving side.
    #[inline(always)]
    fn sender_has_only_new_data(&self, now: Time) -> bool {
        self.reset.is_idle() & !self.suspended & self.sender.has_only_new_data(now)
    }

    /// Whether the entity may have PDUs for the next TTI. True also while a report waits for a data
    /// PDU to carry it.
    #[inline(always)]
    pub fn has_work(&self, now: Time) -> bool {
        if self.has_only_new_data(now) {
            return self.sender.can_send_new();
        }
        if self.suspended {
            return false;
        }
        let only_reset_pdus_allowed = self.reset.is_blocking();
        let other_pdus_due = || self.sender.has_work(now) || self.status_is_due(now);
        self.reset.has_work() || (!only_reset_pdus_allowed && other_pdus_due())
    }

    /// Grants the peer this window with every report from now on, in a WINDOW SUFI. `None`: no such
    /// SUFI.
    ///
    /// # Panics
    /// Panics if the window is larger than 4095, the maximum of a WINDOW SUFI.
    pub fn grant_window(&mut self, window: Option<NonZeroU16>) {
        let has_12_bits = |window: NonZeroU16| u64::from(window.get()) < Sn::MODULUS;
        assert!(window.is_none_or(has_12_bits), "a WINDOW SUFI holds 12 bits");
        self.receiver.granted_window = window;
    }

    /// Whether MaxRST was reached: nothing is sent or received until the entity is re-established
    /// (TS 25.322 §11.4.4, unrecoverable error).
    pub fn has_failed(&self) -> bool {
        self.reset.has_failed()
    }

    /// Octets after the header of the largest PDU that the entity sends.
    pub fn pdu_payload(&self) -> Bytes {
        Bytes(u64::from(self.sender.rules.payload))
    }
}
