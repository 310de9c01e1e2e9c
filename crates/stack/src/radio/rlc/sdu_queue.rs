//! The sending side of unacknowledged and transparent mode: SDUs wait until they are sent or
//! discarded, and are never retransmitted. The queue also records events of the receiving side, for
//! SDUs and PDUs of the peer (`record_delivered`, `record_lost`, `record_lost_ends`,
//! `record_dropped`).

use umts_kernel::TraceSink;
use umts_units::{Bytes, Duration, Time};

use super::am::BufferFull;
use super::backlog::BlockCounter;
use super::buffer::Buffer;
use super::managed_sdus::{Entry, QueueAction, record_action};
use super::segmentation::SegmentationRules;
use super::{Backlog, BlockSet, DataRun, Pdu, Sdu, SduEnd, WaitingSdu};
use crate::Context;
use crate::detail::{Detail, DiscardReason};
use crate::ids::{Direction, UeId};
use crate::radio::phy::Lost;
use crate::trace::TraceEvent;

/// SDUs to be sent in direction `sends`, and the trace events for them.
#[derive(Debug, Clone)]
pub(super) struct SduQueue {
    pub ue: UeId,
    pub sends: Direction,
    pub buffer: Buffer,
    /// Capacity in octets of SDUs. `None`: unlimited.
    capacity: Option<Bytes>,
    /// Timer_Discard (TS 25.322 §9.7.3.2).
    timer_discard: Option<Duration>,
    pub suspended: bool,
}

impl SduQueue {
    pub fn new(ue: UeId, sends: Direction, capacity: Option<Bytes>, timer_discard: Option<Duration>) -> Self {
        SduQueue { ue, sends, buffer: Buffer::default(), capacity, timer_discard, suspended: false }
    }

    /// Enqueues an SDU. Returns an error if it does not fit, or queue management drops it.
    pub fn push<T: TraceSink<TraceEvent>>(
        &mut self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
    ) -> Result<(), BufferFull> {
        if self.capacity.is_some_and(|capacity| self.buffer.octets() + sdu.size().0 > capacity.0) {
            return Err(BufferFull);
        }
        let entry = self.buffer.push_managed(cx.now, sdu);
        if let Some(action) = entry.action() {
            record_action(cx, self.sends, action);
        }
        if entry == Entry::Dropped {
            return Err(BufferFull);
        }
        let (ue, direction) = (self.ue, self.sends);
        cx.record(|| TraceEvent::SduQueued { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
        self.record_level(cx);
        Ok(())
    }

    /// Discards the SDUs with an expired Timer_Discard. Returns whether one of them had a sent
    /// part.
    pub fn handle_timeout<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) -> bool {
        let Some(expiry_threshold) = self.expiry_threshold(cx.now) else { return false };
        let mut discarded = Vec::new();
        let started = self
            .buffer
            .discard_started(|_, sdu| sdu.entered <= expiry_threshold, |_, sdu| discarded.push(sdu));
        self.buffer.discard_unsent(expiry_threshold, |sdu| discarded.push(sdu));
        discarded.iter().for_each(|sdu| self.record_discarded(cx, sdu, DiscardReason::TimerDiscard));
        self.record_level(cx);
        started
    }

    /// Records the SDUs that queue management discarded or marked since the last call. Call it when
    /// SDUs were taken from the buffer.
    pub fn record_managed<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let Some(actions) = self.buffer.take_managed() else { return };
        for sdu in actions.discarded {
            record_action(cx, self.sends, QueueAction::Drop);
            self.record_discarded(cx, &sdu, DiscardReason::QueueManagement);
        }
        (0..actions.marks).for_each(|_| record_action(cx, self.sends, QueueAction::Mark));
    }

    /// Discards the SDUs without a sent part.
    pub fn lose_unsent<T: TraceSink<TraceEvent>>(&mut self, cx: &mut Context<'_, T>) {
        let mut discarded = Vec::new();
        self.buffer.discard_all_unsent(|sdu| discarded.push(sdu));
        discarded.iter().for_each(|sdu| self.record_discarded(cx, sdu, DiscardReason::CellChange));
        self.record_level(cx);
    }

    /// The entry time up to which SDUs have expired. `None` if no SDU has expired.
    fn expiry_threshold(&self, now: Time) -> Option<Time> {
        let age = self.timer_discard?;
        self.next_discard().filter(|&at| at <= now)?;
        Some(Time::from_nanos(now.as_nanos().saturating_sub(age.as_nanos())))
    }

    /// When Timer_Discard of the oldest SDU expires.
    pub fn next_discard(&self) -> Option<Time> {
        Some(self.buffer.oldest()? + self.timer_discard?)
    }

    /// Whether there is something to send and sending is not suspended.
    pub fn has_work(&self) -> bool {
        !self.suspended && !self.buffer.is_empty()
    }

    /// Data to send. The number of PDUs is limited to `max_pdus`.
    pub fn backlog(&self, rules: &SegmentationRules, max_pdus: u64) -> Backlog {
        let octets = self.buffer.unsent_octets();
        let marks_start = octets > 0 && self.buffer.marks_start(rules);
        // A length indicator for the end of each SDU, and possibly one for the start of the first.
        let indicators = self.buffer.sdus() as u64 + u64::from(marks_start);
        // At least one: the buffer may have only the end of a sent SDU, which a PDU must indicate.
        let pdus = rules.pdus(octets, indicators).max(u64::from(!self.buffer.is_empty())).min(max_pdus);
        let pdus = u32::try_from(pdus).unwrap_or(u32::MAX);
        Backlog { octets: Bytes(octets), since: self.buffer.oldest(), pdus, sdus: self.buffer.sdus() as u32 }
    }

    /// Appends the waiting SDUs in order, with the PDUs of each.
    pub fn waiting_sdus(&self, counter: BlockCounter, into: &mut Vec<WaitingSdu>) {
        self.buffer.waiting_sdus(counter, 0, into);
    }

    /// Octets of SDUs that are not in PDUs yet.
    pub fn unsent(&self) -> Bytes {
        Bytes(self.buffer.unsent_octets())
    }

    /// SDU octets in the queue.
    pub fn occupancy(&self) -> Bytes {
        Bytes(self.buffer.octets())
    }

    /// Adds `count` PDUs starting with count `first` to `set`, and records them as sent. The SDUs
    /// that end in them are in `set.ends` from index `ends_from` on.
    pub fn push_pdus<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        set: &mut BlockSet,
        first: u64,
        count: u32,
        ends_from: u16,
        pdu: impl FnOnce(DataRun) -> Pdu,
    ) {
        let run = DataRun::new(first, count, set.ends_since(ends_from));
        set.push_run(pdu(run), count);
        let (ue, direction, first_sn) = (self.ue, self.sends, first as u32);
        let (retransmission, poll) = (false, false);
        cx.record(|| TraceEvent::PdusSent { ue, direction, first_sn, count, retransmission, poll });
    }

    pub fn record_discarded<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        sdu: &Sdu,
        reason: DiscardReason,
    ) {
        let (ue, direction) = (self.ue, self.sends);
        let (id, octets) = (sdu.packet.id, sdu.size());
        cx.show(|| Detail::Discarded { ue, direction, sdu: id, octets, reason, pdus: None });
        cx.record(|| TraceEvent::SduDiscarded { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
    }

    pub fn record_level<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>) {
        let (ue, direction, octets) = (self.ue, self.sends, self.buffer.octets());
        cx.record(|| TraceEvent::RlcBuffer { ue, direction, octets });
    }

    /// Records the delivery of an SDU from the peer to the upper layer.
    pub fn record_delivered<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>, sdu: &Sdu) {
        let (ue, direction, entered) = (self.ue, self.sends.reversed(), sdu.entered);
        let (id, size) = (sdu.packet.id, sdu.size());
        cx.record(|| TraceEvent::SduDelivered { ue, direction, sdu: id, size, entered });
    }

    /// Records an SDU of the peer as lost.
    pub fn record_lost<T: TraceSink<TraceEvent>>(&self, cx: &mut Context<'_, T>, sdu: &Sdu) {
        let (ue, direction) = (self.ue, self.sends.reversed());
        cx.record(|| TraceEvent::SduLost { ue, direction, sdu: sdu.packet.id, size: sdu.size() });
    }

    /// Records the SDUs of the peer that end in the `lost` blocks of `set` as lost.
    pub fn record_lost_ends<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        set: &BlockSet,
        lost: Lost,
    ) {
        let mut block = 0;
        for pdu in &set.pdus {
            if let Pdu::Umd(run) | Pdu::Tmd(run) = pdu {
                let is_lost = |end: &&SduEnd| lost.contains(block + end.sn.steps_from(run.first) as u32);
                let ends = set.ends_of(run).iter().filter(is_lost);
                ends.for_each(|end| self.record_lost(cx, &end.sdu));
            }
            block += pdu.blocks();
        }
    }

    /// Records PDUs from the peer that are dropped.
    pub fn record_dropped<T: TraceSink<TraceEvent>>(
        &self,
        cx: &mut Context<'_, T>,
        count: u32,
        why: crate::trace::PduDrop,
    ) {
        let (ue, direction) = (self.ue, self.sends.reversed());
        cx.record(|| TraceEvent::PdusDropped { ue, direction, count, why });
    }
}
